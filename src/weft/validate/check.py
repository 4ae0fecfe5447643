"""One line of the certificate."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

NAN = float("nan")


@dataclass(frozen=True)
class Check:
    """What was expected, what weft got, and whether that is good enough."""

    name: str  # experiment, or experiment/case
    expected: float  # nan where the case ended in an error
    got: float
    error: float  # relative where ``expected`` is not zero, else absolute
    tolerance: float
    ok: bool
    note: str = ""
    part: str = ""  # of the certificate: ``fast`` or ``all``; the runner says which


def compare(name: str, expected: float, got: float, tolerance: float) -> Check:
    """A check of ``got`` against ``expected``: relative, or absolute where the expected value is
    zero.
    """
    difference = abs(float(got) - expected)
    error = difference / abs(expected) if expected else difference
    return Check(name, float(expected), float(got), error, tolerance, bool(error <= tolerance))


def attempt(name: str, case: Callable[..., Iterable[Check]], *args: Any) -> Iterator[Check]:
    """The rows of a case; where it raises, one failed row with the reason in place of what was
    still to come, so that an error costs a row and not the certificate.
    """
    try:
        yield from case(*args)
    except Exception as error:  # whatever it is, it is what the row has to say
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        yield Check(name, NAN, NAN, NAN, NAN, False, reason)
