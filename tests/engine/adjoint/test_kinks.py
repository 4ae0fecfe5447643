"""Starts at kinks of contact: cloth that lies straight on a table, its vertices above edges of it.

There the second derivatives of the contact forces jump (``contact.barrier.kinks``).
"""

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import along, noise
from tests.reference.contact_sets import contact_set
from weft import kernel
from weft.contact.barrier.kinks import APART, places_around
from weft.contact.distance.distance import PairKind
from weft.integrators.quasi_static import QuasiStaticSettings

EQUILIBRIUM = QuasiStaticSettings(
    1e-10, 1e-9, max_iterations=4000, imperfection=0.0, friction=True, lags=400
)


def straight(integrator="backward_euler", lags=1, friction=0.4, velocity=(0.05, 0.0, 0.02), **more):
    """A sheet in the gap of a table, edges along edges, four of its vertices above the diagonal."""
    cloth = weft.sheet(4, 4, 0.1, 0.1, fabric={"preset": "cotton", "damping": "0.01 s"})
    static = integrator == "quasi_static"
    return weft.Scene(
        cloth.move((0, 0.0025, 0)),
        integrator=integrator,
        velocity=velocity,
        step=0.01,
        settings=EQUILIBRIUM if static else weft.StepSettings(tolerance=1e-11),
        gravity=(9.81 * np.sin(0.2), -9.81 * np.cos(0.2), 0.0) if static else (0.0, -9.81, 0.0),
        bodies=[weft.contact.plate(0.4, 0.4, size=0.2, name="table")],
        contact=weft.SelfContact(gap=0.003, friction=friction, lags=lags),
        **more,
    )


class OnePair:
    """Finds one pair of edges in contact, whose nearest points may be their ends."""

    gap = 0.05

    def contacts(self, y):
        kind = np.array([int(PairKind.EDGE_EDGE)])
        return contact_set(np.array([[0, 1, 2, 3]]), kind, 1.0, self.gap, parallel=1e-3)


@pytest.mark.parametrize(
    "start, count", [([0.5, 0.01, -0.1], 1), ([1.0, 0.01, 0.0], 2)], ids=["smooth", "kink"]
)
def test_a_kink_is_seen_from_both_sides(start, count):
    """Where the end of an edge is above that of another: beyond, both ends are the nearest points;
    the places on both sides are nearer than anything that matters.
    """
    x = np.array([[0, 0, 0], [1, 0, 0], start, np.add(start, [1, 0, 0.3])])
    places = [np.array(kernel.numpy(p)) for p in places_around(OnePair(), kernel.points(x))]
    assert len(places) == count
    np.testing.assert_allclose(np.mean(places, axis=0), x, atol=1e-15)
    assert all(np.abs(p - x).max() < 5 * APART * OnePair.gap for p in places)


@pytest.mark.parametrize(
    "scene, frames, h",
    [
        (straight(), 1, 3e-9),
        (straight("bdf2", lags=2), 2, 3e-9),
        (
            straight(friction=0.0, velocity=(0.0, 0.0, 0.0)),
            3,
            1e-8,
        ),  # at a kink at the end of every step, too
        (straight("quasi_static", velocity=(0.0, 0.0, 0.0)), 1, 1e-8),
        pytest.param(straight(), 5, 3e-9, marks=pytest.mark.slow),
        pytest.param(straight("bdf2"), 5, 3e-9, marks=pytest.mark.slow),
        pytest.param(straight(lags=6), 2, 3e-9, marks=pytest.mark.slow),
    ],
    ids=["one step", "bdf2 anew", "smooth", "equilibrium", "five", "bdf2 five", "six"],
)
def test_positions_that_start_at_a_kink(scene, frames, h):
    """Without the mean of both sides these are off by 1 to 30 %."""
    n = scene.cloth.n_vertices
    loss = noise(n, velocities=0.0 if scene.integrator == "quasi_static" else 0.01)
    for way in (np.random.default_rng(0).normal(size=(n, 3)), np.tile([1.0, 0.0, 0.0], (n, 1))):
        got, expected = along(scene, "positions", h, loss=loss, way=way, frames=frames, fps=100)
        assert got == pytest.approx(expected, rel=1e-4)
