"""Equilibria without load: cloth rests without stress, wherever pins and bodies leave it. And load
without anything that holds: there is no equilibrium.
"""

import dataclasses

import numpy as np
import pytest

import weft
from weft.bodies.rigid.settings import Rigid
from weft.contact import plate, sphere
from weft.contact.settings import SelfContact
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.scene.prepare import prepare
from weft.solve.linear.solver import Outcome

pytestmark = pytest.mark.quick

SHEET = weft.sheet(9, 9, 0.4, 0.4, fabric="jersey")
SPLINE = weft.spline_sheet(6, 6, 0.4, 0.4, fabric="jersey")
GAP = SelfContact(4e-3)
BALL = sphere(0.05, 0.025).move((0.0, -0.08, 0.0))
GRAVITY = (0.0, -9.81, 0.0)
AWAY = SHEET.move((1000.0, 0.0, -50.0))
OFF_CENTER = SHEET.move((0.01, 0.0, 0.005))


def path(*displacements):
    """Through displacements 0.1 s apart."""
    keys = [weft.Keyframe(0.1 * k, d) for k, d in enumerate(((0.0, 0.0, 0.0), *displacements))]
    return weft.Path(keys, "linear", hold=True)


def scene(cloth=SHEET, pins=(), **given):
    given = {"gravity": (0.0, 0.0, 0.0), "integrator": "quasi_static", **given}
    return weft.Scene(cloth, pins, **given)


def corners(cloth=SHEET, **given):
    return scene(cloth, [weft.Pin(cloth.corners("all"))], **given)


def edge(**motion):
    return scene(pins=[weft.Pin(SHEET.border("top"), **motion)])


def swelling(most):
    """The ball, of which frames raise the upper half by up to ``most`` [m] and lower it again."""
    x = np.array(BALL.vertices)
    upper = (x[:, 1:2] > -0.08) * np.array([0.0, 1.0, 0.0])
    frames = np.stack([x + share * most * upper for share in (0.0, 1.0, 0.0)])
    times = np.array([0.0, 0.1, 0.2])
    return dataclasses.replace(BALL, frames=weft.contact.BodyFrames(times, frames, True))


UNSTRESSED = {
    "corners": corners(),
    "an edge that is let go": edge(until=0.05),
    "nothing, far away": scene(AWAY),
    "a rigid body": corners(bodies=[dataclasses.replace(BALL, rigid=Rigid(mass=0.2))], contact=GAP),
    "a body that comes near and leaves": corners(
        bodies=[dataclasses.replace(BALL, path=path((0.0, 0.07, 0.0), (0.0, 0.0, 0.0)))],
        contact=GAP,
    ),
    "a body of frames that pushes and goes back": corners(bodies=[swelling(0.05)], contact=GAP),
    "friction": scene(
        bodies=[BALL.move((0.0, 0.027, 0.0))],
        contact=SelfContact(4e-3, friction=0.4),
        settings=QuasiStaticSettings(friction=True),
    ),
    "attached to a body": scene(
        attachments=[weft.AttachToBody(SHEET.border("top"), "ball", within=0.5)],
        bodies=[dataclasses.replace(BALL, name="ball", path=path((0.05, 0.0, 0.0)))],
        contact=GAP,
    ),
    "a spring": scene(attachments=[weft.Spring([0], at=(0.0, 0.5, 0.0), stiffness=100.0)]),
    "gravity that ends": scene(
        pins=[weft.Pin(SHEET.corners("top"))],
        gravity=GRAVITY,
        keyed={"gravity.1": weft.Keys([(0.0, -9.81), (0.1, 0.0)])},
    ),
}


def steps(scene, count, dt=0.05):
    """The states and reports of so many steps, whatever comes of them."""
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    for _ in range(count):
        state, memory, report = stepper.step(model, state, memory, dt)
        yield state, report


@pytest.mark.parametrize("kind", UNSTRESSED)
def test_cloth_without_load_is_without_stress(kind):
    """Every step converges, and ends with forces and energies of round-off. (Forces were compared
    with those of pins, which go to zero too: nearly all were STALLED.)
    """
    for _, report in steps(UNSTRESSED[kind], 4):
        assert report.outcome is Outcome.CONVERGED, report.outcome
    assert sum(report.terms.values()) < 1e-12  # [J] 1 nm of stretch


def test_a_ball_that_reaches_a_sheet_without_weight():
    """From where nothing touches until the sheet is pushed."""
    pushing = dataclasses.replace(BALL, path=path((0.0, 0.04, 0.0), (0.0, 0.09, 0.0)))
    made = corners(bodies=[pushing], contact=GAP)
    found = list(steps(made, 4))
    assert all(report.outcome is Outcome.CONVERGED for _, report in found)
    assert found[0][1].contact["count"] == 0 < found[-1][1].contact["count"]
    assert found[-1][0].x[:, 1].max() > 0.05


UNHELD = {
    "cloth": scene(gravity=GRAVITY),
    "a spline": scene(SPLINE, gravity=GRAVITY),
}


@pytest.mark.parametrize("kind", UNHELD)
def test_there_is_no_equilibrium_of_what_nothing_holds(kind):
    """Said after a few iterations. (All 400 were taken: MAX_ITERATIONS.)"""
    ((_, report),) = steps(UNHELD[kind], 1)
    assert report.outcome is Outcome.UNHELD and report.iterations < 20
    assert not report.divisible
    assert "pin or attach it" in report.outcome.advice


@pytest.mark.parametrize("depth", [0.1, 50.0])
def test_what_falls_on_a_body_is_held(depth):
    """However far below it is."""
    made = scene(
        OFF_CENTER,
        gravity=GRAVITY,
        contact=GAP,
        bodies=[plate(1.0, 1.0).move((0.0, -depth, 0.0))],
    )
    ((state, report),) = steps(made, 1)
    assert report.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(state.x[:, 1], -depth, atol=5e-3)


def test_a_small_load_is_balanced_to_its_own_size():
    """The scale without load does not loosen that of a load of micrograms."""
    made = scene(pins=[weft.Pin(SHEET.border("top"))], gravity=(0.0, 0.0, 1e-4))
    found = QuasiStatic().solve(prepare(made).model, SHEET.vertices)
    assert found.outcome is Outcome.CONVERGED
    weight = 1e-4 * SHEET.mass
    assert (
        np.abs(found.phi.gradient(found.x)).max()
        <= 1e-3 * np.abs(found.phi.reaction(found.x)).max()
    )
    assert found.phi.reaction(found.x)[:, 2].sum() == pytest.approx(-weight.sum(), rel=1e-2)
