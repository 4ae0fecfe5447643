"""Public names: each exported once, documented, and cheap to import."""

import inspect
import subprocess
import sys

import pytest

import weft

NAMES = [n for n in weft.__all__ if n != "laws"]


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    thing = getattr(weft, name)
    assert inspect.getdoc(thing), f"weft.{name} has no docstring"


def test_design_names_are_there():
    for name in (
        "sheet",
        "load",
        "Scene",
        "Pin",
        "simulate",
        "Run",
        "Psd",
        "TriangleMesh",
        "WeftError",
    ):
        assert name in weft.__all__
    assert weft.laws.BaraffWitkin and "sheet" in dir(weft)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'shet'"):
        _ = weft.shet


def test_import_loads_nothing_heavy():
    code = (
        "import sys, weft; print(sorted({'warp', 'numpy', 'scipy', 'pydantic'} & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"


def test_readme_example(tmp_path, monkeypatch):
    """The README's Python example runs as printed (fewer vertices, shorter)."""
    from pathlib import Path

    text = (Path(__file__).parents[1] / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    assert len(code.strip().splitlines()) <= 12
    monkeypatch.chdir(tmp_path)
    small = code.replace("66, 66", "8, 8").replace("seconds=2.0", "seconds=0.1")
    assert small != code
    exec(compile(small, "README.md", "exec"), {})
    assert list(tmp_path.glob("*.webp")) or list(tmp_path.glob("*.png"))
