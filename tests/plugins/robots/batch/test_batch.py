"""Worlds of a batch are what they are alone, to the last bit, and leave each other alone."""

import dataclasses
from functools import partial

import numpy as np
import pytest

import weft
from tests.plugins.robots.batch.scenes import (
    alone,
    blown,
    hanging,
    landing,
    on_sphere,
    spline,
)
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SceneError, SimulationError
from weft.contact import sphere
from weft.scene.prepare import prepare


def pinned(k, **more):
    """Without friction, which some integrators do not have."""
    return on_sphere(k, friction=0.0).with_(pins=[weft.Pin([0])], **more)


def on_ball(k):
    """On a ball that falls."""
    ball = sphere(0.05, 0.03).move((0, -0.06 - 0.001 * k, 0))
    ball = dataclasses.replace(ball, rigid=weft.contact.Rigid(mass=0.1))
    return weft.Scene(weft.sheet(5, 5, 0.1, 0.1), bodies=[ball], step=0.02)


NO_CONTACT = {"contact": None, "bodies": ()}
WORLDS = {
    "direct": (hanging, 5, 12),
    "pcg": (partial(hanging, linear="pcg"), 3, 6),
    "on a moving sphere": (on_sphere, 3, 10),
    "sheets on a floor": (landing, 2, 4),
    "interactive": (partial(landing, effort="interactive", linear="multigrid"), 2, 4),
    "wind and pins": (blown, 3, 8),
    "splines": (spline, 2, 5),
    "rigid bodies": (on_ball, 2, 3),
    "bdf2": (partial(pinned, integrator="bdf2"), 2, 3),
    "semi-implicit": (partial(pinned, integrator="bdf2_semi_implicit", **NO_CONTACT), 2, 3),
    "1998": (partial(pinned, integrator="baraff_witkin_1998", **NO_CONTACT), 2, 3),
    "quasi-static": (partial(pinned, integrator="quasi_static"), 2, 1),
    "adaptive": (partial(pinned, adaptive=weft.AdaptiveSettings(limit=0.01)), 2, 3),
    "keys": (partial(pinned, keyed={"gravity.1": weft.Keys([(0, -9.81), (0.1, -5)])}), 2, 3),
}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=[pytest.mark.campaign] * (k == "quasi-static")) for k in WORLDS],
)
def test_each_world_is_what_it_is_alone(kind):
    """Bitwise, with any number of threads."""
    make, count, frames = WORLDS[kind]
    scenes = [make(k) for k in range(count)]
    with kernel.use(threads=2):
        batch = weft.batch(scenes, fps=50)
        seen = batch.run(frames=frames)
    for scene, got, state in zip(scenes, seen, batch.state):
        with kernel.use(threads=1):
            expected = alone(scene, frames)
        assert np.array_equal(state.x, expected[-1])
        assert np.array_equal(got[-1], prepare(scene).model.vertices(expected[-1]))
        assert np.abs(expected[-1] - expected[0]).max() > 1e-3  # something happened
        assert state.t == frames / 50


def test_scenes_without_arms_have_no_loads_on_links():
    assert weft.batch([hanging(0)] * 2, fps=50).link_loads().shape == (2, 0, 6)


def test_worlds_of_different_meshes_and_settings_go_together():
    scenes = [hanging(0), hanging(1, n=9), hanging(2, "pcg"), on_sphere(0)]
    scenes.append(pinned(0, integrator="bdf2"))
    batch = weft.batch(scenes, fps=50)
    for scene, got in zip(scenes, batch.run(frames=3)):
        assert np.array_equal(got, alone(scene, 3))
    with refused(SceneError, "positions of all worlds", got="49, 81"):
        _ = batch.positions()


def test_reset_of_one_world_leaves_the_others():
    scenes = [on_sphere(k) for k in range(3)]
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


def test_actions_move_pins_and_stay():
    batch = weft.batch([hanging(0), hanging(1)], fps=50)
    held = hanging(0).pins[0].vertices
    start = batch.positions()[:, held].copy()
    move = np.array([[[0.0, 0.01, 0.0]], [[0.0, 0.0, -0.02]]])
    for given in (move, None):
        assert np.allclose(batch.step(given)[:, held], start + move, atol=1e-15)


def test_holds_grip_for_a_frame():
    scenes = [weft.Scene(weft.sheet(5, 5, 0.4, 0.4)) for _ in range(2)]
    batch = weft.batch(scenes, fps=50)
    before = batch.positions().copy()
    after = batch.step(holds=[[weft.Hold([0, 1], (1e-3, 0, 0))], []])
    assert np.allclose(after[0, :2], before[0, :2] + [1e-3, 0, 0], atol=1e-15)
    assert (after[1, :, 1] < before[1, :, 1]).all()  # the other falls
    assert (batch.step()[0, :2, 1] < after[0, :2, 1]).all()  # let go


def test_a_step_that_does_not_converge_is_halved_as_alone():
    settings = weft.StepSettings(max_iterations=2, tolerance=1e-2)
    falls = weft.Scene(weft.sheet(7, 7), settings=settings, step=0.04)
    batch = weft.batch([falls.with_(pins=[weft.Pin([0])]), falls], fps=25)
    batch.run(frames=3)
    assert len(batch.reports[0]) > 1 and len(batch.reports[1]) == 1


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.exact_start)])
def test_a_world_that_fails_waits_for_reset_while_the_others_go_on(processes):
    good, bad = hanging(0), hanging(0)
    bad = bad.with_(settings=weft.StepSettings(max_iterations=1, tolerance=1e-9, linear="pcg"))
    batch = weft.batch([good, bad], fps=50, processes=processes)
    with refused(SimulationError, "world 1, step 1"):
        batch.step()
    assert list(batch.failed) == [1]
    batch.step()
    assert batch.time.tolist() == pytest.approx([0.04, 0.0])
    assert np.array_equal(batch.state[0].x, alone(good, 2)[-1])
    batch.reset(1)
    assert not batch.failed
    batch.close()


NOT_FINITE = np.full((2, 1, 3), np.nan)
BAD = [
    (lambda b: b.step(np.zeros((2, 2, 3))), ("actions", "2, 2, 3", "2, 1, 3")),
    (lambda b: b.step(NOT_FINITE), ("actions", "nan at [0, 0, 0]")),
    (lambda b: b.reset(2), ("world", "2", "0 to 1")),
    (lambda b: b.step(holds=[[weft.Hold([99])], []]), ("holds of world 0.vertices", "99 to 99")),
    (
        lambda b: b.step(holds=[[weft.Hold([1]), weft.Hold([1, 2])], []]),
        ("holds of world 0", "vertex 1"),
    ),
    (lambda b: b.reset(0, b.positions()[0]), ("start of world 0", "pins")),
    (lambda b: b.run(1.0, frames=3), ("length of a batch", "seconds=1.0, frames=3")),
]


@pytest.mark.parametrize("act, message", BAD)
def test_bad_requests(act, message):
    with refused(SceneError, message):
        act(weft.batch([hanging(0), hanging(1)]))


def test_a_pin_with_a_path_is_not_moved_by_actions():
    with refused(SceneError, "actions of world 0, pin", got="path"):
        weft.batch([blown(0)]).step(np.full((1, 2, 3), 1e-3))


def test_other_things_that_are_refused():
    with refused(SceneError, "batch of scenes", got="none"):
        weft.batch([])
    with refused(SceneError, "fps", got="0"):
        weft.batch([hanging(0)], fps=0)
