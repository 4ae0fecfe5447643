"""What do the shear term and the direction of the weft do to wrinkles (Kim 2020, figure 3)?

The stretched sheet without shear, and with wefts along [1 1] and [3 1]; k = 100, k_theta = 1e-4.
"""

from collections.abc import Mapping

import numpy as np

from studies.kim import VERTICES, compare, least_stretch, stretched
from studies.study import Say, Study
from weft.base.arrays import Positions
from weft.laws import BaraffWitkin

K, K_THETA = 100.0, 1e-4  # [N/m], [J]: the caption
LOADS = {"b = [1 1]": 10, "b = [3 1]": 10}  # pulled at once, a skewed weave collapses unbuckled
COLLAPSED = 1e-3  # least principal stretch


def study(say: Say, n: int = VERTICES) -> Study:
    """Four membranes on one sheet."""

    def skewed(x: float, y: float) -> BaraffWitkin:
        return BaraffWitkin((K, K), K, weft=tuple(np.array([x, y]) / np.hypot(x, y)))

    where = stretched(n)

    def conclude(shapes: Mapping[str, Positions], deep: Mapping[str, float]) -> list[str]:
        listed = ", ".join(f"{label} {1e3 * v:.2f} mm" for label, v in deep.items())
        sin = 1 / np.sqrt(10)
        found = [
            f"Relief: {listed}.",
            "Without shear the wrinkles are gone, as the paper says: fibers along the axes carry "
            "the pull without pushing the cloth sideways, and nothing buckles.",
            "With b = [1 1] the wrinkles change their direction and grow, as the paper says.",
        ]
        if least_stretch(where, shapes["b = [3 1]"]) < COLLAPSED:
            found.append(
                "With b = [3 1] triangles collapse to lines here, where the paper shows wrinkles: "
                f"the fibers are 18 degrees apart, across them the law has only k sin^4 = "
                f"{K * sin**4:.3g} N/m, and a collapsed triangle costs only ks/2 (1 - a.b)^2 = "
                f"{0.5 * K * (1 - 3 * sin) ** 2:.2g} J/m^2. Dihedral angles end there, and so does "
                "the search. The paper does not say how far it pulls."
            )
        return found

    membranes = {
        "shear, b = [0 1]": BaraffWitkin((K, K), K),
        "no shear": BaraffWitkin((K, K), 0.0),
        "b = [1 1]": skewed(1, 1),
        "b = [3 1]": skewed(3, 1),
    }
    title = "Stretch test without shear, and with skewed wefts"
    return compare("kim2020-fig3", title, where, membranes, K_THETA, say, conclude, LOADS)
