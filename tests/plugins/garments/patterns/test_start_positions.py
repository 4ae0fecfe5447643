"""Garments of strangers start beside any standing body, and their seams close in an order."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.plugins.garments.patterns.people import crossings, person
from weft.base.errors import PatternError
from weft.plugins.garments.bodies.body_measures import levels_of
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.pattern import Edge, Panel, Pattern, Placement, Seam, SeamSide
from weft.plugins.garments.patterns.placement import place_points
from weft.plugins.garments.patterns.seam_ways import find_tubes
from weft.plugins.garments.patterns.sewing_order import order_seams, rank_seams
from weft.plugins.garments.patterns.start_positions import (
    caught_seams,
    crosses_body,
    find_ways,
    fit_start,
)

FOLDER = Path(__file__).parents[4] / "examples/garments/garmentcode"


def pattern_of(name):
    return read_pattern(FOLDER / f"{name}_specification.json")


@pytest.fixture(scope="module")
def woman():
    return person("woman", size="2 cm")


@pytest.fixture(scope="module")
def figure(woman):
    return Figure.of(woman)


@pytest.mark.parametrize("name", ["tee", "trousers", "hoody", "jumpsuit"])
def test_panels_start_apart_and_their_seams_do_not_close_through_the_body(name, woman, figure):
    fitted, ways = fit_start(pattern_of(name), figure)
    assert not caught_seams(ways, figure)
    assert crossings(fitted, woman, figure) == 0


def test_panels_of_sleeves_start_as_halves_of_cones_around_the_arm(figure):
    panels = {p.name: p for p in fit_start(pattern_of("hoody"), figure)[0].panels}
    elbow = figure.landmarks.points["elbow_left"]
    arm = figure.landmarks.points["wrist_left"] - elbow
    arm /= np.linalg.norm(arm)
    for name, outward in (("left_sleeve_f", 1.0), ("left_sleeve_b", -1.0)):
        corners = panels[name].corners
        hem = corners[np.argsort((place_points(panels[name], corners) - elbow) @ arm)[-2:]]
        first, second, middle = place_points(panels[name], np.array([*hem, hem.mean(0)]))
        width, depth = np.linalg.norm(first - second), outward * (middle - (first + second) / 2)[2]
        assert width / 3 < depth < 2 * width / 3  # a half circle is half as deep as it is wide
        across = np.cross([0.0, 0.0, 1.0], arm)
        assert abs(((first + second) / 2 - elbow) @ across) < 0.01


@pytest.mark.parametrize("name", ["shirt", "jacket", "trousers"])
def test_panels_that_are_bent_already_start_outside_of_the_body(name, woman, figure):
    fitted, _ = fit_start(read_pattern(FOLDER.parent / "patterns" / f"{name}.yaml"), figure)
    assert crossings(fitted, woman, figure) == 0


def test_a_sleeve_of_one_panel_starts_around_the_arm_with_its_seam_below(woman, figure):
    shirt = read_pattern(FOLDER.parent / "patterns" / "shirt.yaml")
    panels = {p.name: p for p in shirt.panels}
    for name, side in (("sleeve_left", 1), ("sleeve_right", -1)):
        flat = Placement((0.25 * side, 1.233, 0.2), (0.0, 0.0, 42.0 * side))
        panels[name] = replace(panels[name], placement=flat)
    fitted, ways = fit_start(replace(shirt, panels=list(panels.values())), figure)
    sleeves = [p for p in fitted.panels if p.name.startswith("sleeve")]
    seams = [s for s in shirt.seams if s.name.startswith("sleeve")]
    assert crossings(Pattern("sleeves", sleeves, seams), woman, figure) == 0
    elbow, wrist = (figure.landmarks.points[f"{n}_left"] for n in ("elbow", "wrist"))
    arm = (wrist - elbow) / np.linalg.norm(wrist - elbow)
    x = place_points(sleeves[0], sleeves[0].corners) - elbow
    assert np.linalg.norm(np.cross(x, arm), axis=1).max() < 0.1, "around the arm"
    (seam,) = (w for w in ways if w.match.seam.name == "sleeve_left")
    assert seam.closes_panel and seam.longest < 0.03
    below = (seam.middle - elbow) - ((seam.middle - elbow) @ arm) * arm
    assert below[1] < -0.03


def test_seams_of_a_wide_skirt_close_between_arms_and_trunk(woman, figure):
    fitted, _ = fit_start(pattern_of("circle_skirt"), figure)
    assert crossings(fitted, woman, figure) == 0
    sides = [w for w in find_ways(fitted) if w.encloses and "skirt_front" in w.panels]
    assert len(sides) == 2
    wrist = figure.landmarks.points["wrist_left"][0]
    for w in sides:
        ways = w.first + np.linspace(0, 1, 30)[:, None, None] * (w.second - w.first)
        aside = np.abs(w.first[:, 0]) > wrist / 2  # those beside the hips
        assert aside.any() and np.abs(ways[..., 0]).max() < wrist
        assert not figure.depth.contains(ways[:, aside]).any()


def test_a_garment_of_an_adult_starts_on_a_child_and_on_a_tall_man():
    child = person("woman")
    child = replace(child, vertices=0.55 * child.vertices)  # 0.92 m
    for body, name in ((child, "tee"), (person("man", height="2.05 m"), "hoody")):
        figure = Figure.of(body)
        fitted, ways = fit_start(pattern_of(name), figure)
        assert not caught_seams(ways, figure)
        assert crossings(fitted, body, figure) == 0


def test_heights_go_with_the_levels_of_the_body():
    """A skirt's upper edge stands at the waist of legs of any length, as far as girths let it."""
    drafted = {"height": 1.72}
    for body in (person("woman", inseam="74 cm"), person("child", height="1.1 m")):
        figure = Figure.of(body)
        waist, hip = (float(figure.landmarks.points[n][1]) for n in ("waist", "hip"))
        levels = levels_of(drafted)
        assert figure.landmarks.move_height(levels["waist"], levels) == pytest.approx(waist)
        assert figure.landmarks.move_height(levels["top"] + 0.1, levels) == pytest.approx(
            figure.landmarks.height + 0.1, abs=0.02
        )
        fitted, _ = fit_start(pattern_of("pencil_skirt"), figure)
        top = max(place_points(p, p.corners)[:, 1].max() for p in fitted.panels)
        assert hip < top < waist + 0.03


