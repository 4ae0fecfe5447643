"""Experiments of the certificate by name, and a function that runs some of them.

An experiment is a function that yields rows, registered by name (``weft.extensions``): those that
always run are of kind ``certificate``, those that ``--all`` adds of kind ``long certificate``.
"""

import dataclasses
import sys
from collections.abc import Callable, Sequence

from weft import extensions
from weft.base.errors import check_known
from weft.plugins.lab.validate.check import Check, Rows, attempt

__all__ = ["ALL", "FAST", "Check", "names", "part_of", "run", "topic"]

FAST, ALL = "fast", "all"  # runs by default, in under 30 s on two cores; runs with --all


def names(part: str = ALL) -> list[str]:
    """Return the names of the experiments of a part, in the order in which they run.

    ``all`` stands for both parts.
    """
    return [*extensions.names("certificate"), *(_long_experiments() if part == ALL else ())]


def part_of(name: str) -> str:
    """Return the part of the certificate that an experiment belongs to: ``fast`` or ``all``."""
    return ALL if name in _long_experiments() else FAST


def _long_experiments() -> list[str]:
    return extensions.names("long certificate")


def _experiment(name: str) -> Callable[[], Rows]:
    """Return the function that yields the rows of an experiment."""
    kind: extensions.Kind = "long certificate" if part_of(name) == ALL else "certificate"
    found: Callable[[], Rows] = extensions.find(kind, name)
    return found


def topic(name: str) -> str:
    """Return what an experiment compares: the first paragraph of its module's docstring."""
    text = sys.modules[_experiment(name).__module__].__doc__ or ""
    return " ".join(text.split("\n\n")[0].split())


def run(
    chosen: Sequence[str] = (),
    on_result: Callable[[Check], None] | None = None,
    everything: bool = False,
) -> list[Check]:
    """Run experiments. One that raises gives a failed row with the reason, and the others go on.

    Args:
        chosen: experiments of either part; none means the fast part.
        on_result: called with every check as soon as it is done.
        everything: run both parts if ``chosen`` is empty.

    Returns:
        The rows, in the order of the certificate.

    Raises:
        WeftError: an unknown name.
    """
    for name in chosen:
        check_known(name, names(), "experiment")
    checks = []
    for name in names():
        if name not in (chosen or names(ALL if everything else FAST)):
            continue
        for check in attempt(name, _rows, name):
            checks.append(dataclasses.replace(check, part=part_of(name)))
            if on_result is not None:
                on_result(checks[-1])
    return checks


def _rows(name: str) -> Rows:
    yield from _experiment(name)()
