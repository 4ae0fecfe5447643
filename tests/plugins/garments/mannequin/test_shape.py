"""The mesh of a mannequin: closed, manifold, well shaped, and of the girths that were asked for."""

import numpy as np
import pytest

from tests.plugins.garments.patterns.angles import minimum_angles
from weft.contact.exact.intersections import intersections
from weft.discretization.mesh import unique_edges
from weft.plugins.garments.bodies.sections import girth
from weft.plugins.garments.mannequin import mannequin
from weft.plugins.garments.mannequin.contour import contour, is_manifold
from weft.plugins.garments.mannequin.figure import COARSEST, FINEST
from weft.plugins.garments.mannequin.solids import Cone, Ellipsoid, Tube, Union

X, Y, Z = np.eye(3)


def volume(x, faces):
    a, b, c = np.moveaxis(x[faces], 1, 0)
    return np.einsum("mi,mi->", a, np.cross(b, c)) / 6


def test_the_mesh_is_a_closed_manifold_sphere(woman):
    """Euler characteristic 2, two faces at every edge, outwards, without self-intersection."""
    x, f = woman.vertices, woman.faces
    edges, _ = unique_edges(f)
    assert len(x) - len(edges) + len(f) == 2
    assert is_manifold(f)
    assert len(np.unique(f)) == len(x)
    assert 0.045 < volume(x, f) < 0.075  # m^3 of a person of about 60 kg
    assert len(intersections(x, f)) == 0


def test_triangles_are_many_enough_and_well_shaped(woman):
    assert 10_000 <= len(woman.faces) <= 30_000
    least = np.degrees(minimum_angles(woman.vertices[woman.faces]))
    assert least.min() > 10 and np.percentile(least, 1) > 30


def test_the_figure_stands_on_the_floor_and_is_as_tall_as_said(woman):
    x = woman.vertices
    assert x[:, 1].min() == 0.0
    assert x[:, 1].max() == pytest.approx(1.68, abs=1e-12)
    assert x[np.argmax(x[:, 2]), 1] < 0.1  # toes are in front
    mirrored = x * (-1, 1, 1)
    for some in (x[::97], mirrored[::97]):  # symmetric, up to the triangles
        apart = np.linalg.norm(x[None] - some[:, None], axis=2).min(1)
        assert apart.max() < 0.02


@pytest.mark.parametrize("seed", range(4))
def test_girths_are_those_asked_for(seed):
    """Chest, waist and hips of random figures within 1 cm, on the mesh."""
    rng = np.random.default_rng(seed)
    chest = rng.uniform(0.82, 1.15)
    asked = {
        "height": rng.uniform(1.5, 1.95),
        "chest": chest,
        "waist": chest * rng.uniform(0.7, 1.0),
        "hips": chest * rng.uniform(0.93, 1.15),
    }
    made = mannequin("woman" if seed % 2 else "man", **asked, size=0.0122 * asked["height"])
    for name, value in asked.items():
        assert getattr(made.measurements, name) == pytest.approx(value, abs=0.01), name
    assert is_manifold(made.faces)


@pytest.mark.parametrize("height", [0.9, 1.5])
def test_children_have_their_girths_and_large_heads(height):
    made = mannequin("child", height=height, size=0.0122 * height)
    for name in ("height", "chest", "waist", "hips"):
        asked = getattr(made.measures, name)
        assert getattr(made.measurements, name) == pytest.approx(asked, abs=0.005), name
    x, crotch = made.vertices, made.measurements.crotch_height
    assert crotch == pytest.approx(made.measures.inseam, abs=0.01)
    skull = x[x[:, 1] > height - 0.5 * made.measures.head]
    # Snyder et al. 1977: heads of children are 13.4 to 14.6 cm broad.
    assert 0.125 < np.ptp(skull[:, 0]) < 0.15
    assert is_manifold(made.faces) and len(intersections(x, made.faces)) == 0


def test_other_measures_come_near(woman):
    """Measures that are not solved for: within 2 cm."""
    found, asked = woman.measurements, woman.measures
    for name in ("neck", "thigh", "calf", "upper_arm"):
        assert getattr(found, name) == pytest.approx(getattr(asked, name), abs=0.02), name
    assert found.crotch_height == pytest.approx(asked.inseam, abs=0.015)
    assert found.shoulder_breadth == pytest.approx(asked.shoulders, abs=0.02)
    longer = mannequin("woman", inseam=asked.inseam + 0.05, size=0.0122 * 1.68)
    assert longer.measurements.crotch_height == pytest.approx(asked.inseam + 0.05, abs=0.015)


@pytest.mark.parametrize("size", [COARSEST, FINEST])
def test_sizes_give_10_000_to_30_000_faces(size):
    made = mannequin("man", size=size * 1.76)
    assert 9_900 <= len(made.faces) <= 30_500


def test_contour_of_a_ball():
    """Volume and area of a sphere of radius 0.2 m, by surface nets, with h^2."""
    ball = Union([Ellipsoid(np.zeros(3), np.full(3, 0.2))])
    x, f = contour(ball, 0.02)
    assert volume(x, f) == pytest.approx(4 / 3 * np.pi * 0.2**3, rel=0.01)
    assert is_manifold(f) and np.degrees(minimum_angles(x[f]).min()) > 25
    assert girth(x, f, np.zeros(3), Y) == pytest.approx(2 * np.pi * 0.2, rel=0.005)


def test_sheets_in_one_cell_stay_apart():
    """Two rods askew to the grid, closer than the diagonal of a cell: two closed surfaces."""
    tilt = np.array([1.0, 0.7, 0.2]) / np.linalg.norm([1.0, 0.7, 0.2])
    rods = [
        Cone(s * 0.016 * Z - 0.1 * tilt, s * 0.016 * Z + 0.1 * tilt, (0.01, 0.01), 0.0)
        for s in (1, -1)
    ]
    x, faces = contour(Union(rods), 0.009)
    edges, _ = unique_edges(faces)
    assert is_manifold(faces) and len(x) - len(edges) + len(faces) == 4
    assert len(intersections(x, faces)) == 0


def test_distances_of_solids():
    """Cones are exact; tubes zero on their surface, with a gradient of one there."""
    cone = Cone(np.zeros(3), 2 * Y, (0.5, 0.5))
    np.testing.assert_allclose(cone.distance([[1, 1, 0], [0, 3, 0], [0, 1, 0.2]]), [0.5, 0.5, -0.3])
    rows = np.array([[0, 0.3, 0.2, 0.1, 0, 0], [1, 0.3, 0.2, 0.1, 0, 0]])
    tube = Tube(np.zeros(3), Y, X, Z, 1.0, rows, (0.2, 0.2))
    p = np.array([[0.3, 0.5, 0], [0, 0.5, 0.2], [0, 0.5, -0.1], [0, 1.2, 0], [0, -0.2, 0]])
    np.testing.assert_allclose(tube.distance(p), 0, atol=1e-9)
    assert np.linalg.norm(Union([tube]).with_gradient(p)[1], axis=1) == pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(tube.box(), [[-0.3, -0.2, -0.2], [0.3, 1.2, 0.2]])
