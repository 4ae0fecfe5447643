"""Experiments of the certificate by name, and a function that runs some of them."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from weft.base.errors import check_known
from weft.plugins.lab.validate.check import Check, Rows, attempt

__all__ = ["ALL", "FAST", "Check", "names", "part_of", "run", "topic"]

FAST, ALL = "fast", "all"  # runs by default, in under 30 s on two cores; runs with --all


@dataclass(frozen=True)
class Experiment:
    """Module and function of an experiment, and its part of the certificate."""

    module: str
    part: str = FAST
    function: str = "checks"


_EXPERIMENTS = {
    "free-fall": Experiment("free_fall"),
    "rigid-motion": Experiment("rigid_motion"),
    "hanging-strip": Experiment("hanging_strip"),
    "catenary": Experiment("catenary"),
    "elastica": Experiment("elastica"),
    "quadratic-bending": Experiment("quadratic_bending"),
    "euler-buckling": Experiment("euler_buckling"),
    "drum": Experiment("drum"),
    "hencky": Experiment("hencky"),
    "order": Experiment("order"),
    "derivatives": Experiment("derivatives"),
    "spectra": Experiment("spectra"),
    "bias": Experiment("bias"),
    "tension-field": Experiment("tension_field"),
    "friction": Experiment("friction"),
    "friction-at-rest": Experiment("friction_at_rest"),
    "wind": Experiment("wind"),
    "flutter": Experiment("flutter"),
    "limits": Experiment("limits"),
    "creases": Experiment("creases"),
    "internal-friction": Experiment("internal_friction"),
    "attachments": Experiment("attachments"),
    "rigid": Experiment("rigid"),
    "rods": Experiment("rods", ALL),
    "jointed": Experiment("jointed", ALL),
    "arms": Experiment("arms", ALL),
    "laboratory": Experiment("laboratory"),
    "fitting": Experiment("fitting", ALL),
    "pillow": Experiment("pillow", ALL),
    "numerical-damping": Experiment("numerical_damping", ALL),
    "wrinkles": Experiment("wrinkles", ALL),
    "adjoint": Experiment("adjoint", ALL),
    "capstan": Experiment("friction", ALL, "capstan"),
    "capstan-at-rest": Experiment("friction_at_rest", ALL, "capstan"),
    "drape": Experiment("laboratory", ALL, "drapes"),
}


def names(part: str = ALL) -> list[str]:
    """Return the names of the experiments of a part, in the order in which they run.

    ``all`` stands for both parts.
    """
    return [n for n, e in _EXPERIMENTS.items() if part == ALL or e.part == part]


def part_of(name: str) -> str:
    """Return the part of the certificate that an experiment belongs to: ``fast`` or ``all``."""
    return _EXPERIMENTS[name].part


def topic(name: str) -> str:
    """Return what an experiment compares: the first paragraph of its module's docstring."""
    experiment = _EXPERIMENTS[name]
    text = import_module(f"weft.plugins.lab.validate.{experiment.module}").__doc__ or ""
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
        check_known(name, _EXPERIMENTS, "experiment")
    checks = []
    for name, experiment in _EXPERIMENTS.items():
        if name in names or (not names and (everything or experiment.part == FAST)):
            for check in attempt(name, _rows, experiment):
                checks.append(dataclasses.replace(check, part=experiment.part))
                if on_result is not None:
                    on_result(checks[-1])
    return checks


def _rows(experiment: Experiment) -> Rows:
    module = import_module(f"weft.plugins.lab.validate.{experiment.module}")
    yield from getattr(module, experiment.function)()
