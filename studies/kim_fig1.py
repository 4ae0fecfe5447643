"""Is ARAP more rubber-like than Baraff-Witkin's fibers (Kim 2020, figure 1)?

A sheet hangs by two corners that have come closer; k = 250, k_theta = 1e-8.
"""

from collections.abc import Mapping

from studies.kim import VERTICES, compare, hung, short_waves
from studies.study import Say, Study
from weft.base.arrays import Positions
from weft.laws import Arap, BaraffWitkin, DotShear

K, K_THETA = 250.0, 1e-8  # [N/m], [J]: the caption


def study(say: Say, n: int = VERTICES) -> Study:
    """Both membranes, and how much of their relief is in short waves."""
    where = hung(n)

    def conclude(shapes: Mapping[str, Positions], deep: Mapping[str, float]) -> list[str]:
        short = {k: short_waves(x[:, 2], n) for k, x in shapes.items()}
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
