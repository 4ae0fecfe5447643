"""Environments as Gymnasium wants them, and tasks that can be done."""

import sys
import warnings

import numpy as np
import pytest

from tests.plugins.robots.learning.policies import POLICIES, Hands
from tests.refusals import refused

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env

from weft.base.errors import WeftError
from weft.contact.exact.intersections import intersections
from weft.plugins.robots.cameras.camera_sensor import CameraSensor
from weft.plugins.robots.learning import env, vector_env
from weft.plugins.robots.learning.metrics import dressed_share
from weft.plugins.robots.learning.registration import register
from weft.plugins.robots.learning.tasks import (
    SUCCESS,
    TASKS,
    Dress,
    Flatten,
    Fold,
    FoldTee,
    Grasp,
    Hang,
)
from weft.show.picture.camera import look_at

LARGE = ("fold_tee", "fold_trousers", "dress")  # their meshes have one size
TOWELS = [name for name in TASKS if name not in LARGE]


def small(name, size=5):
    """Fields of a task's scene with few vertices."""
    return {} if name in LARGE else {"variables.size": size}


CHANNELS = {"camera.channels": ["rgb", "depth", "normal", "point"]}


@pytest.mark.parametrize("name, more", [*((name, {}) for name in TASKS), ("fold", CHANNELS)])
def test_the_checker_of_gymnasium_passes(name, more):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env(name, set={**small(name), **more}, steps=3), skip_render_check=True)


def test_measures_are_0_at_first_and_1_where_all_is_done():
    fold, flatten = Fold(), Flatten()
    x = fold.rest
    folded = np.column_stack([np.abs(x[:, 0]), x[:, 1:]])
    assert fold.measure(x) == pytest.approx({"fold": 0.0, "distance": 0.2118}, abs=1e-3)
    assert fold.measure(folded)["fold"] == pytest.approx(1.0)
    assert FoldTee().measure(FoldTee().rest)["fold"] == pytest.approx(0.0)
    for height, lift in ((0.0, 0.0), (0.25, 1.0)):
        assert Grasp().measure(x + [0, height, 0])["lift"] == pytest.approx(lift, abs=0.02)
    turned = x @ np.array([[0.8, 0, 0.6], [0, 1, 0], [-0.6, 0, 0.8]])
    assert flatten.measure(turned)["coverage"] == pytest.approx(1.0, abs=0.01)
    for y, coverage, iou in ((x, 1, 1), (folded, 0.5, 0.5), (x + [0.2, 0, 0], 1, 1 / 3)):
        found = flatten.measure(y)
        assert found == pytest.approx({"coverage": coverage, "iou": iou}, abs=0.02)


def test_the_dressed_share_of_an_arm():
    """A tube around 30 of 60 cm; one beside the arm; one of which a half is cut."""
    turn, along = np.meshgrid(
        np.linspace(0, 2 * np.pi, 24, endpoint=False), np.linspace(0, 0.6, 61)
    )
    round_ = np.stack([along, np.cos(turn), np.sin(turn)], axis=2)
    arm = (round_ * [1, 0.03, 0.03]).reshape(-1, 3)
    sleeve = (round_ * [1, 0.08, 0.08])[:31].reshape(-1, 3)
    assert dressed_share(sleeve, arm) == pytest.approx(0.5, abs=0.06)
    assert dressed_share(sleeve + [0, 0.2, 0], arm) == 0.0
    assert dressed_share(sleeve[sleeve[:, 1] >= 0], arm) == 0.0
    assert Dress().measure(Dress().rest)["dressed"] == 0.0


@pytest.mark.parametrize("task", [Flatten, Fold])
def test_starts_do_not_stretch(task):
    """Edges are as long as in the material, but for what a bend's chords lose."""
    made = task(["variables.size=41"])
    start, edges = made.start(np.random.default_rng(3)), made.scene.cloth.mesh.edges
    length, rest = (
        np.linalg.norm(np.diff(x[edges], axis=1)[:, 0], axis=1) for x in (start, made.rest)
    )
    assert (length / rest).min() > 0.98 and (length / rest).max() < 1 + 1e-9
    assert start[:, 1].min() > 3e-3


