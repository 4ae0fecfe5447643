"""DXF-AAMA files: layers, turn points, mirror lines, units, sizes, notches, and what is refused."""

import re
import warnings

import numpy as np
import pytest

from tests.plugins.garments.patterns.dxf_writer import (
    block,
    drawing,
    line,
    point,
    polyline,
    text,
    turns,
)
from tests.plugins.garments.patterns.mutations import count_readable
from tests.refusals import refused
from weft.base.errors import PatternError
from weft.discretization.polygon import signed_area
from weft.plugins.garments.patterns.curves import edge_length, outline_polygon
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.pattern import BorderCurve, SeamSide

N = 24  # parts of a drawn quarter circle
ANGLES = np.linspace(0, np.pi / 2, N + 1)
# A quarter of a disk of 200 mm with a square of 40 mm cut out at its center, drawn clockwise.
BOW = [(200 * np.sin(a), 200 * np.cos(a)) for a in ANGLES]
QUARTER = [*BOW, (40.0, 0.0), (40.0, 40.0), (0.0, 40.0)]
TURNS = [(200, 0), (0, 200), (40, 0), (40, 40), (0, 40)]
BOW_LENGTH = 2 * N * 0.2 * np.sin(np.pi / (4 * N))  # [m]
AREA = 0.5 * N * 0.04 * np.sin(np.pi / (2 * N)) - 0.04**2  # [m^2] of the quarter


def front(*more, name="front"):
    return block(
        name,
        text(f"Piece Name: {name}"),
        text("Quantity: 1,1"),
        text("Material: SHELL"),
        polyline(QUARTER),
        turns(*TURNS),
        *(point(x, y, 3) for x, y in BOW[1:-1]),
        line((100, 20), (100, 150), 7),
        polyline([(60, 60), (80, 90), (60, 120)], 8, False),
        polyline([(90, 90), (100, 90), (100, 100)], 11),
        point(*BOW[12], 4),
        *more,
    )


def box(width, height, at=0):
    """The corners of a rectangle, of which one is at (at, at)."""
    x, y = at + width, at + height
    return [(at, at), (x, at), (x, y), (at, y)]


def back(*more):
    """A square of 100 mm by a trapezoid of five turn points, one inside of its upper edge."""
    corners = box(100, 100)
    corners.insert(3, (60, 100))
    return block("B2", text("Piece Name: back"), polyline(corners), turns(*corners), *more)


def square(name, corners, *more):
    """A piece between turn points."""
    return block(name, polyline(corners), turns(*corners), *more)


def read(tmp_path, content, car=None):
    (tmp_path / "shape.dxf").write_text(content)
    if car is not None:
        (tmp_path / "shape.seams.yaml").write_text(car)
    return read_pattern(tmp_path / "shape.dxf")


def test_edges_go_from_turn_point_to_turn_point(tmp_path):
    """One polyline along the bow, its length and the area those of the drawn chords."""
    with pytest.warns(UserWarning, match="'front' has 2 copies but becomes one panel"):
        panel = read(tmp_path, drawing([front()])).panel("front")
    assert [e.curve for e in panel.edges] == 4 * [BorderCurve.LINE] + [BorderCurve.POLYLINE]
    lengths = [edge_length(panel, i) for i in range(5)]
    np.testing.assert_allclose(lengths, [0.16, 0.04, 0.04, 0.16, BOW_LENGTH], rtol=1e-12)
    assert pytest.approx(0.1 * np.pi, rel=2e-4) == BOW_LENGTH
    assert signed_area(outline_polygon(panel)[0]) == pytest.approx(AREA, rel=1e-12)
    assert panel.grain == pytest.approx(np.pi / 2)
    assert [len(h) for h in panel.holes] == [3] and [len(p) for p in panel.lines] == [3]
    np.testing.assert_allclose(panel.corners.min(0) + panel.corners.max(0), 0, atol=1e-12)


HEADER = "0\nSECTION\n2\nHEADER\n9\n$INSUNITS\n70\n5\n0\nENDSEC\n"


@pytest.mark.parametrize(
    "header, texts, size",
    [("", ("Units: ENGLISH",), 2.54), ("", ("Units : metric",), 0.1), (HEADER, (), 1.0)],
)
def test_inches_and_header_units(tmp_path, header, texts, size):
    pattern = read(tmp_path, header + drawing([back()], texts))
    np.testing.assert_allclose(np.ptp(pattern.panels[0].corners, axis=0), size)


