"""Prescribed motion that passes through something is named, or counted apart where it may pass;
cloth that bodies close on is named, or released and taken up again.
"""

from functools import partial

import numpy as np
import pytest

import weft
from tests.engine.contact.builders import along, until_failure
from tests.refusals import refused
from tests.resuming import resumes_bitwise
from weft.base.errors import SimulationError
from weft.bodies.body import Body
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.bodies.motion.point_sequence import BodyFrames
from weft.contact import box, plate, sphere
from weft.contact.contact_term import ContactTerm
from weft.contact.exact.intersections import intersections
from weft.scene.integrators import INTEGRATORS
from weft.scene.prepare import prepare
from weft.solve.linear.solver import Outcome

BALL, TABLE = sphere(0.01, 5e-3, name="ball"), plate(0.3, 0.3, name="table")
DOWN = along(0, -0.06, 0, seconds=0.04)


def held(
    ids=None,
    path=DOWN,
    n=4,
    make=weft.sheet,
    bodies=(BALL,),
    gap=1e-3,
    thickness=0.0,
    height=0.03,
    **more,
):
    """A sheet above bodies, of which a pin takes vertices along a path; None: all of them."""
    cloth, contact = make(n, n, 0.06, 0.06).move((0, height, 0)), weft.SelfContact(gap, thickness)
    pin = Pin(np.arange(cloth.n_vertices) if ids is None else ids, path=path, name="hold")
    return weft.Scene(cloth, [pin], bodies=bodies, contact=contact, step=0.01, **more)


def two_pinned():
    """One hops across the other: both ends of the step are free of intersections."""
    cloths = [weft.sheet(3, 3, 0.06, 0.06), weft.sheet(3, 3, 0.05, 0.05).move((0, 0.02, 0))]
    moving = Pin(np.arange(9, 18), path=along(0, -0.04, 0, seconds=0.01), name="hold")
    pins = [Pin(np.arange(9), name="still"), moving]
    return weft.Scene(weft.join(cloths), pins, contact=weft.SelfContact(1e-3), step=0.01)


def past_one_into_another():
    """Two patches go past a ball between them, and one of them into a ball that is farther."""
    patch = weft.sheet(2, 2, 0.02, 0.02)
    cloths = weft.join([patch.move((0, 0.03, z)) for z in (-0.05, 0.05)])
    pin = Pin(np.arange(8), path=along(0.3, 0, 0, seconds=0.06), name="hold")
    between = sphere(0.01, 5e-3, name="between").move((0.02, 0.03, 0))
    bodies = [between, BALL.move((0.16, 0.03, 0.05))]
    return weft.Scene(cloths, [pin], bodies=bodies, contact=weft.SelfContact(1e-3), step=0.01)


def every_pair(model, state):
    """The number of all pairs of faces that intersect, those of two bodies left out."""
    y = np.concatenate([model.contact.all_vertices(state.x), model.bodies(state.t)])
    faces = model.contact.mesh.faces
    quiet = faces[:, 0] >= model.contact.mesh.sides.first_body
    return len(intersections(y, faces, quiet=quiet))


ELSEWHERE = Path([Keyframe(0.0, (0, -0.06, 0))], hold=True)  # from the first step on
FAST = BALL.move((0, 0.1, 0), along(0, -0.2, 0, seconds=0.01))
PASSES = {
    **{name: (partial(held, n=3, integrator=name), "ball") for name in INTEGRATORS},
    "a row": (partial(held, np.arange(4), bodies=[TABLE]), "table"),
    "a vertex": (partial(held, [5], bodies=[TABLE]), "table"),
    "the first step": (partial(held, path=ELSEWHERE, bodies=[TABLE]), "table"),
    "splines": (partial(held, n=5, make=weft.spline_sheet, gap=5e-4), "ball"),
    "a body": (partial(held, path=None, bodies=[FAST]), "ball"),
    "pinned cloth": (two_pinned, "still"),
    "another body": (past_one_into_another, "ball"),
}