# Whole episodes, of some seconds each; the others take longer.
QUICK = ("grasp", "fold", "dress")


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in TASKS]
)
def test_a_policy_by_hand_solves_the_task(name):
    """And the potential rises on its way: the reward is shaped as the task is done by hand.

    The discounted return differs from that without shaping by the potential of the start alone,
    which no policy changes.
    """
    size = {"grasp": 7, "fold": 9}.get(name)
    fields = {} if size is None else {"variables.size": size}
    hands = Hands(env(name, set=fields, steps=300), seed=1)
    POLICIES[name](hands)
    assert hands.info["solved"], hands.info
    discounts = 0.99 ** np.arange(len(hands.rewards))
    start, *potentials, end = hands.potentials
    shaped, unshaped = discounts @ hands.rewards, SUCCESS * discounts[-1]
    assert shaped - unshaped == pytest.approx(-start, abs=1e-9)
    assert end == 0 and potentials[-1] > 0.9 * SUCCESS * (0.8 if TASKS[name].released else 1)
    lost = np.maximum.accumulate(potentials) - potentials
    assert lost.max() < 0.03 * SUCCESS, "it hardly falls"
    grown = np.interp(np.linspace(0, 1, 5), np.linspace(0, 1, len(potentials)), potentials)
    assert (np.diff(grown) > -1e-9).all() and potentials[-1] > start + 0.2 * SUCCESS


def test_what_is_held_does_not_count_as_hung():
    task, x = Hang(), Hang().rest + [0, 0.3, 0]
    measure = task.measure(x)["height"]
    gripper = env("hang", set=small("hang")).rig.grippers[0]
    assert measure == 1.0 and task.is_solved(measure, 0.0, gripper)
    assert not task.is_solved(measure, 0.2, gripper)
    gripper.gripped[0] = np.array([3])
    assert not task.is_solved(measure, 0.0, gripper)


def test_grippers_do_not_pull_cloth_taut():
    e = env("fold", set=small("fold", 7))
    hands = Hands(e, 0)
    x = hands.cloth
    hands.take(np.array([x[0], x[-1]]))
    away = x[-1] - x[0]
    for _ in range(10):
        hands.act(np.array([-away, away]) / np.abs(away).max(), True)
    held = [hands.cloth[ids].mean(0) for ids in e.rig.grippers[0].gripped]
    assert np.linalg.norm(held[1] - held[0]) < 1.03 * np.linalg.norm(away)


def test_meshes_of_a_vector_may_differ():
    """Observations have the size of the largest mesh; those of smaller ones end with zeros."""
    many = vector_env("fold", 4, vary={"variables.size": [5, 7]}, seed=1, processes=1)
    counts = [len(task.rest) for task in many.rig.tasks]
    seen, _ = many.reset(seed=0)
    assert set(counts) == {25, 49} and seen.shape == (4, 3 * 49 + 8)
    seen, *_ = many.step(many.action_space.sample())
    for row, n in zip(seen, counts):
        assert row[3 * n : 3 * n + 6].any() and not row[3 * n + 8 :].any()


class Shift(Grasp):
    """Move a small towel to the right."""

    vary = {"cloth.sheet.width": {"from": "15 cm", "to": "25 cm"}}  # noqa: RUF012
    done = 0.05

    def measure(self, x):
        return {"way": float(x[:, 0].mean())}

    def observe(self, x, grippers):
        return x.mean(0)


