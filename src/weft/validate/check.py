"""One row of the certificate."""

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

NAN = float("nan")


class RowBasis(enum.StrEnum):
    """Where the expected value of a row comes from, and so what the row can show."""

    REFERENCE = "reference"  # a closed form, an independent solver, or an exact bound
    SELF = "self"  # weft itself: another mesh, another run, differences of its own values
    # A measurement with scatter, a usual range, a scaling law, or a limit that weft is known to
    # have: a miss is shown, but it does not fail the certificate.
    INDICATIVE = "indicative"


@dataclass(frozen=True)
class Check:
    """The expected value, weft's value, and whether they agree within the tolerance."""

    name: str  # experiment, or experiment/case
    expected: float  # nan where the case ended in an error
    got: float
    error: float  # relative where ``expected`` is not zero, else absolute
    tolerance: float
    ok: bool
    note: str = ""
    part: str = ""  # of the certificate: ``fast`` or ``all``; the runner says which
    basis: RowBasis = RowBasis.REFERENCE

    @property
    def failed(self) -> bool:
        """Whether the row fails the certificate: it is missed and not indicative."""
        return not self.ok and self.basis is not RowBasis.INDICATIVE


def compare(
    name: str, expected: float, got: float, tolerance: float, basis: RowBasis = RowBasis.REFERENCE
) -> Check:
    """Return the row that compares ``got`` with ``expected``: relative, or absolute where the
    expected value is zero.
    """
    difference = abs(float(got) - expected)
    error = difference / abs(expected) if expected else difference
    ok = bool(error <= tolerance)
    return Check(name, float(expected), float(got), error, tolerance, ok, basis=basis)


def attempt(name: str, case: Callable[..., Iterable[Check]], *args: Any) -> Iterator[Check]:
    """Yield the rows of a case; where it raises, one failed row with the reason takes the place of
    the rows that were still to come, so that an error costs a row and not the certificate.

    An error fails the certificate whatever the basis of the missing rows is.
    """
    try:
        yield from case(*args)
    except Exception as error:  # whatever it is, it is what the row has to say
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        yield Check(name, NAN, NAN, NAN, NAN, False, reason)
