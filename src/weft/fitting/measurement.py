"""What every kind of measurement is to the fit: residuals of a fabric, and their derivative.

A kind is a frozen dataclass in a file of its own, and a line of ``kinds.KINDS``. Residuals are over
the standard deviation of the data, so that half their sum of squares is the negative logarithm of
the likelihood. Numbers of a fabric are positive: what is fitted is their logarithm, and derivatives
are by it.

Besides what ``Measurement`` asks for a kind may have

- ``slow = True``: seconds an evaluation; fitted after the others, with progress,
- ``near(fabric)``: the same measurement, made ready for fabrics near to one,
- ``implies(fabric)``: numbers of a fabric that it says, roughly, with one for the others: where a
  fit begins, and for questions of units,
- ``free``: unknowns of its own, each of which takes a degree of freedom away,
- ``advice``: what to do where it does not fit,
- ``remarks(fabric)``: what it says of a fabric that was found, a sentence each,
- ``compared(fabric)``: a ``Comparison``, for pictures.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from weft.base.arrays import Floats
from weft.fabric.fabric import Fabric

STEP = 1e-4  # of a logarithm, in differences


@runtime_checkable
class Measurement(Protocol):
    """Something that was measured of a fabric, and what weft says of it."""

    @property
    def name(self) -> str:
        """As in the file and in reports."""

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Fields of a fabric of which the residuals are a function."""

    def residuals(self, fabric: Fabric) -> Floats:
        """(m,) [1] (model - data)/standard deviation of the data."""

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """(m, len(fields)) d residual/d log(field)."""


def with_logs(fabric: Fabric, fields: Sequence[str], logs: Sequence[float] | Floats) -> Fabric:
    """The fabric with the numbers of these fields; ``logs`` are their natural logarithms."""
    values: dict[str, Any] = {f: float(np.exp(v)) for f, v in zip(fields, logs)}
    return dataclasses.replace(fabric, **values)


def scaled(fabric: Fabric, field: str, factor: float) -> Fabric:
    """The fabric with one number ``factor`` times as large."""
    value: dict[str, Any] = {field: getattr(fabric, field) * factor}
    return dataclasses.replace(fabric, **value)


def by_differences(
    measurement: Measurement, fabric: Fabric, fields: Sequence[str], step: float = STEP
) -> Floats:
    """(m, len(fields)) the Jacobian by central differences: two evaluations a field on which the
    measurement depends, for models that are cheap and smooth.
    """
    columns: list[Floats | None] = []
    for field in fields:
        if field not in measurement.depends_on:
            columns.append(None)
            continue
        up, down = (measurement.residuals(scaled(fabric, field, np.exp(s))) for s in (step, -step))
        columns.append((up - down) / (2 * step))
    rows = next((len(c) for c in columns if c is not None), None)
    if rows is None:
        rows = len(measurement.residuals(fabric))
    return np.stack([np.zeros(rows) if c is None else c for c in columns], axis=1)


def without_constant(rows: Floats, sigma: Floats) -> Floats:
    """(m,) or (m,n) residuals, or their derivative, after the constant that suits them best has
    been added to the model: what hysteresis adds to a loading branch. One row less counts.

    Args:
        rows: over ``sigma``.
        sigma: (m,) standard deviations.
    """
    w = 1 / sigma
    rows = np.asarray(rows)
    share = (w @ rows) / float(w @ w)
    return np.asarray(rows - np.multiply.outer(w, share))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Data beside the model, for pictures: a measurement that has ``compared(fabric)`` gives it."""

    x_label: str  # with the unit
    y_label: str
    x: Floats  # (m,)
    data: Floats  # (m,)
    sigma: Floats  # (m,)
    model: Floats  # (m,)


@dataclass(frozen=True, eq=False)
class Given:
    """Fields that a file says outright, without a fit: a curve, or that there is none."""

    name: str
    fields: Mapping[str, Any]
    note: str  # a sentence for the report
