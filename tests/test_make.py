"""`make check` and `make test`: what they select exists, and contact comes last."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

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


def test_contact_comes_last():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/contact/test_sides.py",
        "tests/test_docs.py",
    ]
    out = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    files = [line.split("::")[0] for line in out.splitlines() if "::" in line]
    assert files[0] == "tests/test_docs.py" and files[-1] == "tests/contact/test_sides.py"
    assert files == sorted(files, key=lambda f: "contact" in f)
