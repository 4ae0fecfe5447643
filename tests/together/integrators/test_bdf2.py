"""The second-order backward difference: its formulas, unequal steps, pins, and what it loses."""

import numpy as np
import pytest

from tests.checks import dense, scatter
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.discretization.mesh import grid
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2, SemiImplicitSettings
from weft.laws import Psd
from weft.plugins.lab.validate.strip import Material, strip_model

pytestmark = pytest.mark.quick

MATERIAL = Material(stretch=200.0, shear=50.0, bending=1e-3, density=0.2)
MESH = grid(5, 5, 0.4, 0.4)
MODEL = strip_model(MESH, MATERIAL, [Pin(MESH.groups["top"])])
FREE = ~MODEL.prescribed_positions(0.0)[0]
TIGHT = StepSettings(tolerance=1e-10)
H = 0.01


def force(x):
    """[N] of all energies."""
    return -sum(scatter(e, x) for e in MODEL.energies)


def run(stepper, steps, model=MODEL):
    """All states of a simulation with the given steps."""
    states = [State.at_rest(MESH.vertices)]
    memory = stepper.init(model, states[0])
    for dt in steps:
        state, memory, report = stepper.step(model, states[-1], memory, dt)
        assert report.outcome.ok
        states.append(state)
    return states


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.7, 2.0])
def test_the_difference_formula_holds(ratio):
    """x' and v' from both past states, for unequal steps, with the force at x'."""
    before, now, after = run(Bdf2(TIGHT), [H, H, ratio * H])[1:]
    w = ratio
    a1, a2, g = (1 + w) ** 2 / (1 + 2 * w), w * w / (1 + 2 * w), (1 + w) / (1 + 2 * w)
    np.testing.assert_allclose(
        after.x, a1 * now.x - a2 * before.x + g * w * H * after.v, atol=1e-12
    )
    impulse = g * w * H * force(after.x) / MODEL.mass[:, None]
    expected = a1 * now.v - a2 * before.v + impulse
    np.testing.assert_allclose(after.v[FREE], expected[FREE], atol=1e-6)


def test_begins_with_backward_euler_and_again_after_a_jump():
    one = run(Bdf2(TIGHT), [H])[1]
    euler = run(BackwardEuler(TIGHT), [H])[1]
    np.testing.assert_allclose(one.x, euler.x, atol=1e-12)
    states = run(Bdf2(TIGHT), [H, H / 4, H])
    np.testing.assert_allclose(states[3].v, (states[3].x - states[2].x) / H, atol=1e-10)


def test_semi_implicit_is_the_formula_of_choi_and_ko():
    """(M - 4/9 h^2 K) dv = 1/3 M (v_n - v_(n-1)) + 2/3 h [f_n + 1/3 K (x_n - x_(n-1) + 2 h v_n)],
    with a dense K.
    """
    settings = SemiImplicitSettings(psd=Psd.EXACT, linear="splu")
    before, now, after = run(SemiImplicitBdf2(settings), [H] * 4)[-3:]
    K, M = -sum(dense(e, now.x) for e in MODEL.energies), np.diag(np.repeat(MODEL.mass, 3))
    free = np.repeat(FREE, 3)
    moved = (now.x - before.x + 2 * H * now.v).reshape(-1)
    b = M @ (now.v - before.v).reshape(-1) / 3
    b += 2 / 3 * H * (force(now.x).reshape(-1) + K @ moved / 3)
    A = M - 4 / 9 * H * H * K
    dv = np.zeros(len(b))
    # Pinned vertices do not move: their dv is -v_n + (x' - ...), here all zero.
    dv[free] = np.linalg.solve(A[np.ix_(free, free)], b[free])
    np.testing.assert_allclose(after.v.reshape(-1), now.v.reshape(-1) + dv, atol=1e-8)
    expected = 4 / 3 * now.x - before.x / 3 + 2 / 3 * H * after.v
    np.testing.assert_allclose(after.x, expected, atol=1e-12)


@pytest.mark.parametrize(
    "stepper", [Bdf2(), SemiImplicitBdf2(), SemiImplicitBdf2(SemiImplicitSettings(Psd.EXACT))]
)
def test_pins_arrive(stepper):
    path = Path([Keyframe(0.0), Keyframe(0.1, (0.0, 0.2, 0.1))], "linear")
    model = strip_model(MESH, MATERIAL, [Pin(MESH.groups["top"], path=path)])
    end = run(stepper, [H] * 10, model)[-1]
    top = MESH.groups["top"]
    np.testing.assert_allclose(end.x[top] - MESH.vertices[top], [[0, 0.2, 0.1]] * 5, atol=1e-12)


def test_an_indefinite_matrix_is_met_by_a_projected_one():
    """Cloth that is crushed to half its size."""
    stepper = SemiImplicitBdf2(SemiImplicitSettings(Psd.EXACT))
    state = State.at_rest(0.5 * np.array(MESH.vertices))
    model = strip_model(MESH.with_vertices(state.x), MATERIAL, [Pin(MESH.groups["top"])])
    after, _, report = stepper.step(model, state, stepper.init(model, state), 0.1)
    assert report.outcome.ok and report.indefinite == 1 and report.iterations == 2
    assert np.isfinite(after.x).all()
