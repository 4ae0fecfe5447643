"""The stress scenes of examples/contact: nothing intersects after any part of a step. Small
versions here; whole ones are slow.
"""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.contact.builders import parts_of
from tests.stepping import nothing_crosses
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

SCENES = Path(__file__).parents[3] / "examples" / "contact"
NAMES = sorted(p.stem for p in SCENES.glob("*.yaml"))
SHEET = ("cloth.sheet.nx=9", "cloth.sheet.ny=9", "contact.gap=8 mm")
SMALL = {
    "gathered": (20, (*SHEET, "cloth.sheet.nx=13", "cloth.sheet.ny=15")),
    "grasp": (9, (*SHEET, "contact.gap=4 mm", "step=20 ms")),
    "pile": (4, [f"cloths.{k}.sheet.{n}=7" for k in range(10) for n in ("nx", "ny")]),
    "pressed": (12, ("cloth.sheet.nx=11", "cloth.sheet.ny=11", "step=20 ms")),
    "ring": (6, (*SHEET, "step=20 ms")),
    "shot": (2, ("cloth.sheet.nx=9", "cloth.sheet.ny=9")),
    "sphere": (8, SHEET),
    "twist": (14, ("cloth.sheet.nx=17", "cloth.sheet.ny=7", "contact.gap=8 mm", "step=20 ms")),
}


def test_every_scene_has_a_small_version():
    assert sorted(SMALL) == NAMES


def clean(name, overrides=(), frames=None):
    """The last state and all reports; nothing intersects after any part of a step."""
    loaded = load_scene(SCENES / f"{name}.yaml", overrides)
    scene, reports = loaded.scene, []
    for part in parts_of(scene, round((frames or loaded.frames) / loaded.fps / scene.step)):
        nothing_crosses(prepare(scene).model, part.state, part.report)
        reports.append(part.report)
    assert max(report.contact["count"] for report in reports) > 5  # something has touched
    return part.state, reports


@pytest.mark.parametrize("name", NAMES)
def test_small(name):
    frames, overrides = SMALL[name]
    clean(name, (*overrides, "fps=25"), frames)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_whole(name):
    state, reports = clean(name)
    if name == "sphere":  # impact and rest together: 11.9 to 13.2 as rounding leads it
        assert 2 * np.mean([report.iterations for report in reports]) <= 15  # two steps a frame
    if name == "grasp":  # still held after it was shaken
        assert state.x[:, 1].max() > 0.45
    if name == "ring":
        assert state.x[:, 1].max() < 0.0  # all through
