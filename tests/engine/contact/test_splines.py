"""Contact of splines, through the triangles between their samples."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from tests.checks import assert_derivative, touching
from tests.stepping import model_steps, steps
from weft import kernel
from weft.contact import plate, sphere
from weft.contact.exact.intersections import intersections
from weft.kernel import vec3
from weft.laws import Psd
from weft.run.drive import advance
from weft.scene.prepare import prepare

GAP = 0.03


def near_itself(density=1):
    """A model of a folded sheet whose two halves lie half a gap apart."""
    cloth = weft.spline_sheet(12, 9, 1.0, 0.6, density=density)
    x = np.array(cloth.points)
    s, r = x[:, 0], 0.4 * GAP
    turn = np.clip(s / r, -np.pi / 2, np.pi / 2)
    beyond = s - turn * r
    x[:, 0] = r * np.cos(turn) - np.abs(beyond)
    x[:, 1] = r * np.sin(turn)
    x[:, 1] += 0.002 * np.sin(40 * x[:, 2])
    return prepare(
        weft.Scene(cloth.with_points(x), contact=weft.SelfContact(gap=GAP, friction=0.3))
    ).model


@pytest.fixture(params=[1, 2])
def model(request):
    return near_itself(request.param)


def terms(model):
    """Contact of the points, and of the vertices as if they were points."""
    x = model.start
    vertices = dataclasses.replace(model.contact, embedding=None)
    return touching(model.contact, x), touching(vertices, model.embedding.of(x))


def test_everything_is_pulled_back_through_the_samples(model):
    """Energy as it is, gradient W^T g, Hessian A + W^T H W, against SciPy's products."""
    ours, inner = terms(model)
    x, W = model.start, model.embedding.matrix
    device, vertices = kernel.array(x, vec3), kernel.array(W @ x, vec3)
    assert ours.value(device) == pytest.approx(inner.value(vertices), rel=1e-13) and (
        ours.value(device) > 0
    )
    g, local = kernel.zeros(len(x), vec3), kernel.zeros(W.shape[0], vec3)
    ours.add_gradient(device, g)
    inner.add_gradient(vertices, local)
    expected = W.T @ kernel.numpy(local)
    np.testing.assert_allclose(kernel.numpy(g), expected, atol=1e-12 * np.abs(expected).max())
    A = model.assembly.hessian(device, Psd.PROJECTED)
    before = A.to_scipy().tocsr().copy()
    got = ours.add_hessian(device, Psd.PROJECTED, A).to_scipy().tocsr()
    nothing = ours.workspace.embedding.nothing
    H = inner.add_hessian(vertices, Psd.PROJECTED, nothing).to_scipy().tocsr()
    W3 = sp.kron(W, sp.eye(3), format="csr")
    wanted = before + W3.T @ H @ W3
    assert np.abs(got - wanted).max() < 1e-11 * np.abs(wanted).max()
    assert np.abs(wanted - before).max() > 0


def test_potential_derivatives(model, rng):
    scene_dt = 0.01
    stepper = weft.BackwardEuler()
    state = weft.State.at_rest(model.start)
    phi = stepper.potential(model, state, {}, scene_dt)
    x = model.start + 1e-4 * rng.normal(size=model.start.shape)
    d = 1e-4 * rng.normal(size=x.shape)
    assert phi.terms(x)["contact"] > 0
    assert_derivative(phi.value, (phi.gradient(x) * d).sum(), x, d, 1e-5)


def test_directions_of_a_search_pass_through_nothing(model, rng):
    ours, _ = terms(model)
    x, W = model.start, model.embedding
    d = 0.1 * rng.normal(size=x.shape)
    part = ours.max_step(kernel.points(x), kernel.points(d))
    held = np.array(kernel.numpy(ours.truncate(kernel.points(x), kernel.points(d))))
    assert 0 < part < 1
    faces = model.contact.mesh.faces
    for way in (part * d, held):
        for t in (0.3, 0.7, 1.0):
            assert len(intersections(W.of(x + t * way), faces)) == 0
    length = np.linalg.norm(held, axis=1) / np.linalg.norm(d, axis=1)
    assert (length <= 1 + 1e-12).all() and length.min() > 0.01


