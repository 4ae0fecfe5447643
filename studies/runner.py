"""Which studies there are, and how to run one."""

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature

from studies.study import Say, Study
from weft.base.errors import WeftError, check_known

_STUDIES = {
    "pritchard-scale": "scale",
    "pritchard-unit-magnitude": "unit_magnitude",
    "pritchard-macri": "macri",
    "pritchard-damping": "damping",
    "pritchard-rest-stretch": "rest_stretch",
    "kim2020-fig1": "kim_fig1",
    "kim2020-fig2": "kim_fig2",
    "kim2020-fig3": "kim_fig3",
    "kim2020-fig3-skewed": "kim_fig3_skewed",
    "kim2020-fig4": "kim_fig4",
    "kim2020-fig5": "kim_fig5",
    "bending": "bending",
    "locking": "locking",
    "spline-convergence": "spline_convergence",
    "spline-wrinkles": "spline_wrinkles",
    "wrinkles": "wrinkles",
    "resolution": "resolution",
    "meng2025-hanging": "meng_hanging",
    "meng2025-drape": "meng_drape",
    "meng2025-shear": "meng_shear",
    "meng2025-quadrature": "meng_quadrature",
    "meng2025-skirt": "meng_skirt",
    "buckling-mesh": "buckling_mesh",
    "buckling-compression": "buckling_compression",
    "buckling-bias": "buckling_bias",
    "buckling-anisotropy": "buckling_anisotropy",
    "effort": "effort",
    "iterations": "iterations",
    "gradients-at-snaps": "snaps",
    "fabric-recovery": "fabric_recovery",
    "drape-friction": "drape_friction",
    "garments": "garments_worn",
}
# Of some studies: the least, what it counts, and which they are.
_NUMBERS = {
    "n": (8, "vertices a side", "on one mesh: kim2020-..., effort"),
    "seeds": (
        1,
        "start",
        "that repeats: effort and iterations (starts), fabric-recovery (noise), drape-friction",
    ),
}


def names() -> list[str]:
    """Names of all studies."""
    return list(_STUDIES)


def question(name: str) -> str:
    """The first line of a study's docstring: what it asks."""
    text = import_module(f"studies.{_STUDIES[name]}").__doc__ or ""
    return " ".join(text.split("\n\n")[0].split())


def run(
    name: str,
    say: Say = lambda _: None,
    n: int | None = None,
    seeds: int | None = None,
    only: Sequence[str] = (),
    quick: bool = False,
    coarse: bool = False,
    random: int = 0,
    seed: int = 0,
) -> Study:
    """Run a study.

    Args:
        name: which.
        say: called with a line for every part that is done.
        n: vertices a side, of studies on one mesh; None: as published.
        seeds: starts, of studies that take the mean over some; None: as published.
        only: names of a study's cases, of studies that have names for them; none: all cases.
        quick: run a shorter form of a study that has one.
        coarse: run a study that has them with coarse cells.
        random: number of cases drawn at random, of studies that draw cases.
        seed: of these cases.

    Raises:
        WeftError: an unknown name, a number that is too small or that the study does not have.
    """
    check_known(name, _STUDIES, "study")
    study: Callable[..., Study] = import_module(f"studies.{_STUDIES[name]}").study
    given = {key: value for key, value in (("n", n), ("seeds", seeds)) if value is not None}
    for key, (least, unit, who) in _NUMBERS.items():
        if key not in given:
            continue
        if key not in signature(study).parameters:
            raise WeftError(f"--{key}", got=f"with {name}", expected=f"a study {who}")
        if given[key] < least:
            raise WeftError(f"--{key}", got=given[key], expected=f"at least {least} {unit}")
    every = {"only": only, "quick": quick, "coarse": coarse, "random": random, "seed": seed}
    cases = {key: value for key, value in every.items() if value}
    for key in cases:
        if key not in signature(study).parameters:
            raise WeftError(
                f"--{key}", got=f"with {name}", expected="a study that has it: garments"
            )
    return study(say, **given, **cases)