def test_shoulders_close_above_the_shoulders_of_the_body(figure):
    fitted, _ = fit_start(pattern_of("tee"), figure)
    over = [w for w in find_ways(fitted) if w.is_over]
    assert len(over) == 2
    for w in over:
        assert (figure.depth.obstruction(w.first, w.second, w.outward) == 0).all()
        assert abs(w.middle[1] - figure.landmarks.points["shoulder_left"][1]) < 0.12


@pytest.mark.parametrize("name", ["tee", "trousers"])
def test_a_file_may_have_its_origin_at_the_waist_instead_of_the_floor(name, figure):
    pattern = pattern_of(name)
    low = []
    for panel in pattern.panels:
        x, y, z = panel.placement.translation
        place = replace(panel.placement, translation=(x, y - 1.08, z))
        low.append(replace(panel, placement=place))
    known, fitted = (fit_start(p, figure)[0] for p in (pattern, replace(pattern, panels=low)))
    for one, two in zip(known.panels, fitted.panels):
        assert abs(one.placement.translation[1] - two.placement.translation[1]) < 0.05


def test_a_figure_has_its_own_frame(woman, figure):
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    moved = Figure.of(replace(woman, vertices=woman.vertices @ turn.T + [1.0, 0.2, -3.0]))
    np.testing.assert_allclose(moved.turn, turn @ figure.turn, atol=0.06)
    np.testing.assert_allclose(moved.origin, turn @ figure.origin + [1.0, 0.2, -3.0], atol=0.02)


