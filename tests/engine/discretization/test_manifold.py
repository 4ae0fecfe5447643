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


def strip(n, twisted):
    """A closed band of n quads: a Möbius band if it is twisted."""
    angle = 2 * np.pi * np.arange(n) / n
    half = angle / 2 if twisted else np.zeros(n)
    way = np.stack([np.cos(half) * np.cos(angle), np.cos(half) * np.sin(angle), np.sin(half)], 1)
    middle = np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
    if not twisted:
        way = np.tile([0, 0, 1.0], (n, 1))
    x = np.concatenate([middle - 0.2 * way, middle + 0.2 * way])
    after = (np.arange(n) + 1) % n
    low, high = after.copy(), after + n
    if twisted:  # the last quad meets the first one upside down
        low[-1], high[-1] = n, 0
    k = np.arange(n)
    faces = np.concatenate([np.stack([k, low, high], 1), np.stack([k, high, k + n], 1)])
    return mesh_of(x, faces)


def test_turned_faces_are_the_smaller_part():
    faces = grid(9, 7, 1.0, 1.0).faces
    rng = np.random.default_rng(1)
    wrong = rng.random(len(faces)) < 0.3
    mixed = np.where(wrong[:, None], faces[:, ::-1], faces)
    assert (turned_faces(mixed) == wrong).all()
    assert not turned_faces(faces).any() and not turned_faces(faces[:, ::-1]).any()


def test_pieces_are_turned_one_by_one():
    one = grid(4, 4, 1.0, 1.0)
    other = one.faces[:, ::-1] + one.n_vertices  # all of it the other way: it stays
    faces = np.concatenate([one.faces, other])
    faces[20] = faces[20, ::-1]
    assert np.flatnonzero(turned_faces(faces)).tolist() == [20]


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


def test_a_closed_band_has_two_sides():
    band = strip(12, twisted=False)
    assert list(mesh_faults(band)) == []
    flipped = band.faces.copy()
    flipped[[1, 5, 6]] = flipped[[1, 5, 6], ::-1]
    assert np.flatnonzero(turned_faces(flipped)).tolist() == [1, 5, 6]


def test_a_band_with_one_side_bends_everywhere():
    band = strip(24, twisted=True)
    mixed = TriangleMesh(
        band.vertices,
        np.where((np.arange(48) % 3 == 0)[:, None], band.faces[:, ::-1], band.faces),
        band.corner_uv,
    )
    with pytest.warns(UserWarning, match="turned"):
        made = orient(mixed)
    (said,) = mesh_faults(made)
    assert "one side only" in said and "Möbius" in said
    assert 1 <= len(made.one_sided_edges) <= 3  # a line across the band
    assert len(HingeBending.of(made, (1.0, 1.0)).weight) == 48


def test_hinges_do_not_depend_on_winding():
    """The same energy where the faces of an edge disagree."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0.4, 1, 0.3], [0.6, -1, 0.2]])
    uv = x[:, :2]
    same, mixed = np.array([[0, 1, 2], [1, 0, 3]]), np.array([[0, 1, 2], [0, 1, 3]])
    energy = [
        HingeBending.of(TriangleMesh(x, f, uv[f]), (1.0, 2.0)).value(x).sum() for f in (same, mixed)
    ]
    assert energy[0] == pytest.approx(energy[1]) and energy[0] > 0


def test_fins_are_named():
    x = [[0, 0, 0], [1, 0, 0], [0.5, 0, 1], [0.5, 1, 0], [0.5, 0, -1]]
    (said,) = mesh_faults(mesh_of(x, [[0, 1, 2], [1, 0, 3], [0, 1, 4]]))
    assert "1 non-manifold edges" in said and "0-1 near (0.5, 0, 0)" in said
    assert "bends freely" in said


def test_double_sided_cloth_is_named():
    sheet = grid(4, 4, 1.0, 1.0)
    faces = np.concatenate([sheet.faces, sheet.faces[:, ::-1]])
    uv = np.concatenate([sheet.corner_uv, sheet.corner_uv[:, ::-1]])
    (said,) = mesh_faults(TriangleMesh(sheet.vertices, faces, uv))
    assert "18 of 36 faces lie on others" in said and "twice its mass" in said
    assert f"at {len(sheet.hinges)} edges" in said
    # the same with vertices of their own
    faces = np.concatenate([sheet.faces, sheet.faces[:, ::-1] + 16])
    said = list(mesh_faults(TriangleMesh(np.tile(sheet.vertices, (2, 1)), faces, uv)))
    assert "vertices coincide" in said[0] and "18 of 36 faces lie on others" in said[1]


def test_t_junctions_are_named():
    """Two triangles beside one: the vertex in the middle belongs to the two alone."""
    x = [[0, 0, 0], [2, 0, 0], [1, 0, 1], [1, 0, 0], [1, 0, -1]]
    (said,) = mesh_faults(mesh_of(x, [[0, 2, 1], [0, 3, 4], [3, 1, 4]]))
    assert "1 vertices lie on edges" in said and "3 on 0-1 near (1, 0, 0)" in said
    assert "open" in said


def test_pieces_at_a_point_are_named():
    x = [[0, 0, 0], [1, 0, 0], [1, 0, 1], [-1, 0, 0], [-1, 0, 1]]
    (said,) = mesh_faults(mesh_of(x, [[0, 1, 2], [0, 3, 4]]))
    assert "0 near (0, 0, 0)" in said and "turns freely" in said


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


def test_the_cloth_of_several_is_named():
    cloth = weft.join(
        [weft.sheet(3, 3).move((0, 1, 0)), weft.Cloth(halves(), "cotton")], ["one", "two"]
    )
    with pytest.warns(UserWarning, match=r"two: 10 vertices coincide at 5 places .*first 2 and 15"):
        prepare(weft.Scene(cloth))
