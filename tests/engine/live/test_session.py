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


def press(session, place, finger=0, force=3.0, **more):
    what = {"on": "cloth", "face": 0, "weights": [0.2, 0.3, 0.5], **more}
    tell(session, {"do": "press", "finger": finger, "place": place, "force": force, **what})


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
    tell(session, {"do": "set", "path": "fabrics.0.shear", "value": 200.0})
    x += steps(session, 2)
    tell(session, {"do": "release", "finger": 0, "pin": True})
    ball = sum(len(b.faces) for b in session.base.bodies[:2])
    press(session, [0.3, 0.2, 0.1], finger=1, on="bodies", face=ball + 2)
    tell(session, {"do": "set", "path": "fabrics.0", "value": "silk"})
    tell(session, {"do": "set", "path": "law", "value": "stvk"})
    x += steps(session, 4)
    tell(session, {"do": "undo"}, {"do": "set", "path": "contact.friction", "value": 0.8})
    tell(session, {"do": "set", "path": "gravity.1", "value": -2.5})
    x += steps(session, 3)
    tell(session, {"do": "unpin", "pin": 1}, {"do": "release", "finger": 1})
    tell(session, {"do": "set", "path": "bending", "value": "quadratic"})
    tell(session, {"do": "set", "path": "wind.velocity.0", "value": 3.0})
    return x + steps(session, 4)


def test_the_warnings_of_a_scene_are_printed_once(played, capsys):
    session, _ = played
    session.loop.scene = session.scene.with_(step=1.0)
    print_warnings(session, [])
    told = capsys.readouterr().err.splitlines()
    assert all(line.startswith("warning: ") for line in told) and len(told) == len(set(told))


def test_a_saved_play_gives_the_same_frames(played, tmp_path):
    session, source = played
    x = play_all(session)
    run = weft.simulate(save_play(session, source), out=tmp_path / "again", progress=False)
    assert len(run) == len(x) // 4 + 1
    for k in range(1, len(run)):
        state = np.load(tmp_path / "again" / "frames" / f"{k:06d}.npz")
        assert np.array_equal(state["x"], x[4 * k - 1]), k


def test_a_saved_play_resumes_from_every_frame(played, tmp_path):
    session, source = played
    play_all(session)
    loaded = load_scene(save_play(session, source))
    whole = weft.simulate(loaded.scene, frames=loaded.frames, fps=25, out=tmp_path / "a")
    for k in range(1, loaded.frames):
        part = weft.simulate(loaded.scene, frames=k, fps=25, out=tmp_path / f"b{k}")
        assert len(part) == k + 1
        part = weft.simulate(
            load_scene(tmp_path / "scene-1.yaml").scene,
            frames=loaded.frames,
            fps=25,
            out=tmp_path / f"b{k}",
            resume=True,
        )
        assert np.array_equal(part.positions(), whole.positions()), k


def test_a_hand_pulls_with_its_force_at_most(played):
    """Held by four pins, cloth pulls back: the hand's force is its limit, and the point stays."""
    session, _ = played
    tell(session, {"do": "set", "path": "gravity.1", "value": 0.0})
    faces, x = session.base.cloth.faces, session.place.state.x
    for k, corner in enumerate(session.base.cloth.corners()):
        face = int(np.flatnonzero((faces == corner).any(1))[0])
        weights = (faces[face] == corner).astype(float).tolist()
        press(session, x[corner].tolist(), k, face=face, weights=weights)
        tell(session, {"do": "release", "finger": k, "pin": True})
    middle = int(
        np.argmin(np.linalg.norm(x[: len(session.base.cloth.vertices)] - [0, 0.21, 0], axis=1))
    )
    face = int(np.flatnonzero((faces == middle).any(1))[0])
    weights = (faces[face] == middle).astype(float).tolist()
    press(session, [0.0, 2.0, 0.0], force=2.0, face=face, weights=weights)
    steps(session, 60)
    assert session.pull(0) == pytest.approx(2.0, rel=1e-6)
    (point, _) = session.held_points()[0]
    assert 0.22 < point[1] < 0.4
    # The pins carry the hand's force: 1 MN/m each.
    apart = [
        h.present.place(session.t) - h.present.held_point(session.place.state.x)
        for h in session.pins.values()
    ]
    assert PIN * np.sum(apart, axis=0)[1] == pytest.approx(-2.0, rel=0.05)


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
    tell(session, {"do": "set", "path": "contact.thickness", "value": 0.004})
    session.advance()
    assert "nearer than" in session.problem and not session.playing
    assert session.place is at and session.control_values() == before
    steps(session, 2)


