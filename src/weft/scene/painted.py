"""Laws and energies of fabrics with maps: every element has numbers of its own.

Where painted weights are w, the mean of an element's vertices, a number of an element is its value
for the fabric, plus w times the change to the fabric of weights of 1. The numbers of laws and of
hinges are linear in those of a fabric, so that every element is of the fabric that it should be;
those of quadratic bending and of pairs are if warp and weft keep their ratio.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.cloth.cloth import Cloth
from weft.fabric.fabric import Fabric
from weft.laws.base import Law, sampled_law


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
    return sampled_law(law, new)


def paint_energy(cloth: Cloth, fabric: Fabric, make: Callable[[Fabric], Any]) -> Any:
    """Return the bending energy of a fabric, whose constants are fields of it."""
    low = made = make(fabric)
    for weights, other in fabric.painted():
        w = cloth.element_weights(weights, low.stencil)
        high = make(other).constants
        changes = {name: high[name] - value for name, value in low.constants.items()}
        fields = {
            name: getattr(made, name) + (w * by.T).T for name, by in changes.items() if by.any()
        }
        made = dataclasses.replace(made, **fields)
    return made
