"""`make check` and `make test`: what they select exists, and contact comes last."""

import re
import tomllib
from pathlib import Path

from tests import conftest

ROOT = Path(__file__).parents[1]


def test_makefile_and_tests_have_the_markers_of_pyproject():
    """No expression of the Makefile selects by a marker that does not exist or that nobody has."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    known = {line.split(":")[0] for line in config["markers"]}
    said = set(re.findall(r'-m "([^"]+)"', (ROOT / "Makefile").read_text()))
    named = set(re.findall(r"\w+", " ".join(said))) - {"not", "and", "or"}
    assert {"quick", "slow", "campaign", "browser"} == named <= known
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert all(f"pytest.mark.{name}" in tests for name in named)


class Item:
    """A collected test, as far as tests/conftest.py looks at it."""

    def __init__(self, path):
        self.path, self.keywords = Path(path), {}


def test_contact_comes_last(pytestconfig):
    """The others keep their order; and pytest-xdist does not sort files anew."""
    paths = ["tests/engine/contact/a.py", "tests/b.py", "tests/engine/contact/a.py", "tests/a.py"]
    items = [Item(path) for path in paths]
    conftest.pytest_collection_modifyitems(pytestconfig, items)
    assert [str(i.path) for i in items] == [paths[1], paths[3], paths[0], paths[0]]
    assert "--no-loadscope-reorder" in (ROOT / "Makefile").read_text()
