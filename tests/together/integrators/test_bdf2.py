"""The second-order backward difference: its formulas, unequal steps, pins, and what it loses."""

import numpy as np
import pytest

import weft
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.discretization.mesh import grid
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2, SemiImplicitSettings
from weft.laws import Psd
from weft.plugins.lab.validate.strip import Material, strip_model
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick

MATERIAL = Material(stretch=200.0, shear=50.0, bending=1e-3, density=0.2)
MESH = grid(5, 5, 0.4, 0.4)
MODEL = strip_model(MESH, MATERIAL, [Pin(MESH.groups["top"])])
FREE = ~MODEL.prescribed_positions(0.0)[0]
TIGHT = StepSettings(tolerance=1e-10)
H = 0.01


def force(x):
    """[N] of all energies, added up with NumPy."""
    f = np.zeros_like(x)
    for energy in MODEL.energies:
        np.add.at(f, energy.stencil.reshape(-1), -energy.gradient(x).reshape(-1, 3))
    return f


def stiffness(x):
    """K = df/dx, (3n,3n)."""
    n = len(x)
    K = np.zeros((n, 3, n, 3))
    for energy in MODEL.energies:
        if energy.stencil.shape[1] == 1:
            continue
        for stencil, local in zip(energy.stencil, energy.hessian(x, Psd.EXACT)):
            for a, i in enumerate(stencil):
                for b, j in enumerate(stencil):
                    K[i, :, j, :] -= local[a, b]
    return K.reshape(3 * n, 3 * n)


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
    before, now, after = run(Bdf2(TIGHT), [H, H / ratio])[1:] + [None]
    states = run(Bdf2(TIGHT), [H, H, ratio * H])
    before, now, after = states[1:]
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
    K, M = stiffness(now.x), np.diag(np.repeat(MODEL.mass, 3))
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


def test_semi_implicit_and_implicit_agree_for_small_steps():
    one = run(SemiImplicitBdf2(SemiImplicitSettings(linear="splu")), [1e-4] * 40)[-1]
    two = run(Bdf2(TIGHT), [1e-4] * 40)[-1]
    np.testing.assert_allclose(one.x, two.x, atol=1e-9)


def test_loses_less_energy_than_backward_euler():
    """A sheet swings down and up again."""

    def total(state):
        elastic = sum(float(e.value(state.x).sum()) for e in MODEL.energies)
        return elastic + 0.5 * float((MODEL.mass * (state.v**2).sum(1)).sum())

    lost = {}
    for stepper in (BackwardEuler(), Bdf2()):
        states = run(stepper, [H] * 50)
        lost[type(stepper).__name__] = total(states[0]) - total(states[-1])
    assert 0 < lost["Bdf2"] < 0.5 * lost["BackwardEuler"]


def test_a_damped_sheet_that_snaps_gains_nothing():
    """A sheet swings down from two corners and snaps at 0.3 s, damped as its fabric is: no step
    takes the energy above the start. (Damping was measured from where the past is extrapolated to,
    where what turns is too long, and 19 x 19 vertices took in 0.05 J of 0.08 that moved.)
    """
    cloth = weft.sheet(13, 13, 0.5, 0.5, fabric="cotton")
    scene = weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))], integrator="bdf2")
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state

    def total():
        stored = sum(float(e.value(state.x).sum()) for e in model.energies)
        return stored + 0.5 * float((model.mass * (state.v**2).sum(1)).sum())

    memory, start, energies = stepper.init(model, state), total(), []
    for _ in range(20):
        state, memory, report = stepper.step(model, state, memory, 0.02)
        assert report.outcome.ok
        energies.append(total() - start)
    assert energies[-1] > -0.025 and max(energies) < 0


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
