"""Interface of a measurement: its residuals for a fabric, and their Jacobian.

A kind of measurement is a frozen dataclass in its own file and one line of ``kinds.KINDS``. Where a
model predicts the data one by one, ``CurveMeasurement`` is its base.
Residuals are divided by the standard deviation of the data, so that half of their sum of squares is
the negative logarithm of the likelihood. Numbers of a fabric are positive; the fit works with their
logarithms, and derivatives are taken with respect to these.

A kind may have these optional members in addition to those of ``Measurement``:

- ``slow = True``: an evaluation takes seconds; slow measurements are fitted last, with progress,
- ``near(fabric)``: return the same measurement, prepared for evaluations near a fabric,
- ``implies(fabric)``: return rough values of the fields that the data imply, given the other fields
  of ``fabric``; they start the fit and reveal wrong units,
- ``free``: number of unknowns of its own, each of which costs one degree of freedom,
- ``advice``: what to do if the measurement does not fit,
- ``remarks(fabric)``: sentences about the fitted fabric for the report,
- ``comparison(fabric)``: return a ``Comparison`` of data and model for plots.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from weft.base.arrays import Floats
from weft.base.trees import Json, YamlMapping
from weft.fabric.fabric import Fabric

STEP = 1e-4  # of central differences, in the logarithm of a number


@runtime_checkable
class Measurement(Protocol):
    """A measurement of a fabric, and its prediction by weft."""

    @property
    def name(self) -> str:
        """Return the name in the fit file and in reports."""

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return the fields of a fabric on which the residuals depend."""

    def residuals(self, fabric: Fabric) -> Floats:
        """Return (model - data)/(standard deviation of the data), (m,) [1]."""

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return d residual/d log(field), (m, len(fields)) [1]."""


def set_logarithms(fabric: Fabric, fields: Sequence[str], logs: Sequence[float] | Floats) -> Fabric:
    """Return the fabric with the fields set to the exponentials of ``logs``."""
    values: Json = {f: float(np.exp(v)) for f, v in zip(fields, logs)}
    return dataclasses.replace(fabric, **values)


def scale_field(fabric: Fabric, field: str, factor: float) -> Fabric:
    """Return the fabric with one field multiplied by ``factor``."""
    value: Json = {field: getattr(fabric, field) * factor}
    return dataclasses.replace(fabric, **value)


def difference_jacobian(
    measurement: Measurement, fabric: Fabric, fields: Sequence[str], step: float = STEP
) -> Floats:
    """Return the Jacobian by central differences, (m, len(fields)).

    It costs two evaluations for each field on which the measurement depends, so it suits models
    that are cheap and smooth.
    """
    columns: list[Floats | None] = []
    for field in fields:
        if field not in measurement.depends_on:
            columns.append(None)
            continue
        up, down = (
            measurement.residuals(scale_field(fabric, field, np.exp(s))) for s in (step, -step)
        )
        columns.append((up - down) / (2 * step))
    rows = next((len(c) for c in columns if c is not None), None)
    if rows is None:
        rows = len(measurement.residuals(fabric))
    return np.stack([np.zeros(rows) if c is None else c for c in columns], axis=1)


def without_constant(rows: Floats, sigma: Floats) -> Floats:
    """Remove the best-fitting constant from residuals, or from their derivative.

    The constant is what hysteresis adds to a loading branch. It is an unknown, so it takes one
    degree of freedom.

    Args:
        rows: (m,) or (m,n) residuals, or their derivative, divided by ``sigma``.
        sigma: (m,) standard deviations.

    Returns:
        (m,) or (m,n) residuals, or their derivative, at the constant that minimizes the sum of
        squares.
    """
    w = 1 / sigma
    rows = np.asarray(rows)
    share = (w @ rows) / float(w @ w)
    return np.asarray(rows - np.multiply.outer(w, share))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Data and model of one measurement for plots, as returned by ``comparison(fabric)``."""

    x_label: str  # with the unit
    y_label: str
    x: Floats  # (m,)
    data: Floats  # (m,)
    sigma: Floats  # (m,)
    model: Floats  # (m,)


class CurveMeasurement:
    """Base of measurements of one number or of a curve, whose data a model predicts.

    A subclass is a dataclass with the fields below, ``model`` and, if the model is no more than a
    formula, ``slopes``.
    """

    name: str
    data: Floats | float  # (m,), or one number
    sigma: Floats | float  # standard deviations of the data

    def model(self, fabric: Fabric) -> Floats | float:
        """Return what weft predicts for the data, (m,) or one number."""
        raise NotImplementedError

    def slopes(self, fabric: Fabric) -> Mapping[str, Floats | float]:
        """Return d model/d log(field) by field; it is zero for fields that are left out."""
        raise NotImplementedError

    def residuals(self, fabric: Fabric) -> Floats:
        """Return the residuals, (m,)."""
        return np.atleast_1d((self.model(fabric) - self.data) / self.sigma)

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return the Jacobian, (m, len(fields))."""
        slopes, none = self.slopes(fabric), np.zeros_like(self.data)
        return np.stack([np.atleast_1d(slopes.get(f, none) / self.sigma) for f in fields], axis=1)


@dataclass(frozen=True, eq=False)
class FixedFields:
    """Fields that a fit file sets without a fit: a curve, or the absence of one."""

    name: str
    fields: YamlMapping
    note: str  # a sentence for the report
