"""What do the shear term and the direction of the weft do to wrinkles (Kim 2020, figure 3)?

The stretched sheet without shear, and with wefts along [1 1] and [3 1]; k = 100, k_theta = 1e-4.
"""

from collections.abc import Mapping

import numpy as np

from weft.arrays import Positions
from weft.laws import BaraffWitkin
from weft.reproduce.kim import VERTICES, compare, stretched
from weft.reproduce.study import Say, Study

K, K_THETA = 100.0, 1e-4  # [N/m], [J]: the caption


def study(say: Say, n: int = VERTICES) -> Study:
    """Four membranes on one sheet."""

    def skewed(x: float, y: float) -> BaraffWitkin:
        return BaraffWitkin((K, K), K, weft=tuple(np.array([x, y]) / np.hypot(x, y)))

    def conclude(shapes: Mapping[str, Positions], deep: Mapping[str, float]) -> list[str]:
        listed = ", ".join(f"{label} {1e3 * v:.2f} mm" for label, v in deep.items())
        return [
            f"Relief: {listed}.",
            "Without shear the wrinkles are gone, as the paper says: fibers along the axes carry "
            "the pull without pushing the cloth sideways, and nothing buckles.",
            "With a skewed weft the wrinkles follow the fibers.",
        ]

    membranes = {
        "shear, b = [0 1]": BaraffWitkin((K, K), K),
        "no shear": BaraffWitkin((K, K), 0.0),
        "b = [1 1]": skewed(1, 1),
        "b = [3 1]": skewed(3, 1),
    }
    title = "Stretch test without shear, and with skewed wefts"
    return compare("kim2020-fig3", title, stretched(n), membranes, K_THETA, say, conclude)