def test_a_strap_that_ends_below_the_shoulder_is_named(figure):
    pattern = pattern_of("strap_dress")
    low = []
    for panel in pattern.panels:
        x, y, z = panel.placement.translation
        place = replace(panel.placement, translation=(x, y - 0.2, z), fixed=True)
        low.append(replace(panel, placement=place))
    ways = fit_start(replace(pattern, panels=low), figure)[1]
    caught = [str(problem) for problem in caught_seams(ways, figure)]
    seams = {w.match.seam.name for w in find_ways(replace(pattern, panels=low)) if w.is_over}
    assert seams and all(any(f"{name} " in text for text in caught) for name in seams)


def test_a_panel_inside_the_body_is_seen(figure):
    fitted, _ = fit_start(pattern_of("tee"), figure)
    assert not crosses_body(fitted, figure.depth)
    front = fitted.panels[0]
    x, y, _ = front.placement.translation
    inside = replace(front, placement=replace(front.placement, translation=(x, y, 0.0)))
    assert crosses_body(replace(fitted, panels=[inside, *fitted.panels[1:]]), figure.depth)


def seams_of(pattern, figure):
    fitted, _ = fit_start(pattern, figure)
    ordered = order_seams(fitted, find_ways(fitted), figure.crotch, figure.armpit)
    return {seam.name: seam for seam in ordered.seams}


def windows_of(pattern, figure):
    return {name: seam.window for name, seam in seams_of(pattern, figure).items()}


def test_seams_of_trunk_and_sleeves_close_from_below(figure):
    """What is sewn below draws the upper ends in under the arm; shoulders, skirts close at once."""
    pattern = pattern_of("tee")
    ways = {w.match.seam.name: w for w in find_ways(fit_start(pattern, figure)[0])}
    around = {n for n, w in ways.items() if w.encloses and not w.is_over}
    assert len(around) == 6  # two side seams, and an upper and a lower one of each sleeve
    assert {n for n, seam in seams_of(pattern, figure).items() if seam.upward} == around
    assert not any(s.upward for s in seams_of(pattern_of("pencil_skirt"), figure).values())


def test_seams_close_one_rank_after_the_other(figure):
    pattern = pattern_of("tee")
    found = windows_of(pattern, figure)
    ranks = sorted(set(found.values()))
    assert [a[1] for a in ranks[:-1]] == [b[0] for b in ranks[1:]]
    assert (ranks[0][0], ranks[-1][1]) == (0.0, 1.0)
    ways = {w.match.seam.name: w for w in find_ways(fit_start(pattern, figure)[0])}
    between = [n for n, w in ways.items() if not w.encloses and not w.is_central]
    assert {found[n] for n in between} == {ranks[-1]}  # armholes
    assert {found[n] for n, w in ways.items() if w.is_over} == {ranks[0]}


def quarter(name, corners, z, turn=0.0):
    edges = [Edge()] * len(corners)
    return Panel(name, np.array(corners), edges, placement=Placement((0, 0, z), (0, 0, turn)))


