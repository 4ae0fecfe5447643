"""Inputs that campaigns once found crashing: each is a named error now."""

import shutil
import warnings
from pathlib import Path

import pytest

from tests.fuzz import scenes
from tests.fuzz.campaign import wanting
from tests.fuzz.documents import WORN
from weft.base.errors import WeftError
from weft.plugins.lab.fitting.file import read_fit
from weft.scene.build import load_scene

FOUND = sorted((Path(__file__).parent / "found").iterdir())
MOVED = "bodies: [{mesh: {file: b.npz, fps: 10, hold: true}}]\n"


@pytest.mark.parametrize("path", FOUND, ids=lambda p: p.name)
def test_found_before(path, tmp_path):
    kind = path.name.partition("_")[0]
    name = {"pattern": "worn.yaml", "archive": "b.npz", "fit": "fit.yaml"}[kind]
    shutil.copy(path, tmp_path / name)
    scene = tmp_path / "scene.yaml"
    scene.write_text(WORN if kind == "pattern" else scenes.SHEET + MOVED)
    with pytest.raises(WeftError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read_fit(tmp_path / name) if kind == "fit" else load_scene(scene)
    assert not wanting(caught.value)
