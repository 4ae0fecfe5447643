"""Worlds of a batch are what they are alone, to the last bit, and leave each other alone."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.plugins.robots.batch.scenes import (
    alone,
    blown,
    hanging,
    landing,
    lifted,
    on_sphere,
    spline,
)
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SceneError, SimulationError
from weft.contact import sphere
from weft.scene.prepare import prepare


@pytest.mark.parametrize(
    "make, count, frames",
    [
        (hanging, 5, 12),
        (lambda k: hanging(k, "pcg"), 3, 6),
        (on_sphere, 3, 10),
        (lifted, 2, 22),
        (landing, 2, 4),
        (blown, 3, 8),
        (spline, 2, 5),
    ],
    ids=[
        "direct",
        "pcg",
        "on a moving sphere",
        "lifted from a table",
        "interactive",
        "wind and pins",
        "splines",
    ],
)
def test_each_world_is_what_it_is_alone(make, count, frames):
    """Bitwise, with all counts of work."""
    scenes = [make(k) for k in range(count)]
    batch = weft.batch(scenes, fps=50)
    seen = batch.run(frames=frames)
    for scene, got, state in zip(scenes, seen, batch.state):
        expected = alone(scene, frames)
        assert np.array_equal(state.x, expected[-1])
        assert np.array_equal(got[-1], prepare(scene).model.vertices(expected[-1]))
        assert np.abs(expected[-1] - expected[0]).max() > 1e-3  # something happened
        assert state.t == frames / 50


def test_scenes_without_arms_have_no_loads_on_links():
    assert weft.batch([hanging(0)] * 2, fps=50).link_loads().shape == (2, 0, 6)


def test_worlds_converge_in_their_own_number_of_iterations():
    batch = weft.batch([hanging(k) for k in range(5)], fps=50)
    found = set()
    for _ in range(6):
        batch.step()
        found |= {tuple(r[-1].iterations for r in batch.reports)}
    assert any(len(set(row)) > 1 for row in found)


def test_worlds_of_different_meshes_and_settings_go_together():
    scenes = [hanging(0), hanging(1, n=9), hanging(2, "pcg"), on_sphere(0)]
    batch = weft.batch(scenes, fps=50)
    for scene, got in zip(scenes, batch.run(frames=3)):
        assert np.array_equal(got, alone(scene, 3))
    with refused(SceneError, "positions of all worlds", got="49, 81"):
        _ = batch.positions()


def test_threads_change_nothing():
    scenes = [hanging(k) for k in range(5)] + [on_sphere(k) for k in range(3)]
    found = []
    for threads in (1, 2):
        with kernel.use(threads=threads):
            found.append(weft.batch(scenes, fps=50).run(frames=6))
    assert all(np.array_equal(a, b) for a, b in zip(*found))


@pytest.mark.parametrize("make", [hanging, on_sphere])
def test_reset_of_one_world_leaves_the_others(make):
    scenes = [make(k) for k in range(3)]
    batch, other = (weft.batch(scenes, fps=50) for _ in range(2))
    for k in range(6):
        if k == 3:
            batch.reset(1)
        batch.step()
        other.step()
    for w in (0, 2):
        assert np.array_equal(batch.state[w].x, other.state[w].x)
        assert np.array_equal(batch.state[w].v, other.state[w].v)
    assert np.array_equal(batch.state[1].x, alone(scenes[1], 3)[-1])
    assert batch.time.tolist() == pytest.approx([0.12, 0.06, 0.12])


def test_no_pair_joins_two_worlds():
    """Two sheets at the same place pass through each other, in two worlds."""
    batch = weft.batch([on_sphere(0), on_sphere(0)], fps=50)
    batch.run(frames=4)
    assert np.array_equal(batch.state[0].x, batch.state[1].x)


def test_a_frame_written_by_a_batch_is_that_of_simulate(tmp_path):
    scenes = [on_sphere(1), hanging(0)]
    folders = weft.batch(scenes, fps=25).run(frames=3, out=tmp_path / "batch")
    for k, (scene, folder) in enumerate(zip(scenes, folders)):
        one = weft.simulate(scene, frames=3, fps=25, out=tmp_path / str(k), progress=False)
        many = weft.Run(folder)
        contents = [[run.folder.sealed_frame(f)[1].digest for f in range(4)] for run in (one, many)]
        assert contents[0] == contents[1]
        for a, b in zip(one.metrics, many.metrics):
            assert {**a, "seconds": 0, "phases": 0} == {**b, "seconds": 0, "phases": 0}


def test_a_run_of_a_batch_is_resumed_by_simulate_bitwise(tmp_path):
    scene = on_sphere(1)
    whole = weft.simulate(scene, frames=4, fps=25, out=tmp_path / "whole", progress=False)
    (folder,) = weft.batch([scene], fps=25).run(frames=2, out=tmp_path / "batch")
    again = weft.simulate(scene, frames=4, fps=25, out=folder, resume=True, progress=False)
    assert np.array_equal(whole.points(4), again.points(4))


def test_actions_move_pins_and_stay():
    batch = weft.batch([hanging(0), hanging(1)], fps=50)
    held = hanging(0).pins[0].vertices
    start = batch.positions()[:, held].copy()
    move = np.array([[[0.0, 0.01, 0.0]], [[0.0, 0.0, -0.02]]])
    batch.step(move)
    assert np.allclose(batch.positions()[:, held], start + move, atol=1e-15)
    batch.step()
    assert np.allclose(batch.positions()[:, held], start + move, atol=1e-15)


def test_holds_grip_for_a_frame():
    scenes = [weft.Scene(weft.sheet(5, 5, 0.4, 0.4)) for _ in range(2)]
    batch = weft.batch(scenes, fps=50)
    before = batch.positions().copy()
    batch.step(holds=[[weft.Hold([0, 1], (1e-3, 0, 0))], []])
    after = batch.positions()
    assert np.allclose(after[0, :2], before[0, :2] + [1e-3, 0, 0], atol=1e-15)
    assert (after[1, :, 1] < before[1, :, 1]).all()  # the other falls
    batch.step()
    assert (batch.positions()[0, :2, 1] < after[0, :2, 1]).all()  # let go


def test_a_step_that_does_not_converge_is_halved_as_alone():
    settings = weft.StepSettings(max_iterations=2, tolerance=1e-2)
    scenes = [
        weft.Scene(weft.sheet(7, 7), pins=[weft.Pin([0])], settings=settings, step=0.04),
        weft.Scene(weft.sheet(7, 7).move((0, 1, 0)), settings=settings, step=0.04),
    ]
    batch = weft.batch(scenes, fps=25)
    batch.run(frames=3)
    assert len(batch.reports[0]) > 1 and len(batch.reports[1]) == 1


def test_a_world_that_fails_waits_for_reset_while_the_others_go_on():
    good, bad = hanging(0), hanging(0)
    bad = bad.with_(settings=weft.StepSettings(max_iterations=1, tolerance=1e-9, linear="pcg"))
    batch = weft.batch([good, bad], fps=50)
    with refused(SimulationError, "world 1, step 1"):
        batch.step()
    batch.step()
    assert batch.time.tolist() == pytest.approx([0.04, 0.0])
    assert np.array_equal(batch.state[0].x, alone(good, 2)[-1])
    batch.reset(1)
    assert not batch.failed


NOT_FINITE = np.full((2, 1, 3), np.nan)
BAD = [
    (lambda b: b.step(np.zeros((2, 2, 3))), ("actions", "2, 2, 3", "2, 1, 3")),
    (lambda b: b.step(NOT_FINITE), ("actions", "nan at [0, 0, 0]")),
    (lambda b: b.step("up"), ("actions", "str")),
    (lambda b: b.reset(2), ("world", "2", "0 to 1")),
    (lambda b: b.step(holds=[[]]), ("holds", "1 lists", "2 worlds")),
    (lambda b: b.step(holds=[[weft.Hold([99])], []]), ("holds of world 0.vertices", "99 to 99")),
    (lambda b: b.step(holds=[[3], []]), ("holds[0][0]", "3")),
    (lambda b: b.step(holds=[[weft.Hold([1], (0, np.inf, 0))], []]), ("displacement", "inf")),
    (
        lambda b: b.step(holds=[[weft.Hold([1]), weft.Hold([1, 2])], []]),
        ("holds of world 0", "vertex 1"),
    ),
    (lambda b: b.reset(0, np.zeros((3, 3))), ("start of world 0", "3, 3")),
    (lambda b: b.reset(0, b.positions()[0]), ("start of world 0", "pins")),
    (lambda b: b.run(1.0, frames=3), ("length of a batch", "seconds=1.0, frames=3")),
    (lambda b: b.run(frames=-1), ("frames", -1)),
]


@pytest.mark.parametrize("act, message", BAD)
def test_bad_requests(act, message):
    with refused(SceneError, message):
        act(weft.batch([hanging(0), hanging(1)]))


def test_a_pin_with_a_path_is_not_moved_by_actions():
    with refused(SceneError, "actions of world 0, pin", got="path"):
        weft.batch([blown(0)]).step(np.full((1, 2, 3), 1e-3))


@pytest.mark.parametrize(
    "more",
    [
        {"integrator": "bdf2"},
        {"integrator": "bdf2_semi_implicit", "contact": None, "bodies": ()},
        {"integrator": "baraff_witkin_1998", "contact": None, "bodies": ()},
        {"integrator": "quasi_static"},
        {"adaptive": weft.AdaptiveSettings(limit=0.01)},
        {"keyed": {"gravity.1": weft.Keys([(0, -9.81), (0.1, -5)])}},
    ],
    ids=["bdf2", "semi-implicit", "1998", "quasi-static", "adaptive", "keys"],
)
def test_worlds_of_every_integrator_are_what_they_are_alone(more):
    pins = [weft.Pin([0])]
    scenes = [on_sphere(k, friction=0.0).with_(pins=pins, **more) for k in range(2)]
    got = weft.batch([*scenes, on_sphere(0)], fps=50).run(frames=3)
    for scene, found in zip([*scenes, on_sphere(0)], got):
        assert np.array_equal(found, alone(scene, 3))


def test_other_things_that_are_refused():
    with refused(SceneError, "batch of scenes", got="none"):
        weft.batch([])
    with refused(SceneError, "fps", got="0"):
        weft.batch([hanging(0)], fps=0)


def test_rigid_bodies_fall_as_alone(tmp_path):
    ball = dataclasses.replace(
        sphere(0.05, 0.03).move((0, -0.06, 0)), rigid=weft.contact.Rigid(mass=0.1)
    )
    scene = weft.Scene(weft.sheet(5, 5, 0.1, 0.1), bodies=[ball], step=0.02)
    frames = weft.batch([scene, scene], fps=25).run(frames=3)
    run = weft.simulate(scene, seconds=0.12, fps=25, out=tmp_path / "run")
    for frame in range(4):
        assert np.array_equal(run.positions(frame), frames[1][frame])
