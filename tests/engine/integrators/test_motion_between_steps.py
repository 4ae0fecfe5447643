"""Motion between the ends of steps: cloth meets it, and runs, batches and derivatives agree."""

import json

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import TIGHT, compared
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.bodies.shapes.primitives import sphere
from weft.run.check_scene import check

STEP = 0.1


def through_and_back(**more):
    """A ball goes 2 cm through a hanging sheet, and back, inside one step."""
    cloth = weft.sheet(9, 9, 0.2, 0.2, fabric="silk").move((0, 0, 0), (90, 0, 0))
    keys = [Keyframe(0.0), Keyframe(0.05, (0, 0, 0.06)), Keyframe(0.1)]
    path = Path(keys, "linear", hold=True)
    ball = sphere(0.03, 0.03, "ball").move((0.003, 0.002, -0.07), path)
    return weft.Scene(
        cloth,
        pins=[Pin(cloth.corners("top"))],
        bodies=[ball],
        contact=weft.SelfContact(5e-3),
        gravity=(0, 0, 0),
        step=STEP,
        **more,
    )


def lines(run):
    return [json.loads(line) for line in (run.path / "metrics.jsonl").read_text().splitlines()]


def test_a_ball_that_goes_through_and_back_in_a_step_pushes_the_cloth(tmp_path):
    scene = through_and_back()
    run = weft.simulate(scene, seconds=STEP, fps=10, out=tmp_path / "run")
    steps = lines(run)
    assert 0.05 in [pytest.approx(line["t"]) for line in steps] and steps[-1]["t"] == 0.1
    moved = run.positions(1) - run.positions(0)
    assert moved[:, 2].max() > 0.02 and steps[-1]["intersections"] == 0


def test_divided_runs_go_on_bit_by_bit(tmp_path):
    scene = through_and_back()
    whole = weft.simulate(scene, seconds=0.2, fps=10, out=tmp_path / "whole")
    weft.simulate(scene, seconds=0.1, fps=10, out=tmp_path / "two")
    resumed = weft.simulate(scene, seconds=0.2, fps=10, out=tmp_path / "two", resume=True)
    assert np.array_equal(whole.positions(2), resumed.positions(2))


def test_a_batch_divides_steps_as_a_single_run_does():
    scenes = [through_and_back(), through_and_back()]
    worlds = weft.batch(scenes, fps=10)
    worlds.run(STEP)
    alone = weft.simulate(scenes[0], seconds=STEP, fps=10)
    assert len(worlds.worlds[0].parts) >= 2
    assert np.array_equal(worlds.positions()[0], alone.positions(1))


def shaken():
    """A sheet whose pin goes 0.5 mm aside and back inside the second step."""
    cloth = weft.sheet(4, 4, 0.12, 0.12, fabric="cotton")
    keys = [Keyframe(0.012), Keyframe(0.015, (5e-4, 0, 0)), Keyframe(0.018)]
    pins = [Pin(cloth.corners("top"), path=Path(keys, "linear", hold=True))]
    return weft.Scene(cloth, pins, settings=TIGHT, step=0.01)


def test_derivatives_go_through_the_parts_of_a_divided_step():
    found, expected, _ = compared(shaken(), ["fabric.shear"], frames=3, h=1e-3)
    assert found == pytest.approx(expected, rel=2e-4)


FILE = """
cloth: {sheet: {nx: 5, ny: 5, width: 20 cm, height: 20 cm}, fabric: silk}
contact: {gap: 2 mm}
pins:
  - {name: left, corners: left}
  - {name: hook, corners: right, path: {hold: true, interpolation: linear, keyframes: [KEYS]}}
step: 10 ms
seconds: 0.1 s
fps: 100
"""


def test_check_says_which_pin_divides_steps(tmp_path):
    keys = "{time: 0}, {time: 12 ms}, {time: 15 ms, translation: [0, 5 mm, 0]}, {time: 18 ms}"
    (tmp_path / "scene.yaml").write_text(FILE.replace("KEYS", keys))
    (said,) = [text for text in check(tmp_path / "scene.yaml").warnings if "hook" in text]
    assert "hook turns at a keyframe in a step of 0.01 s (at t = 0.01 s)" in said
