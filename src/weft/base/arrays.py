"""Aliases of array types with the kind, shape and unit that signatures in weft refer to.

Type checkers read them as NumPy arrays. If a public function or class is ``checked``
(``runtime_types``), the ``ArrayOf`` of an alias is checked at every call.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]  # of space: a place, a direction, sizes or angles
Shape = tuple[int | None, ...]  # None: any size


@dataclass(frozen=True)
class ArrayOf:
    """The kind, shape and unit that an array argument must have.

    Args:
        kind: kind of the entries; ``ids`` are whole numbers that fit into int32.
        shapes: allowed shapes; empty: any.
        unit: SI unit of the numbers, or ``degrees``; text with a unit is accepted too.
        finite: NaN and infinity are rejected.
        least: lowest number that is allowed; None: any.
    """

    kind: Literal["numbers", "ids", "bools"]
    shapes: tuple[Shape, ...] = ()
    unit: str = ""
    finite: bool = True
    least: int | None = None

    def __str__(self) -> str:
        """Return a description: ``an array of numbers, shape (n, 3) [m]``."""
        kind = {"numbers": "numbers", "ids": "whole numbers", "bools": "True and False"}[self.kind]
        shapes = " or ".join(_shape_in_words(shape) for shape in self.shapes)
        unit = f" [{self.unit}]" if self.unit else ""
        return f"an array of {kind}{', ' if shapes else ''}{shapes}{unit}"

    @property
    def short(self) -> str:
        """The description in a signature: ``array (n, 3) [m]``."""
        kind = {"numbers": "array", "ids": "int array", "bools": "bool array"}[self.kind]
        shapes = " or ".join(_shape_in_words(s).removeprefix("shape ") for s in self.shapes)
        return " ".join(
            [kind, *([shapes] if shapes else []), *([f"[{self.unit}]"] * bool(self.unit))]
        )


def _shape_in_words(shape: Shape) -> str:
    names = iter("nmkl")
    sizes = [next(names) if k is None else str(k) for k in shape]
    return f"shape ({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


Floats = Annotated[NDArray[np.float64], ArrayOf("numbers")]
Ints = Annotated[NDArray[np.int32], ArrayOf("ids")]
Bools = Annotated[NDArray[np.bool_], ArrayOf("bools")]
AnyArray = NDArray[Any]  # entries of any kind, also records
Arrays = Mapping[str, AnyArray]  # arrays by name, as an archive or a table holds them

# a number, text with a unit, or lists of them: an array as soon as arguments are checked
ArrayArgument = Any
# a place or a translation; lists and tuples are accepted, also of text with units
Point = Annotated[ArrayArgument, ArrayOf("numbers", ((3,),), "m")]
# angles about x, y and z in turn: numbers are degrees, text has a unit
Angles = Annotated[ArrayArgument, ArrayOf("numbers", ((3,),), "degrees")]
Positions = Annotated[NDArray[np.float64], ArrayOf("numbers", ((None, 3),), "m")]
Velocities = Annotated[NDArray[np.float64], ArrayOf("numbers", ((None, 3),), "m/s")]
Forces = Annotated[NDArray[np.float64], ArrayOf("numbers", ((None, 3),), "N")]
# deformation gradients F = dx/dX, columns f0 (warp) and f1 (weft)
Gradients = Annotated[NDArray[np.float64], ArrayOf("numbers", ((None, 3, 2),))]
# vertex ids, counter-clockwise
Faces = Annotated[NDArray[np.int32], ArrayOf("ids", ((None, 3),))]
# material coordinates (warp, weft) of each face corner
CornerUv = Annotated[NDArray[np.float64], ArrayOf("numbers", ((None, 3, 2),), "m")]
VERTEX_IDS = ArrayOf("ids", ((None,), ()), least=0)  # a single id is accepted, too
VertexIds = Annotated[NDArray[np.int32], VERTEX_IDS]
VertexSelection = Annotated[ArrayArgument, VERTEX_IDS]
