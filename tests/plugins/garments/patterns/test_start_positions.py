"""Garments of strangers start beside any standing body, and their seams close in an order."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from studies.garments.body_measures import BodyMeasures
from studies.garments.random_designs import draw_design
from studies.garments.sampler_families import draw_family
from tests.plugins.garments.patterns.patterns import before, panel, seam
from tests.plugins.garments.patterns.people import crossings, person
from tests.refusals import refused
from weft.base.errors import PatternError
from weft.plugins.garments.bodies.body_measures import levels_of
from weft.plugins.garments.mannequin.figure import Mannequin
from weft.plugins.garments.patterns.bent_panel import bend_around
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.pattern import Pattern, Placement
from weft.plugins.garments.patterns.placement import panel_points, place_points
from weft.plugins.garments.patterns.seam_ways import find_tubes
from weft.plugins.garments.patterns.sewing_order import order_seams, rank_seams
from weft.plugins.garments.patterns.skirts import rising_panels
from weft.plugins.garments.patterns.start_positions import (
    caught_seams,
    crosses_body,
    find_ways,
    fit_start,
)

FOLDER = Path(__file__).parents[4] / "examples/garments/garmentcode"


@cache
def pattern_of(name):
    return read_pattern(FOLDER / f"{name}_specification.json")


def moved(pattern, up, **how):
    """The pattern whose panels start higher by so many meters."""
    panels = []
    for p in pattern.panels:
        x, y, z = p.placement.translation
        panels.append(replace(p, placement=replace(p.placement, translation=(x, y + up, z), **how)))
    return replace(pattern, panels=panels)


@pytest.fixture(scope="module")
def fits(figure):
    """The panels of garments by name where they start on the woman, and the ways of their seams."""
    return cache(lambda name: fit_start(pattern_of(name), figure))


@pytest.mark.parametrize("name", ["tee", "trousers", "hoody", "jumpsuit", "circle_skirt"])
def test_panels_start_apart_and_their_seams_do_not_close_through_the_body(
    name, woman, figure, fits
):
    fitted, ways = fits(name)
    assert not caught_seams(ways, figure)
    assert crossings(fitted, woman, figure) == 0


@pytest.mark.parametrize("name", ["circle_skirt", "panel_skirt"])
def test_panels_of_a_wide_skirt_start_around_the_body(name, figure, fits):
    """They are nowhere stretched, and their sides close inside the arms."""
    fitted, ways = fits(name)
    assert not crosses_body(fitted, figure.depth)
    for p in fitted.panels:
        if p.name.startswith("skirt"):
            mesh = cut(replace(fitted, panels=[p], seams=[]), 0.05).mesh
            edges = np.concatenate([mesh.faces[:, k] for k in ([0, 1], [1, 2], [2, 0])])
            paper = np.zeros((mesh.n_vertices, 2))
            paper[mesh.faces.ravel()] = mesh.corner_uv.reshape(-1, 2)
            now, flat = (
                np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)
                for x in (mesh.vertices, paper)
            )
            assert (now / flat).max() < 1.01
    sides = [w for w in ways if all(n.startswith("skirt") for n in w.panels)]
    assert len(sides) >= 2
    elbow, along = forearm(figure)
    for w in sides:
        for x in (w.first, w.second):
            arm = elbow[0] + along[0] / along[1] * (
                x[:, 1] - elbow[1]
            )  # of its axis, at that height
            assert (np.abs(x[:, 0]) < arm - 0.04).all()


def test_a_waist_is_where_it_is_although_the_sides_of_its_skirt_rise(figure):
    """The start height of a circle skirt does not depend on how far its sides rise."""
    circle = pattern_of("circle_skirt")
    rising = rising_panels(find_ways(circle), circle.by_name)
    assert set(rising) == {"skirt_front", "skirt_back"}
    band = max(place_points(p, p.corners)[:, 1].max() for p in circle.panels if "wb" in p.name)
    assert all(0 < band - y < 0.1 for y in rising.values())


def test_a_skirt_of_levels_starts_with_its_waist_at_the_waist(figure, tmp_path):
    """Its upper level is a sector of a ring: the low middle of its hem is no girth."""
    design = draw_design(11, 7, BodyMeasures.of(Mannequin.of(figure="woman")))
    path = tmp_path / "levels_specification.json"
    path.write_text(design.text(), encoding="utf-8")
    pattern = read_pattern(path)
    fitted, _ = fit_start(pattern, figure)
    band = fitted.by_name["wb_front"]
    top = place_points(band, np.asarray(band.corners))[:, 1].max()
    assert abs(top - figure.landmarks.points["waist"][1]) < 0.06


def test_a_hood_starts_outside_of_the_other_panels(figure):
    """A hood that the file places in the front is moved out of it."""
    hoody = pattern_of("hoody")
    moved_ahead = [
        replace(p, placement=replace(p.placement, translation=(*p.placement.translation[:2], 0.2)))
        if "hood" in p.name
        else p
        for p in hoody.panels
    ]
    fitted, _ = fit_start(replace(hoody, panels=moved_ahead), figure)
    points = {p.name: panel_points(p, 0.01) for p in fitted.panels}
    for name in ("left_hood", "right_hood"):
        others = np.concatenate([x for n, x in points.items() if n != name])
        assert np.linalg.norm(points[name][:, None] - others, axis=2).min() > 0.01


def test_a_cuff_that_widens_far_from_the_elbow_is_bent():
    """The cone has its circle at the cuff: extended to the elbow, it has no radius."""
    corners = np.array([[-0.06, 0.0], [0.06, 0.0], [0.16, 0.1], [-0.16, 0.1]])
    cuff = panel("cuff", corners)
    sides = [np.linspace(corners[i], corners[j], 9) for i, j in ((0, 3), (1, 2))]
    bent = bend_around(cuff, np.array([0.0, -0.4, -0.1]), np.array([0.0, 1.0, 0.0]), sides)
    wrap = bent.placement.wrap
    assert wrap.radius > 0
    assert wrap.taper > 0.3
    x = place_points(bent, corners)
    np.testing.assert_allclose(
        np.linalg.norm(x[3] - x[0]), np.linalg.norm(corners[3] - corners[0]), rtol=0.05
    )


def forearm(figure):
    """The left elbow, and the direction to the wrist."""
    elbow, wrist = (figure.landmarks.points[f"{n}_left"] for n in ("elbow", "wrist"))
    return elbow, (wrist - elbow) / np.linalg.norm(wrist - elbow)


@pytest.mark.parametrize("name", ["shirt", "jacket", "trousers"])
def test_panels_that_are_bent_already_start_outside_of_the_body(name, woman, figure):
    fitted, _ = fit_start(read_pattern(FOLDER.parent / "patterns" / f"{name}.yaml"), figure)
    assert crossings(fitted, woman, figure) == 0


def test_a_sleeve_of_one_panel_starts_around_the_arm_with_its_seam_below(woman, figure):
    shirt = read_pattern(FOLDER.parent / "patterns" / "shirt.yaml")
    side = {"sleeve_left": 1, "sleeve_right": -1}
    panels = [
        replace(p, placement=Placement((0.25 * s, 1.233, 0.2), (0.0, 0.0, 42.0 * s)))
        if (s := side.get(p.name))
        else p
        for p in shirt.panels
    ]
    fitted, ways = fit_start(replace(shirt, panels=panels), figure)
    sleeves = [fitted.panel(name) for name in side]
    seams = [s for s in shirt.seams if s.name in side]
    assert crossings(Pattern("sleeves", sleeves, seams), woman, figure) == 0
    elbow, arm = forearm(figure)
    x = place_points(sleeves[0], sleeves[0].corners) - elbow
    assert np.linalg.norm(np.cross(x, arm), axis=1).max() < 0.1, "around the arm"
    (way,) = (w for w in ways if w.match.seam.name == "sleeve_left")
    assert way.closes_panel and way.longest < 0.03
    below = (way.middle - elbow) - ((way.middle - elbow) @ arm) * arm
    assert below[1] < -0.03


@pytest.mark.parametrize(
    "measures", [("woman", {"inseam": "74 cm"}), ("child", {"height": "1.1 m"})]
)
def test_heights_go_with_the_levels_of_the_body(measures):
    """A skirt's upper edge stands at the waist of legs of any length, as far as girths let it."""
    figure, levels = Figure.of(person(measures[0], **measures[1])), levels_of({"height": 1.72})
    marks = figure.landmarks
    waist, hip = (float(marks.points[n][1]) for n in ("waist", "hip"))
    assert marks.move_height(levels["waist"], levels) == pytest.approx(waist)
    over = marks.move_height(levels["top"] + 0.1, levels)
    assert over == pytest.approx(marks.height + 0.1, abs=0.02)
    fitted, _ = fit_start(pattern_of("pencil_skirt"), figure)
    top = max(place_points(p, p.corners)[:, 1].max() for p in fitted.panels)
    assert hip < top < waist + 0.03


