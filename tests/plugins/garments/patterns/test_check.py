"""What cannot be right about a pattern is named, all together; what looks odd is warned of."""

from dataclasses import replace

import numpy as np
import pytest

from tests.plugins.garments.patterns.patterns import edges, panel, rectangle, seam, tube
from tests.refusals import refused
from weft.base.errors import PatternProblems
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.pattern import (
    BorderCurve,
    Closing,
    Edge,
    Elastic,
    Panel,
    Pattern,
    Placement,
    SeamSide,
    Wrap,
)
from weft.plugins.garments.patterns.topology import sewn_topology

SQUARE = rectangle(0.4, 0.4)
BOW = [[0, 0], [0.4, 0.4], [0.4, 0], [0, 0.4]]
RIGHT = SQUARE + [0.2, 0]
TRIANGLE = np.array([[0, 0], [0.1, 0], [0, 0.1]])


def only(p):
    return Pattern("one", [p], source="file.yaml")


def curved(curve, controls):
    p = panel("p", SQUARE)
    return replace(p, edges=[Edge(curve, np.array(controls)), *p.edges[1:]])


def wrapped(*how, **taper):
    return panel("p", SQUARE, placement=Placement(wrap=Wrap((0, 0, 0), *how, **taper)))


PANELS = {
    "panel p: corners": panel("p", [[0, 0]]),
    ("panel p: edges", 3, "4"): Panel("p", SQUARE, edges("a b c")),
    "edge 0, control 1": curved(BorderCurve.CUBIC, [[0, 0], [np.inf, 0]]),
    ("edge 0: controls", "1, 2", "2, 2"): curved(BorderCurve.CUBIC, [[0, 0.1]]),
    ("edge 1", "0 m"): panel("p", [[0, 0], [0.4, 0], [0.4, 0], [0, 0.4]]),
    ("panel p", "edge 2 cross or touch near [0.2, 0.2]"): panel("p", BOW),
    ("panel p", "touch near [0.1, 0.0]"): panel("p", np.insert(RIGHT, 3, [0.1, 0], axis=0)),
    ("panel p", "edge 0", "itself"): curved(BorderCurve.CUBIC, [[0.6, -0.4], [-0.6, -0.4]]),
    ("panel p", "clockwise"): panel("p", SQUARE[::-1]),
    "hole 0": panel("p", SQUARE, holes=[TRIANGLE + 1]),
    "hole 1": panel("p", SQUARE, holes=[TRIANGLE + 0.1, TRIANGLE + 0.12]),
    ("hole 0", "cross near [0.12, 0.12]"): panel("p", SQUARE, holes=[0.1 + 0.1 * np.array(BOW)]),
    "line 0": panel("p", SQUARE, lines=[[[0, 0.2], [0.5, 0.2]]]),
    ("line 0", "2"): panel("p", SQUARE, lines=[[[0, 0.2]]]),
    ("grain", "nan"): panel("p", SQUARE, grain=np.nan),
    ("thickness", -1.0): panel("p", SQUARE, thickness=-1.0),
    ("layer", -1): panel("p", SQUARE, layer=-1),
    "placement.translation": panel("p", SQUARE, placement=Placement((0, np.nan, 0))),
    ("panel p: wrap", "0.3142 m"): wrapped(0.05),
    ("panel p: wrap", "facing"): wrapped(1, (0, 0, 1)),
    "wrap.radius": wrapped(-1.0, taper=0.1),
    ("panel p", "400 m"): panel("p", 1000 * SQUARE),
    ("panel p, edge 0", "arc"): Panel(
        "p", np.zeros((2, 2)), [Edge(BorderCurve.ARC, np.array([[0, 1.0]])), Edge()]
    ),
}


@pytest.mark.parametrize("message", PANELS)
def test_panels_that_cannot_be_right(message):
    with refused(PatternProblems, message) as caught:
        check_pattern(only(PANELS[message]))
    assert all("file.yaml" in str(p) and "panel p" in str(p) for p in caught.value.problems)


