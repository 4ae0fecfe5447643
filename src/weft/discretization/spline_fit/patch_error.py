"""A piece that no spline patch fits, and what can be drawn of it."""

from dataclasses import dataclass
from typing import Any

from weft.base.arrays import Floats
from weft.base.errors import MeshError


@dataclass(frozen=True)
class PatchDrawing:
    """A piece in the material plane, with what is wrong."""

    outline: Floats  # (k,2) [m]
    marks: Floats | tuple[()] = ()  # (j,2) [m] places to point at
    net: Floats | None = None  # (n1,n2,2) [m] control points, where there are some
    corners: Floats | tuple[()] = ()  # (c,2) [m] corners that were found or given


class PatchError(MeshError):
    """A piece that no spline patch fits; carries what can be drawn of it, in the material plane."""

    def __init__(self, what: str, *, drawing: PatchDrawing, **details: Any) -> None:
        super().__init__(what, **details)
        self.drawing = drawing
