"""Garments: equal counts across seams by construction, meshes that stay surfaces when sewn."""

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
from weft.plugins.garments.patterns.edge_chains import EdgeChain
from weft.plugins.garments.patterns.pattern import (
    Closing,
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
    panels = {p.name: p for p in garment.pattern.panels}
    for line in garment.seams:
        for k, chain in enumerate((line.match.first, line.match.second)):
            assert isinstance(chain, EdgeChain)
            own = line.pairs[:, k]
            wanted = []
            for at in line.fractions:
                i, f = chain.on_edge(float(at))
                s = chain.sides[i]
                wanted.append(edge_curve(panels[s.panel], s.edge).points(np.array([f]))[0])
            gap = np.linalg.norm(garment.flat[own] - wanted, axis=1)
            # Where a chain goes from one edge to the next, either may be meant.
            inner = np.abs(line.fractions[:, None] - chain.starts[None]).min(axis=1) > 1e-6
            assert gap[inner].max(initial=0) < (1e-9 if k == 0 else 0.11 * 0.05 + 1e-9)
            every = np.concatenate([garment.edge_vertices(s.panel, s.edge) for s in chain.sides])
            assert set(every) == set(own)
        all_edges = {tuple(e) for e in garment.mesh.edges.tolist()}
        for one, two in line.edges.tolist():
            assert tuple(sorted(one)) in all_edges and tuple(sorted(two)) in all_edges


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


def test_a_godet_of_two_degrees_is_graded():
    """Vertices come closer towards the tip, on both legs alike, and no triangle is thinner than the
    tip by much.
    """
    h = 0.5
    w = h * np.tan(np.radians(1))
    godet = panel("godet", [[0, 0], [w, h], [-w, h]], "right hem left")
    garment = cut(Pattern("godet", [godet]), 0.02)
    right, left = (garment.flat[garment.edge_vertices("godet", e)] for e in ("right", "left"))
    np.testing.assert_allclose(right, left[::-1] * [-1, 1], atol=1e-12)
    steps = np.diff(np.linalg.norm(right, axis=1))
    assert steps[0] < 0.005 and steps.max() < 0.026 and (steps[1:] / steps[:-1]).max() < 1.6
    assert np.degrees(minimum_angles(garment.mesh.corner_uv).min()) > 1.0


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


def test_chains_of_several_edges_and_panels():
    """A band sewn to two panels that are sewn to each other: a T-junction."""
    one = panel("one", rectangle(0.3, 0.4), "hem right top left")
    two = panel("two", rectangle(0.5, 0.4), "hem right top left")
    band = panel("band", rectangle(0.8, 0.05), "lower end upper start")
    pattern = Pattern(
        "banded",
        [one, two, band],
        [
            seam("side", ("one", 1), ("two", 3)),
            seam("waist", [("two", 2), ("one", 2)], ("band", 0)),
        ],
    )
    garment = cut(pattern, 0.03)
    assert_seams_meet(garment)
    line = garment.seam("waist")
    junction = np.flatnonzero(np.abs(line.fractions - 0.5 / 0.8) < 1e-9)
    assert len(junction) == 2  # one vertex of the band meets both panels
    assert line.pairs[junction[0], 1] == line.pairs[junction[1], 1]
    mesh, new = weld(garment)
    assert euler(mesh) == 1
    assert len(set(new[line.pairs[junction].ravel()])) == 1


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
        corners = np.concatenate([lower, [[width, 0.2], [0, 0.2]]])
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


def test_an_edge_in_an_opening_and_its_twin_agree():
    """A zip along edges whose neighbors are sewn: counts agree there too, and it stays open."""
    pattern = tube()
    zipped = seam("right", ("front", 3), ("back", 1), closing=Closing.ZIP)
    garment = cut(Pattern("z", pattern.panels, [pattern.seams[0], zipped]), 0.03)
    assert len(garment.seam("right").pairs) == len(garment.edge_vertices("front", 3))
    mesh, _ = weld(garment)
    assert euler(mesh) == 1


def test_holes_lines_and_folds():
    """Triangles follow lines that cross, and a fold from edge to edge; holes stay open."""
    square = rectangle(0.6, 0.6)
    t = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    hole = np.stack([0.15 + 0.05 * np.cos(t), 0.45 + 0.05 * np.sin(t)], axis=1)
    piece = panel(
        "piece",
        square,
        holes=[hole],
        lines=[np.array([[-0.2, 0.1], [0.2, 0.2]]), np.array([[0, 0.05], [0.05, 0.3]])],
        folds=[PatternFold(np.array([[-0.3, 0.3], [0.3, 0.33]]), 1.0)],
    )
    garment = cut(Pattern("lined", [piece]), 0.04)
    mesh = garment.mesh
    assert euler(mesh) == 0 and mesh.rest_area.sum() == pytest.approx(
        0.36 - 10 * 0.05**2 * np.sin(2 * np.pi / 20)
    )
    every = {tuple(e) for e in mesh.edges.tolist()}
    (fold,) = garment.folds
    for a, b in zip(fold.vertices[:-1].tolist(), fold.vertices[1:].tolist()):
        assert tuple(sorted((a, b))) in every
    x = garment.flat[fold.vertices]
    np.testing.assert_allclose(x[:, 1], 0.315 + 0.05 * x[:, 0], atol=1e-9)
    assert fold.vertices[0] in garment.edge_vertices("piece", 3)
    assert fold.vertices[-1] in garment.edge_vertices("piece", 1)
    assert np.degrees(minimum_angles(mesh.corner_uv).min()) > 12


def test_closed_lines_enclose_fabric():
    """A pocket's outline drawn on a panel is no hole."""
    pocket = np.array([[-0.1, 0.1], [0.1, 0.1], [0.1, 0.3], [-0.1, 0.3], [-0.1, 0.1]])
    garment = cut(Pattern("p", [panel("p", rectangle(0.4, 0.4), lines=[pocket])]), 0.04)
    assert garment.mesh.rest_area.sum() == pytest.approx(0.16) and euler(garment.mesh) == 1


def test_material_coordinates_follow_the_grain():
    """u runs along the warp, lengths stay, right sides stay right sides."""
    tilted = panel("p", rectangle(0.3, 0.4), grain=np.radians(30))
    other = panel("q", rectangle(0.3, 0.4), grain=0.0)
    garment = cut(Pattern("g", [tilted, other]), 0.05)
    mesh = garment.mesh
    warp = np.array([np.cos(np.radians(30)), np.sin(np.radians(30))])
    faces = garment.faces["p"]
    corners = garment.flat[mesh.faces[faces.start : faces.stop]]
    uv = mesh.corner_uv[faces.start : faces.stop]
    np.testing.assert_allclose(
        uv[:, 1, 0] - uv[:, 0, 0], (corners[:, 1] - corners[:, 0]) @ warp, atol=1e-12
    )
    assert (mesh.signed_material_area > 0).all()
    p, q = (mesh.corner_uv[r.start : r.stop, :, 1] for r in garment.faces.values())
    assert p.max() < q.min()  # one beside the other


def test_wraps_keep_lengths_and_layers_lie_outside():
    wrap = Wrap((0.1, 1.0, 0.0), 0.2, facing=(0, 0, -1))
    placed = [
        panel(n, rectangle(0.5, 0.3), layer=layer, placement=Placement(wrap=wrap))
        for n, layer in (("in", 0), ("out", 2))
    ]
    garment = cut(Pattern("w", placed), 0.01)
    x = garment.mesh.vertices[:, [0, 2]] - [0.1, 0]
    radius = np.linalg.norm(x, axis=1)
    inner = np.arange(len(radius)) < garment.vertices["out"].start
    np.testing.assert_allclose(radius[inner], 0.2)
    np.testing.assert_allclose(radius[~inner], 0.22)
    a, b = garment.mesh.edges.T
    space = np.linalg.norm(garment.mesh.vertices[a] - garment.mesh.vertices[b], axis=1)
    paper = np.linalg.norm(garment.flat[a] - garment.flat[b], axis=1)
    assert (space <= paper + 1e-12).all() and (space / paper).min() > 0.999
    a, b, c = np.moveaxis(garment.mesh.vertices[garment.mesh.faces], 1, 0)
    normal = np.cross(b - a, c - a)
    center = garment.mesh.vertices[garment.mesh.faces].mean(axis=1) - [0.1, 0, 0]
    assert ((normal * center)[:, [0, 2]].sum(axis=1) > 0).all()  # right sides outwards
    middle = np.argmin(np.linalg.norm(garment.flat - [0, 0.15], axis=1))
    assert garment.mesh.vertices[middle, 2] < 0  # x = 0 where the wrap faces


def test_elastics_groups_and_edges():
    pattern = tube()
    band = Elastic("e", [SeamSide("front", 2), SeamSide("back", 2)], 0.8, 30.0)
    garment = cut(Pattern("t", pattern.panels, pattern.seams, [band]), 0.05)
    (line,) = garment.elastics
    x = garment.flat[line.edges]
    assert np.linalg.norm(x[:, 1] - x[:, 0], axis=1).sum() == pytest.approx(1.0) == line.length
    assert (x[..., 1] == 0.6).all()
    hem = garment.mesh.groups["front.hem"]
    assert (garment.flat[hem, 1] == 0).all() and set(hem) == set(garment.edge_vertices("front", 0))
    assert set(garment.mesh.groups["back"]) == set(garment.vertices["back"])
    order = garment.flat[garment.edge_vertices("front", "right")]
    assert (np.diff(order[:, 1]) > 0).all()


def test_names_that_go_over_the_last_corner_are_in_turn():
    square = panel("p", rectangle(0.3, 0.3), "a b c a")
    garment = cut(Pattern("p", [square]), 0.1)
    x = garment.flat[garment.edge_vertices("p", "a")]
    np.testing.assert_allclose(x[0], [-0.15, 0.3])
    np.testing.assert_allclose(x[-1], [0.15, 0])


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


@pytest.mark.parametrize("taper", [12.0, -12.0])
def test_cones_keep_lengths_too(taper):
    """A plane rolls up to a cone without stretching; at y = 0 its radius is the wrap's."""
    wrap = Wrap((0, 0, 0), 0.1, direction=(0, 0, 1), facing=(1, 0, 0), taper=np.radians(taper))
    x = np.random.default_rng(0).uniform((-0.2, -0.15), (0.2, 0.15), (400, 2))
    _, y = wrap_points(wrap, x, 0.0, "p")
    step = 1e-6
    for move in np.eye(2):
        _, there = wrap_points(wrap, x + step * move, 0.0, "p")
        np.testing.assert_allclose(np.linalg.norm(there - y, axis=1), step, rtol=1e-4)
    radius = np.hypot(y[:, 0], y[:, 1])
    np.testing.assert_allclose(radius, 0.1 + y[:, 2] * np.tan(np.radians(taper)), rtol=1e-9)
    _, ends = wrap_points(wrap, np.array([[0.0, 0.0], [0.0, 0.1]]), 0.0, "p")
    cos, sin = np.cos(np.radians(taper)), np.sin(np.radians(taper))
    np.testing.assert_allclose(ends, [[0.1, 0, 0], [0.1 + 0.1 * sin, 0, 0.1 * cos]], atol=1e-15)
    with refused(PatternError, "p: wrap.taper"):
        wrap_points(wrap, np.array([[0.0, -np.sign(taper) * 0.6]]), 0.0, "p")
