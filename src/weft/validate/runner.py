"""Which experiments there are, and how to run some of them."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module

from weft.errors import WeftError
from weft.validate.check import Check

__all__ = ["Check", "names", "run"]

_EXPERIMENTS = {
    "free-fall": "free_fall",
    "rigid-motion": "rigid_motion",
    "hanging-strip": "hanging_strip",
    "catenary": "catenary",
    "elastica": "elastica",
    "order": "order",
}


def names() -> list[str]:
    """Names of all experiments, in the order in which they run."""
    return list(_EXPERIMENTS)


def run(
    names: Sequence[str] = (), on_result: Callable[[Check], None] | None = None
) -> list[Check]:
    """Run experiments.

    Args:
        names: which; none means all.
        on_result: called with every check as it is done.

    Raises:
        WeftError: an unknown name.
    """
    for name in names:
        if name not in _EXPERIMENTS:
            close = get_close_matches(name, _EXPERIMENTS, 1)
            raise WeftError("experiment", got=repr(name), expected=f"one of {', '.join(_EXPERIMENTS)}",
                            hint=f"did you mean {close[0]!r}?" if close else None)
    checks = []
    for name, module in _EXPERIMENTS.items():
        if not names or name in names:
            for check in import_module(f"weft.validate.{module}").checks():
                checks.append(check)
                if on_result is not None:
                    on_result(check)
    return checks
