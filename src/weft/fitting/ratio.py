"""One number of a fabric over another: an assumption on warp against weft for data that determine
only their mean.

A drape depends on the mean rigidity of both directions. That both are equal, or that one is larger
by half, is then an assumption, which the file states with its uncertainty.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import check_known
from weft.fabric.fabric import UNITS, Fabric
from weft.fitting.block import DataBlock
from weft.fitting.measurement import Measurement

FIELDS = {
    "fields": "two numbers of the fabric of one unit: [bending_warp, bending_weft]",
    "value": "the first over the second, such as 1.2",
    "uncertainty": "standard deviation, relative; 20 %",
}


@dataclass(frozen=True)
class Ratio:
    """A ratio of two fields, known to a factor."""

    name: str
    fields: tuple[str, str]
    value: float
    sigma: float  # standard deviation of its logarithm

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return both fields."""
        return self.fields

    def residuals(self, fabric: Fabric) -> Floats:
        """Return the residual, (1,)."""
        one, two = (getattr(fabric, f) for f in self.fields)
        return np.array([np.log(one / (two * self.value)) / self.sigma])

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return the Jacobian, (1, len(fields))."""
        slope = {self.fields[0]: 1 / self.sigma, self.fields[1]: -1 / self.sigma}
        return np.array([[slope.get(f, 0.0) for f in fields]])


def read(block: DataBlock) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    said = block.tree.get("fields")
    if not isinstance(said, list) or len(said) != 2 or said[0] == said[1]:
        raise block.error("fields", said, "two fields, such as [bending_warp, bending_weft]")
    for name in said:
        check_known(str(name), list(UNITS), f"{block.called}.fields")
    if UNITS[said[0]] != UNITS[said[1]]:
        raise block.error("fields", f"{UNITS[said[0]]} and {UNITS[said[1]]}", "one unit")
    value = block.number("value", "1", above=0)
    sigma = block.number("uncertainty", "1", 0.2, above=0, most=10)
    called = block.text("name", f"{said[0]} over {said[1]}")
    return [Ratio(called, (said[0], said[1]), value, float(np.log1p(sigma)))]
