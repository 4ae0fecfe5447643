"""One number of a fabric over another: what is known of warp against weft where data say a mean.

A drape sees the mean of both directions' rigidity; that they are alike, or one half as large again,
is then an assumption, and stands in the file with its uncertainty.
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
    """A ratio of two numbers, known to a factor."""

    name: str
    fields: tuple[str, str]
    value: float
    sigma: float  # of its logarithm

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Both."""
        return self.fields

    def residuals(self, fabric: Fabric) -> Floats:
        """(1,)."""
        one, two = (getattr(fabric, f) for f in self.fields)
        return np.array([np.log(one / (two * self.value)) / self.sigma])

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """(1, len(fields))."""
        slope = {self.fields[0]: 1 / self.sigma, self.fields[1]: -1 / self.sigma}
        return np.array([[slope.get(f, 0.0) for f in fields]])


def read(block: DataBlock) -> Sequence[Measurement]:
    """The measurement that a block says."""
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
