"""Is ARAP more rubber-like than Baraff-Witkin's fibers (Kim 2020, figure 1)?

A sheet hangs by two corners that have come closer; k = 250, k_theta = 1e-8.
"""

from collections.abc import Mapping

import numpy as np

from weft.arrays import Positions
from weft.laws import Arap, BaraffWitkin, DotShear
from weft.reproduce.kim import VERTICES, compare, hung
from weft.reproduce.study import Say, Study

K, K_THETA = 250.0, 1e-8  # [N/m], [J]: the caption


def study(say: Say, n: int = VERTICES) -> Study:
    """Both membranes, and how much of their relief is in short waves."""
    where = hung(n)

    def conclude(shapes: Mapping[str, Positions], deep: Mapping[str, float]) -> list[str]:
        short = {k: short_waves(x, n) for k, x in shapes.items()}
        bw, arap = short["Baraff-Witkin"], short["ARAP"]
        return [
            f"Relief {1e3 * deep['Baraff-Witkin']:.1f} mm with fibers and {1e3 * deep['ARAP']:.1f} "
            "mm with ARAP.",
            f"Height in waves shorter than an eighth of the sheet: {1e3 * bw:.2f} mm with fibers, "
            f"{1e3 * arap:.2f} mm with ARAP ({100 * (arap / bw - 1):+.0f} %). The paper sees high "
            "frequencies slightly suppressed with ARAP; its scene is not given.",
        ]

    membranes = {
        "Baraff-Witkin": BaraffWitkin((K, K), K),
        "ARAP": Arap(K) + DotShear(K),
    }
    title = "Hung by two corners, k = 250, k_theta = 1e-8"
    return compare("kim2020-fig1", title, where, membranes, K_THETA, say, conclude)


def short_waves(x: Positions, n: int) -> float:
    """[m] root mean square depth that smoothing over an eighth of the sheet takes away."""
    from scipy.ndimage import uniform_filter

    z = x[:, 2].reshape(n, n)
    return float(np.sqrt(np.mean((z - uniform_filter(z, max(3, n // 8), mode="nearest")) ** 2)))
