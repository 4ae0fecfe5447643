"""Rows of the certificate, and how they are computed."""

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import SupportsFloat

NAN = float("nan")


class RowBasis(enum.StrEnum):
    """Source of a row's expected value, which decides what the row can show."""

    REFERENCE = "reference"  # a closed form, an independent solver, or an exact bound
    SELF = "self"  # weft itself: another mesh, another run, differences of its own values
    # A measurement with scatter, a usual range, a scaling law, or a limit that weft is known to
    # have: a miss is shown, but it does not fail the certificate.
    INDICATIVE = "indicative"


@dataclass(frozen=True)
class Check:
    """A row of the certificate: expected value, weft's value, and whether they agree."""

    name: str  # experiment, or experiment/case
    expected: float  # nan if the case ended in an error
    got: float
    error: float  # relative if ``expected`` is not zero, else absolute
    tolerance: float
    ok: bool
    note: str = ""
    part: str = ""  # of the certificate: ``fast`` or ``all``; the runner says which
    basis: RowBasis = RowBasis.REFERENCE

    @property
    def failed(self) -> bool:
        """Return whether the row fails the certificate: its value is off, and it is not
        indicative.
        """
        return not self.ok and self.basis is not RowBasis.INDICATIVE


Rows = Iterator[Check]  # of an experiment, or of one of its cases


def compare(
    name: str,
    expected: SupportsFloat,
    got: SupportsFloat,
    tolerance: float,
    basis: RowBasis = RowBasis.REFERENCE,
) -> Check:
    """Return the row that compares ``got`` with ``expected``.

    The error is relative, or absolute if the expected value is zero.
    """
    reference, value = float(expected), float(got)
    difference = abs(value - reference)
    error = difference / abs(reference) if reference else difference
    return Check(name, reference, value, error, tolerance, error <= tolerance, basis=basis)


def attempt(name: str, case: Callable[..., Iterable[Check]], *args: object) -> Rows:
    """Yield the rows of a case, and one failed row with the reason if the case raises an error.

    The failed row takes the place of the rows that were still to come. An error therefore costs a
    row and not the certificate, but it fails the certificate whatever the basis of the missing
    rows.
    """
    try:
        yield from case(*args)
    except Exception as error:  # any error is reported in the row, and the other cases go on
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        yield Check(name, NAN, NAN, NAN, NAN, False, reason)


def measure(
    name: str,
    expected: SupportsFloat,
    tolerance: float,
    measurement: Callable[..., SupportsFloat],
    *args: object,
    basis: RowBasis = RowBasis.REFERENCE,
) -> Rows:
    """Yield the row that compares what ``measurement(*args)`` returns with ``expected``; a failed
    row if it raises an error.
    """

    def row() -> Rows:
        yield compare(name, expected, measurement(*args), tolerance, basis)

    yield from attempt(name, row)
