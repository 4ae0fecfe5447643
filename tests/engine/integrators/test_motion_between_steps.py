"""Motion between the ends of steps: cloth meets it, and runs, batches and derivatives agree."""

import json

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import TIGHT, compared
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.bodies.shapes.primitives import box, sphere
from weft.run.check_scene import check
from weft.run.plausibility import scene_warnings
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

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


def test_a_blade_that_turns_by_180_degrees_in_a_step_meets_the_cloth(tmp_path):
    cloth = weft.sheet(9, 9, 0.2, 0.2, fabric="silk").move((0, 0, 0.08), (90, 0, 0))
    path = Path([Keyframe(0.0), Keyframe(0.5, (0, 0, 0), np.radians(900))], "linear", hold=True)
    blade = box((0.2, 0.02, 0.02), 0.1, "blade").move((0, -0.08, 0), path)
    scene = weft.Scene(
        cloth,
        pins=[Pin(cloth.mesh.groups["top"])],
        bodies=[blade],
        contact=weft.SelfContact(5e-3),
        step=STEP,
    )
    said = [text for text in scene_warnings(scene, prepare(scene).stepper) if "blade" in text]
    assert len(said) == 1
    assert "turns by 180 degrees in a step of 0.1 s" in said[0] and "`step: " in said[0]
    run = weft.simulate(scene, seconds=STEP, fps=10, out=tmp_path / "run")
    assert np.abs(run.positions(1) - run.positions(0))[:, 2].max() > 0.01
    assert lines(run)[-1]["intersections"] == 0


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


def test_a_motion_inside_one_step_reaches_cloth_without_contact():
    still = weft.simulate(shaken().with_(pins=[Pin([0, 3])]), seconds=0.02, fps=100)
    run = weft.simulate(shaken(), seconds=0.02, fps=100)
    assert np.abs(run.positions(2) - still.positions(2)).max() > 1e-5


def test_steps_that_need_no_parts_are_taken_in_one_piece(tmp_path):
    scene = shaken()
    assert len(lines(weft.simulate(scene, seconds=0.01, fps=100, out=tmp_path / "run"))) == 1


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


@pytest.mark.parametrize(
    "keys, said",
    [
        (
            "{time: 0}, {time: 12 ms}, {time: 15 ms, translation: [0, 5 mm, 0]}, {time: 18 ms}",
            "hook turns at a keyframe in a step of 0.01 s (at t = 0.01 s)",
        ),
        ("{time: 0}, {time: 0.1 s, rotation: 7200}", "hook turns by 720 degrees in a step"),
        ("{time: 0}, {time: 0.1 s, rotation: 90000}", "the run stops there"),
    ],
)
def test_check_says_which_pin_divides_steps(tmp_path, keys, said):
    path = tmp_path / "scene.yaml"
    path.write_text(FILE.replace("KEYS", keys))
    found = [text for text in check(path).warnings if "hook" in text]
    assert len(found) == 1 and said in found[0]


def test_check_says_nothing_of_gentle_motion(tmp_path):
    still = "translation: [0, 5 mm, 0]"
    keys = f"{{time: 0}}, {{time: 30 ms, {still}}}, {{time: 0.1 s, rotation: 45, {still}}}"
    path = tmp_path / "scene.yaml"
    path.write_text(FILE.replace("KEYS", keys))
    assert not [text for text in check(path).warnings if "hook" in text]
    assert not prepare(load_scene(path).scene).model.divide_step(0.0, 0.01).name
