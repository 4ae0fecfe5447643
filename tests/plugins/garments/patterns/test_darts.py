"""Darts, pleats, mirrored panels and halves on the fold: lengths and places by hand."""

from dataclasses import replace

import numpy as np
import pytest

from tests.plugins.garments.patterns.patterns import panel, rectangle
from tests.refusals import refused
from weft.base.errors import PatternError
from weft.discretization.polygon import signed_area
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.curves import edge_curve, edge_length, outline_polygon
from weft.plugins.garments.patterns.darts import Dart, Pleat, insert_features
from weft.plugins.garments.patterns.edge_chains import EdgeChain
from weft.plugins.garments.patterns.garment import named_edges
from weft.plugins.garments.patterns.pattern import (
    BorderCurve,
    Edge,
    Panel,
    Pattern,
    PatternFold,
    Placement,
    Wrap,
)
from weft.plugins.garments.patterns.placement import place_points
from weft.plugins.garments.patterns.symmetry import (
    map_panel,
    mirror_features,
    mirror_panel,
    unfold_panel,
)

NAMES = "hem right waist left"
S = np.linspace(0, 1, 7)


def square(**kwargs):
    return panel("p", rectangle(0.4, 0.4), NAMES, **kwargs)


def waist_of(made):
    return [edge_length(made, e) for e in named_edges(made, "waist")]


def side_lengths(made, seam):
    return [EdgeChain(tuple(s), {"p": made}).length for s in (seam.first, seam.second)]


def test_a_dart_by_hand():
    made, (seam,) = insert_features(square(), [(2, Dart("d", 0.25, 0.04, 0.1))])
    # The waist runs from right to left: a quarter of it lies at x = 0.1.
    corners = [[0.12, 0.4], [0.1, 0.3], [0.08, 0.4]]
    np.testing.assert_allclose(made.corners[3:6], corners, atol=1e-15)
    assert waist_of(made) == pytest.approx([0.08, 0.28])
    assert side_lengths(made, seam) == pytest.approx([np.hypot(0.02, 0.1)] * 2)
    assert seam.name == "p.d"
    assert [e.name for e in made.edges] == ["hem", "right", "waist", "d_1", "d_2", "waist", "left"]
    assert not check_pattern(Pattern("p", [made], [seam])).warnings


CURVES = {
    BorderCurve.QUADRATIC: [[0, 0.3]],
    BorderCurve.CUBIC: [[0.1, 0.35], [-0.1, 0.3]],
    BorderCurve.ARC: [[0, 0.45]],
}


@pytest.mark.parametrize("curve", CURVES)
def test_darts_in_curves_keep_them(curve):
    waist, base = Edge(curve, np.array(CURVES[curve]), "waist"), square()
    base = replace(base, edges=[*base.edges[:2], waist, base.edges[3]])
    length = edge_length(base, 2)
    darts = [(2, Dart("b", 0.7, 0.02, 0.06)), (2, Dart("a", 0.3, 0.03, 0.08))]  # in any order
    made, seams = insert_features(base, darts)
    parts = named_edges(made, "waist")
    assert sum(waist_of(made)) == pytest.approx(length - 0.05) and len(parts) == 3
    ends = np.cumsum([0, length * 0.3 - 0.015, 0.03, length * 0.4 - 0.025, 0.02]) / length
    for e, start in zip(parts, ends[::2]):
        points = edge_curve(base, 2).points(start + S * edge_length(made, e) / length)
        np.testing.assert_allclose(edge_curve(made, e).points(S), points, atol=1e-9)
    for one in seams:
        a, b = side_lengths(made, one)
        assert a == pytest.approx(b, rel=1e-12)


@pytest.mark.parametrize(
    "dart, message",
    [
        (Dart("d", 0.5, 0.04, 0.5), ("dart d of panel p: depth", "50 cm", "40.5 cm")),
        (Dart("d", 0.5, 0.5, 0.1), ("dart d of panel p", "50 cm of waist, 40 cm")),
        (Dart("d", 0.02, 0.04, 0.1), ("dart d of panel p", "beginning")),
        (Dart("d", 0.99, 0.04, 0.1), ("dart d of panel p", "end")),
        (Dart("d", 1.5, 0.04, 0.1), "dart d of panel p: at"),
        (Dart("d", 0.5, 0.0, 0.1), ("width", 0.0)),
        (Pleat("d", 0.5, 0.02, 0.5), ("pleat d of panel p: depth", "50 cm")),
        (Pleat("d", 0.5, 0.02, 0.1, "knif"), ("kind", "knif")),
        (Pleat("d", 0.5, 0.02, 0.1, angle=4.0), "angle"),
        (Pleat("d", 0.5, 0.2, 0.1, "box"), ("pleat d of panel p", "120 cm")),
        (Dart("d", 0.93, 0.04, 0.1), ("dart d of panel p", "no overlap with other")),
    ],
)
def test_features_that_do_not_fit(dart, message):
    with refused(PatternError, message):
        insert_features(square(), [(2, Dart("other", 0.9, 0.02, 0.1)), (2, dart)])


