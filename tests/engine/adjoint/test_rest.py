"""Derivatives by the rest shape: through contact, seams and outlines."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import quotient
from tests.refusals import refused
from weft.adjoint import Mean, Outline, Strain, Sum, material_points
from weft.base.errors import MeshError
from weft.scene.prepare import prepare


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


def test_a_vertex_on_a_seam_has_a_material_point_on_either_side():
    mesh = tube().cloth.mesh
    points, corners = material_points(mesh)
    assert len(points) == 13 * 4 > len(mesh.vertices) and corners.shape == mesh.faces.shape
    np.testing.assert_allclose(points[corners], mesh.corner_uv, atol=1e-9)


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
