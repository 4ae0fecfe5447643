"""Experiments of the certificate by name, and a function that runs some of them.

An experiment is a function that yields rows, registered by name (``weft.extensions``, kind
``certificate``).
"""

import dataclasses
import sys
from collections.abc import Callable, Sequence

from weft import extensions
from weft.base.errors import check_known
from weft.plugins.lab.validate.check import Check, Rows, attempt

__all__ = ["ALL", "FAST", "Check", "names", "part_of", "run", "topic"]

FAST, ALL = "fast", "all"  # runs by default, in under 30 s on two cores; runs with --all


_FAST = (
    "free-fall",
    "rigid-motion",
    "hanging-strip",
    "catenary",
    "elastica",
    "quadratic-bending",
    "euler-buckling",
    "drum",
    "hencky",
    "order",
    "derivatives",
    "spectra",
    "bias",
    "tension-field",
    "friction",
    "friction-at-rest",
    "wind",
    "limits",
    "creases",
    "internal-friction",
    "attachments",
    "rigid",
    "laboratory",
)


def _experiments() -> list[str]:
    """Return the registered experiments, those of the fast part first."""
    every = extensions.names("certificate")
    return [*_FAST, *(n for n in every if n not in _FAST)]


def names(part: str = ALL) -> list[str]:
    """Return the names of the experiments of a part, in the order in which they run.

    ``all`` stands for both parts.
    """
    return [n for n in _experiments() if part == ALL or part_of(n) == part]


def part_of(name: str) -> str:
    """Return the part of the certificate that an experiment belongs to: ``fast`` or ``all``."""
    return FAST if name in _FAST else ALL


def topic(name: str) -> str:
    """Return what an experiment compares: the first paragraph of its module's docstring."""
    text = sys.modules[extensions.find("certificate", name).__module__].__doc__ or ""
    return " ".join(text.split("\n\n")[0].split())


def run(
    names: Sequence[str] = (),
    on_result: Callable[[Check], None] | None = None,
    everything: bool = False,
) -> list[Check]:
    """Run experiments. One that raises gives a failed row with the reason, and the others go on.

    Args:
        names: experiments of either part; none means the fast part.
        on_result: called with every check as soon as it is done.
        everything: run both parts if ``names`` is empty.

    Returns:
        The rows, in the order of the certificate.

    Raises:
        WeftError: an unknown name.
    """
    for name in names:
        check_known(name, _experiments(), "experiment")
    checks = []
    for name in _experiments():
        part = part_of(name)
        if name in names or (not names and (everything or part == FAST)):
            for check in attempt(name, _rows, name):
                checks.append(dataclasses.replace(check, part=part))
                if on_result is not None:
                    on_result(checks[-1])
    return checks


def _rows(name: str) -> Rows:
    yield from extensions.find("certificate", name)()