def test_a_task_of_ones_own(monkeypatch):
    import gymnasium

    monkeypatch.setattr("weft.plugins.robots.learning.tasks.TASKS", dict(TASKS))
    register("shift", Shift)
    many = gymnasium.make_vec(
        "weft.plugins.robots.learning.registration:weft/Fold-v0",
        2,
        vectorization_mode="vector_entry_point",
        set=small("fold"),
        processes=1,
    )
    assert many.num_envs == 2
    try:
        e = gymnasium.make("weft/Shift-v0", set={"variables.size": 5}, variant=1)
        seen, _ = e.reset(seed=0)
        assert seen.shape == (3,)
        width = np.ptp(e.unwrapped.rig.tasks[0].rest[:, 0])
        assert 0.15 < width < 0.25
        hands = Hands(e.unwrapped, 0)
        hands.take(hands.cloth.mean(0)[None])
        hands.go(hands.env.rig.grippers[0].x + [0.15, 0, 0], True)
        assert hands.info["solved"]
    finally:
        TASKS.pop("shift")


def test_a_picture_shows_cloth_and_table():
    sensor = CameraSensor(look_at((0, 1, 0), (0, 0, 0), up=(0, 0, -1)), 64, 48, ("mask",))
    e = env("flatten", set=small("flatten", 7), camera=sensor, render_mode="rgb_array")
    seen, _ = e.reset(seed=0)
    assert seen["mask"].shape == (48, 64) and set(np.unique(seen["mask"])) == {1, 2}
    image = e.render()
    assert image.shape == (480, 640, 3) and image.dtype == np.uint8 and image.std() > 10


def count_intersections(rig, k):
    """Faces of cloth in world k that intersect cloth or bodies."""
    scene = rig.tasks[k].scene
    faces, n = [scene.cloth.mesh.faces], scene.cloth.mesh.n_vertices
    for body in scene.bodies:
        faces.append(body.faces + n)
        n += len(body.vertices)
    every = np.concatenate(faces)
    bodies = np.arange(len(every)) >= len(faces[0])
    hit = intersections(rig.everything(k), every, bodies)
    return int((hit < len(faces[0])).sum())


def random_steps(name, steps, worlds=4):
    """Steps of a random policy that closes its grippers most of the time; count intersections."""
    many = vector_env(name, worlds, steps=60, seed=5, processes=1)
    random, found, failed = np.random.default_rng(0), 0, 0
    many.reset(seed=0)
    shape = (worlds, len(many.rig.tasks[0].places), 4)
    for step in range(steps // worlds):
        if step % 6 == 0:  # a way and a grip for six steps
            action = random.uniform(-1, 1, shape) + np.array([0, 0, 0, 0.5])
            if step % 60 == 0:
                action[..., 1] = -1.0
        *_, info = many.step(action.reshape(worlds, -1))
        failed += int(info["failed"].sum())
        found += sum(count_intersections(many.rig, k) for k in range(worlds))
    many.close()
    return found, failed


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("steps", [200, pytest.param(1250, marks=pytest.mark.campaign)])
def test_random_steps_intersect_nothing(name, steps):
    found, failed = random_steps(name, steps)
    # Two grippers that meet may block a world, which says so.
    assert found == 0 and failed <= steps / 50


BAD = [
    (np.zeros(3), ("actions", "1, 3", "1, 4")),
    (np.array([0, np.nan, 0, 0]), ("actions", "nan at [0, 1]")),
]


@pytest.mark.parametrize("action, message", BAD)
def test_bad_actions(action, message):
    e = env("grasp", set=small("grasp"))
    e.reset(seed=0)
    with refused(WeftError, message):
        e.step(action)


def test_bad_settings(monkeypatch):
    with refused(WeftError, "task", got="'iron'", expected="grasp, fold, flatten"):
        env("iron")
    with refused(WeftError, "field cloth.fabrik", hint="fabric"):
        env("fold", set={"cloth.fabrik": "silk"})
    with refused(WeftError, "num_envs", got="0"):
        vector_env("fold", 0)
    with refused(WeftError, "discount", got=1.5):
        env("fold", discount=1.5)
    with refused(WeftError, "render_mode", got="'human'"):
        env("fold", set=small("fold"), render_mode="human")
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with refused(WeftError, "environments", hint="'weft[gym]'"):
        env("fold")