def test_cloth_falls_on_a_sphere_and_stays_outside(tmp_path):
    cloth = weft.spline_sheet(14, 14, fabric="cotton").move((0, 0.02, 0))
    scene = weft.Scene(
        cloth,
        bodies=[sphere(0.25, 0.06).move((0, -0.26, 0))],
        contact=weft.SelfContact(gap=0.01, friction=0.3),
    )
    run = weft.simulate(scene, seconds=0.4, fps=25, out=tmp_path / "run", progress=False)
    assert all(m["intersections"] == 0 for m in run.metrics if "intersections" in m)
    last = run.metrics[-1]["contact"]
    assert last["count"] > 20 and last["least_distance"] > 0
    x = run.positions()
    assert np.linalg.norm(x - [0, -0.26, 0], axis=1).min() > 0.24
    assert x[:, 1].min() < -0.1


@pytest.mark.parametrize(
    "integrator", ["bdf2", "bdf2_semi_implicit", "baraff_witkin_1998", "quasi_static"]
)
def test_every_integrator_keeps_splines_apart(integrator):
    cloth = weft.spline_sheet(10, 10, 0.6, 0.6, "linen").move((0, 0.02, 0))
    scene = weft.Scene(
        cloth,
        [weft.Pin(cloth.corners("top"))],
        integrator=integrator,
        bodies=[sphere(0.15, 0.05).move((0, -0.16, 0))],
        contact=weft.SelfContact(gap=0.01),
        adaptive=weft.AdaptiveSettings() if integrator == "baraff_witkin_1998" else None,
    )
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    for _ in range(1 if integrator == "quasi_static" else 8):
        part = advance(stepper, model, state, memory, 0.02)[-1]
        state, memory = part.state, part.memory
    x = model.vertices(state.x)
    assert len(model.contact.crossings(x, state.t)) == 0
    assert model.contact.least_distance(x, state.t) < 0.01 and x[:, 1].min() < -0.03


def test_friction_holds_a_spline_on_a_slope():
    """mu 0.3: it holds at 14 degrees, and slides at 22 with g (sin - mu cos)."""
    for angle, slides in ((14.0, False), (22.0, True)):
        a = np.radians(angle)
        g = 9.81 * np.array([np.sin(a), -np.cos(a), 0.0])
        cloth = weft.spline_sheet(6, 6, 0.3, 0.3).move((0, 0.003, 0))
        scene = weft.Scene(
            cloth,
            bodies=[plate(4.0, 1.0, 0.5)],
            gravity=tuple(g),
            step=0.01,
            contact=weft.SelfContact(gap=0.01, friction=0.3),
            damping=0.0,
        )
        speeds = [float(state.v[:, 0].mean()) for state, _, _ in steps(scene, 40)]
        if not slides:
            assert abs(speeds[-1]) < 0.01
            continue
        rate = (speeds[-1] - speeds[19]) / 0.2
        assert rate == pytest.approx(9.81 * (np.sin(a) - 0.3 * np.cos(a)), rel=0.05)


def test_pins_carry_cloth_with_them():
    """A pinned border is lowered onto cloth that lies below: that moves out of its way."""
    upper = weft.spline_sheet(8, 8, 0.4, 0.4).move((0, 0.02, 0))
    lower = weft.spline_sheet(8, 8, 0.4, 0.4)
    cloth = weft.join([upper, lower], ["upper", "lower"])
    path = weft.Path(
        [weft.Keyframe(0.0), weft.Keyframe(0.1, (0.0, -0.1, 0.0))], "linear", hold=True
    )
    pin = weft.Pin(cloth.part("upper").vertices, path=path)
    scene = weft.Scene(
        cloth, [pin], gravity=(0, 0, 0), contact=weft.SelfContact(gap=0.01), step=0.01
    )
    model = prepare(scene).model
    for state, _, _ in model_steps(scene, model, 10):
        x = model.vertices(state.x)
        assert len(intersections(x, cloth.faces)) == 0
    lower_points = state.x[64:]
    assert lower_points[:, 1].max() < -0.07


def test_frozen_matrix_is_not_shared(model):
    """Two matrices of a search do not share their pattern's values by accident."""
    ours, _ = terms(model)
    x = kernel.array(model.start, vec3)
    A = model.assembly.hessian(x, Psd.PROJECTED)
    one = ours.add_hessian(x, Psd.PROJECTED, A)
    two = ours.add_hessian(x, Psd.PROJECTED, A)
    assert one.pattern is two.pattern
