"""A played simulation: what hands and controls do, and that a file of it gives the same run."""

import numpy as np
import pytest

import weft
from weft.base.errors import Outlook, SceneError, StartProblem, WeftError
from weft.energies.springs.hand import PIN, Hand
from weft.live.messages import read_messages
from weft.live.save import SceneSource, save_play, save_scene
from weft.live.session import Session
from weft.live.worker import print_warnings
from weft.run.run_folder import RunFolder
from weft.scene.build import Builder, load_scene
from weft.scene.changes import Change
from weft.scene.file import read_source, validate
from weft.scene.prepare import prepare

SCENE = """
cloth:
  sheet: {nx: 9, ny: 9, width: 40 cm, height: 40 cm, pattern: alternating}
  fabric: linen
  translation: [0, 21 cm, 0]
contact: {gap: 4 mm, friction: 0.3}
bodies:
  - {name: sphere, sphere: {radius: 8 cm, size: 4 cm}, translation: [0, 10 cm, 0]}
  - {name: floor, plate: {width: 1 m, depth: 1 m}}
  - {name: ball, sphere: {radius: 4 cm, size: 3 cm}, translation: [0.3, 4.6 cm, 0],
    rigid: {density: 100}}
integrator: {backward_euler: {effort: interactive}}
step: 0.01 s
fps: 25
"""


@pytest.fixture
def played(tmp_path):
    """Return a session of the scene, and the source of its files."""
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE)
    source = read_source(path)
    loaded = Builder(source, validate(source)).build()
    session = Session(loaded.scene, loaded.fps, RunFolder(tmp_path / "run", fsync=False))
    return session, SceneSource(dict(source.tree), tmp_path, "scene")


def tell(session, *messages):
    for message in read_messages(messages):
        session.take(message)


PRESS = {
    "do": "press",
    "finger": 0,
    "force": 3.0,
    "on": "cloth",
    "face": 0,
    "weights": [0.2, 0.3, 0.5],
    "place": [0, 0, 0],
}


def press(session, place, finger=0, **more):
    tell(session, {**PRESS, "place": place, "finger": finger, **more})


def change(session, path, value):
    tell(session, {"do": "set", "path": path, "value": value})


def move(session, place, finger=0):
    tell(session, {"do": "move", "finger": finger, "place": place})


def steps(session, count):
    """Take steps, and return the positions after each."""
    found = []
    for _ in range(count):
        session.advance()
        assert session.problem == ""
        found.append(session.place.state.x)
    return found


def play_all(session):
    """Play with everything; return the positions after every step."""
    x = steps(session, 3)
    press(session, [-0.2, 0.3, 0.2])
    x += steps(session, 2)
    for k in range(4):
        move(session, [-0.2 + 0.03 * k, 0.3 + 0.02 * k, 0.2])
        x += steps(session, 1 + k % 2)
    change(session, "fabrics.0.shear", 200.0)
    x += steps(session, 2)
    tell(session, {"do": "release", "finger": 0, "pin": True})
    ball = sum(len(b.faces) for b in session.base.bodies[:2])
    press(session, [0.3, 0.2, 0.1], finger=1, on="bodies", face=ball + 2)
    change(session, "fabrics.0", "silk")
    change(session, "law", "stvk")
    x += steps(session, 4)
    tell(session, {"do": "undo"}, {"do": "set", "path": "contact.friction", "value": 0.8})
    change(session, "gravity.1", -2.5)
    x += steps(session, 3)
    tell(session, {"do": "unpin", "pin": 1}, {"do": "release", "finger": 1})
    change(session, "bending", "quadratic")
    change(session, "wind.velocity.0", 3.0)
    return x + steps(session, 4)


def test_warnings_and_problems_of_the_start_are_printed_once(played, capsys, monkeypatch):
    """As a run prints them."""
    session, _ = played
    session.loop.scene = session.scene.with_(step=1.0)
    found = [StartProblem(Outlook.CANNOT, "a panel inside"), StartProblem(Outlook.RESOLVES, "open")]
    monkeypatch.setattr("weft.run.plausibility.start_problems", lambda scene: found)
    print_warnings(session, [])
    told = capsys.readouterr().err.splitlines()
    assert all(line.startswith("warning: ") for line in told) and len(told) == len(set(told))
    assert any("a panel inside" in line for line in told) and not any("open" in t for t in told)