@pytest.mark.parametrize("angle", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("open_", [False, True])
def test_mirror_lines_of_any_direction(tmp_path, angle, open_):
    """A half that is open along its mirror line, or closed; the whole has twice its area."""
    c, s = np.cos(angle), np.sin(angle)
    half = np.array([(0, 0), (50, 0), (80, 40), (30, 100), (0, 100)])
    turned = half @ [[c, s], [-s, c]] + [7, -3]
    mirror = line(turned[0], turned[-1], 6)
    content = block("p", polyline(turned, 1, not open_), turns(*turned), mirror)
    panel = read(tmp_path, drawing([content])).panels[0]
    wanted = 2e-6 * signed_area(half)
    assert signed_area(outline_polygon(panel)[0]) == pytest.approx(wanted, rel=1e-9)
    assert len(panel.edges) == 8


def test_an_unfolded_piece_with_lines_and_holes_is_cut_into_triangles(tmp_path):
    """Half of a piece with everything in it: its area is that of the outline without the holes; no
    slivers along straight edges, whose points rounding puts beside the line.
    """
    with pytest.warns(UserWarning, match="has 2 copies"):
        pattern = read(tmp_path, drawing([front(line((0, 0), (0, 300), 6))]))
    (panel,) = pattern.panels
    lengths = [edge_length(panel, i) for i in range(len(panel.edges))]
    assert sorted(lengths) == pytest.approx(sorted(2 * [BOW_LENGTH, 0.16, 0.04, 0.04]), rel=1e-12)
    assert len(panel.lines) == 2
    chords = 0.1**2 / 6  # of the bow at edges of 2 cm: 1 - sin(a)/a with a = 0.02/0.2
    wanted = 2 * (AREA * (1 - chords) - 0.5e-4)
    assert cut(pattern).mesh.rest_area.sum() == pytest.approx(wanted, rel=5e-4)


def test_arcs_of_bulges_and_lines_in_any_order(tmp_path):
    """A half disk of one bulge, and a square of four single lines inside of its cut line."""
    disk = block("d", polyline([(-50, 0), (50, 0)], 1, True, [0, 1]), turns((-50, 0), (50, 0)))
    corners, sides = box(60, 60), [(0, 1), (2, 1), (3, 2), (3, 0)]
    lines = [line(corners[i], corners[j], 14) for i, j in sides]
    cut_line = polyline(box(78, 78, -9))
    pattern = read(tmp_path, drawing([disk, block("s", cut_line, *lines, turns(*corners))]))
    d, s = pattern.panel("d"), pattern.panel("s")
    assert [e.curve for e in d.edges] == [BorderCurve.LINE, BorderCurve.ARC]
    assert edge_length(d, 1) == pytest.approx(0.05 * np.pi, rel=1e-12)
    assert [e.curve for e in s.edges] == 4 * [BorderCurve.LINE]
    assert signed_area(outline_polygon(s)[0]) == pytest.approx(0.0036, rel=1e-12)


def test_without_turn_points_edges_end_at_kinks(tmp_path):
    with pytest.warns(UserWarning, match="no turn points of layer 2"):
        panel = read(tmp_path, drawing([block("p", polyline(QUARTER))])).panels[0]
    assert sorted(e.curve.name for e in panel.edges) == 4 * ["LINE"] + ["POLYLINE"]


def test_sizes(tmp_path):
    blocks = [
        square(f"p{width}", box(width, width), text("Piece Name: p"), text(f"Size: {size}"))
        for size, width in (("S", 100), ("M", 110), ("L", 120))
    ]
    with pytest.warns(UserWarning, match="sizes S, M, L: weft takes the sample size M"):
        pattern = read(tmp_path, drawing(blocks, ("Units: METRIC", "Sample Size: M")))
    assert np.ptp(pattern.panel("p").corners[:, 0]) == pytest.approx(0.11)
    for car, got, expected in (("{}", "S, M, L", "size: S"), ("size: XL", "'XL'", "S, M, L")):
        with refused(PatternError, "size", got=got, expected=expected):
            read(tmp_path, drawing(blocks), car)
    pattern = read(tmp_path, drawing(blocks), "size: L")
    assert np.ptp(pattern.panel("p").corners[:, 0]) == pytest.approx(0.12)


CAR = """
notches: corners
fabrics: {SHELL: denim}
panels:
  left: {piece: front}
  right: {piece: front, mirrored: true}
  back: {}
seams:
  shoulder: [left.0, right.0]
  side: [[left.4, left.5], back.1]
"""


def test_the_side_car_file_and_notches(tmp_path):
    with pytest.warns(UserWarning, match=r"more than 3 mm .* 1, at \(50, 50\) mm"):
        pattern = read(tmp_path, drawing([front(), back(point(30, -1, 4), point(50, 50, 4))]), CAR)
    left, right, rear = pattern.panels
    assert (left.fabric, right.fabric, rear.fabric) == ("denim", "denim", None)
    assert len(left.edges) == len(rear.edges) == 6  # edges in two, at their notches
    assert edge_length(left, 4) == pytest.approx(edge_length(left, 5), rel=1e-12)
    assert edge_length(rear, 0) == pytest.approx(0.03)
    np.testing.assert_allclose(sorted(left.corners[:, 0]), sorted(-right.corners[:, 0]), atol=1e-12)
    assert list(pattern.seams[1].first) == [SeamSide("left", 4), SeamSide("left", 5)]


NOTCHED = """
notches: corners
panels: {one: {}, two: {}}
seams:
  eased: {join: [[one.0, one.1], [two.0, two.1]], notched: true}
"""


def rectangle(name, width, notch):
    return square(name, box(width, 80), point(notch, 0, 4))


def test_notches_meet_notches(tmp_path):
    """Of sides of 100 and 112 mm with notches at 30 and 40 mm: 30 is eased to 40, and 70 to 72."""
    drawn = drawing([rectangle("one", 100, 30), rectangle("two", 112, 72)])
    garment = cut(read(tmp_path, drawn, NOTCHED), 0.01)
    pairs = garment.seam("eased").pairs
    one, two = (garment.flat[pairs[:, k]][:, 0] * 1e3 for k in (0, 1))
    one, two = one - one.min(), two - two.min()  # a piece's origin is its middle
    assert np.abs(one - 30).min() < 1e-9, "a vertex at the notch"
    want = np.interp(one, [0, 30, 100], [112, 72, 0])
    np.testing.assert_allclose(two, want, atol=1e-6)
    bad = NOTCHED.replace("[two.0, two.1]", "[two.0]")
    with refused(PatternError, "seam eased: notched", got="2 and 1"):
        cut(read(tmp_path, drawn, bad), 0.01)


BOX = box(100, 80)
SIDES = list(zip(BOX, BOX[1:] + BOX[:1]))
LINES = [line(a, b, 1) for a, b in SIDES]


@pytest.mark.parametrize(
    "drawn, count",
    [
        ([*LINES, LINES[1], line(*SIDES[2][::-1], 1)], 2),
        ([polyline(BOX), LINES[3], line((0.02, 0), (100, 0.01), 1)], 2),
        ([polyline(BOX), polyline(BOX[::-1])], 4),
    ],
    ids=["lines", "of a polyline", "backward"],
)
def test_lines_drawn_twice_are_read_once(tmp_path, drawn, count):
    content = drawing([block("p", *drawn, turns(*BOX))])
    with pytest.warns(UserWarning, match=f"drawn twice are read once: {count}$"):
        panel = read(tmp_path, content).panels[0]
    lengths = [edge_length(panel, k) for k in range(len(panel.edges))]
    assert sorted(lengths) == pytest.approx([0.08, 0.08, 0.1, 0.1], abs=1e-4)


@pytest.mark.parametrize("mark, encoding", [(b"", "latin-1"), (b"\xef\xbb\xbf", "utf-8")])
def test_names_of_two_encodings(tmp_path, mark, encoding):
    content = drawing([square("p", SQUARE, text("Piece Name: Rücken"))])
    (tmp_path / "shape.dxf").write_bytes(mark + content.encode(encoding))
    assert read_pattern(tmp_path / "shape.dxf").panels[0].name == "Rücken"


SQUARE = box(9, 9)


def piece(*parts):
    return drawing([block("p", *parts)])


REFUSED = [
    (
        piece(polyline(SQUARE[:3], 1, False)),
        r"outline of piece 'p' = open: from \(0, 0\) to \(9, 9\) mm \(shape.dxf\)",
    ),
    (piece(polyline(SQUARE[:3], 14, False)), r"outline of piece 'p' = open: from \(0, 0\)"),
    (piece(polyline(SQUARE, 5)), "no block with lines on layer 1"),
    (drawing([square("p", SQUARE)], ("Units: FURLONG",)), "Units = 'FURLONG'"),
    (
        piece(polyline(SQUARE), line((20, 0), (20, 9), 6)),
        "a half piece that does not end on its mirror line",
    ),
    (
        piece(polyline(SQUARE), *(line((x, 0), (x, 9), 6) for x in (0, 9))),
        "mirror line of piece 'p' = 2 lines",
    ),
    (piece(polyline([(0, 0), (1e12, 0), (5, 5)])), "finite coordinates"),
    ("hello", "DXF = "),
    ("", "an empty file"),
]


@pytest.mark.parametrize("content, message", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(tmp_path, content, message):
    with pytest.raises(PatternError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read(tmp_path, content)
    assert re.search(message, str(caught.value)), str(caught.value)


def test_damaged_files_never_end_in_anything_but_a_named_error(tmp_path):
    data = drawing([front(line((0, 0), (0, 300), 6)), back()]).encode()
    assert 10 < count_readable(tmp_path / "damaged.dxf", data, 200) < 200
