"""Tables of a mesh, against counting, Euler's formula and igl."""

import igl
import numpy as np
import pytest

from tests.refusals import refused
from weft.base.errors import DegenerateFacesError, MeshError
from weft.discretization.mesh import TriangleMesh, grid, repeated_faces

pytestmark = pytest.mark.quick

PATTERNS = ["regular", "alternating", "random"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_grid(pattern):
    mesh = grid(7, 5, 1.2, 0.8, pattern)
    assert mesh.n_vertices == 35 and len(mesh.faces) == 2 * 6 * 4
    assert mesh.n_vertices - len(mesh.edges) + len(mesh.faces) == 1  # Euler: a disk
    assert len(mesh.edges) - len(mesh.hinges) == len(mesh.boundary) == 2 * (6 + 4)
    assert mesh.rest_area.sum() == pytest.approx(0.96)
    assert (mesh.signed_material_area > 0).all()
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [1.2, 0, 0.8], atol=1e-15)
    # The material map is an isometry: u along +x, v along -z, the front face up.
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    normal = np.cross(b - a, c - a)
    np.testing.assert_allclose(normal[:, 1] / 2, mesh.rest_area, atol=1e-14)
    assert mesh.vertex_area.sum() == pytest.approx(0.96)


def test_random_grid_is_seeded():
    one, same, other = (grid(5, 5, 1, 1, "random", seed).vertices for seed in (3, 3, 4))
    assert (one == same).all() and not (one == other).all()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_tables_agree_with_igl(pattern):
    mesh = grid(6, 7, 1, 1, pattern)
    faces = mesh.faces.astype(np.int64)
    edges = np.sort(igl.edges(faces), axis=1)
    np.testing.assert_array_equal(edges[np.lexsort(edges.T[::-1])], mesh.edges)
    np.testing.assert_array_equal(np.unique(igl.boundary_facets(faces)[0]), mesh.boundary)
    area = igl.doublearea(np.array(mesh.vertices), faces) / 2
    np.testing.assert_allclose(area, mesh.rest_area, atol=1e-14)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_hinges(pattern):
    """Each hinge names its faces: the left one runs along the edge, the right one against it."""
    mesh = grid(6, 5, 1, 1, pattern)
    for (a, b, c, d), (left, right) in zip(mesh.hinges.tolist(), mesh.hinge_faces.tolist()):
        rolled = [np.roll(mesh.faces[left], -i).tolist() for i in range(3)]
        assert [a, b, c] in rolled and a < b
        assert [b, a, d] in [np.roll(mesh.faces[right], -i).tolist() for i in range(3)]


def test_seams_keep_one_vertex_with_two_coordinates():
    uv = np.array([[[0, 0], [1, 0], [0, 1]], [[5, 0], [5, 1], [4, 0]]], dtype=float)
    mesh = TriangleMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]], uv)
    assert mesh.n_vertices == 4 and mesh.vertex_uv is None and len(mesh.hinges) == 1


@pytest.mark.parametrize(
    "arguments, match",
    [
        ((1, 5, 1, 1), "nx, ny"),
        ((5, 5, 0, 1), "width, height"),
        ((5, 5, 1, 1, "hexagonal"), "pattern"),
        ((10**6, 10**6, 1.0, 1.0), ("sheet nx, ny", "GiB")),
        ((4, 4, 1e-13, 1e-13), ""),
        ((4, 4, 1e13, 1e13), ""),
    ],
)
def test_bad_grids(arguments, match):
    with refused(MeshError, match):
        grid(*arguments)


UV = np.array([[[0.0, 0], [1, 0], [0, 1]]])


BAD_POINT = np.array([[0, 0, 0], [np.nan, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    "x, faces, uv, match",
    [
        (np.eye(3), np.zeros((0, 3)), np.zeros((0, 3, 2)), ("faces", 0)),
        (np.eye(3), [[0, 1, 3]], UV, ("vertex index in face 0", "0 to 2")),
        (BAD_POINT, [[0, 1, 2]], UV, "position of vertex 1"),
        (np.eye(3), [[0, 1, 2]], np.full_like(UV, np.inf), "material coordinates"),
    ],
)
def test_bad_meshes(x, faces, uv, match):
    with refused(MeshError, match):
        TriangleMesh(x, faces, uv)


def test_degenerate_faces_are_listed():
    mesh = grid(4, 4, 1, 1)
    uv = np.array(mesh.corner_uv)
    uv[7] = uv[7, 0]
    uv[11, 2] = 0.5 * (uv[11, 0] + uv[11, 1])
    with refused(DegenerateFacesError, "material area of faces", got="7, 11", hint="2 of 18"):
        TriangleMesh(mesh.vertices, mesh.faces, uv)


def test_faces_that_are_there_twice():
    m = grid(4, 3, 1.0, 1.0)
    faces = np.concatenate([m.faces, np.roll(m.faces[2:4], 1, axis=1)])
    with refused(MeshError, "faces", got="[12, 13]"):
        TriangleMesh(m.vertices, faces, m.corner_uv[[*range(12), 2, 3]])
    assert len(repeated_faces(np.concatenate([m.faces, m.faces[:, ::-1]]))) == 0  # other sides