@pytest.mark.parametrize("name", ["tee", "trousers"])
def test_a_file_may_have_its_origin_at_the_waist_instead_of_the_floor(name, figure, fits):
    low, _ = fit_start(moved(pattern_of(name), -1.08), figure)
    for one, two in zip(fits(name)[0].panels, low.panels):
        assert abs(one.placement.translation[1] - two.placement.translation[1]) < 0.05


def test_a_strap_that_ends_below_the_shoulder_is_named(figure):
    low = moved(pattern_of("strap_dress"), -0.2, fixed=True)
    caught = [str(problem) for problem in caught_seams(fit_start(low, figure)[1], figure)]
    seams = {w.match.seam.name for w in find_ways(low) if w.is_over}
    assert seams and all(any(f"{name} " in text for text in caught) for name in seams)


def test_a_panel_inside_the_body_is_seen(figure, fits):
    fitted, _ = fits("tee")
    assert not crosses_body(fitted, figure.depth)
    front = fitted.panels[0]
    x, y, _ = front.placement.translation
    inside = replace(front, placement=replace(front.placement, translation=(x, y, 0.0)))
    assert crosses_body(replace(fitted, panels=[inside, *fitted.panels[1:]]), figure.depth)


def seams_of(pattern, figure):
    """The seams of a pattern in their order, and their ways, by name."""
    fitted, _ = fit_start(pattern, figure)
    ways = find_ways(fitted)
    ordered = order_seams(fitted, ways, figure.crotch, figure.armpit)
    return {s.name: s for s in ordered.seams}, {w.match.seam.name: w for w in ways}


