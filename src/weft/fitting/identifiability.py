"""Detection of undetermined fields: weak eigenvectors of the Gauss-Newton Hessian."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats

WEAK = 0.5  # standard deviation of a logarithm above which a direction is open (factor 1.65)
TOGETHER = 0.1  # of the largest component: fields with a smaller one are not reported
LIKE = 0.5  # of the largest component: a field with a larger one may be the one that is held
# Preference among the fields of a direction for the one that is held: fields that a balance or a
# gauge gives come first.
FIRST = (
    "thickness",
    "damping",
    "rest_stretch_warp",
    "rest_stretch_weft",
    "density",
    "stretch_warp",
    "stretch_weft",
    "shear",
    "bending_weft",
    "bending_warp",
)


@dataclass(frozen=True)
class UndeterminedField:
    """A field that the data do not determine, and the fields that change together with it.

    Attributes:
        field: the field that is held.
        factor: factor to which the direction is known (one standard deviation); inf: not at all.
        others: other fields of the direction, and their exponents if ``field`` has exponent 1.
        value: [SI] at which the field is held.
    """

    field: str
    factor: float
    others: tuple[tuple[str, float], ...]
    value: float = np.nan

    @property
    def text(self) -> str:
        """Return the reason as a sentence."""
        known = (
            "the data do not change"
            if self.factor > 1e3
            else f"the data tell it only to a factor of {self.factor:.2g}"
        )
        if not self.others:
            return known if self.factor <= 1e3 else f"{known} with it"
        along = ", ".join(f"{f} x r{_power(p)}" for f, p in ((self.field, 1.0), *self.others))
        if self.factor > 1e3:
            return f"{known} where {along}, whatever r"
        return f"{known} that {along} at once"


def weakest_direction(N: Floats, fields: Sequence[str], limit: float) -> UndeterminedField | None:
    """Return the weakest direction of N = J^T J (n,n) if its standard deviation exceeds ``limit``.

    Args:
        N: (n,n) Gauss-Newton Hessian in the logarithms of the fields.
        fields: their n names.
        limit: standard deviation of a logarithm.

    Returns:
        The field to hold, or None if all directions are determined.
    """
    values, vectors = np.linalg.eigh(N)
    value, v = max(float(values[0]), 0.0), vectors[:, 0]
    if value * limit**2 >= 1:
        return None
    alike = [f for f, part in zip(fields, np.abs(v)) if part >= LIKE * np.abs(v).max()]
    held = min(alike, key=FIRST.index)
    powers = v / v[list(fields).index(held)]
    others = tuple(
        (f, round(float(p), 2))
        for f, p in zip(fields, powers)
        if f != held and abs(p) >= TOGETHER * np.abs(powers).max()
    )
    # An eigenvalue below the round-off error of the largest one is zero: nothing is known.
    blind = value <= 1e-12 * max(float(values[-1]), 1.0)
    return UndeterminedField(
        held, np.inf if blind else float(np.exp(min(value**-0.5, 700.0))), others
    )


def _power(p: float) -> str:
    return "" if p == 1.0 else f"^{p:g}"
