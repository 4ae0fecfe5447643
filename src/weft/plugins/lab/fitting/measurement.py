"""Base of all measurements: the residuals of a fabric, and their Jacobian.

A kind of measurement is a frozen dataclass in its own file and one line of ``file.KINDS``.
Residuals are divided by the standard deviation of the data, so that half of their sum of squares is
the negative logarithm of the likelihood. Numbers of a fabric are positive; the fit works with their
logarithms, and derivatives are taken with respect to these.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from weft.base.arrays import Floats
from weft.base.trees import Json, YamlMapping
from weft.fabric.fabric import UNITS, Fabric

if TYPE_CHECKING:
    from weft.plugins.lab.fitting.picture import ClothPicture

STEP = 1e-4  # of central differences, in the logarithm of a number
MOVED = 1e-5  # [m] largest displacement in differences of what is seen of a cloth


@dataclass(frozen=True, eq=False)
class Comparison:
    """Data and model of one measurement for plots."""

    x_label: str  # with the unit
    y_label: str
    x: Floats  # (m,)
    data: Floats  # (m,)
    sigma: Floats  # (m,)
    model: Floats  # (m,)


class Measurement:
    """A measurement of a fabric, and its prediction by weft.

    A subclass has ``name``, ``data``, ``sigma``, ``depends_on`` and ``model``, and what else it
    knows.

    Attributes:
        name: name in the fit file and in reports.
        sigma: (m,) standard deviations of the data, or one number.
        pictures: sources of the data, for plots.
        slow: true if an evaluation takes seconds; slow measurements are fitted last.
        tells_ratio: false if the data tell the mean of warp and weft alone.
        advice: what to do if the measurement does not fit.
    """

    name: str
    sigma: Floats | float
    pictures: Sequence["ClothPicture"] = ()
    slow: ClassVar[bool] = False
    tells_ratio: ClassVar[bool] = True
    advice: ClassVar[str] = "check the uncertainty"

    if TYPE_CHECKING:  # subclasses have fields or properties, and a property here hides fields

        @property
        def data(self) -> Floats | float:
            """(m,) data, or one number."""

        @property
        def depends_on(self) -> tuple[str, ...]:
            """Fields of a fabric on which ``model`` depends."""

    @property
    def free(self) -> int:
        """Return the number of its own unknowns, each of which costs one degree of freedom."""
        return 0

    def model(self, fabric: Fabric) -> Floats | float:
        """Return what weft predicts for the data, (m,) or one number."""
        raise NotImplementedError

    def slopes(self, fabric: Fabric, fields: Sequence[str]) -> Mapping[str, Floats | float]:
        """Return d model/d log(field) for fields of a fabric; fields that are left out have zero.

        Without a formula it is a central difference, which suits models that are cheap and smooth.
        """

        def moved(field: str, step: float) -> Floats | float:
            return self.model(scale_field(fabric, field, np.exp(step)))

        asked = [f for f in fields if f in self.depends_on]
        return {f: (moved(f, STEP) - moved(f, -STEP)) / (2 * STEP) for f in asked}

    def residuals(self, fabric: Fabric) -> Floats:
        """Return (model - data)/(standard deviation of the data), (m,) [1]."""
        return np.atleast_1d((self.model(fabric) - self.data) / self.sigma)

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return d residual/d log(field), (m, len(fields)) [1]."""
        slopes, out = self.slopes(fabric, fields), np.zeros((np.size(self.data), len(fields)))
        for k, field in enumerate(fields):
            out[:, k] = slopes.get(field, 0.0) / self.sigma
        return out

    def near(self, fabric: Fabric) -> Self:
        """Return this measurement, prepared for evaluations near a fabric."""
        return self

    def implies(self, fabric: Fabric) -> Mapping[str, float]:
        """Return rough values [SI] of fields that the data imply, given the others of ``fabric``.

        They start the fit and reveal wrong units.
        """
        return {}

    def remarks(self, fabric: Fabric) -> Sequence[str]:
        """Return sentences about the fitted fabric for the report."""
        return ()

    def comparison(self, fabric: Fabric) -> Comparison | None:
        """Return data and model for plots; None: only the residuals are plotted."""
        return None


@dataclass(frozen=True, eq=False)
class FixedFields:
    """Fields that a fit file sets without a fit: a curve, or the absence of one."""

    name: str
    fields: YamlMapping
    note: str  # a sentence for the report

    def implies(self, fabric: Fabric) -> Mapping[str, float]:
        """Return the numbers [SI] among the fields."""
        return {f: v for f, v in self.fields.items() if f in UNITS}


def set_logarithms(fabric: Fabric, fields: Sequence[str], logs: Sequence[float] | Floats) -> Fabric:
    """Return the fabric with the fields set to the exponentials of ``logs``."""
    values: Json = {f: float(np.exp(v)) for f, v in zip(fields, logs)}
    return dataclasses.replace(fabric, **values)


def scale_field(fabric: Fabric, field: str, factor: float) -> Fabric:
    """Return the fabric with one field multiplied by ``factor``."""
    value: Json = {field: getattr(fabric, field) * factor}
    return dataclasses.replace(fabric, **value)


def directional_derivative(numbers: Callable[[Floats], Floats], rate: Floats) -> Floats:
    """Return the derivative of numbers of a cloth whose vertices move with a rate.

    Args:
        numbers: a function of the displacement (...,n,3) [m] of the vertices.
        rate: (...,n,3) [m].
    """
    size = float(np.abs(rate).max())
    step = MOVED / size if size > 0 else 1.0
    return (numbers(step * rate) - numbers(-step * rate)) / (2 * step)
