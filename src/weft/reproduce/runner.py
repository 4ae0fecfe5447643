"""Which studies there are, and how to run one."""

from importlib import import_module

from weft.errors import check_known
from weft.reproduce.study import Say, Study

_STUDIES = {
    "pritchard-scale": "scale",
    "pritchard-unit-magnitude": "unit_magnitude",
    "pritchard-macri": "macri",
    "pritchard-damping": "damping",
    "pritchard-rest-stretch": "rest_stretch",
}


def names() -> list[str]:
    """Names of all studies."""
    return list(_STUDIES)


def question(name: str) -> str:
    """The first line of a study's docstring: what it asks."""
    text = import_module(f"weft.reproduce.{_STUDIES[name]}").__doc__ or ""
    return " ".join(text.split("\n\n")[0].split())


def run(name: str, say: Say = lambda _: None) -> Study:
    """Run a study.

    Args:
        name: which.
        say: called with a line for every part that is done.

    Raises:
        WeftError: an unknown name.
    """
    check_known(name, _STUDIES, "study")
    study: Study = import_module(f"weft.reproduce.{_STUDIES[name]}").study(say)
    return study
