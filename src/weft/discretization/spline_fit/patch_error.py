"""Error about a piece of cloth that no spline patch fits, with data to draw it."""

from dataclasses import dataclass
from typing import Any

from weft.base.arrays import Floats
from weft.base.errors import MeshError


@dataclass(frozen=True)
class PatchDrawing:
    """Outline of a piece in the material plane, with the places that cause an error."""

    outline: Floats  # (k,2) [m]
    marks: Floats | tuple[()] = ()  # (j,2) [m] places to mark
    net: Floats | None = None  # (n1,n2,2) [m] control points; None: not computed yet
    corners: Floats | tuple[()] = ()  # (c,2) [m] corners of the patch


class PatchError(MeshError):
    """Error about a piece that no spline patch fits; ``drawing`` shows it in the material plane."""

    def __init__(self, what: str, *, drawing: PatchDrawing, **details: Any) -> None:
        super().__init__(what, **details)
        self.drawing = drawing
