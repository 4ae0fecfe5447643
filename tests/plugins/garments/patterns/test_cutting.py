"""Garments: equal counts across seams by construction, meshes that stay surfaces when sewn."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plugins.garments.patterns.angles import minimum_angles
from tests.plugins.garments.patterns.patterns import (
    cone,
    disc,
    edges,
    panel,
    pillow,
    rectangle,
    seam,
    tube,
)
from tests.refusals import refused
from weft.base.errors import PatternError, PatternProblems
from weft.plugins.garments.patterns.curves import edge_curve
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.pattern import (
    Elastic,
    Panel,
    Pattern,
    PatternFold,
    Placement,
    SeamSide,
    Wrap,
)
from weft.plugins.garments.patterns.placement import wrap_points
from weft.plugins.garments.patterns.topology import sewn_topology


def euler(mesh):
    return mesh.n_vertices - len(mesh.edges) + len(mesh.faces)


def weld(garment):
    """The mesh with closed seams, a surface without edges of three faces, and new ids."""
    mesh, new = garment.weld(garment.mesh.vertices)
    assert len(mesh.non_manifold_edges) == 0
    return mesh, new


def assert_seams_meet(garment):
    """Every pair stands at the fraction that it says, on both chains, and nothing is left out."""
    panels = garment.pattern.by_name
    all_edges = {tuple(e) for e in garment.mesh.edges.tolist()}
    for line in garment.seams:
        for k, chain in enumerate((line.match.first, line.match.second)):
            own, wanted = line.pairs[:, k], []
            for i, f in map(chain.on_edge, line.fractions.tolist()):
                s = chain.sides[i]
                wanted.append(edge_curve(panels[s.panel], s.edge).points(np.array([f]))[0])
            gap = np.linalg.norm(garment.flat[own] - wanted, axis=1)
            # Where a chain goes from one edge to the next, either may be meant.
            inner = np.abs(line.fractions[:, None] - chain.starts[None]).min(axis=1) > 1e-6
            assert gap[inner].max(initial=0) < (1e-9 if k == 0 else 0.11 * 0.05 + 1e-9)
            every = np.concatenate([garment.edge_vertices(s.panel, s.edge) for s in chain.sides])
            assert set(every) == set(own)
        assert {tuple(e) for e in np.sort(line.edges.reshape(-1, 2)).tolist()} <= all_edges


@pytest.mark.parametrize("size", [0.02, 0.05, 0.13])
def test_a_tube_is_an_annulus_once_sewn(size):
    garment = cut(tube(), size)
    mesh, new = weld(garment)
    assert euler(mesh) == 0
    assert garment.mesh.n_vertices - mesh.n_vertices == sum(len(s.pairs) for s in garment.seams)
    assert mesh.rest_area.sum() == pytest.approx(2 * 0.5 * 0.6)
    assert (mesh.signed_material_area > 0).all()
    assert_seams_meet(garment)
    assert str(sewn_topology(garment)).startswith(
        "1 piece, 2 openings, Euler characteristic 0, two"
    )
    assert set(new[garment.edge_vertices("front", "right")]) == set(
        new[garment.edge_vertices("back", "left")]
    )


@pytest.mark.parametrize("size", [0.03, 0.1, 0.2, 0.4])
def test_a_pillow_is_a_sphere_with_no_two_triangles_alike(size):
    """Its corners would make ears that coincide: two triangles of the same three vertices."""
    garment = cut(pillow(), size)
    mesh, _ = weld(garment)
    assert euler(mesh) == 2 and len(mesh.boundary) == 0
    assert not sewn_topology(garment).warnings
    faces = np.sort(mesh.faces, axis=1)
    assert len(np.unique(faces, axis=0)) == len(faces)


@pytest.mark.parametrize("angle", np.radians([2, 20, 90, 200, 330]))
@pytest.mark.parametrize("size", [0.02, 0.1])
def test_cones_close(angle, size):
    """A sector sewn to itself, from a needle to almost a disc: a disc without degenerate faces."""
    garment = cut(cone(angle), size)
    mesh, _ = weld(garment)
    assert euler(mesh) == 1
    shape = sewn_topology(garment)
    assert shape.openings == 1 and shape.orientable and not shape.warnings
    assert (mesh.faces != np.roll(mesh.faces, 1, axis=1)).all()


def test_a_narrow_band_has_two_rows_of_cells():
    """A band of one row folds down along its seam; an elastic holds it."""
    band = panel("band", rectangle(0.4, 0.04))
    held = [Elastic("elastic", [SeamSide("band", 0)], 0.9, 30.0)]
    rows = []
    for pattern in (Pattern("bands", [band]), Pattern("held", [band], elastics=held)):
        y = cut(pattern, 0.04).flat[:, 1]
        rows.append(((y > y.min() + 0.01) & (y < y.max() - 0.01)).sum())
    assert rows[0] > 10 > 2 > rows[1]
    cut(Pattern("narrow", [panel("cord", rectangle(0.4, 0.002))]), 0.04)  # FINEST is the limit


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(0.05, 0.95), max_size=4),
    st.lists(st.floats(0.05, 0.95), max_size=4),
    st.floats(0.4, 1.9),
)
def test_any_breaks_on_either_side(first, second, ratio):
    """Corners of either chain are kept on both; counts agree, and are those of the longer side."""

    def split(name, marks, width):
        x = width * np.array([0, *sorted(marks), 1.0])
        x = x[np.concatenate([[True], np.diff(x) > 2e-3])]
        x[-1] = width
        lower = np.stack([x, np.zeros(len(x))], axis=1)
        corners = np.concatenate([lower, [[width, 0.1], [0, 0.1]]])
        return panel(name, corners), [(name, i) for i in range(len(x) - 1)]

    one, sides_1 = split("one", first, 0.5)
    two, sides_2 = split("two", second, 0.5 * ratio)
    pattern = Pattern("split", [one, two], [seam("s", sides_1, sides_2)])
    garment = cut(pattern, 0.05)
    mesh, _ = weld(garment)
    assert euler(mesh) == 1
    (line,) = garment.seams
    assert np.diff(np.sort(line.fractions)).max() * max(line.lengths) < 1.7 * 0.05
    assert_seams_meet(garment)


def test_holes_lines_and_folds():
    """Triangles follow lines that cross, and a fold from edge to edge; holes stay open, and the
    outline of a pocket is none.
    """
    hole = rectangle(0.1, 0.1) + [0.15, 0.4]
    pocket = rectangle(0.1, 0.1)[[0, 1, 2, 3, 0]] + [-0.15, 0.4]
    crossing = [np.array([[-0.2, 0.1], [0.2, 0.2]]), np.array([[0, 0.05], [0.05, 0.28]])]
    folds = [PatternFold(np.array([[-0.3, 0.3], [0.3, 0.33]]), 1.0)]
    piece = panel(
        "piece", rectangle(0.6, 0.6), holes=[hole], lines=[*crossing, pocket], folds=folds
    )
    garment = cut(Pattern("lined", [piece]), 0.04)
    mesh = garment.mesh
    assert euler(mesh) == 0 and mesh.rest_area.sum() == pytest.approx(0.36 - 0.01)
    every = {tuple(e) for e in mesh.edges.tolist()}
    (fold,) = garment.folds
    assert {tuple(sorted(e)) for e in pairwise(fold.vertices.tolist())} <= every
    x = garment.flat[fold.vertices]
    np.testing.assert_allclose(x[:, 1], 0.315 + 0.05 * x[:, 0], atol=1e-9)
    assert fold.vertices[0] in garment.edge_vertices("piece", 3)
    assert fold.vertices[-1] in garment.edge_vertices("piece", 1)
    assert np.degrees(minimum_angles(mesh.corner_uv).min()) > 12


def test_material_coordinates_follow_the_grain():
    """u runs along the warp, lengths stay, right sides stay right sides."""
    panels = panel("p", rectangle(0.3, 0.4), grain=np.radians(30)), panel("q", rectangle(0.3, 0.4))
    garment = cut(Pattern("g", panels), 0.05)
    mesh, rows = garment.mesh, np.array(garment.faces["p"])
    along = np.diff(garment.flat[mesh.faces[rows]], axis=1)
    warp = np.array([np.cos(np.radians(30)), np.sin(np.radians(30))])
    uv = mesh.corner_uv[rows]
    np.testing.assert_allclose(np.diff(uv[..., 0], axis=1), along @ warp, atol=1e-12)
    assert (mesh.signed_material_area > 0).all()
    assert uv[..., 1].max() < np.delete(mesh.corner_uv, rows, axis=0)[..., 1].min()  # side by side


def test_wraps_face_outward_and_layers_lie_outside():
    wrap = Wrap((0.1, 1.0, 0.0), 0.2, facing=(0, 0, -1))
    placed = [
        panel(n, rectangle(0.5, 0.3), layer=layer, placement=Placement(wrap=wrap))
        for n, layer in (("in", 0), ("out", 2))
    ]
    garment = cut(Pattern("w", placed), 0.02)
    x = garment.mesh.vertices - [0.1, 0, 0]
    inner = np.arange(len(x)) < garment.vertices["out"].start
    np.testing.assert_allclose(np.hypot(x[:, 0], x[:, 2]), np.where(inner, 0.2, 0.22))
    a, b, c = np.moveaxis(x[garment.mesh.faces], 1, 0)
    outward = (np.cross(b - a, c - a) * (a + b + c))[:, [0, 2]].sum(axis=1)
    assert (outward > 0).all()  # right sides
    middle = np.argmin(np.linalg.norm(garment.flat - [0, 0.15], axis=1))
    assert x[middle, 2] < 0  # x = 0 where the wrap faces


def test_elastics_groups_and_edges():
    band = Elastic("e", [SeamSide("front", 2), SeamSide("back", 2)], 0.8, 30.0)
    garment = cut(replace(tube(), elastics=[band]), 0.05)
    (line,), hem = garment.elastics, garment.mesh.groups["front.hem"]
    x = garment.flat[line.edges]
    assert np.abs(x[:, 1, 0] - x[:, 0, 0]).sum() == pytest.approx(1.0) == line.length
    assert (x[..., 1] == 0.6).all() and (garment.flat[hem, 1] == 0).all()
    assert set(hem) == set(garment.edge_vertices("front", 0))
    assert set(garment.mesh.groups["back"]) == set(garment.vertices["back"])
    order = garment.flat[garment.edge_vertices("front", "right")]
    assert (np.diff(order[:, 1]) > 0).all()


def test_sizes_and_coarse_outlines():
    with refused(PatternError, "size"):
        cut(tube(), -1.0)
    with refused(PatternError, "size", expected="4000000"):
        cut(tube(), 1e-5)
    thin = disc("thin", 0.2)
    moon = Panel("moon", thin.corners, [thin.edges[0], edges("x")[0]])
    assert cut(Pattern("m", [moon]), 5.0).mesh.n_vertices > 3


def test_problems_stop_it():
    with refused(PatternProblems, "seam bad"):
        cut(Pattern("b", tube().panels, [seam("bad", ("front", 9), ("back", 1))]))


def test_the_same_pattern_gives_the_same_mesh():
    one, two, other = (cut(tube(), 0.05, seed=s).mesh for s in (0, 0, 1))
    assert np.array_equal(one.faces, two.faces) and np.array_equal(one.vertices, two.vertices)
    assert other.vertices.shape != one.vertices.shape or (other.vertices != one.vertices).any()


@pytest.mark.parametrize("taper", np.radians([12.0, -12.0, 0.0]))
def test_wraps_and_cones_keep_lengths(taper):
    """A plane rolls up to a cone without stretching; at y = 0 its radius is the wrap's."""
    wrap = Wrap((0, 0, 0), 0.1, direction=(0, 0, 1), facing=(1, 0, 0), taper=taper)
    x = np.random.default_rng(0).uniform((-0.2, -0.15), (0.2, 0.15), (400, 2))

    def on_cone(points):
        return wrap_points(wrap, np.asarray(points), 0.0, "p")[1]

    y, step = on_cone(x), 1e-6
    for move in np.eye(2):
        moved = np.linalg.norm(on_cone(x + step * move) - y, axis=1)
        np.testing.assert_allclose(moved, step, rtol=1e-4)
    radius = 0.1 + y[:, 2] * np.tan(taper)
    np.testing.assert_allclose(np.hypot(y[:, 0], y[:, 1]), radius, rtol=1e-9)
    end = [0.1 + 0.1 * np.sin(taper), 0, 0.1 * np.cos(taper)]
    np.testing.assert_allclose(on_cone([[0, 0], [0, 0.1]]), [[0.1, 0, 0], end], atol=1e-15)
    if taper:
        with refused(PatternError, "p: wrap.taper"):
            on_cone([[0.0, -np.sign(taper) * 0.6]])