def test_undo_and_presets(played):
    session, _ = played
    start = session.control_values()
    tell(session, {"do": "set", "path": "fabrics.0.shear", "value": 3.0})
    tell(session, {"do": "set", "path": "fabrics.0", "value": "silk"})
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
    tell(session, {"do": "set", "path": "gravity.1", "value": -1.0})
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
        ({"do": "move", "finger": 0, "place": [0, 0, float("nan")]}, "finite"),
        ({"do": "press", "finger": 11, "on": "cloth"}, "finger"),
        ({"do": "set", "path": "step", "value": 1.0}, "control"),
        ({"do": "set", "path": "law", "value": "hooke"}, "law"),
        ({"do": "set", "path": "fabrics.0.density", "value": -1.0}, "density"),
        ({"do": "set", "path": "gravity.1", "value": "down"}, "gravity"),
        ({"do": "save", "what": "play", "name": "../x"}, "pattern"),
    ],
)
def test_messages_that_are_refused(played, message, said):
    session, _ = played
    with pytest.raises(WeftError, match=said):
        tell(session, message)
    assert session.recording.changes == [] and session.values == {}


def test_bodies_that_stand_still_are_not_taken(played):
    session, _ = played
    with pytest.raises(WeftError, match="can move"):
        press(session, [0, 0, 0], on="bodies", face=0)
    with pytest.raises(WeftError, match="can move"):
        press(session, [0, 0, 0], face=10_000)


def test_batches_and_derivatives_of_what_is_played():
    """A batch moves hands, with the bits of a single run, and refuses changes; derivatives refuse
    both.
    """
    sheet, one = weft.sheet(4, 4, 0.1, 0.1), np.ones(1)
    way = [(0.0, 0.1, 0.0), (0.1, 0.05, 0.0)]
    hand = weft.Scene(sheet, hand=[Hand([0], one.tolist(), [0.0, 0.1], way)])
    changing = weft.Scene(sheet, changes=[Change(0.1, {"fabrics.0.shear": 3.0})])
    first, _ = weft.batch([hand, hand], fps=20).run(0.1)
    alone = weft.simulate(hand, seconds=0.1, fps=20)
    np.testing.assert_array_equal(first[-1], alone.positions(-1))
    with pytest.raises(SceneError, match="changes"):
        weft.batch([changing])
    for scene, said in ((hand, "hand"), (changing, "changes")):
        with pytest.raises(SceneError, match=said):
            weft.Adjoint(scene, lambda run: 0.0, frames=2)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"points": [0, 1]}, "weights"),
        ({"weights": [0.5]}, "sum of 1"),
        ({"times": [0.2, 0.1], "places": [(0, 0, 0)] * 2}, "increasing"),
        ({"points": [99]}, "points from 0 to 15"),
        ({"force": 0.0}, "force"),
    ],
)
def test_hands_that_cannot_be(how, said):
    given = {"points": [0], "weights": [1.0], "times": [0.0], "places": [(0.0, 0.0, 0.0)]}
    with pytest.raises(SceneError, match=said):
        prepare(weft.Scene(weft.sheet(4, 4, 0.1, 0.1), hand=[Hand(**{**given, **how})]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([Change(1.0, {}), Change(0.5, {})], "increase"),
        ([Change(1.0, {"fabrics.3.shear": 1.0})], r"fabrics\.0"),
        ([Change(1.0, {"fabrics.0.color": 1.0})], "shear"),
        ([Change(1.0, {"law": "hooke"})], "law"),
        ([Change(1.0, {"contact.thickness": 1e-3})], "contact"),
        ([Change(1.0, {"gravity.7": 1.0})], "gravity"),
    ],
)
def test_changes_that_cannot_be(changes, said):
    with pytest.raises(WeftError, match=said):
        weft.Scene(weft.sheet(4, 4, 0.1, 0.1), changes=changes)


@pytest.mark.parametrize("path", ["step", "contact", "contact.pairs", "cloth", "pins.0.until"])
def test_what_stays_is_named(path):
    with pytest.raises(SceneError, match="stays as it is"):
        Change(1.0, {path: 1.0})


def test_problems_of_the_start_are_printed_as_a_run_prints_them(played, capsys, monkeypatch):
    session, _ = played
    found = [StartProblem(Outlook.CANNOT, "a panel inside"), StartProblem(Outlook.RESOLVES, "open")]
    monkeypatch.setattr("weft.run.plausibility.start_problems", lambda scene: found)
    print_warnings(session, [])
    said = capsys.readouterr().err
    assert "a panel inside" in said and "open" not in said
