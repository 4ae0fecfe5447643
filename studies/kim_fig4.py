"""How do ARAP and a quartic shear drape (Kim 2020, figure 4)?

A sheet falls between four corners; k = 30, k_theta = 5e-7.
"""

from collections.abc import Mapping

import numpy as np

from studies.kim import VERTICES, compare, draped, short_waves
from studies.study import Say, Study
from weft.base.arrays import Positions
from weft.laws import Arap, BaraffWitkin, DotShear, StvkShear

K, K_THETA = 30.0, 5e-7  # [N/m], [J]: the caption


def study(say: Say, n: int = VERTICES) -> Study:
    """Baraff-Witkin, ARAP in place of the stretch, StVK-like shear in place of the shear."""

    def conclude(shapes: Mapping[str, Positions], deep: Mapping[str, float]) -> list[str]:
        depth = {k: 1e3 * float(np.ptp(x[:, 1])) for k, x in shapes.items()}
        listed = ", ".join(f"{k} {v:.0f} mm" for k, v in depth.items())
        rough = {k: 1e3 * short_waves(x[:, 1], n) for k, x in shapes.items()}
        wrinkles = ", ".join(f"{k} {v:.2f} mm" for k, v in rough.items())
        return [
            f"Depth of the drape: {listed}.",
            f"Height in waves shorter than an eighth of the sheet: {wrinkles}.",
            "A quartic shear resists little at small angles: the cloth shears into its hollow and "
            "hangs deeper, where Baraff-Witkin stays flatter and folds. Strong wrinkles, which the "
            "paper's drape shows for the first two, do not form between four corners alone.",
        ]

    membranes = {
        "Baraff-Witkin": BaraffWitkin((K, K), K),
        "ARAP": Arap(K) + DotShear(K),
        "StVK shear": BaraffWitkin((K, K), 0.0) + StvkShear(K),
    }
    title = "Drape test, k = 30, k_theta = 5e-7"
    return compare("kim2020-fig4", title, draped(n), membranes, K_THETA, say, conclude)