def closes_upward(seam, ways):
    """Whether a seam closes from its lower end."""
    y = (ways.first + ways.second)[:, 1]
    return seam.closes_from == ("start" if y[0] < y[-1] else "end")


def test_seams_of_trunk_and_sleeves_close_from_below(figure):
    """What is sewn below draws the upper ends in under the arm; shoulders close at once."""
    seams, ways = seams_of(pattern_of("tee"), figure)
    around = {n for n, w in ways.items() if w.encloses and not w.is_over}
    assert len(around) == 6  # two side seams, and an upper and a lower one of each sleeve
    assert {n for n, seam in seams.items() if closes_upward(seam, ways[n])} == around


def test_sides_of_skirts_close_piece_by_piece_from_the_waist(figure):
    """The upper piece of each side closes before the lower one, both from their upper ends."""
    seams, ways = seams_of(pattern_of("pencil_skirt"), figure)
    sides = [n for n, seam in seams.items() if seam.closes_from]
    assert len(sides) == 4
    assert not any(closes_upward(seams[n], ways[n]) for n in sides)
    for sign in (1, -1):
        own = sorted(
            (n for n in sides if sign * ways[n].middle[0] > 0), key=lambda n: -ways[n].highest
        )
        assert seams[own[0]].window[1] == seams[own[1]].window[0]


