"""Which experiments there are, and how to run some of them."""

from collections.abc import Callable, Sequence
from importlib import import_module

from weft.errors import check_known
from weft.validate.check import Check

__all__ = ["Check", "names", "run"]

_EXPERIMENTS = {
    "free-fall": "free_fall",
    "rigid-motion": "rigid_motion",
    "hanging-strip": "hanging_strip",
    "catenary": "catenary",
    "elastica": "elastica",
    "order": "order",
    "derivatives": "derivatives",
    "spectra": "spectra",
    "bias": "bias",
    "tension-field": "tension_field",
    "pillow": "pillow",
    "friction": "friction",
}


def names() -> list[str]:
    """Names of all experiments, in the order in which they run."""
    return list(_EXPERIMENTS)


def run(names: Sequence[str] = (), on_result: Callable[[Check], None] | None = None) -> list[Check]:
    """Run experiments.

    Args:
        names: which; none means all.
        on_result: called with every check as it is done.

    Raises:
        WeftError: an unknown name.
    """
    for name in names:
        check_known(name, _EXPERIMENTS, "experiment")
    checks = []
    for name, module in _EXPERIMENTS.items():
        if not names or name in names:
            for check in import_module(f"weft.validate.{module}").checks():
                checks.append(check)
                if on_result is not None:
                    on_result(check)
    return checks
