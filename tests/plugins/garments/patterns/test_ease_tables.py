"""The ease of a garment is the same in ``weft check``, ``weft quality`` and ``weft grade``."""

from pathlib import Path

import pytest

import weft
from tests.plugins.garments.builders import scene_file
from weft.plugins.garments.bodies.sizes import sizes_between
from weft.plugins.garments.quality.grading import SizeEnd, SizeRun, measure_size
from weft.run.check_scene import check
from weft.run.quality import Quality
from weft.scene.build import load_scene

ZIP_SKIRT = Path("examples/garments/patterns/zip_skirt.yaml")
SCENE = """
cloth: {garment: {pattern: skirt.yaml, size: 3 cm}}
bodies: [{name: anna, mannequin: {figure: woman}}]
contact: {gap: 2 mm}
seconds: 0.1
"""


@pytest.mark.slow
def test_three_commands_give_the_same_ease(tmp_path):
    """Of a skirt with darts, pleats and a zip: the waist is drafted for 2 cm of ease in front and
    at the back."""
    path = scene_file(tmp_path, SCENE, skirt=ZIP_SKIRT.read_text())
    rows = [fact.split() for fact in check(path).facts if fact.startswith("  ")]
    checked = {row[0]: float(row[-3]) for row in rows if row[0] in ("waist", "hips")}
    out = tmp_path / "run"
    run = weft.simulate(load_scene(path).scene, frames=0, out=out, progress=False)
    found = Quality(run).measure_frame(0)["ease"]
    eases = {e["name"]: 100 * (e["garment"] - e["body"]) for e in found}
    assert checked == pytest.approx({n: eases[n] for n in ("waist", "hips")}, abs=0.051)
    graded = measure_size(SizeRun(sizes_between("38")[0], path, [], out), SizeEnd())
    assert eases["waist"] == pytest.approx(graded["ease_waist_cm"], abs=0.006)
    waist = next(100 * e["garment"] for e in found if e["name"] == "waist")
    assert waist == pytest.approx(72 + 4, abs=0.3)