SEAMS = {
    ("seam s: panel", "frnt", "front, back", "'front'"): (("frnt", 0), ("back", 0)),
    ("seam s: edge of panel back", 7, "0 to 3"): (("front", 0), ("back", 7)),
    ("seam s", "edge 0 of panel front"): (("front", 0), ("front", 0)),
    ("seam s", "no edges"): ([], ("back", 0)),
    ("seam s", "front, edge 0, then front, edge 2", "one ends at [0.2, 0.0]"): (
        [("front", 0), ("front", 2)],
        ("back", 0),
    ),
    ("seam s", "40.0 cm and 5.0 cm", "4", "front, edge 0 at [0.0, 0.0] to tiny, edge 0"): (
        ("front", 0),
        ("tiny", 0),
    ),
}


@pytest.mark.parametrize("message", SEAMS)
def test_seams_that_cannot_be_right(message):
    panels = [panel("front", SQUARE), panel("back", SQUARE), panel("tiny", SQUARE / 8)]
    if ("tiny", 0) not in SEAMS[message]:
        panels = panels[:2]
    with refused(PatternProblems, message):
        check_pattern(Pattern("p", panels, [seam("s", *SEAMS[message])]))


def test_an_edge_is_sewn_once():
    base = tube()
    again = seam("again", ("front", 0), ("back", 3))
    with refused(PatternProblems, "seam again", got="edge 3 (left) of panel back"):
        check_pattern(replace(base, seams=[*base.seams, again]))
    zips = [replace(s, name=f"z{i}", closing=Closing.ZIP) for i, s in enumerate(base.seams)]
    with refused(PatternProblems, "seam z0", got="seam left"):
        check_pattern(replace(base, seams=[*base.seams, zips[0]]))
    check_pattern(replace(base, seams=zips))
    check_pattern(replace(base, seams=[*zips, replace(zips[0], name="b", closing=Closing.BUTTONS)]))


def test_names_and_numbers():
    """All that is wrong with a pattern comes at once."""
    base = tube()
    panels, bad = (
        [*base.panels, base.panels[0]],
        replace(base.seams[0], angle=np.nan, strength=-1.0),
    )
    bands = [
        Elastic("e", [SeamSide("front", 8)], 0.5, 1.0),
        Elastic("e", [SeamSide("front", 0)], -0.5, np.nan),
    ]
    with pytest.raises(PatternProblems) as caught:
        check_pattern(replace(base, panels=panels, seams=[base.seams[0], bad], elastics=bands))
    for part in (
        "panel front = 2 of them",
        "seam left = 2 of them",
        "seam left: angle = nan",
        "seam left: strength = -1.0",
        "elastic e = 2 of them",
        "elastic e: edge of panel front = 8",
        "elastic e: ratio = -0.5",
        "elastic e: stiffness = nan",
    ):
        assert part in str(caught.value)
    with refused(PatternProblems, "panels", got="none"):
        check_pattern(Pattern("none", []))


def test_what_is_not_placed_is_said():
    flat = [replace(p, placement=Placement()) for p in tube().panels]
    (warning,) = check_pattern(replace(tube(), panels=flat)).warnings
    assert "left, right" in warning and "infers from the right sides" in warning
    sure = [replace(s, flip=True) for s in tube().seams]
    assert not check_pattern(replace(tube(), panels=flat, seams=sure)).warnings


def test_starts_in_space_that_disagree_are_said():
    """The back hangs upside down: its hem meets the other's top the way round that seams say."""
    base = tube()
    upside_down = replace(base.panels[1], placement=Placement((0, 1.1, -0.15), (180, 0, 0)))
    wrong = [seam("left", ("front", 1), ("back", 1)), seam("right", ("front", 3), ("back", 3))]
    hung = replace(base, panels=[base.panels[0], upside_down])
    report = check_pattern(replace(hung, seams=wrong))
    assert all(m.orientation.confirmed for m in report.seams)
    crossed = [replace(s, flip=False) for s in wrong]
    report = check_pattern(replace(hung, seams=crossed))
    told = [w for w in report.warnings if "`flip: true` is right" in w]
    assert len(told) == 2 and "seam left" in told[0]


