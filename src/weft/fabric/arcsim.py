"""Tables of a material of ARCSim (Wang, O'Brien & Ramamoorthi 2011): stiffness over direction,
strain and curvature. The plugin ``lab`` reads them from files, and docs/explanations/arcsim.md says
what they mean in weft's laws.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError
from weft.base.runtime_types import checked

Table = tuple[tuple[float, ...], ...]
# Rigidity D [N m] over a bending number: ARCSim's hinges have a quarter of it times l^2/A, weft's
# 5/4 D l^2/A (``energies/elastic/hinge_bending.py``).
RIGIDITY = 0.2


@checked(FabricError, "arcsim", unchecked=("stiffnesses", "rigidities"))
@dataclass(frozen=True)
class ArcsimTables:
    """The tables of an ARCSim material file.

    Args:
        stretching: 6 rows c11, c12, c22, c33 [N/m]: at rest and, stretched by a sixth, along 0,
            22.5, 45, 67.5 and 90 degrees to the warp.
        bending: 3 rows of 5 [N m]: of edges at 0, 45 and 90 degrees to the warp, at curvatures of
            0 to 40 1/m in steps of 10.

    Raises:
        FabricError: tables of another shape, or no stiffness of warp or weft at rest.
    """

    stretching: Table
    bending: Table

    def __post_init__(self) -> None:
        for name, shape in (("stretching", (6, 4)), ("bending", (3, 5))):
            rows = getattr(self, name)
            if [len(row) for row in rows] != [shape[1]] * shape[0]:
                sizes = ", ".join(str(len(row)) for row in rows)
                raise FabricError(
                    name, got=f"rows of {sizes}", expected=f"{shape[0]} rows of {shape[1]} numbers"
                )
        numbers = {"stretching.0.0": self.stretching[0][0], "stretching.0.2": self.stretching[0][2]}
        numbers |= {"bending.0.0": self.bending[0][0], "bending.2.0": self.bending[2][0]}
        for name, number in numbers.items():
            if not number > 0:
                raise FabricError(name, got=number, expected="must be > 0 for cloth at rest")

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers of a fabric with these tables: stiffness at small strain and curvature."""
        warp, _, weft, shear = self.stretching[0]
        stretch = {"stretch_warp": 2 * warp, "stretch_weft": 2 * weft, "shear": max(shear, 0.0)}
        bending = {"bending_warp": self.bending[2][0], "bending_weft": self.bending[0][0]}
        return stretch | {name: RIGIDITY * D for name, D in bending.items()}

    def stiffnesses(self, stretch: tuple[float, float], shear: float) -> Floats:
        """Return the rows k11, k12, k22, k33 (6,4) [N/m] of ``laws/data_driven.py``.

        ARCSim takes k = 2 c, and its forces are those of 1/2 k11 u^2 + ... + k33 w^2. Each column
        is multiplied so that a fabric of ``stretch`` of warp and weft and of ``shear`` [N/m] has
        these numbers at rest.
        """
        own = self.numbers
        warp, weft = stretch[0] / own["stretch_warp"], stretch[1] / own["stretch_weft"]
        slide = shear / own["shear"] if own["shear"] > 0 else 1.0
        factors = np.array([warp, np.sqrt(warp * weft), weft, slide])
        return np.asarray(2 * factors * np.array(self.stretching))

    def rigidities(self, bending: tuple[float, float]) -> Floats:
        """Return D (3,5) [N m] of edges at 0, 45 and 90 degrees to the warp, of bent cloth.

        They are multiplied so that cloth at rest has the rigidities ``bending`` of warp and weft.
        """
        own = self.numbers
        warp, weft = bending[0] / own["bending_warp"], bending[1] / own["bending_weft"]
        factors = RIGIDITY * np.array([weft, (warp + weft) / 2, warp])
        return np.asarray(factors[:, None] * np.maximum(self.bending, 0.0))
