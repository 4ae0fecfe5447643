"""Irregular meshes of flat pieces: conforming, well shaped, graded, and errors by name."""

import numpy as np
import pytest

import weft
from tests.plugins.garments.patterns.angles import minimum_angles
from tests.refusals import refused
from weft.base.errors import MeshError
from weft.discretization.triangulate import triangulate_piece

T = np.linspace(0, 2 * np.pi, 80, endpoint=False)
CIRCLE = np.stack([np.cos(T), np.sin(T)], axis=1)
SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
SHAPES = {
    "square": (SQUARE, [], 0.05, 1.0),
    "disc": (CIRCLE, [], 0.1, None),
    "L": ([[0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]], [], 0.05, 0.75),
    "hole": (SQUARE, [0.5 + 0.2 * CIRCLE[::-1]], 0.06, None),
    "star": (CIRCLE * (1 + 0.4 * np.cos(5 * T))[:, None], [], 0.1, None),
    "strip": ([[0, 0], [2, 0], [2, 0.08], [0, 0.08]], [], 0.05, 0.16),
    "clockwise": (SQUARE[::-1], [], 0.08, 1.0),
    "coarse": (SQUARE, [], 2.0, 1.0),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shapes(shape, seed):
    outline, holes, size, area = SHAPES[shape]
    mesh = triangulate_piece(outline, holes, size, seed=seed)
    least = np.degrees(minimum_angles(mesh.corner_uv).min())
    assert least >= 20
    assert (mesh.signed_material_area > 0).all()
    assert len(mesh.isolated_vertices) == 0 and len(mesh.non_manifold_edges) == 0
    if area is not None:
        assert mesh.rest_area.sum() == pytest.approx(area, rel=1e-12)
    euler = mesh.n_vertices - len(mesh.edges) + len(mesh.faces)
    assert euler == 1 - len(holes)
    edge = np.linalg.norm(mesh.corner_uv - np.roll(mesh.corner_uv, 1, axis=1), axis=2)
    assert edge.max() < 1.7 * size


def test_graded_along_a_fine_outline():
    """Triangles grow from short edges of the outline to the wanted size inside."""
    mesh = triangulate_piece(SQUARE, [0.5 + 0.05 * CIRCLE], 0.1)
    center = mesh.corner_uv.mean(1)
    edge = np.sqrt(mesh.rest_area * 4 / np.sqrt(3))
    away = np.linalg.norm(center - 0.5, axis=1) - 0.05
    near, far = edge[away < 0.01].mean(), edge[away > 0.3].mean()
    assert near < 0.012 and 0.06 < far < 0.12
    assert np.degrees(minimum_angles(mesh.corner_uv).min()) >= 20


def test_cloth():
    """It lies on y = 0, centered, front up; corners and borders are found."""
    cloth = weft.triangulate(SQUARE, size=0.1, fabric="silk")
    assert cloth.fabric.name == "silk" and not cloth.vertices[:, 1].any()
    np.testing.assert_allclose(cloth.vertices.min(0), [-0.5, 0, -0.5])
    a, b, c = np.moveaxis(cloth.vertices[cloth.faces], 1, 0)
    assert (np.cross(b - a, c - a)[:, 1] > 0).all()
    assert len(cloth.corners("all")) == 4 and len(cloth.border("top")) == 11


@pytest.mark.parametrize(
    "outline, holes, size, message",
    [
        ([[0, 0], [1, 0]], [], 0.1, ("outline", "2, 2")),
        ([[0, 0], [1, 0], [np.nan, 1]], [], 0.1, "outline, point 2"),
        ([[0, 0], [1, 0], [1, 0], [0, 1]], [], 0.1, "points 1 and 2"),
        ([[0, 0], [1, 1], [1, 0], [0, 1]], [], 0.1, ("outline", "point 2", "near [0.5, 0.5]")),
        (SQUARE, [SQUARE + 0.5], 0.1, "outline and hole 0"),
        (SQUARE, [0.1 * SQUARE + 2], 0.1, "hole 0"),
        (SQUARE, [0.3 * SQUARE + 0.2, 0.1 * SQUARE + 0.3], 0.1, "hole 1"),
        (SQUARE, [], -1.0, "size"),
        (SQUARE, [], 1e-5, ("size", "1e-05 m")),
    ],
)
def test_errors(outline, holes, size, message):
    with refused(MeshError, message):
        triangulate_piece(outline, holes, size)