@pytest.mark.parametrize(
    "kind, to_end, x, signs",
    [
        ("knife", True, [0.0, -0.02], [-1, 1]),  # valley in the middle, mountain at the end
        ("knife", False, [0.02, 0.0], [1, -1]),
        ("inverted", True, [0.04, 0.02, -0.02, -0.04], [1, -1, -1, 1]),
        ("box", True, [0.04, 0.02, -0.02, -0.04], [-1, 1, 1, -1]),
    ],
)
def test_pleats_by_hand(kind, to_end, x, signs):
    """Fold lines and what is left of the waist, from right (its beginning) to left."""
    made, seams = insert_features(square(), [(2, Pleat("k", 0.5, 0.02, 0.15, kind, to_end, 2.0))])
    folds = sorted(made.folds, key=lambda f: -f.points[0][0])
    lines = [[[a, 0.4], [a, 0.25]] for a in x]
    np.testing.assert_allclose([f.points for f in folds], lines, atol=1e-12)
    assert [f.angle for f in folds] == [2.0 * s for s in signs]
    assert sum(waist_of(made)) == pytest.approx(0.4 - 0.02 * len(x))
    assert 2 * len({s.name for s in seams}) == len(x)
    for one in seams:
        assert side_lengths(made, one) == pytest.approx([0.02, 0.02])
    assert not check_pattern(Pattern("p", [made], seams)).warnings


def odd():
    """A panel without symmetry, with everything in it."""
    corners = np.array([[0, 0], [0.3, 0.05], [0.25, 0.4], [0, 0.45]])
    curves = [
        Edge(BorderCurve.QUADRATIC, np.array([[0.1, -0.05]]), "hem"),
        Edge(name="side"),
        Edge(BorderCurve.CUBIC, np.array([[0.2, 0.35], [0.1, 0.45]]), "waist"),
        Edge(name="center"),
    ]
    wrap = Wrap((0.1, 1, 0), 0.3, (0, 1, 0.1), (0.5, 0, 1))
    return Panel(
        "p",
        corners,
        curves,
        np.radians(70),
        [[[0.1, 0.1], [0.15, 0.1], [0.1, 0.15]]],
        [[[0.0, 0.2], [0.2, 0.2]]],
        [PatternFold(np.array([[0.05, 0.3], [0.2, 0.3]]), 0.7)],
        placement=Placement((0.1, 0.2, 0.3), (10, 20, 30), wrap),
    )


def test_mirrored_in_space_is_mirrored_on_paper():
    one, bust = odd(), [(2, Dart("d", 0.3, 0.02, 0.05))]
    two = mirror_panel(one, "q")
    area = signed_area(outline_polygon(one)[0])
    assert signed_area(outline_polygon(two)[0]) == pytest.approx(area)
    names = {e.name: i for i, e in enumerate(two.edges)}
    for i, edge in enumerate(one.edges):
        a, b = edge_curve(one, i).points(S), edge_curve(two, names[edge.name]).points(1 - S)
        np.testing.assert_allclose(b, a * [-1, 1], atol=1e-12)
        in_space = place_points(one, a)
        np.testing.assert_allclose(place_points(two, b), in_space * [-1, 1, 1], atol=1e-12)
    assert mirror_panel(two, "p").grain == pytest.approx(one.grain)
    np.testing.assert_allclose(two.holes[0], np.array(one.holes[0]) * [-1, 1])
    left, right = insert_features(one, bust)[0], insert_features(two, mirror_features(one, bust))[0]
    tip, other = (p.corners[[e.name for e in p.edges].index("d_2")] for p in (left, right))
    np.testing.assert_allclose(other, tip * [-1, 1], atol=1e-12)


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_unfolded(turn):
    """Twice the area, symmetric, the fold no edge; a fold may lie in any direction."""
    c, s = np.cos(turn), np.sin(turn)
    r = np.array([[c, -s], [s, c]]).T
    half = map_panel(odd(), lambda points: points @ r)
    whole, features = unfold_panel(half, 3, [(2, Dart("d", 0.3, 0.02, 0.05))])
    area = signed_area(outline_polygon(half)[0])
    assert signed_area(outline_polygon(whole)[0]) == pytest.approx(2 * area, rel=1e-9)
    names = "hem side waist waist side_mirrored hem"
    assert [e.name for e in whole.edges] == names.split()
    x = whole.corners @ r.T
    np.testing.assert_allclose(np.sort(x[:, 0]), np.sort(-x[:, 0]), atol=1e-12)
    assert len(whole.holes) == 2 == len(whole.lines)
    made, seams = insert_features(whole, features)
    assert len(seams) == 2 and len(named_edges(made, "waist")) == 4
    flat = replace(made, placement=Placement())
    assert not check_pattern(Pattern("p", [flat], seams)).warnings
    tips = np.array([made.corners[i] for i, e in enumerate(made.edges) if e.name.endswith("_2")])
    np.testing.assert_allclose((tips @ r.T)[0], (tips @ r.T)[1] * [-1, 1], atol=1e-12)


def test_folds_that_cannot_be():
    with refused(PatternError, "panel p: fold", got="quadratic"):
        unfold_panel(odd(), 0)
    with refused(PatternError, "panel p: d", got="fold"):
        unfold_panel(odd(), 3, [(3, Dart("d", 0.3, 0.02, 0.05))])
