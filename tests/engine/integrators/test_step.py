"""A step: the potential in hand, tolerance, other minimizers, purity, and failure."""

import dataclasses
import warnings

import numpy as np
import pytest

import weft
from tests.checks import assert_derivative, scatter
from tests.stepping import steps as advance
from weft.laws import Psd
from weft.scene.prepare import prepare
from weft.solve.linear.direct import have_pardiso
from weft.solve.linear.solver import Outcome

pytestmark = pytest.mark.quick

DT = 0.02


@pytest.fixture
def scene():
    cloth = weft.sheet(7, 6, fabric="cotton", pattern="random")
    return weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], damping=0.01)


def start(scene, **settings):
    scene = scene.with_(settings=weft.StepSettings(**settings))
    ready = prepare(scene)
    model, integrator, state = ready.model, ready.stepper, ready.state
    return model, integrator, state, integrator.init(model, state)


def moving(scene, steps=5, **settings):
    """A state in the middle of a swing."""
    model, integrator, state, memory = start(scene, **settings)
    for _ in range(steps):
        state, memory, report = integrator.step(model, state, memory, DT)
        assert report.outcome.ok
    return model, integrator, state, memory


def test_potential_derivatives(scene, rng):
    model, integrator, state, memory = moving(scene)
    phi = integrator.potential(model, state, memory, DT)
    x = phi.start + 0.01 * rng.normal(size=state.x.shape)
    d = 0.01 * rng.normal(size=x.shape) * phi.free[:, None]
    assert_derivative(phi.value, (phi.gradient(x) * d).sum(), x, d, 1e-6)
    exact = (phi.hessian(x) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(phi.gradient, exact, x, d, 1e-6)
    assert (phi.gradient(x)[~phi.free] == 0).all()
    rows = phi.hessian(x)[np.repeat(~phi.free, 3)]
    assert rows.shape[0] > 0 and abs(rows).max() == 0


def test_potential_is_that_of_backward_euler(scene):
    """Phi = |x - x_n - h v_n|_M^2/(2 h^2) + E(x), with E added up by NumPy."""
    model, integrator, state, memory = moving(scene.with_(damping=0.0))
    phi = integrator.potential(model, state, memory, DT)
    x = phi.start
    y = state.x + DT * state.v
    inertia = (model.mass[:, None] * (x - y) ** 2)[phi.free].sum() / (2 * DT**2)
    expected = {"inertia": inertia, **{e.name: e.value(x).sum() for e in model.energies}}
    assert phi.terms(x) == pytest.approx(expected, rel=1e-12)
    assert phi.value(x) == pytest.approx(sum(expected.values()), rel=1e-12)


def test_step_satisfies_the_implicit_euler_equation(scene):
    """M (v' - v) = h f(x'), x' = x + h v'."""
    model, integrator, state, memory = moving(scene.with_(damping=0.0), tolerance=1e-9)
    after, _, report = integrator.step(model, state, memory, DT)
    free = np.setdiff1d(np.arange(len(state.x)), scene.pins[0].vertices)
    f = -sum(scatter(e, after.x) for e in model.energies)
    momentum = model.mass[:, None] * (after.v - state.v)
    assert np.abs(momentum - DT * f)[free].max() < 1e-9 * np.abs(DT * f).max()
    held = scene.pins[0].vertices
    np.testing.assert_array_equal(after.x[held], scene.cloth.vertices[held])  # to the last bit
    np.testing.assert_allclose(after.x, state.x + DT * after.v, atol=1e-15)
    assert report.outcome.ok


@pytest.mark.parametrize("linear", ["pcg", "splu", *(["pardiso"] if have_pardiso() else [])])
@pytest.mark.parametrize("psd", list(Psd)[1:])
def test_solvers_and_projections_agree(scene, linear, psd):
    model, integrator, state, memory = moving(scene, 3, tolerance=1e-8)
    reference, _, _ = integrator.step(model, state, memory, DT)
    # Gauss-Newton drops the stiffness that tension gives, overshoots, and converges slowly.
    tolerance = 1e-7 if psd is Psd.PROJECTED else 1e-3
    settings = weft.StepSettings(tolerance, 2000, psd, linear, 1e-2)
    other = weft.BackwardEuler(settings)
    after, _, report = other.step(model, state, memory, DT)
    assert report.outcome.ok and report.linear_solver == linear
    assert (report.linear_iterations > 0) == (linear == "pcg")
    np.testing.assert_allclose(after.x, reference.x, atol=2 * tolerance)


@pytest.mark.parametrize("linear", ["splu", "multigrid"])
def test_a_swing_at_the_default_tolerance_does_not_lag(linear):
    """A step may not end at a small increment of an old matrix, which many others would follow."""
    cloth = weft.sheet(13, 13, width=0.8, height=0.8, fabric="silk")
    hung = weft.Scene(cloth, [weft.Pin(cloth.border("left"))])
    loose, tight = (
        hung.with_(settings=weft.StepSettings(linear=linear, **tolerance))
        for tolerance in ({}, {"tolerance": 1e-4})
    )
    lowest = [
        min(state.x[:, 1].min() for state, _, _ in advance(s, 30, DT)) for s in (loose, tight)
    ]
    assert lowest[0] == pytest.approx(lowest[1], rel=0.01)


def test_a_step_is_pure(scene):
    """Arguments are not written to; the same step gives bitwise the same."""
    model, integrator, state, memory = moving(scene)
    x, v = state.x.copy(), state.v.copy()
    one, _, _ = integrator.step(model, state, memory, DT)
    two, _, _ = integrator.step(model, state, memory, DT)
    np.testing.assert_array_equal(state.x, x)
    np.testing.assert_array_equal(state.v, v)
    np.testing.assert_array_equal(one.x, two.x)


@pytest.mark.exact_start
def test_failure_is_an_outcome(scene):
    model, integrator, state, memory = start(scene, max_iterations=1, tolerance=1e-12)
    after, _, report = integrator.step(model, state, memory, DT)
    assert report.outcome is Outcome.MAX_ITERATIONS and after is state


def test_blown_up_state_is_not_finite(scene):
    model, integrator, state, memory = start(scene)
    bad = dataclasses.replace(state, x=state.x * np.nan)
    _, _, report = integrator.step(model, bad, memory, DT)
    assert report.outcome is Outcome.NOT_FINITE


def test_reactions_carry_the_weight(scene):
    """At rest the pins pull up with the weight of the cloth."""
    model, integrator, state, memory = start(
        scene.with_(damping=0.1), tolerance=1e-5, max_iterations=500
    )
    for _ in range(25):
        state, memory, report = integrator.step(model, state, memory, 0.5)
        assert report.outcome.ok
    phi = integrator.potential(model, state, memory, 0.5)
    pull = phi.reaction(state.x).sum(0)
    weight = 9.81 * model.mass.sum()
    assert pull[1] == pytest.approx(weight, rel=1e-4) and abs(pull[0]) < 1e-4 * weight


@pytest.mark.parametrize("integrator", ["bdf2_semi_implicit", "baraff_witkin_1998", "bdf2"])
def test_steps_of_one_solve_say_when_they_gain_energy(integrator, tmp_path):
    """Pins stop and a fine sheet swings on: steps of 20 ms of one solve gain energy, and say so."""
    cloth = weft.sheet(31, 31, fabric="cotton")
    path = weft.Path([weft.Keyframe(0.0), weft.Keyframe(0.2, (0.4, 0, 0))], "linear", hold=True)
    pins = [weft.Pin(cloth.group("left"), path=path)]
    scene = weft.Scene(cloth, pins, integrator=integrator, step=0.02)
    with warnings.catch_warnings(record=True, action="always") as caught:
        run = weft.simulate(scene, seconds=0.4, fps=50, out=tmp_path, progress=False)
    m = run.metrics
    lost = ("inertia", "damping")
    stored = [sum(v for k, v in x["energies"].items() if not k.endswith(lost)) for x in m]
    energy = [x["kinetic"] + e for x, e in zip(m, stored, strict=True)]
    after = [b - a for a, b, x in zip(energy, energy[1:], m[1:], strict=False) if x["t"] > 0.21]
    said = [str(w.message) for w in caught if "gained energy" in str(w.message)]
    if integrator == "bdf2":
        assert not said and not any("gained" in x for x in m)
    else:
        assert len(said) == 1 and "Try `step: " in said[0]
        gained = max(x.get("gained", 0.0) for x in m if x["t"] > 0.21)
        assert gained == pytest.approx(max(after), rel=0.1)
