"""Public names: cheap to import; and what the README shows."""

import subprocess
import sys
from pathlib import Path

import pytest

import weft
from weft.scene.build import load_scene

pytestmark = pytest.mark.quick


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'shet'"):
        _ = weft.shet


@pytest.mark.parametrize("module", ["weft", "weft.cli.commands"])
def test_import_loads_nothing_heavy(module):
    """``import weft``, and the table of commands that every command and ``--help`` load."""
    heavy = {"warp", "numpy", "scipy", "pydantic"}
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"


def test_readme_example(tmp_path, monkeypatch):
    """The README's Python example runs as printed (fewer vertices, shorter)."""
    text = (Path(__file__).parents[1] / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    assert len(code.strip().splitlines()) <= 12
    monkeypatch.chdir(tmp_path)
    small = code.replace("66, 66", "8, 8").replace("seconds=2.0", "seconds=0.1")
    assert small != code
    exec(compile(small, "README.md", "exec"), {})
    assert list(tmp_path.glob("*.webp")) or list(tmp_path.glob("*.png"))


def test_fabrics_that_differ_in_the_last_digit_stay_two(tmp_path):
    """Equal fabrics of a scene are one; a repr that rounds must not make different ones equal."""
    one = "{sheet: {nx: 3, ny: 3}, fabric: {preset: silk, density: %s g/m^2}}"
    text = f"cloths: [{one % '60.000001'}, {one % '60.000002'}]\n"
    path = tmp_path / "two.yaml"
    path.write_text(text)
    parts = load_scene(path).scene.cloth.parts
    assert parts[0].fabric is not parts[1].fabric