def test_a_saved_play_gives_the_same_frames_and_resumes(played, tmp_path):
    """Two dozen steps with everything that is played, four times: 5 s and more."""
    session, source = played
    x = play_all(session)
    loaded = load_scene(save_play(session, source))
    out = tmp_path / "again"
    run = weft.simulate(loaded.scene, frames=loaded.frames, fps=25, out=out)
    assert len(run) == len(x) // 4 + 1
    for k in range(1, len(run)):
        assert np.array_equal(run.folder.frame(k)["x"], x[4 * k - 1]), k
    for k in (1, loaded.frames - 1):
        again = load_scene(tmp_path / "scene-1.yaml").scene
        part = weft.simulate(again, frames=loaded.frames, fps=25, out=out, from_frame=k)
        assert np.array_equal(part.folder.frame(loaded.frames)["x"], x[4 * loaded.frames - 1]), k


def press_at(session, vertex, place, finger=0, **more):
    """Press cloth at a vertex."""
    faces = session.base.cloth.faces
    face = int(np.flatnonzero((faces == vertex).any(1))[0])
    weights = (faces[face] == vertex).astype(float).tolist()
    press(session, place, finger, face=face, weights=weights, **more)


def test_a_hand_pulls_with_its_force_at_most(played):
    """Held by four pins, cloth pulls back: the hand's force is its limit, and the point stays."""
    session, _ = played
    change(session, "gravity.1", 0.0)
    for k, corner in enumerate(session.base.cloth.corners()):
        press_at(session, corner, session.place.state.x[corner].tolist(), k)
        tell(session, {"do": "release", "finger": k, "pin": True})
    middle = len(session.base.cloth.vertices) // 2
    press_at(session, middle, [0.0, 2.0, 0.0], force=2.0)
    steps(session, 60)
    assert session.pull(0) == pytest.approx(2.0, rel=1e-6)
    (point, _) = session.held_points()[0]
    assert 0.22 < point[1] < 0.4
    # The pins carry the hand's force: 1 MN/m each.
    apart = 0.0
    for hand in session.pins.values():
        place, point = hand.present.place(session.t), hand.present.held_point(session.place.state.x)
        apart += place[1] - point[1]
    assert PIN * apart == pytest.approx(-2.0, rel=0.05)


def test_cloth_never_passes_through_what_a_hand_pulls_it_at(played):
    session, _ = played
    steps(session, 8)
    press(session, [0.0, -1.0, 0.0], force=50.0)
    for k in range(25):
        move(session, [0.3 * np.sin(k), -0.5, 0.3 * np.cos(k)])
        session.advance()
        place = session.place
        found = session.loop.count_intersections(place.state, place.memory)
        assert found["intersections"] == 0
    assert session.place.state.x[: len(session.base.cloth.vertices), 1].min() > 0


def test_a_change_that_has_no_room_is_taken_back(played):
    session, _ = played
    steps(session, 25)
    before, at = session.control_values(), session.place
    change(session, "contact.thickness", 0.004)
    session.advance()
    assert "nearer than" in session.problem and not session.playing
    assert session.place is at and session.control_values() == before
    steps(session, 2)


def test_undo_and_presets(played):
    session, _ = played
    start = session.control_values()
    change(session, "fabrics.0.shear", 3.0)
    change(session, "fabrics.0", "silk")
    assert session.control_values()["fabrics.0.shear"] == weft.Fabric.of("silk").shear
    tell(session, {"do": "undo"})
    assert session.control_values() == {**start, "fabrics.0.shear": 3.0}
    tell(session, {"do": "undo"}, {"do": "undo"})
    assert session.control_values() == start
    steps(session, 1)
    assert session.recording.changes == []


def test_reset_keeps_the_desk(played, tmp_path):
    session, source = played
    first = steps(session, 5)
    change(session, "gravity.1", -1.0)
    press(session, [0, 1, 0])
    steps(session, 3)
    tell(session, {"do": "reset"})
    assert session.t == 0 and not session.held_points()
    x = steps(session, 4)
    assert not np.array_equal(x[3], first[3])
    run = weft.simulate(save_play(session, source), out=tmp_path / "again", progress=False)
    assert np.array_equal(run.points(), x[3][: len(run.points())])


