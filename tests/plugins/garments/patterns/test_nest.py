"""A nest of sizes: lines that are cut, notches, and drawings that are read back as each size."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.plugins.garments.patterns.patterns import assert_alike
from tests.refusals import refused
from weft.base.errors import PatternError
from weft.discretization.polygon import contains
from weft.plugins.garments.patterns import read_pattern
from weft.plugins.garments.patterns.curves import edge_curve
from weft.plugins.garments.sheets.nest import Nest
from weft.plugins.garments.sheets.svg_writer import write_nest_svg

pytest.importorskip("shapely", reason="pip install 'weft[garments]'")
PATTERNS = Path(__file__).parents[4] / "examples" / "garments" / "patterns"
ALONG = np.linspace(0, 1, 40)


def nest(name, sizes=(36, 46), allowance=0.01):
    patterns = {str(s): read_pattern(PATTERNS / f"{name}.yaml", {"size": s}) for s in sizes}
    return Nest(patterns, allowance)


def distances(points, polygon):
    """From each point to the nearest segment of a closed polygon."""
    a, b = polygon, np.roll(polygon, -1, axis=0)
    ab, ap = b - a, points[:, None] - a
    t = np.clip((ap * ab).sum(-1) / (ab * ab).sum(-1), 0, 1)
    return np.linalg.norm(ap - t[..., None] * ab, axis=-1).min(1)


@pytest.mark.parametrize("name", ["top", "trousers", "skirt"])
def test_each_size_is_read_back(tmp_path, name):
    """To 1e-6 m, the edges with their numbers; the size is the side-car file's."""
    made = nest(name)
    drawing, beside = write_nest_svg(tmp_path / "nest.svg", made)
    for size, pattern in made.patterns.items():
        text = re.sub("^size:.*", f"size: '{size}'", beside.read_text(), flags=re.M)
        beside.write_text(text)
        again = read_pattern(drawing)
        for one, two in zip(pattern.panels, again.panels, strict=True):
            assert (one.name, len(one.edges)) == (two.name, len(two.edges))
            assert np.exp(1j * one.grain) == pytest.approx(np.exp(1j * two.grain), abs=1e-6)
            for i in range(len(one.edges)):
                a, b = (edge_curve(p, i).points(ALONG) for p in (one, two))
                np.testing.assert_allclose(a, b, atol=1e-6)
        assert_alike(pattern.seams, again.seams, 1e-6)
        if size == made.sample:
            for one, two in zip(pattern.panels, again.panels):
                assert_alike(one.placement, two.placement, 1e-6)


def test_allowances_are_as_wide_as_said_and_darts_are_folded():
    """Along edges 1.5 cm, at corners up to twice that; a dart's cut line goes straight across."""
    for piece in nest("top", (36, 40), 0.015).pieces:
        away = distances(piece.cut, piece.outline)
        assert away.min() == pytest.approx(0.015, abs=2e-5) and away.max() <= 2 * 0.015 + 1e-9
        assert contains([piece.cut], piece.outline).all()
        names = [e.name for e in piece.panel.edges]
        if "dart_1" in names:
            tip = piece.panel.corners[names.index("dart_2")]
            assert distances(tip[None], piece.cut) > 0.05


def test_notches_of_both_sides_meet():
    """The middle of an inseam is marked on front and back, the center on the waistband."""
    made = nest("trousers", (40,))
    pieces = {p.panel.name: p for p in made.pieces}
    for name, edge, most in (
        ("front_left", "inseam", 1e-9),
        ("back_left", "inseam", 1e-9),
        ("band_front", 0, 1e-3),  # of the center front
    ):
        panel = made.patterns["40"].panel(name)
        i = edge if edge == 0 else [e.name for e in panel.edges].index(edge)
        middle = edge_curve(panel, i).points(np.array([0.5]))
        assert np.abs(pieces[name].notches[:, 0] - middle).max(1).min() < most, name


@pytest.mark.parametrize("size", ["size: '44'", ""])
def test_a_drawing_of_several_sizes_needs_one(tmp_path, size):
    drawing, beside = write_nest_svg(tmp_path / "nest.svg", nest("skirt"))
    beside.write_text(beside.read_text().replace("size: '46'", size))
    with refused(PatternError, ("size", "36, 46")):
        read_pattern(drawing)
