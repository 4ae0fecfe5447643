"""Garments that are played: panels moved before they are sewn, frozen, and a figure that poses."""

from itertools import pairwise

import numpy as np
import pytest

import weft
from tests.engine.live.test_session import steps, tell
from tests.plugins.garments.builders import scene_file, scene_of
from tests.plugins.garments.scene.test_sewing_again import scene_in
from tests.refusals import refused
from weft.base.errors import SceneError, SimulationError, WeftError
from weft.live.save import SceneSource, save_play, save_scene
from weft.live.session import Session
from weft.run.run_folder import RunFolder
from weft.scene.build import Builder, load_scene
from weft.scene.changes import Change
from weft.scene.file import read_source, validate


def played(folder, path):
    """Return a session of a scene file, and the source of its files."""
    source = read_source(path)
    loaded = Builder(source, validate(source)).build()
    session = Session(loaded.scene, loaded.fps, RunFolder(folder / "run", fsync=False))
    return session, SceneSource.of(source.tree, source.path, None)


@pytest.fixture
def tube(tmp_path):
    """Return a session of two panels beside a limb, and the source of its files."""
    scene_in(tmp_path, "0, 0.3", narrow=True)
    session, source = played(tmp_path, tmp_path / "scene.yaml")
    front, back = session.base.cloth.parts
    session.panels = {"front": front.vertices, "back": back.vertices}
    return session, source


def test_a_panel_is_moved_before_it_is_sewn(tube, tmp_path):
    session, source = tube
    before = session.place.state.x.copy()
    tell(session, {"do": "place", "panel": "front", "by": [0.01, 0.02, 0.03]})
    moved = session.place.state.x - before
    assert np.allclose(moved[session.panels["front"]], [0.01, 0.02, 0.03])
    assert not moved[session.panels["back"]].any()
    with pytest.raises(SceneError, match="intersect"):
        tell(session, {"do": "place", "panel": "front", "by": [0.0, 0.0, -0.13]})
    x = steps(session, 5)
    with pytest.raises(WeftError, match="before seams close"):
        tell(session, {"do": "place", "panel": "front", "by": [0.01, 0.0, 0.0]})
    run = weft.simulate(save_play(session, source), out=tmp_path / "again", progress=False)
    per_frame = session.loop.steps
    for k in range(1, 5 // per_frame + 1):
        assert np.array_equal(run.points(k), x[k * per_frame - 1])


def test_a_frozen_panel_stays(tube):
    session, _ = tube
    steps(session, 4)
    tell(session, {"do": "freeze", "panel": "front", "on": True})
    at = session.place.state.x[session.panels["front"]]
    other = session.place.state.x[session.panels["back"]]
    steps(session, 10)
    assert np.abs(session.place.state.x[session.panels["front"]] - at).max() < 2e-3
    assert np.abs(session.place.state.x[session.panels["back"]] - other).max() > 1e-2
    tell(session, {"do": "freeze", "panel": "front", "on": False})
    steps(session, 1)
    assert not session._live.hands


def test_a_worn_garment_is_saved_with_closed_seams(tube, tmp_path):
    session, source = tube
    while session.t < 0.6:
        steps(session, 1)
    scene = load_scene(save_scene(session, source, "worn")).scene
    again = Session(scene, 20.0, RunFolder(tmp_path / "r", fsync=False))
    steps(again, 10)
    # Two panels of 18 cm are tight on the limb: their seams stay open as they were, by 2.4 mm.
    assert widest_gap(again) < 1.1 * widest_gap(session) < 3e-3


def widest_gap(session):
    """Return the widest gap [m] of the seams."""
    x, seams = session.place.state.x, session.base.cloth.seams
    return max(float(np.linalg.norm(x[p[:, 0]] - x[p[:, 1]], axis=1).max()) for _, p in seams)


FIGURE = """
cloth: {sheet: {nx: 6, ny: 6, width: 20 cm, height: 20 cm}, translation: [0, 1.9 m, 0]}
bodies: [{name: anna, mannequin: {size: 2 cm}, translation: [5 cm, 0, 0], rotation: [0, 30, 0]}]
contact: {gap: 4 mm}
step: 20 ms
fps: 25
"""


@pytest.fixture
def figure(tmp_path):
    """Return a session of a sheet above a figure, and the source of its files."""
    return played(tmp_path, scene_file(tmp_path, FIGURE))


# Some seconds: a figure takes 1.2 s for a pose, in steps of 20 ms; the play is run again.
@pytest.mark.campaign
def test_a_figure_takes_poses_while_cloth_moves(figure, tmp_path):
    session, source = figure
    path = "bodies.anna.pose"
    at = [session.loop.model.bodies(session.t)]

    def go(count):
        for _ in range(count):
            steps(session, 1)
            at.append(session.loop.model.bodies(session.t))

    go(2)
    assert session.control_values()[path] == "a_pose"
    tell(session, {"do": "set", "path": path, "value": "arms_down"})
    go(20)
    tell(session, {"do": "set", "path": path, "value": "sit"})  # before the arms are down
    go(56)
    assert session.control_values()[path] == "sit"
    # It moves continuously, and ends in the pose of the mannequin, where the scene has put it.
    assert max(np.abs(b - a).max() for a, b in pairwise(at)) < 0.05
    sitting = weft.Mannequin.of("woman", size=0.02).pose_vertices("sit")
    c, s = np.cos(np.radians(30)), np.sin(np.radians(30))
    turned = sitting @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T + [0.05, 0, 0]
    assert np.abs(at[-1] - turned).max() < 1e-9
    run = weft.simulate(save_play(session, source), out=tmp_path / "again")
    assert np.array_equal(run.positions(), session.place.state.x)
    assert np.array_equal(run.body_positions(), at[-1])


@pytest.mark.parametrize("value", ["arms_down", "1 arms_down, 0.5 sit", "1 jump", 3.0, "nan sit"])
def test_poses_that_cannot_be(tmp_path, value):
    scene = scene_of(tmp_path, FIGURE)
    with refused(SceneError, "bodies.anna.pose"):
        scene.with_(changes=[Change(0, {"bodies.anna.pose": value})])


# Some seconds: two poses of 1.2 s in steps of 20 ms.
@pytest.mark.campaign
def test_undo_moves_a_figure_back_and_a_file_cannot_make_it_jump(figure, tmp_path):
    session, source = figure
    path = "bodies.anna.pose"
    tell(session, {"do": "set", "path": path, "value": "arms_down"})
    steps(session, 60)
    before = session.loop.model.bodies(session.t)
    tell(session, {"do": "undo"})
    steps(session, 1)
    assert np.abs(session.loop.model.bodies(session.t) - before).max() < 0.05
    steps(session, 59)
    assert session.control_values()[path] == "a_pose"
    start = session.loop.model.bodies(0.0)
    assert np.abs(session.loop.model.bodies(session.t) - start).max() < 1e-7
    scene = load_scene(save_play(session, source)).scene
    jumping = scene.with_(changes=[scene.changes[0], Change(0.2, {path: "0.5 sit"})])
    with pytest.raises(SimulationError, match="anna jumps by"):
        weft.simulate(jumping, seconds=0.4, out=tmp_path / "jump", progress=False)
