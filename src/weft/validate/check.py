"""One line of the certificate."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """What was expected, what weft got, and whether that is good enough."""

    name: str  # experiment, or experiment/case
    expected: float
    got: float
    error: float  # relative where ``expected`` is not zero, else absolute
    tolerance: float
    ok: bool
    note: str = ""


def compare(name: str, expected: float, got: float, tolerance: float) -> Check:
    """A check of ``got`` against ``expected``: relative, or absolute where the expected value is
    zero.
    """
    difference = abs(float(got) - expected)
    error = difference / abs(expected) if expected else difference
    return Check(name, float(expected), float(got), error, tolerance, bool(error <= tolerance))