@pytest.mark.parametrize("case", PASSES)
def test_a_pinned_sheet_does_not_go_through_a_ball(case):
    """Nor do a part of it, splines or bodies through what is prescribed: the motion is named."""
    make, other = PASSES[case]
    model, state, _, reports = until_failure(make(), 6)
    report = reports[-1]
    assert report.outcome is Outcome.PASSES and not report.divisible
    assert "hold" in report.obstacle and other in report.obstacle
    assert every_pair(model, state) == 0
    assert case not in INTEGRATORS or np.linalg.norm(report.place) < 0.012


def test_the_run_names_pin_body_and_time(tmp_path):
    with refused(SimulationError, "step 2", got="PASSES", hint="prescribed: pass") as caught:
        weft.simulate(held(n=3), frames=4, fps=100, out=tmp_path / "run", progress=False)
    for word in ("hold", "ball", "t = 0.013"):
        assert word in str(caught.value)


def test_prescribed_surfaces_may_be_near_and_move_together():
    """A pinned patch slides along a plate, nearer than thickness, and moves with a body."""
    keys = [Keyframe(0.0), Keyframe(0.02, (0, -2e-3, 0)), Keyframe(0.04, (0.05, -2e-3, 0))]
    together = along(0.3, 0.2, 0, seconds=0.04)
    for path, body in ((Path(keys, hold=True), TABLE), (together, TABLE.move((0, 0, 0), together))):
        scene = held(None, path, 3, bodies=[body], height=2.5e-3, thickness=2e-3)
        assert until_failure(scene, 6)[3][-1].outcome.ok


def passing(back):
    """A patch that pins take into a ball, and back if ``back``, and then let go."""
    cloth = weft.sheet(7, 7, 0.06, 0.06).move((0, 0.02, 0))
    middle = np.flatnonzero(np.linalg.norm(cloth.vertices - [0, 0.02, 0], axis=1) < 0.012)
    keys = [Keyframe(0.0), Keyframe(0.06, (0, -0.014, 0)), Keyframe(0.12)]
    pin = Pin(middle, 0.06 * (1 + back), Path(keys[: 2 + back], "linear", hold=True))
    contact = weft.SelfContact(1e-3, prescribed="pass")
    ball = sphere(0.012, 5e-3)
    return weft.Scene(cloth, [pin], bodies=[ball], contact=contact, step=0.01, gravity=(0, 0, 0))


@pytest.mark.parametrize("back", [False, True])
def test_cloth_that_may_pass_is_counted_apart_and_taken_up_again(tmp_path, back):
    """In a run with breaks, too."""
    scene = passing(back)
    with pytest.warns(UserWarning, match=r"released cloth passes .* frames, [34] to "):
        run = resumes_bitwise(partial(passing, back), 30, [7], tmp_path, 100.0)
    lines = [m for m in run.metrics if "intersections" in m]
    assert [m["intersections"] for m in lines] == [0] * 30
    passed = [m["released_intersections"] for m in lines]
    assert max(passed) > 0 and passed[0] == 0
    # The release inside the ball stores no energy: nothing is faster than the pins were.
    assert max(m["kinetic"] for m in lines) < 0.5 * scene.cloth.mass.sum() * 1.0**2
    if back:
        assert passed[-1] == 0 and "released" not in run.metrics[-1]["contact"]
        assert every_pair(prepare(scene).model, weft.State.at_rest(run.positions(-1))) == 0


def test_cloth_is_carried_as_far_as_the_place_that_hits_it():
    """Near the middle of a plate that turns, it goes a little way up, and no farther."""
    turn = Path([Keyframe(0.0), Keyframe(0.1, rotation="30 deg")], axis=(0, 0, 1), hold=True)
    cloth = weft.sheet(2, 2, 0.02, 0.02).move((0.1, 2e-3, 0.013))
    body = plate(2.0, 2.0, 3.0).move((0, 0, 0), turn)
    ready = prepare(weft.Scene(cloth, bodies=[body], contact=weft.SelfContact(1e-3), step=0.1))
    step, term = ready.model.step(ready.state, 0.1), ContactTerm(ready.model.contact)
    term.freeze(step)
    carried = term.carry(ready.state.x, step)
    normal = np.array([-np.sin(np.pi / 6), np.cos(np.pi / 6), 0])
    assert (carried @ normal > 0).all() and (carried @ normal < 0.01).all()


