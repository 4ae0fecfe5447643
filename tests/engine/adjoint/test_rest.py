"""Derivatives by the rest shape: through contact, seams and outlines."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import folded, landing, noise, quotient, with_start
from tests.reference.contact_sets import contact_set, parallel_threshold
from tests.refusals import refused
from weft import kernel
from weft.adjoint import EnergyLoss, Mean, Outline, Strain, Sum, material_points
from weft.adjoint.adjoint import Adjoint
from weft.base.errors import MeshError, SceneError
from weft.contact.derivatives.reverse_kernels import pull_back_barrier, pull_back_thresholds
from weft.scene.prepare import prepare


def along_rest(scene, loss, h, **run):
    """(derivative, quotient) by the rest shape along a random way."""
    gradient = Adjoint(scene, loss, ["rest"], **run)().gradient["rest"]
    way = np.random.default_rng(3).normal(size=gradient.shape)

    def along(s):
        return Adjoint(with_start(scene, duv=s * way), loss, **run).value()

    return float((gradient * way).sum()), quotient(along, h)


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_rest_with_contact(integrator):
    got, expected = along_rest(landing(integrator, 0.0), noise(16), 1e-5, frames=2, fps=200)
    assert got == pytest.approx(expected, rel=1e-6)


def test_rest_with_friction():
    got, expected = along_rest(landing(), noise(16), 2e-6, frames=2, fps=200)
    assert got == pytest.approx(expected, rel=2e-6)


@pytest.mark.slow
def test_parallel_edges_know_their_rest_lengths():
    """Without the thresholds it is 2e-5 off with friction, and 2e-4 without."""
    run = {"frames": 2, "fps": 200}
    got, expected = along_rest(folded(), noise(32), 3e-7, **run)
    assert got == pytest.approx(expected, rel=2e-6)
    moving = folded("bdf2", 0.0).with_(velocity=(0.5, -0.02, 0.2))  # no blow: second order
    got, expected = along_rest(moving, noise(32), 1e-6, **run)
    assert got == pytest.approx(expected, rel=2e-6)


def test_slopes_by_the_threshold():
    """Of single pairs of edges, at angles around the one from which on they are mollified."""
    rng = np.random.default_rng(0)
    m = 40
    angle = np.linspace(0.002, 0.05, m)
    x = np.zeros((m, 4, 3))
    x[:, 0, 0], x[:, 1, 0] = -0.5, 0.5
    x[:, 2] = np.stack([-0.5 * np.cos(angle), 0 * angle + 2e-3, -0.5 * np.sin(angle)], 1)
    x[:, 3] = x[:, 2] * [-1, 1, -1]
    x = (x + 1e-4 * rng.normal(size=x.shape)).reshape(-1, 3)
    stencil = np.arange(4 * m, dtype=np.int32).reshape(m, 4)
    eps = parallel_threshold(x, stencil)

    def gradient(e):
        return contact_set(stencil, np.ones(m), 100.0, 3e-3, 0.0, e).gradient(x)

    set_ = contact_set(stencil, np.ones(m), 100.0, 3e-3, 0.0, eps)
    local, at = rng.normal(size=x.shape), kernel.points(x)
    got = pull_back_barrier(set_, at, local)[1]["parallel"]
    h = 1e-4
    step = (gradient((1 + h) * eps) - gradient((1 - h) * eps)) / (2 * h * eps)[:, None, None]
    step = (step * local[stencil]).sum((1, 2))
    far = np.abs(np.sin(angle) ** 2 / 1e-3 - 1) > 0.05
    assert np.abs(step[angle < 0.03]).max() > 0
    np.testing.assert_allclose(got[far], step[far], rtol=1e-5, atol=1e-7 * np.abs(step).max())
    way, by = rng.normal(size=x.shape), rng.normal(size=m)
    slope = quotient(lambda s: float(by @ parallel_threshold(x + s * way, stencil)), 1e-4)
    assert float((pull_back_thresholds(x, stencil, by) * way).sum()) == pytest.approx(
        slope, rel=1e-7
    )


def tube(**more):
    """A panel whose left and right side are one seam, worn on a cylinder with friction."""
    panel = weft.sheet(13, 4, 0.3, 0.08, fabric={"preset": "jersey", "damping": "0.05 s"})
    one = np.arange(panel.n_vertices)
    one[panel.border("right")] = panel.border("left")
    keep, ids = np.unique(one[panel.faces], return_inverse=True)
    flat = panel.mesh.vertex_uv[keep]
    angle, radius = 2 * np.pi * flat[:, 0] / 0.3, 0.0525
    y = flat[:, 1] - 0.04
    x = np.stack([radius * np.cos(angle), y, -radius * np.sin(angle)], axis=1)
    mesh = weft.TriangleMesh(x, ids.reshape(-1, 3).astype(np.int32), panel.corner_uv)
    body = weft.contact.cylinder(0.05, 0.12, 0.01, name="leg")
    return weft.Scene(
        weft.Cloth(mesh, panel.fabric),
        bodies=[body],
        step=0.01,
        contact=weft.SelfContact(gap=0.002, friction=0.4),
        settings=weft.StepSettings(tolerance=1e-8),
        **more,
    )


@pytest.mark.slow
def test_a_worn_tube_by_its_panel():
    """Seams, contact, friction, and a loss that knows the rest shape."""
    scene = tube()
    points, number = material_points(scene.cloth.mesh)
    assert len(points) == 13 * 4 and scene.cloth.n_vertices == 12 * 4
    np.testing.assert_allclose(points[number], scene.cloth.corner_uv)
    outline, loss, run = Outline(scene.cloth), Strain(0.01), {"frames": 1, "fps": 33}
    found = Adjoint(scene, loss, ["rest"], **run)()
    by = outline.pull_back(found.gradient["rest"])
    way = np.random.default_rng(1).normal(size=by.shape)

    def along(s):
        return Adjoint(scene.with_(cloth=outline.move_border(s * way)), loss, **run).value()

    assert found.value > 1e-4 and by.shape == (30, 2)
    assert float((by * way).sum()) == pytest.approx(quotient(along, 1e-5), rel=1e-5)


def test_strain_against_differences():
    rng = np.random.default_rng(2)
    scene = tube()
    mesh = scene.cloth.mesh
    x = np.array(mesh.vertices)[None] + 2e-3 * rng.normal(size=(2, *mesh.vertices.shape))
    dx, duv = rng.normal(size=x.shape), rng.normal(size=mesh.corner_uv.shape)

    def model(s):
        uv = mesh.corner_uv + s * duv
        cloth = dataclasses.replace(
            scene.cloth, mesh=weft.TriangleMesh(mesh.vertices, mesh.faces, uv)
        )
        return prepare(scene.with_(cloth=cloth)).model

    loss = Sum([(2.0, Strain(0.02).of(model(0))), (1.0, Mean())])
    _, by, _ = loss(x, 0 * x, None)
    slope = quotient(lambda s: loss(x + s * dx, 0 * x, None)[0], 1e-6)
    assert float((by * dx).sum()) == pytest.approx(slope, rel=1e-6)
    slope = quotient(lambda s: 2 * Strain(0.02).of(model(s))(x, 0 * x, None)[0], 1e-6)
    assert float((loss.by_corner(x, 0 * x, None) * duv).sum()) == pytest.approx(slope, rel=1e-6)
    assert Strain().of(model(0)).principal(x[0]).shape == (len(mesh.faces), 2)


def test_outlines():
    """What is inside goes along: an affine map of the border is one of all; the transpose holds."""
    cloth = weft.sheet(5, 4, 0.4, 0.3, pattern="random")
    outline = Outline(cloth)
    assert len(outline.ids) == 14
    A = np.array([[0.1, 0.02], [-0.03, 0.2]])
    moved = outline.move_border(outline.points @ A.T)
    uv = cloth.mesh.corner_uv
    np.testing.assert_allclose(moved.mesh.corner_uv, uv + uv @ A.T, atol=1e-12)
    rng = np.random.default_rng(0)
    shift, by = 1e-3 * rng.normal(size=(14, 2)), rng.normal(size=(20, 2))
    change = material_points(outline.move_border(shift).mesh)[0] - material_points(cloth.mesh)[0]
    assert float((change * by).sum()) == pytest.approx(float((outline.pull_back(by) * shift).sum()))
    with refused(MeshError, "outline", got="24 triangles"):
        outline.move_border(-3 * outline.points * [1, 0])
    with refused(MeshError, "outline", expected="14, 2"):
        outline.move_border(np.zeros((3, 2)))


def test_losses_say_how_they_know_the_rest_shape():
    sheet = weft.sheet(3, 3)
    pinned = weft.Scene(sheet, [weft.Pin(sheet.corners("top"))], step=0.01)
    for loss in (EnergyLoss(), Sum([(1.0, EnergyLoss())])):
        with refused(SceneError, ("", "by_corner")):
            Adjoint(pinned, loss, ["rest"], frames=1, fps=100)()