def test_a_moebius_band_is_named():
    strip = panel("strip", rectangle(0.6, 0.1), "lower end upper start")
    twisted = [seam("close", ("strip", 1), ("strip", 3), flip=False)]
    band = Pattern("band", [strip], twisted, places={"seam close": "band.yaml:7"})
    (text,) = check_pattern(band).warnings
    assert "seam close twists panel strip" in text and "Möbius" in text
    assert "strip, edge 1 (end) at [0.3, 0.05] to strip, edge 3 (start) at [-0.3, 0.05]" in text
    assert text.endswith("(band.yaml:7)")
    shape = sewn_topology(cut(band, 0.03))
    assert not shape.orientable and shape.openings == 1 and shape.euler == 0
    assert "one-sided" in str(shape)
    straight = replace(band, seams=[replace(band.seams[0], flip=True)])
    shape = sewn_topology(cut(straight, 0.03))
    assert shape.orientable and shape.openings == 2 and not check_pattern(straight).warnings


def test_a_panel_sewn_inside_out_is_named_and_no_moebius_band():
    base = tube()
    turned = [replace(s, flip=False) for s in base.seams]
    report = check_pattern(replace(base, seams=turned))
    assert any("panels front" in w or "panels back" in w for w in report.warnings)
    assert not any("Möbius" in w for w in report.warnings)
    one = [base.seams[0], turned[1]]
    report = check_pattern(replace(base, seams=one))
    assert any("seam right twists panels front and back" in w for w in report.warnings)
    assert not sewn_topology(cut(replace(base, seams=one), 0.05)).orientable


def test_gathers_and_lonely_panels_are_warned_of():
    panels = [panel("front", SQUARE), panel("back", 0.5 * SQUARE), panel("scrap", SQUARE)]
    report = check_pattern(Pattern("p", panels, [seam("s", ("front", 0), ("back", 0), flip=True)]))
    assert any("40.0 cm and 20.0 cm" in w and "2.00 times" in w for w in report.warnings)
    assert any("panel scrap without a seam" in w for w in report.warnings)
    assert not check_pattern(Pattern("scarf", [panel("scarf", SQUARE)])).warnings


def test_chains_go_on_across_seams():
    """An armhole of front and back, which meet at the shoulder; without it they do not."""
    front = panel("front", SQUARE, "hem side shoulder armhole")
    back = panel("back", SQUARE, "hem armhole shoulder side")
    sleeve = panel("sleeve", rectangle(0.8, 0.3), "cap end cuff start")
    armhole = seam("armhole", [("front", 3), ("back", 1)], ("sleeve", 0))
    shoulder = seam("shoulder", ("front", 2), ("back", 2))
    # Shoulders end where armholes begin: front 3 starts at corner 3, back 1 ends at corner 2.
    other = seam("armhole", [("back", 1), ("front", 3)], ("sleeve", 0))
    assert not check_pattern(Pattern("p", [front, back, sleeve], [other, shoulder])).errors
    with refused(PatternProblems, "seam armhole", got="front, edge 3 (armhole), then back, edge 1"):
        check_pattern(Pattern("p", [front, back, sleeve], [armhole, shoulder]))
    with refused(PatternProblems, "seam armhole", got="back, edge 1 (armhole), then front, edge 3"):
        check_pattern(Pattern("p", [front, back, sleeve], [other]))


def warnings_of_halves(*pairs):
    """Warnings about fronts and backs, left and right of x = 0, sewn at these edges."""
    places = {"left": 0.15, "right": -0.15}, {"front": 0.2, "back": -0.2}
    panels = [
        replace(panel(f"{n} {side}", rectangle(0.25, 0.6)), placement=Placement((x, 0.8, z)))
        for side, x in places[0].items()
        for n, z in places[1].items()
    ]
    seams = [seam(f"{a} to {b}", a, b, flip=False) for a, b in pairs]
    return check_pattern(Pattern("shirt", panels, seams)).warnings


@pytest.mark.parametrize("back, crosses", [("back left", False), ("back right", True)])
def test_a_left_shoulder_sewn_to_a_right_back_is_named(back, crosses):
    found = warnings_of_halves((("front left", 2), (back, 2)))
    assert any("on the left with one on the right" in w for w in found) is crosses


def test_an_edge_whose_mirror_image_is_sewn_was_left_out():
    right = (("front right", 3), ("back right", 3))
    left = (("front left", 1), ("back left", 1))
    found = [w for w in warnings_of_halves(right) if "if it is missing" in w]
    assert len(found) == 2 and "panel front left" in found[0] and "front right" in found[0]
    assert not any("if it is missing" in w for w in warnings_of_halves(right, left))