def test_seams_close_one_rank_after_the_other(figure):
    seams, ways = seams_of(pattern_of("tee"), figure)
    ranks = sorted({s.window for s in seams.values()})
    assert [a[1] for a in ranks[:-1]] == [b[0] for b in ranks[1:]]
    assert (ranks[0][0], ranks[-1][1]) == (0.0, 1.0)
    between = [n for n, w in ways.items() if not w.encloses and not w.is_central]
    assert {seams[n].window for n in between} == {ranks[-1]}  # armholes
    assert {seams[n].window for n, w in ways.items() if w.is_over} == {ranks[0]}


def test_a_short_part_of_an_armhole_that_closes_under_the_arm_belongs_to_the_armhole(figure):
    trunk = [(-0.2, 1.0), (0.2, 1.0), (0.2, 1.2), (0.19, 1.2), (0.17, 1.4), (-0.2, 1.4)]
    sleeve = [(0.3, 1.1), (0.4, 0.95), (0.6, 1.1), (0.45, 1.3), (0.307, 1.107)]
    panels = [
        panel(f"{name}_{side}", corners, placement=before(z, y=0.0))
        for side, z in (("f", 0.2), ("b", -0.2))
        for name, corners in (("trunk", trunk), ("sleeve", sleeve))
    ]
    seams = [
        seam("side", ("trunk_f", 1), ("trunk_b", 1), flip=False),
        seam("shoulder", ("trunk_f", 4), ("trunk_b", 4), flip=False),
        seam("under", ("sleeve_f", 0), ("sleeve_b", 0), flip=False),
        seam("over", ("sleeve_f", 2), ("sleeve_b", 2), flip=False),
        seam("front", ("trunk_f", 3), ("sleeve_f", 3)),
        seam("back", ("trunk_b", 3), ("sleeve_b", 3)),
        seam("short", ("trunk_f", 2), ("sleeve_b", 4)),
    ]
    pattern = Pattern("top", panels, seams)
    ways = find_ways(pattern)
    assert next(w for w in ways if w.match.seam.name == "short").encloses
    tubes = find_tubes(ways, pattern.by_name)
    assert tubes["trunk_f"] == tubes["trunk_b"] != tubes["sleeve_f"] == tubes["sleeve_b"]
    ranks = dict(zip((s.name for s in seams), rank_seams(ways, pattern, figure.crotch)))
    assert ranks["short"] == ranks["front"] == ranks["back"] > ranks["shoulder"]
    assert ranks["over"] == ranks["under"] == ranks["side"] < ranks["front"]  # along the sleeve


def test_a_sleeve_closes_before_it_is_set_in_and_a_cuff_while_it_is_joined(figure):
    """An open sleeve slides off its arm; a cuff that is closed first catches at the elbow."""
    sleeve = [(0.3, 1.0), (0.5, 1.0), (0.5, 1.3), (0.3, 1.3)]
    cuff = [(0.52, 1.02), (0.58, 1.02), (0.58, 1.28), (0.52, 1.28)]
    trunk = [(-0.2, 1.3), (-0.2, 1.0), (0.2, 1.0), (0.2, 1.3)]
    shapes = {"trunk": trunk, "sleeve": sleeve, "cuff": cuff}
    panels = [
        panel(f"{name}_{side}", corners, placement=before(z, y=0.0))
        for side, z in (("f", 0.2), ("b", -0.2))
        for name, corners in shapes.items()
    ]
    seams = [
        seam(f"{name} {edge}", (f"{name}_f", edge), (f"{name}_b", edge), flip=False)
        for name in ("sleeve", "cuff")
        for edge in (0, 2)
    ]
    seams.append(seam("side", ("trunk_f", 0), ("trunk_b", 0), flip=False))
    seams += [
        seam(f"{one} {side}", (f"{one}_{side}", edge), (f"{two}_{side}", 3))
        for one, edge, two in (("trunk", 2, "sleeve"), ("sleeve", 1, "cuff"))
        for side in "fb"
    ]

    pattern = Pattern("top", panels, seams)
    ranks = rank_seams(find_ways(pattern), pattern, figure.crotch)
    found = dict(zip((s.name for s in seams), ranks))
    assert found["sleeve 0"] == found["sleeve 2"] < found["trunk f"] == found["trunk b"]
    assert found["cuff 0"] == found["cuff 2"] == found["sleeve f"] == found["trunk f"]


