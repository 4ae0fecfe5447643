"""Which studies there are, and how to run one."""

from collections.abc import Callable
from importlib import import_module
from inspect import signature

from weft.errors import WeftError, check_known
from weft.reproduce.study import Say, Study

_STUDIES = {
    "pritchard-scale": "scale",
    "pritchard-unit-magnitude": "unit_magnitude",
    "pritchard-macri": "macri",
    "pritchard-damping": "damping",
    "pritchard-rest-stretch": "rest_stretch",
    "kim2020-fig1": "kim_fig1",
    "kim2020-fig2": "kim_fig2",
    "kim2020-fig3": "kim_fig3",
    "kim2020-fig4": "kim_fig4",
    "kim2020-fig5": "kim_fig5",
    "locking": "locking",
    "spline-convergence": "spline_convergence",
    "spline-wrinkles": "spline_wrinkles",
    "meng2025-hanging": "meng_hanging",
    "meng2025-drape": "meng_drape",
    "meng2025-shear": "meng_shear",
    "meng2025-quadrature": "meng_quadrature",
    "meng2025-skirt": "meng_skirt",
    "buckling-mesh": "buckling_mesh",
    "buckling-compression": "buckling_compression",
    "buckling-bias": "buckling_bias",
    "buckling-anisotropy": "buckling_anisotropy",
}


def names() -> list[str]:
    """Names of all studies."""
    return list(_STUDIES)


def question(name: str) -> str:
    """The first line of a study's docstring: what it asks."""
    text = import_module(f"weft.reproduce.{_STUDIES[name]}").__doc__ or ""
    return " ".join(text.split("\n\n")[0].split())


def run(name: str, say: Say = lambda _: None, n: int | None = None) -> Study:
    """Run a study.

    Args:
        name: which.
        say: called with a line for every part that is done.
        n: vertices a side, of studies on one mesh; None: as published.

    Raises:
        WeftError: an unknown name, or an n that is too small or that the study does not have.
    """
    check_known(name, _STUDIES, "study")
    study: Callable[..., Study] = import_module(f"weft.reproduce.{_STUDIES[name]}").study
    if n is None:
        return study(say)
    if "n" not in signature(study).parameters:
        raise WeftError("--n", got=f"with {name}", expected="a study on one mesh: kim2020-...")
    if n < 8:
        raise WeftError("--n", got=n, expected="at least 8 vertices a side")
    return study(say, n)