def test_a_short_part_of_an_armhole_that_closes_under_the_arm_belongs_to_the_armhole(figure):
    trunk = [(-0.2, 1.0), (0.2, 1.0), (0.2, 1.2), (0.19, 1.2), (0.17, 1.4), (-0.2, 1.4)]
    sleeve = [(0.3, 1.1), (0.4, 0.95), (0.6, 1.1), (0.45, 1.3), (0.307, 1.107)]
    panels = [
        quarter(f"{name}_{side}", corners, z)
        for side, z in (("f", 0.2), ("b", -0.2))
        for name, corners in (("trunk", trunk), ("sleeve", sleeve))
    ]
    seams = [
        Seam("side", [SeamSide("trunk_f", 1)], [SeamSide("trunk_b", 1)], flip=False),
        Seam("shoulder", [SeamSide("trunk_f", 4)], [SeamSide("trunk_b", 4)], flip=False),
        Seam("under", [SeamSide("sleeve_f", 0)], [SeamSide("sleeve_b", 0)], flip=False),
        Seam("over", [SeamSide("sleeve_f", 2)], [SeamSide("sleeve_b", 2)], flip=False),
        Seam("front", [SeamSide("trunk_f", 3)], [SeamSide("sleeve_f", 3)]),
        Seam("back", [SeamSide("trunk_b", 3)], [SeamSide("sleeve_b", 3)]),
        Seam("short", [SeamSide("trunk_f", 2)], [SeamSide("sleeve_b", 4)]),
    ]
    pattern = Pattern("top", panels, seams)
    ways = find_ways(pattern)
    assert next(w for w in ways if w.match.seam.name == "short").encloses
    tubes = find_tubes(ways, {p.name: p for p in panels})
    assert tubes["trunk_f"] == tubes["trunk_b"] != tubes["sleeve_f"] == tubes["sleeve_b"]
    ranks = dict(zip((s.name for s in seams), rank_seams(ways, pattern, figure.crotch)))
    assert ranks["short"] == ranks["front"] == ranks["back"] > ranks["shoulder"]
    assert ranks["over"] == ranks["under"] > ranks["shoulder"]  # along the sleeve


def test_a_waistband_is_sewn_on_while_the_legs_close_and_closes_after_them(figure):
    """Sewn on flat, it does not fold inwards, as one that is closed before does."""
    pattern = pattern_of("trousers")
    found = windows_of(pattern, figure)
    ways = {w.match.seam.name: w for w in find_ways(pattern)}
    legs = {n for n, w in ways.items() if w.encloses and all("pant" in p for p in w.panels)}
    waist = {n for n, w in ways.items() if not w.encloses and "wb" in "".join(w.panels)}
    assert len({found[n] for n in legs}) == 1
    assert {found[n] for n in waist} == {found[n] for n in legs}
    ends = {n for n, w in ways.items() if w.encloses and all("wb" in p for p in w.panels)}
    assert ends and all(found[n][0] >= max(found[k][1] for k in legs) for n in ends)


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
    plain = pattern_of("tee")
    assert pattern.fabric == "denim"
    assert [s.name for s in pattern.seams] == [s.name for s in plain.seams]
    assert windows_of(pattern, figure)["stitch 3"] == (0.5, 0.7)
    fitted, _ = fit_start(pattern, figure)
    sleeve = fitted.panel("left_sleeve_f")
    assert sleeve.layer == 1 and sleeve.placement.translation == (1.0, 0.0, 0.0)
    for text, word in (("panels: {left_sleve_f: {}}", "left_sleve_f"), ("seams: {no: {}}", "join")):
        car.write_text(text)
        with pytest.raises(PatternError) as problem, warnings.catch_warnings():
            read_pattern(path)
        assert word in str(problem.value) and "seams.yaml:1" in str(problem.value)


@pytest.mark.parametrize("name", ["pencil_skirt", "strapless_dress", "panel_skirt"])
def test_a_garment_that_hangs_on_no_shoulder_starts_with_its_waist_at_the_waist(name, figure):
    """Its panels' narrowest girth is where the body is narrow, wherever the file has them."""
    tops = []
    for up in (0.0, -0.05, 0.05):
        pattern = pattern_of(name)
        moved = [
            replace(p, placement=replace(p.placement, translation=(x, y + up, z)))
            for p in pattern.panels
            for x, y, z in [p.placement.translation]
        ]
        fitted, _ = fit_start(replace(pattern, panels=moved), figure)
        skirt = next(p for p in fitted.panels if p.name.startswith("skirt"))
        tops.append(place_points(skirt, np.asarray(skirt.corners))[:, 1].max())
    assert np.ptp(tops) < 0.05  # of 0.1 in the files
    # bodices and waistbands start 3 to 4 cm above the skirt
    assert np.abs(tops - figure.landmarks.points["waist"][1]).max() < 0.08