def test_a_waistband_is_sewn_on_while_the_legs_close_and_closes_after_them(figure):
    """Sewn on flat, it does not fold inwards, as one that is closed before does."""
    seams, ways = seams_of(pattern_of("trousers"), figure)

    def windows(encloses, every):
        """Of the seams that enclose a limb or not, all or some of whose panels are waistbands."""
        kind = [n for n, w in ways.items() if w.encloses == encloses]
        return {seams[n].window for n in kind if every(["wb" in p for p in ways[n].panels])}

    ((_, sewn),) = legs = windows(True, lambda bands: not any(bands))
    assert windows(False, any) == legs
    assert min(begin for begin, _ in windows(True, all)) >= sewn


def test_a_side_car_file_changes_a_garmentcode_pattern(tmp_path, figure):
    path = tmp_path / "tee_specification.json"
    path.write_bytes((FOLDER / path.name).read_bytes())
    car = tmp_path / "tee_specification.seams.yaml"
    car.write_text(
        "fabric: denim\n"
        "panels:\n"
        "  left_sleeve_f: {layer: 1, placement: {translation: [1 m, 0, 0]}}\n"
        "seams:\n  stitch 3: {window: [0.5, 0.7]}\n"
    )
    pattern = read_pattern(path)
    assert pattern.fabric == "denim"
    assert [s.name for s in pattern.seams] == [s.name for s in pattern_of("tee").seams]
    assert seams_of(pattern, figure)[0]["stitch 3"].window == (0.5, 0.7)
    sleeve = fit_start(pattern, figure)[0].panel("left_sleeve_f")
    assert sleeve.layer == 1 and sleeve.placement.translation == (1.0, 0.0, 0.0)
    car.write_text("panels: {left_sleve_f: {}}")
    with refused(PatternError, "left_sleve_f", where="seams.yaml:1"):
        read_pattern(path)


@pytest.mark.parametrize("name", ["pencil_skirt", "strapless_dress", "panel_skirt"])
def test_a_garment_that_hangs_on_no_shoulder_starts_with_its_waist_at_the_waist(name, figure):
    """Its panels' narrowest girth is where the body is narrow, wherever the file has them."""
    tops = []
    for up in (0.0, -0.05, 0.05):
        fitted, _ = fit_start(moved(pattern_of(name), up), figure)
        skirt = next(p for p in fitted.panels if p.name.startswith("skirt"))
        tops.append(place_points(skirt, np.asarray(skirt.corners))[:, 1].max())
    assert np.ptp(tops) < 0.05  # of 0.1 in the files
    # bodices and waistbands start 3 to 4 cm above the skirt
    assert np.abs(tops - figure.landmarks.points["waist"][1]).max() < 0.08


def drawn(family, number, figure, tmp_path):
    """Return a design of a family where its panels start, and the ways of its seams."""
    design = draw_family(family, 5, number, BodyMeasures.of(Mannequin.of(figure="woman")))
    path = tmp_path / "design_specification.json"
    path.write_text(design.text(), encoding="utf-8")
    return fit_start(read_pattern(path), figure)


def test_inserts_in_a_row_beyond_the_arms_start_at_their_slits(figure, tmp_path):
    """GarmentCode places godets side by side, however wide they are. Those that are far from their
    slits are moved, and bent to the width of the slits; four in the middle stay.
    """
    pattern, ways = drawn("many-godets", 0, figure, tmp_path)
    inserts = [w for w in ways if any("insert" in name for name in w.panels)]
    assert len(inserts) == 24
    assert max(abs((w.second - w.first)[:, 0].mean()) for w in inserts) < 0.1
    across = [np.ptp(panel_points(p, 0.01)[:, 0]) for p in pattern.panels if "insert" in p.name]
    assert sum(wide < 0.12 for wide in across) == 8
