"""Which benchmarks there are, and how to run some of them."""

from collections.abc import Callable, Sequence
from importlib import import_module

from benchmarks.measure import BenchMeasure, BenchSelection, failure, info
from benchmarks.reference import Machine, machine
from weft.base.errors import WeftError, check_known

__all__ = ["BenchMeasure", "BenchSelection", "Machine", "names", "run"]

_BENCHMARKS = {
    "import": ("startup", "import_time"),
    "first-step": ("startup", "first_step"),
    "freecloth-direct": ("freecloth", "direct"),
    "freecloth-multigrid": ("freecloth", "multigrid"),
    "freecloth-pcg": ("freecloth", "pcg"),
    "freecloth-1998": ("freecloth", "of_1998"),
    "assembly": ("assembly", "assembly"),
    "multigrid": ("multigrid", "multigrid"),
    "stretch": ("multigrid", "stretch"),
    "million": ("multigrid", "million"),
    "buckling": ("buckling", "curtain"),
    "spline": ("spline", "hanging"),
    "spline-quadrature": ("spline", "quadrature"),
    "contact": ("contact", "kernels"),
    "contact-drape": ("contact_drape", "contact_drape"),
    "contact-pile": ("contact_pile", "pile"),
    "forces": ("forces", "forces"),
    "memory": ("memory", "memory"),
    "adjoint": ("adjoint", "adjoint"),
    "adjoint-large": ("adjoint", "large"),
    "render": ("render", "render"),
    "sweep": ("sweep", "sweep"),
    "batch": ("batch", "batch"),
    "play": ("play", "play"),
    "garments": ("garments", "garments"),
    "demo": ("startup", "demo"),
}
_OF_SCENES = ("contact-drape",)  # that take a selection of their scenes


def names() -> list[str]:
    """Names of all benchmarks, in the order in which they run."""
    return list(_BENCHMARKS)


def run(
    names: Sequence[str] = (),
    on_result: Callable[[BenchMeasure], None] | None = None,
    selection: BenchSelection | None = None,
    on_machine: Callable[[Machine], None] | None = None,
) -> list[BenchMeasure]:
    """Time the machine, then run benchmarks; the first measure is the machine's factor.

    A benchmark that raises an error gives a measure with that ``error``, and the next one begins.

    Args:
        names: which; none means all.
        on_result: called with every measure as it is done.
        selection: of scenes, for benchmarks that consist of some.
        on_machine: called with the machine, before anything else.

    Raises:
        WeftError: an unknown name or scene, or scenes of a benchmark that has none.
    """
    for name in names:
        check_known(name, _BENCHMARKS, "benchmark")
    chosen = selection or BenchSelection()
    if chosen.only and names and not set(names) & set(_OF_SCENES):
        raise WeftError("only", got=list(names), expected=f"one of {list(_OF_SCENES)}")
    for module in {_BENCHMARKS[name][0] for name in _OF_SCENES}:
        import_module(f"benchmarks.{module}").check(chosen)
    at = machine()
    if on_machine is not None:
        on_machine(at)
    measures: list[BenchMeasure] = []

    def note(measure: BenchMeasure) -> None:
        measures.append(measure.on(at.factor))
        if on_result is not None:
            on_result(measures[-1])

    note(info("machine/factor", at.factor, "x the reference machine"))
    for name, (module, function) in _BENCHMARKS.items():
        if (names and name not in names) or (chosen.only and name not in _OF_SCENES):
            continue
        try:
            benchmark = getattr(import_module(f"benchmarks.{module}"), function)
            for measure in benchmark(chosen) if name in _OF_SCENES else benchmark():
                note(measure)
        except Exception as error:  # the others still run
            note(failure(name, error))
    return measures