def pads(**settings):
    """Two pads that close on a sheet by more than its thickness, and open again."""
    cloth = weft.sheet(9, 9, 0.2, 0.2, fabric="felt").move((0.001, 6e-3, 0.002))
    keys = [Keyframe(0.0), Keyframe(0.1, (0, -0.02, 0)), Keyframe(0.15), Keyframe(0.4)]
    press = box((0.1, 0.03, 0.1), 0.05, "press")
    press = press.move((0, 0.03, 0), Path(keys, "linear", hold=True))
    contact = weft.SelfContact(2e-3, thickness=1e-3, **settings)
    return weft.Scene(cloth, bodies=[TABLE, press], contact=contact, step=0.01)


@pytest.mark.parametrize(
    "pinch, prescribed", [("stop", "stop"), ("stop", "pass"), ("thin", "pass")]
)
def test_bodies_that_close_on_cloth_are_named(pinch, prescribed):
    """Where pins may pass, no bodies may."""
    model, state, _, reports = until_failure(pads(pinch=pinch, prescribed=prescribed), 20)
    assert reports[-1].outcome is Outcome.BLOCKED and every_pair(model, state) == 0
    for name in ("cloth 'cloth' is caught between", "'table'", "'press'"):
        assert name in reports[-1].obstacle


def test_parts_of_one_body_that_close_on_cloth_are_named():
    """Two boxes are one mesh; the upper one comes down through the lower one."""
    low, high = box((0.3, 0.02, 0.3), 0.1), box((0.1, 0.02, 0.1), 0.1)
    low = low.move((0, -0.01, 0))
    x = [np.concatenate([low.vertices, high.vertices + [0, y, 0]]) for y in (0.03, 0.0)]
    parts = [("/torso", len(low.vertices)), ("/arm", len(high.vertices))]
    faces = np.concatenate([low.faces, high.faces + parts[0][1]])
    rig = Body(x[0], faces, parts=parts, frames=BodyFrames(np.array([0.0, 0.1]), np.array(x)))
    cloth = weft.sheet(9, 9, 0.2, 0.2).move((0.001, 6e-3, 0.002))
    scene = weft.Scene(cloth, bodies=[rig], contact=weft.SelfContact(2e-3), step=0.01)
    report = until_failure(scene, 10)[3][-1]
    assert report.outcome is Outcome.BLOCKED
    assert "/torso" in report.obstacle and "/arm" in report.obstacle


def test_cloth_between_bodies_is_released_and_taken_up_again():
    model, state, memory, reports = until_failure(pads(pinch="release"), 45)
    assert reports[-1].outcome.ok
    released = [r.contact.get("released", {"vertices": 0})["vertices"] for r in reports]
    assert max(released) > 0 and released[-1] == 0 and not memory["released"].any()
    assert every_pair(model, state) == 0
    assert np.abs(state.v).max() < 1.0


def test_two_cloths_on_one_bar_meet_each_other():
    """Ties to one bar exclude no pair of the two sheets, and count what they exclude."""
    turn = Path([Keyframe(0.0), Keyframe(0.1, rotation="110 deg")], axis=(1, 0, 0), hold=True)
    bar = box((0.06, 0.02, 0.02), 0.01, "bar").move((0, 0, 0), turn)
    sheets = [
        weft.sheet(2, 3, 0.04, 0.04).move((x, z, 0.0315)) for x, z in ((0, -4e-3), (1e-3, 4e-3))
    ]
    cloth = weft.join(sheets)
    low = np.flatnonzero(cloth.vertices[:, 2] < 0.0125)
    high = np.flatnonzero(cloth.vertices[:, 2] > 0.05)
    scene = weft.Scene(
        cloth,
        [Pin(high)],
        bodies=[bar],
        attachments=[weft.AttachToBody(low, "bar")],
        gravity=(0, 0, 0),
        contact=weft.SelfContact(1e-3),
        step=0.01,
    )
    model, state, _, reports = until_failure(scene, 11)
    assert reports[-1].outcome.ok
    found = model.contact.all_crossings(model.contact.all_vertices(state.x), state.t)
    assert len(found.forbidden) == 0
    assert every_pair(model, state) == len(found.excluded)