def test_a_saved_scene_goes_on_from_the_present(played, tmp_path):
    session, source = played
    play_all(session)
    press(session, [0, 0.4, 0])
    steps(session, 2)
    tell(session, {"do": "release", "finger": 0, "pin": True})
    path = save_scene(session, source, "later")
    scene = load_scene(path).scene
    assert np.array_equal(prepare(scene).state.x, session.place.state.x)
    assert np.array_equal(prepare(scene).state.v, session.place.state.v)
    again = Session(scene, 25.0, RunFolder(tmp_path / "r", fsync=False))
    assert again.control_values() == session.control_values() and len(again.pins) == 1
    mesh = weft.load(tmp_path / "later.obj")
    assert np.allclose(mesh.vertices, session.place.state.x[:81], atol=1e-6)
    # With the memory of friction and contact begun anew, the next step is nearly the same.
    (a,), (b,) = steps(session, 1), steps(again, 1)
    assert np.abs(a - b).max() < 1e-4


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"do": "jump"}, "jump"),
        ({"do": "press", "finger": 11, "on": "cloth"}, "finger"),
        ({"do": "set", "path": "step", "value": 1.0}, "control"),
        ({"do": "set", "path": "fabrics.0.density", "value": -1.0}, "density"),
        ({"do": "set", "path": "gravity.1", "value": "down"}, "gravity"),
        ({"do": "save", "what": "play", "name": "../x"}, "pattern"),
        ({**PRESS, "on": "bodies"}, "can move"),
        ({**PRESS, "face": 10_000}, "can move"),
    ],
)
def test_messages_that_are_refused(played, message, said):
    session, _ = played
    with pytest.raises(WeftError, match=said):
        tell(session, message)
    assert session.recording.changes == [] and session.values == {}


def test_batches_and_derivatives_of_what_is_played():
    """A batch moves hands, with the bits of a single run, and refuses changes; derivatives refuse
    both.
    """
    sheet, way = weft.sheet(4, 4, 0.1, 0.1), [(0.0, 0.1, 0.0), (0.1, 0.05, 0.0)]
    hand = weft.Scene(sheet, hand=[Hand([0], [1.0], [0.0, 0.1], way)])
    changing = weft.Scene(sheet, changes=[Change(0.1, {"fabrics.0.shear": 3.0})])
    first, _ = weft.batch([hand, hand], fps=20).run(0.1)
    alone = weft.simulate(hand, seconds=0.1, fps=20)
    np.testing.assert_array_equal(first[-1], alone.positions(-1))
    with pytest.raises(SceneError, match="changes"):
        weft.batch([changing])
    with pytest.raises(SceneError, match="hand"):
        weft.Adjoint(hand, lambda run: 0.0, frames=2)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"weights": [0.5]}, "sum of 1"),
        ({"times": [0.2, 0.1], "places": [(0, 0, 0)] * 2}, "increasing"),
        ({"points": [99]}, "points from 0 to 15"),
    ],
)
def test_hands_that_cannot_be(how, said):
    given = {"points": [0], "weights": [1.0], "times": [0.0], "places": [(0.0, 0.0, 0.0)]}
    with pytest.raises(SceneError, match=said):
        prepare(weft.Scene(weft.sheet(4, 4, 0.1, 0.1), hand=[Hand(**{**given, **how})]))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([(1.0, {}), (0.5, {})], "increase"),
        ([(1.0, {"fabrics.3.shear": 1.0})], r"fabrics\.0"),
        ([(1.0, {"fabrics.0.color": 1.0})], "shear"),
        ([(1.0, {"contact.pairs": 1.0})], "cannot change"),
        ([(1.0, {"cloth": 1.0})], "cannot change"),
    ],
)
def test_changes_that_cannot_be(made, said):
    with pytest.raises(WeftError, match=said):
        weft.Scene(weft.sheet(4, 4, 0.1, 0.1), changes=[Change(*change) for change in made])
