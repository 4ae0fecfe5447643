"""Laws and energies of fabrics with maps: every element has numbers of its own.

Where painted weights are w, the mean of an element's vertices, a number of an element is its value
for the fabric, plus w times the change to the fabric of weights of 1. The numbers of laws and of
hinges are linear in those of a fabric, so that every element is of the fabric that it should be;
those of quadratic bending and of pairs are if warp and weft keep their ratio.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.cloth.cloth import Cloth
from weft.fabric.fabric import Fabric
from weft.laws.base import Law, LawFunctions, SingleLaw, SumLaw


@dataclass(frozen=True, repr=False, eq=False)
class PaintedLaw(SingleLaw):
    """A law whose parameters are numbers of every sample."""

    functions: LawFunctions
    numbers: Mapping[str, Floats]

    def parameters(self) -> Mapping[str, Floats]:
        """Return values of the ``Params`` struct's fields, one for every sample."""
        return self.numbers


def paint_law(
    fabric: Fabric, make: Callable[[Fabric], Law], count: int, weights: Callable[[str], Floats]
) -> Law:
    """Return the law of a fabric at q samples.

    Args:
        fabric: the fabric.
        make: function that returns the law of a fabric without maps.
        count: q.
        weights: function that returns painted weights (q,) of the samples by their name.
    """
    law = make(fabric)
    if not fabric.maps:
        return law
    low = [part.parameter_array(count) for part in law.parts]
    new = [table.copy() for table in low]
    for painted, other in fabric.painted():
        w = weights(painted)
        for table, base, part in zip(new, low, make(other).parts, strict=True):
            high = part.parameter_array(count)
            for name in base.dtype.fields or {}:
                if table[name].dtype.kind == "f":
                    table[name] += np.einsum("q,q...->q...", w, high[name] - base[name])
    parts = tuple(
        PaintedLaw(part.functions, {name: table[name] for name in table.dtype.fields or {}})
        for part, table in zip(law.parts, new)
    )
    return parts[0] if len(parts) == 1 else SumLaw(parts)


def paint_energy(cloth: Cloth, fabric: Fabric, make: Callable[[Fabric], Any]) -> Any:
    """Return the bending energy of a fabric, whose constants are fields of it."""
    low = made = make(fabric)
    for weights, other in fabric.painted():
        w = cloth.element_weights(weights, low.stencil)
        high = make(other).constants
        changes = {name: high[name] - value for name, value in low.constants.items()}
        fields = {name: getattr(made, name) + w * by for name, by in changes.items() if by.any()}
        made = dataclasses.replace(made, **fields)
    return made
