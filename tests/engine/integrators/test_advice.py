"""Advice never recommends what the user already has."""

import pytest

import weft
from weft.integrators.quasi_static import QuasiStatic
from weft.run.plausibility import about_stretch
from weft.solve.linear.solver import Outcome

pytestmark = pytest.mark.quick


def adaptive(inner):
    return weft.Adaptive(inner, weft.sheet(3, 3).samples())


@pytest.mark.parametrize(
    ("stepper", "advice", "never"),
    [
        (weft.BackwardEuler(), "make `step` shorter, or say `adaptive: {}`", "backward_euler"),
        (adaptive(weft.BackwardEuler()), "make `step` shorter", "adaptive"),
        (weft.Bdf2(), "make `step` shorter, or say `adaptive: {}`, or use", "load_steps"),
        (weft.BaraffWitkin1998(), "use `integrator: backward_euler`", "load_steps"),
        (adaptive(weft.BaraffWitkin1998()), "or use `integrator: backward_euler`", "adaptive"),
        (QuasiStatic(), "take more `load_steps`", "backward_euler"),
    ],
)
def test_a_jump_of_the_stretch(stepper, advice, never):
    (text,) = about_stretch(1.0, 1.5, 3, stepper)
    told = text.split("stiffness: ")[1]
    assert advice in told and never not in told


def test_the_default_hessian_is_not_advised_to_who_has_it():
    for outcome in (Outcome.INDEFINITE, Outcome.NOT_DESCENT, Outcome.STALLED):
        assert "in place of EXACT" in outcome.advice
