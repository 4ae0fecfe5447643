"""Equilibria with friction: closed forms of what rests, its path, resume, splines, what is said."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from tests.resuming import whole_and_resumed
from weft.base.errors import SceneError, SimulationError
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.plugins.lab.validate.friction_at_rest import (
    band,
    band_rests,
    friction_needed,
    slope_rests,
)
from weft.solve.linear.solver import Outcome

pytestmark = pytest.mark.quick


def test_a_slope_holds_up_to_the_angle_of_friction():
    """Rests iff tan(a) <= mu, to 1 %."""
    for part, rests in ((0.5, True), (0.99, True), (1.01, False), (1.5, False)):
        assert slope_rests(float(np.degrees(np.arctan(part * 0.3))), 0.3) is rests, part


def test_a_waistband_holds_by_the_friction_that_its_tension_asks_for():
    """mu >= W/(2 pi T)."""
    needed = friction_needed()
    assert needed == pytest.approx(0.168, rel=0.05)
    assert band_rests(1.03 * needed) and not band_rests(0.96 * needed)


def test_too_few_lags_are_said():
    """Lagged problems that do not agree are no equilibrium."""
    model, mesh = band(0.5)
    settings = QuasiStaticSettings(friction=True, lags=1, force_tolerance=1e-7)
    found = QuasiStatic(settings).solve(model, mesh.vertices)
    assert found.outcome is Outcome.UNBALANCED and not found.outcome.ok
    assert "lags" in found.outcome.advice


def on_a_slope(kind="triangles", friction=0.4, **settings):
    """A square on a plate, which gravity pulls along: 14 degrees."""
    make, n = (weft.spline_sheet, 3) if kind == "splines" else (weft.sheet, 6)
    cloth = make(n, n, 0.2, 0.2, fabric="felt")
    cloth = cloth.move((0, 2.5e-3, 0), (0, 20, 0))
    chosen = QuasiStaticSettings(**{"friction": True, "imperfection": 0.0, **settings})
    a = np.radians(14.0)
    return weft.Scene(
        cloth,
        gravity=(9.81 * np.sin(a), -9.81 * np.cos(a), 0.0),
        integrator="quasi_static",
        settings=chosen,
        contact=weft.SelfContact(gap=4e-3, friction=friction),
        bodies=[weft.contact.plate(0.6, 0.6, 0.3)],
    )


@pytest.mark.parametrize("kind", ["triangles", "splines"])
def test_sheets_and_splines_rest(kind, tmp_path):
    run = weft.simulate(on_a_slope(kind), frames=2, fps=2, out=tmp_path / "run", progress=False)
    x = [run.positions(k) for k in range(3)]
    assert np.abs(x[1] - x[0])[:, 0].max() < 2e-3  # while it comes to lie
    np.testing.assert_allclose(x[2], x[1], atol=1e-5)  # what is held stays: anchors are kept
    assert "slip" in " ".join(run.folder.frame(2))


def test_slips_are_refused(tmp_path):
    with refused(SimulationError, "step 1", got="MAX_ITERATIONS"):
        weft.simulate(
            on_a_slope(friction=0.2, max_iterations=40),
            frames=1,
            fps=1,
            out=tmp_path / "run",
            progress=False,
        )


def test_resume_is_bitwise(tmp_path):
    whole_and_resumed(on_a_slope(), tmp_path, frames=3, fps=3)


def test_gravity_grows_between_two_times():
    with refused(SceneError, "gravity_from"):
        weft.Scene(weft.sheet(3, 3), gravity_from=(1.0, 0.5))
