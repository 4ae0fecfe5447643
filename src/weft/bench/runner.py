"""Which benchmarks there are, and how to run some of them."""

from collections.abc import Callable, Sequence
from importlib import import_module

from weft.bench.measure import Measure
from weft.errors import check_known

__all__ = ["Measure", "names", "run"]

_BENCHMARKS = {
    "import": ("startup", "import_time"),
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
    "contact-drape": ("contact_scenes", "drape"),
    "contact-pile": ("contact_scenes", "pile"),
    "memory": ("memory", "memory"),
    "render": ("render", "render"),
    "demo": ("startup", "demo"),
}


def names() -> list[str]:
    """Names of all benchmarks, in the order in which they run."""
    return list(_BENCHMARKS)


def run(
    names: Sequence[str] = (), on_result: Callable[[Measure], None] | None = None
) -> list[Measure]:
    """Run benchmarks.

    Args:
        names: which; none means all.
        on_result: called with every measure as it is done.

    Raises:
        WeftError: an unknown name.
    """
    for name in names:
        check_known(name, _BENCHMARKS, "benchmark")
    measures = []
    for name, (module, function) in _BENCHMARKS.items():
        if not names or name in names:
            for measure in getattr(import_module(f"weft.bench.{module}"), function)():
                measures.append(measure)
                if on_result is not None:
                    on_result(measure)
    return measures
