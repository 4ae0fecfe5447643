"""What equilibria leave out, and say so: gusts, and friction that they are not asked for."""

import numpy as np
import pytest

import weft
from weft.contact import plate
from weft.contact.settings import Between, Friction
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.run.plausibility import scene_warnings
from weft.scene.prepare import prepare
from weft.solve.linear.solver import Outcome

pytestmark = pytest.mark.quick


def hanging(gusts=None, by="border", **settings):
    cloth = weft.sheet(9, 9, 0.5, 0.5, fabric="cotton").move((0, 0, 0), (90, 0, 0))
    return weft.Scene(
        cloth,
        [weft.Pin(getattr(cloth, by)("top"))],
        integrator="quasi_static",
        wind=weft.Wind((0.0, 0.0, 1.5), gusts=gusts),
        settings=QuasiStaticSettings(**settings),
    )


def step(scene):
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    return stepper.step(model, state, stepper.init(model, state), 0.1)


def asked(scene):
    return [q for q in scene_warnings(scene, prepare(scene).stepper) if "quasi_static" in q]


def test_an_equilibrium_in_gusts_is_that_of_the_mean_wind():
    blown, _, report = step(hanging(weft.Gusts(0.4, 0.3, 1)))
    steady, _, _ = step(hanging())
    assert report.outcome.ok
    np.testing.assert_array_equal(blown.x, steady.x)
    (said,) = asked(hanging(weft.Gusts(0.4, 0.3, 1)))
    assert "leaves out gusts" in said and "mean wind" in said
    assert asked(hanging()) == []


def test_wind_that_does_not_settle_says_that_cloth_flutters():
    """Each search is within the iterations, but not all of them together."""
    state, _, report = step(hanging(by="corners", max_iterations=150))
    assert report.outcome is Outcome.UNSETTLED and "flutters" in report.outcome.advice
    assert state.t == 0.0


def lying(contact, attachments=(), **settings):
    cloth = weft.sheet(5, 5, 0.2, 0.2, fabric="cotton").move((0, 0.01, 0))
    return weft.Scene(
        cloth,
        bodies=[plate(0.5, 0.5, 0.1)],
        contact=contact,
        integrator="quasi_static",
        attachments=attachments,
        settings=QuasiStaticSettings(**settings),
    )


RUBS = {
    "all": weft.SelfContact(friction=0.3),
    "a pair": weft.SelfContact(pairs=[Between(("cloth", "plate"), Friction(0.2))]),
}


@pytest.mark.parametrize("which", RUBS)
def test_friction_that_is_left_out_is_said(which):
    (said,) = asked(lying(RUBS[which]))
    assert "leaves out friction of contact" in said and "friction: true" in said
    assert asked(lying(RUBS[which], friction=True)) == []


def test_friction_of_rings_is_said():
    along = ((-0.2, 0.01, 0.1), (0.2, 0.01, 0.1))
    rings = weft.Slide(np.array([0, 4]), along, friction=0.2, within=1.0)
    (said,) = asked(lying(weft.SelfContact(), [rings]))
    assert "friction of rings" in said
