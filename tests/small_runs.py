"""Two small runs that tests of files and pictures read."""

import pytest

import weft
from weft.scene.build import load_scene

MADE = """
cloths:
- {name: a, sheet: {nx: 5, ny: 4, width: 30 cm, height: 30 cm}, translation: [0, 2 cm, 0]}
- {name: b, sheet: {nx: 4, ny: 4, width: 30 cm, height: 20 cm}, translation: [0, 4 cm, 0]}
contact: {gap: 4 mm, thickness: 1 mm}
bodies:
- {name: ball, sphere: {radius: 8 cm, size: 8 cm}, translation: [0, -8.5 cm, 0], path: {hold: true,
  keyframes: [{time: 0.1, translation: [0, 0, 0]}, {time: 0.2, translation: [2 cm, 0, 0]}]}}
- {box: {width: 1 m, height: 10 cm, depth: 1 m, size: 50 cm}, translation: [0, -40 cm, 0]}
seconds: 0.2 s
"""

SEEN = """
cloths:
- {name: a, sheet: {nx: 9, ny: 8, width: 30 cm, height: 30 cm}, translation: [0, 2 cm, 0]}
- name: b </script>
  sheet: {nx: 4, ny: 4, width: 30 cm, height: 20 cm}
  translation: [0, 5 cm, 0]
contact: {gap: 4 mm, thickness: 1 mm}
pins: [{cloth: a, corners: all}]
bodies:
- {name: ball, sphere: {radius: 8 cm, size: 5 cm}, translation: [0, -8.2 cm, 0], path: {hold: true,
  keyframes: [{time: 0.1, translation: [0, 0, 0]}, {time: 0.2, translation: [2 cm, 0, 0]}]}}
- {box: {width: 1 m, height: 10 cm, depth: 1 m, size: 50 cm}, translation: [0, -40 cm, 0]}
seconds: 0.2 s
"""


def run_of(text, folder):
    """Return the whole run of a scene file in a folder."""
    (folder / "scene.yaml").write_text(text)
    loaded = load_scene(folder / "scene.yaml")
    return weft.simulate(
        loaded.scene, frames=loaded.frames, out=folder / "run", progress=False, fsync=False
    )


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A run of 7 frames: two cloths, a ball that moves from frame 3 on, and a box at rest."""
    return run_of(MADE, tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="session")
def seen(tmp_path_factory):
    """A run of 7 frames: two cloths, one held at its corners, a ball that moves, a box at rest."""
    return run_of(SEEN, tmp_path_factory.mktemp("seen"))
