"""Starts at kinks of contact: cloth that lies straight on a table, its vertices above edges of it.

There the second derivatives of the contact forces jump (``contact.barrier.kinks``).
"""

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import landing, noise, quotient, with_start
from weft import kernel
from weft.adjoint import Adjoint
from weft.contact.barrier.kinks import places_around
from weft.contact.contact_term import ContactTerm
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.scene.prepare import prepare

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


def stacked(lags=1):
    """Two sheets, one on the other, each vertex of the upper one above an edge of the lower one."""
    lower = weft.sheet(4, 4, 0.1, 0.1, fabric={"preset": "cotton", "damping": "0.01 s"})
    n, shift = lower.n_vertices, [0.1 / 6, 0.0022, 0.0]
    x = np.concatenate([lower.vertices, lower.vertices + shift])
    faces = np.concatenate([lower.faces, lower.faces + n])
    uv = np.concatenate([lower.corner_uv, lower.corner_uv + [0.5, 0.0]])
    velocity = np.zeros((2 * n, 3))
    velocity[n:] = 0.05, 0.0, 0.02
    return weft.Scene(
        weft.Cloth(weft.TriangleMesh(x, faces, uv), lower.fabric),
        [weft.Pin([0, 3, 12, 15])],
        velocity=velocity,
        step=0.01,
        settings=weft.StepSettings(tolerance=1e-11),
        contact=weft.SelfContact(gap=0.003, friction=0.4, lags=lags),
    )


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
        pytest.param(stacked(), 1, 1e-9, marks=pytest.mark.slow),
    ],
    ids=["one step", "bdf2 anew", "smooth", "equilibrium", "five", "bdf2 five", "six", "stacked"],
)
def test_positions_that_start_at_a_kink(scene, frames, h):
    """Without the mean of both sides these are off by 1 to 30 %."""
    n = scene.cloth.n_vertices
    loss = noise(n, velocities=0.0 if scene.integrator == "quasi_static" else 0.01)
    by = Adjoint(scene, loss, ["positions"], frames=frames, fps=100)().gradient["positions"]
    for way in (np.random.default_rng(0).normal(size=(n, 3)), np.tile([1.0, 0.0, 0.0], (n, 1))):

        def along(s, way=way):
            return Adjoint(with_start(scene, dx=s * way), loss, frames=frames, fps=100).value()

        assert float((by * way).sum()) == pytest.approx(quotient(along, h), rel=1e-4)


def test_hessian_of_contact_at_a_kink():
    """A vertex above the edge of two triangles: the mean Hessian is the slope of the forces."""
    scene = straight(friction=0.0)
    ready = prepare(scene)
    model, state = ready.model, ready.state
    term = next(t for t in model.assembly.terms if isinstance(t, ContactTerm))
    term.freeze(model.step(state, 0.01))
    x = np.array(state.x)
    way = np.zeros_like(x)
    way[[0, 5, 10, 15]] = np.random.default_rng(1).normal(size=(4, 3))

    def force(at):
        g = kernel.zeros(len(at), kernel.vec3)
        term.add_gradient(kernel.points(at), g)
        return np.array(kernel.numpy(g))

    slope = (force(x + 1e-8 * way) - force(x - 1e-8 * way)) / 2e-8
    A = term.add_mean_hessian(kernel.points(x), model.assembly.matrix.begin()).finish()
    assert A @ way == pytest.approx(slope, abs=1e-5 * np.abs(slope).max())
    A = term.add_hessian(kernel.points(x), weft.Psd.EXACT, model.assembly.matrix.begin()).finish()
    assert np.abs(A @ way - slope).max() > 5e-3 * np.abs(slope).max()


def test_elsewhere_one_position_does():
    for scene, number in ((straight(), 2), (landing(), 1)):
        ready = prepare(scene)
        model, state = ready.model, ready.state
        term = next(t for t in model.assembly.terms if isinstance(t, ContactTerm))
        step = model.step(state, 0.01)
        term.freeze(step)
        y = kernel.points(np.concatenate([state.x, step.bodies[0]]))
        assert len(places_around(term.workspace.search, y)) == number
