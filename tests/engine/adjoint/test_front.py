"""What ``weft.Adjoint`` promises around the derivative: memory, doors, bad input."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

import weft
from tests.engine.adjoint.cases import compared, hung, keys, lagged, landing, noise, quotient, tied
from tests.refusals import refused
from weft.adjoint import EnergyLoss, Flat, Mean, Strain, Sum, Target, batched
from weft.adjoint.adjoint import AdjointReport, Derivative
from weft.adjoint.recorded_run import RecordedRun, RunCheckpoints
from weft.base.errors import SceneError, SimulationError
from weft.scene.prepare import prepare

SHEAR = ["fabric.shear"]


def test_steps_are_those_of_a_simulation(tmp_path):
    scene = hung("bdf2")
    run = weft.simulate(scene, frames=2, fps=50, out=tmp_path / "run", progress=False)
    kept = RunCheckpoints(RecordedRun(scene, 2, 50), 1e9)
    frames = [p.state.x for p in kept.run() if p.count % 2 == 0]
    for k, x in enumerate(frames):
        assert np.array_equal(x, run.positions(k))


def test_recomputed_steps_are_bitwise_equal():
    """Without memory sqrt(n) states are kept; on the way back they give the same digits."""
    scene = landing()
    places = list(RunCheckpoints(RecordedRun(scene, 7, 200), 1e9).run())
    kept = RunCheckpoints(RecordedRun(scene, 7, 200), 0.0)
    for _ in kept.run():
        pass
    assert kept.every == 3 and sorted(kept.places) == [0, 3, 6]
    for count in range(7, 0, -1):
        (taken,) = kept.parts(count)
        assert np.array_equal(taken.x, places[count].state.x)
        assert np.array_equal(taken.state.v, places[count - 1].state.v)
    assert kept.recomputed == 7


FALL = {"gravity.0": keys(0.0, 2.0), "gravity.1": keys(-9.81, -3.0)}


@pytest.mark.parametrize(
    "make, names",
    [
        (landing, ["contact.friction"]),
        (partial(tied, release=weft.Release(force=0.9)), ["velocities"]),
        (partial(hung, keyed=FALL), ["gravity.0.keys", "gravity.1.keys", "positions"]),
        pytest.param(partial(lagged, 3), ["contact.friction", "positions"], marks=pytest.mark.slow),
    ],
    ids=["contact", "releases", "keys", "friction anew"],
)
def test_gradients_with_recomputed_steps_are_bitwise_equal(make, names):
    whole, little = (
        weft.Adjoint(make(), noise(16), names, frames=4, fps=200, memory=m)() for m in (1e9, 0)
    )
    assert little.report.recomputed == 4 and whole.report.recomputed == 0
    for name in names:
        np.testing.assert_array_equal(whole.gradient[name], little.gradient[name])


def test_losses_against_differences():
    rng = np.random.default_rng(0)
    x, v, t = rng.normal(size=(3, 16, 3)), rng.normal(size=(3, 16, 3)), np.arange(3.0)
    model = prepare(hung()).model
    x[-1] = np.array(prepare(hung()).state.x) * 1.01
    target = Target(
        rng.normal(size=(2, 3)),
        vertices=[3, 5],
        weight=[1.0, 3.0],
        velocities=rng.normal(size=(2, 3)),
    )
    for loss in (
        target,
        Mean((1.0, 2.0, 0.0), [1, 2], 1),
        EnergyLoss("bending").of(model),
        Sum([(2.0, target), (-1.0, Mean())]),
    ):
        _, by_x, *rest = loss(x, v, t)
        dx, dv = rng.normal(size=x.shape), rng.normal(size=x.shape)
        by_v = rest[0] if rest else np.zeros_like(v)
        got = quotient(lambda s: loss(x + s * dx, v + s * dv, t)[0], 1e-4)  # noqa: B023
        assert got == pytest.approx(float((by_x * dx).sum() + (by_v * dv).sum()), rel=1e-6)


def test_losses_are_of_the_last_frame_unless_they_name_another():
    ready = prepare(hung())
    x = np.stack([s * np.array(ready.state.x) for s in (1.1, 1.2, 1.3)])
    losses = Target(np.zeros((16, 3))), Mean(), EnergyLoss(), Strain()
    for loss in (loss.of(ready.model) if hasattr(loss, "of") else loss for loss in losses):
        _, by_x, *_ = loss(x, np.zeros_like(x), np.arange(3.0))
        assert by_x[-1].any() and not by_x[:-1].any()


def test_velocities_count_by_the_square_of_a_time():
    rest, fast = np.zeros((2, 4, 3)), np.full((2, 4, 3), 3.0)
    target = Target(rest[0], velocities=rest[0], time=0.5)
    value, by_x, by_v = target(rest, fast, np.arange(2.0))
    assert value == pytest.approx(0.5**2 * 27) and not by_x.any()
    np.testing.assert_allclose(by_v[-1], 2 * 0.5**2 * 3.0 / 4)


def test_strain_is_the_square_of_what_exceeds_the_limit():
    cloth = weft.sheet(4, 4, 0.4, 0.4)
    strain = Strain(0.03).of(prepare(weft.Scene(cloth)).model)
    for stretch, value in (([1.05, 1, 1.02], 0.02**2), ([1.02, 1, 1.01], 0.0)):
        x = (cloth.vertices * stretch)[None]
        assert strain(x, np.zeros_like(x), np.zeros(1))[0] == pytest.approx(value, abs=1e-12)


def test_energy_knows_its_stiffness():
    got, expected, _ = compared(
        hung("quasi_static"), ["fabric.bending_warp"], 1, h=1e-3, loss=EnergyLoss("bending")
    )
    assert got == pytest.approx(expected, rel=1e-5)


def test_a_vector_for_optimizers():
    adjoint = weft.Adjoint(hung(), noise(16), ["fabric.shear", "gravity"], frames=1, fps=100)
    flat = Flat(adjoint)
    value, gradient = flat(flat.start)
    assert flat.start.shape == gradient.shape == (4,)
    assert flat.unpack(flat.start)["gravity"] == pytest.approx([0, -9.81, 0])
    shear = quotient(lambda s: flat(flat.start + [s, 0, 0, 0])[0], 1e-4)
    assert gradient[0] == pytest.approx(shear, rel=1e-5) and np.isfinite(value)
    with refused(SceneError, "parameters", got="3", expected="4"):
        flat(np.zeros(3))


class Steep(weft.Adjoint):
    """An Adjoint whose runs do not end beyond x = 1: (x - 3)^2."""

    parameters = ("x",)

    def __init__(self, x=0.0):
        self.x = x

    def parameter(self, name):
        return weft.Parameter(name, np.array([self.x]), lambda scene, value: scene, scale=1.0)

    def with_values(self, values):
        return Steep(float(values["x"][0]))

    def value(self):
        if self.x > 1:
            raise SimulationError("step 3 at t = 0.1 s", got="BLOCKED")
        return (self.x - 3) ** 2

    def __call__(self):
        return Derivative(self.value(), {"x": np.array([2 * (self.x - 3)])}, AdjointReport())


def test_an_optimizer_goes_on_after_a_run_that_is_blocked():
    """Where a penalty is asked for: it turns back and ends at the border, with a note of each."""
    bold = {"jac": True, "method": "L-BFGS-B"}
    with refused(SimulationError, "step 3", got="BLOCKED"):
        minimize(Flat(Steep()), np.zeros(1), **bold)
    flat = Flat(Steep(), penalty=100.0)
    found = minimize(flat, np.zeros(1), **bold)
    assert 0.5 < found.x[0] <= 1 and found.fun < 6.5 and flat.notes
    assert "BLOCKED" in flat.notes[0] and "100" in flat.notes[0]
    value, slope = flat(np.array([2.0]))
    assert value == flat.value(np.array([2.0])) == 100 and slope[0] > 0
    with pytest.raises(SimulationError):  # nothing to turn back to
        Flat(Steep(), penalty=100.0)(np.array([2.0]))


def test_several_losses_at_once():
    losses = [weft.Adjoint(hung(), Mean(), SHEAR, frames=f, fps=100) for f in (1, 2)]
    assert [d.value for d in batched(losses)] == [a().value for a in losses]


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"integrator": "bdf2_semi_implicit", "settings": None},
            ("integrator", "SemiImplicitBdf2"),
        ),
        (
            {"cloth": weft.sheet(4, 4, fabric={"preset": "cotton", "crease_yield": "20 1/m"})},
            ("energy bending", "creases"),
        ),
        ({"settings": weft.StepSettings(effort=2, tolerance=1e-12)}, "effort"),
    ],
)
def test_refused_by_name(change, message):
    with refused(SceneError, message):
        weft.Adjoint(hung().with_(**change), noise(16), SHEAR, frames=1)()


@pytest.mark.parametrize(
    "loss, message",
    [
        (lambda x, v, t: (np.nan, x), ("loss value", "nan")),
        (lambda x, v, t: (1.0, x[-1]), ("loss derivative by x", "16, 3")),
        (lambda x, v, t: 1.0, ("loss", "float")),
        (3.0, ("Adjoint.loss", "float")),
    ],
)
def test_bad_losses(loss, message):
    with refused(SceneError, message):
        weft.Adjoint(hung(), loss, SHEAR, frames=1, fps=100)()
