"""Faults of meshes: faces are turned, and what cannot be mended is named with its consequence."""

import warnings

import numpy as np
import pytest

import weft
from weft.discretization.manifold import coinciding_vertices, mesh_faults, orient, turned_faces
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.elastic.hinge_bending import HingeBending
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick


def mesh_of(x, faces):
    x, faces = np.array(x, dtype=float), np.array(faces, dtype=np.int32)
    return TriangleMesh(x, faces, np.random.default_rng(0).random((len(faces), 3, 2)))


def moebius(n):
    """A closed band of n quads that is twisted: the last one meets the first one upside down."""
    angle = 2 * np.pi * np.arange(n) / n
    half = angle / 2
    way = np.stack([np.cos(half) * np.cos(angle), np.cos(half) * np.sin(angle), np.sin(half)], 1)
    middle = np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
    x = np.concatenate([middle - 0.2 * way, middle + 0.2 * way])
    k = np.arange(n)
    low, high = np.append(k[1:], n), np.append(k[1:] + n, 0)
    faces = np.concatenate([np.stack([k, low, high], 1), np.stack([k, high, k + n], 1)])
    return mesh_of(x, faces)


def test_turned_faces_are_the_smaller_part():
    faces = grid(9, 7, 1.0, 1.0).faces
    rng = np.random.default_rng(1)
    wrong = rng.random(len(faces)) < 0.3
    mixed = np.where(wrong[:, None], faces[:, ::-1], faces)
    assert (turned_faces(mixed) == wrong).all()
    assert not turned_faces(faces).any() and not turned_faces(faces[:, ::-1]).any()


@pytest.mark.parametrize("make", [lambda m: weft.Cloth(m, "cotton"), orient])
def test_a_cloth_is_turned_and_says_so_once(make):
    sheet = grid(6, 6, 1.0, 1.0)
    faces, uv = sheet.faces.copy(), sheet.corner_uv.copy()
    faces[::2], uv[::2] = faces[::2, ::-1], uv[::2, ::-1]
    with pytest.warns(UserWarning, match="25 of 50 faces .* turned") as said:
        made = make(TriangleMesh(sheet.vertices, faces, uv))
        made = getattr(made, "mesh", made)
        cloth = weft.Cloth(made, "cotton").move((0, 1, 0))
        prepare(weft.Scene(cloth))
    assert len(said) == 1
    assert len(made.one_sided_edges) == 0 and len(made.hinges) == len(sheet.hinges)
    np.testing.assert_allclose(np.abs(made.signed_material_area.sum()), 1.0)


def test_a_band_with_one_side_bends_everywhere():
    band = moebius(24)
    mixed = TriangleMesh(
        band.vertices,
        np.where((np.arange(48) % 3 == 0)[:, None], band.faces[:, ::-1], band.faces),
        band.corner_uv,
    )
    with pytest.warns(UserWarning, match="turned"):
        made = orient(mixed)
    (said,) = mesh_faults(made)
    assert "only one side" in said and "Möbius" in said
    assert 1 <= len(made.one_sided_edges) <= 3  # a line across the band
    assert len(HingeBending.of(made, (1.0, 1.0)).weight) == 48


FIN = [[0, 1, 2], [1, 0, 3], [0, 1, 4]]
BESIDE_TWO = [[0, 2, 1], [0, 3, 4], [3, 1, 4]]  # the vertex in the middle belongs to two alone


@pytest.mark.parametrize(
    "x, faces, words",
    [
        (
            [[0, 0, 0], [1, 0, 0], [0.5, 0, 1], [0.5, 1, 0], [0.5, 0, -1]],
            FIN,
            ("1 non-manifold edges", "0-1 near (0.5, 0, 0)", "bends freely"),
        ),
        (
            [[0, 0, 0], [2, 0, 0], [1, 0, 1], [1, 0, 0], [1, 0, -1]],
            BESIDE_TWO,
            ("1 vertices lie in the middle of edges", "3 on 0-1 near (1, 0, 0)", "open"),
        ),
        (
            [[0, 0, 0], [1, 0, 0], [1, 0, 1], [-1, 0, 0], [-1, 0, 1]],
            [[0, 1, 2], [0, 3, 4]],
            ("0 near (0, 0, 0)", "turns freely"),
        ),
        (
            [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]],
            [[0, 1, 2], [1, 3, 2], [0, 2, 1], [1, 2, 3]],
            ("2 of 4 faces lie on others", "twice its mass"),
        ),
    ],
    ids=["fin", "t-junction", "pieces at a point", "double-sided"],
)
def test_what_cannot_be_mended_is_named(x, faces, words):
    (said,) = mesh_faults(mesh_of(x, faces))
    assert all(word in said for word in words)


def halves():
    """A sheet whose right half has vertices of its own along the middle, and its seam."""
    one = grid(3, 5, 0.2, 0.4)
    x = np.concatenate([one.vertices, one.vertices + [0.2, 0, 0]])
    faces = np.concatenate([one.faces, one.faces + one.n_vertices])
    uv = np.concatenate([one.corner_uv, one.corner_uv + [0.2, 0.0]])
    return TriangleMesh(x, faces, uv, source="halves")


def test_coinciding_vertices_are_counted():
    mesh = halves()
    pairs = coinciding_vertices(mesh)
    assert pairs.tolist() == [[2 + 3 * k, 15 + 3 * k] for k in range(5)]
    said = list(mesh_faults(mesh))
    assert "10 vertices coincide at 5 places" in said[0] and "2 and 15 near (0.1, 0" in said[0]
    assert "weld: true" in said[0]
    assert len(coinciding_vertices(mesh, pairs[1:])) == 1


def test_what_seams_and_attachments_tie_may_coincide():
    pairs = coinciding_vertices(halves())
    tie = weft.AttachCloth(pairs[:, 0], pairs[:, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepare(weft.Scene(weft.Cloth(halves(), "cotton"), attachments=[tie]))
    with pytest.warns(UserWarning, match="10 vertices coincide"):
        prepare(weft.Scene(weft.Cloth(halves(), "cotton")))
