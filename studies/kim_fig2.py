"""Is the finite element law Baraff & Witkin's model, and how does ARAP differ (Kim 2020, figure 2)?

A stretched sheet; k = 100, k_theta = 1e-4. The conditions of 1998 are stretch and shear as energies
of their own, weighted by alpha^2 = a; the law is one psi(F).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from studies.kim import VERTICES, compare, stretched
from studies.study import Say, Study
from weft.base.arrays import Positions
from weft.energies.elastic.condition import Conditions, condition_energies
from weft.energies.energy import Energy
from weft.laws import Arap, BaraffWitkin, DotShear, Law

K, K_THETA = 100.0, 1e-4  # [N/m], [J]: the caption of figure 3


def study(say: Say, n: int = VERTICES) -> Study:
    """The conditions, the law, and ARAP in place of the stretch terms."""
    where = stretched(n)
    stretch, shear, _ = condition_energies(where.mesh, Conditions((K, K), K))

    def conclude(shapes: Mapping[str, Positions], deep: Mapping[str, float]) -> list[str]:
        law = shapes["law psi(F)"]
        apart = np.linalg.norm(shapes["conditions of 1998"] - law, axis=1).max()
        arap = np.linalg.norm(shapes["ARAP stretch"] - law, axis=1).max()
        return [
            f"Conditions and law end {1e3 * apart:.2g} mm apart at most (both to the tolerance of "
            "the search); their forces and Hessians agree to 1e-10 (tests/engine/energies).",
            f"ARAP moves the sheet by up to {1e3 * arap:.3g} mm; relief "
            f"{1e3 * deep['ARAP stretch']:.1f} mm beside {1e3 * deep['law psi(F)']:.1f} mm.",
        ]

    membranes: dict[str, Law | Sequence[Energy]] = {
        "conditions of 1998": (stretch, shear),
        "law psi(F)": BaraffWitkin((K, K), K),
        "ARAP stretch": Arap(K) + DotShear(K),
    }
    title = "Stretch test, k = 100, k_theta = 1e-4"
    return compare("kim2020-fig2", title, where, membranes, K_THETA, say, conclude)
