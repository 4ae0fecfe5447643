"""Drawings without a side-car file: panels, places and seams from names and shapes of pieces."""

import warnings

import numpy as np
import pytest

from tests.plugins.garments.patterns.drawn_pieces import (
    band,
    bodice,
    curve,
    leg,
    long_sleeve,
    raglan,
    raglan_sleeve,
    sector,
    skirt,
    sleeve,
    whole,
)
from tests.plugins.garments.patterns.drawn_pieces import write_pieces as write
from tests.plugins.garments.patterns.dxf_writer import block, drawing, polyline, text
from tests.plugins.garments.patterns.people import crossings, person
from tests.refusals import refused
from weft.base.errors import PatternError
from weft.plugins.garments.cli.check_pattern import check_pattern
from weft.plugins.garments.patterns.check import examine_pattern
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.piece_names import PiecePlace, read_place
from weft.plugins.garments.patterns.placement import place_points
from weft.plugins.garments.patterns.seam_ways import find_tubes
from weft.plugins.garments.patterns.start_positions import caught_seams, find_ways, fit_start

TEE = {"Front": whole(bodice(100)), "Back": whole(bodice(30)), "Sleeve": sleeve()}
HALVES = {"Devant": bodice(100), "Dos": bodice(30), "Manche": sleeve()}
SKIRT = {"Falda delantera": whole(skirt(200)), "Falda trasera": whole(skirt(225, dart=True))}
TROUSERS = {"Pantalone davanti": leg(250, 50, 200), "Pantalone dietro": leg(265, 100, 215)}
GARMENTS = [TEE, HALVES, SKIRT, TROUSERS]
LONG = {**TEE, "Sleeve": long_sleeve()}
RAGLAN = {
    "Front": whole(raglan(370)),
    "Back": whole(raglan(400)),
    "Sleeve": raglan_sleeve(),
    "Waistband": band(900, 80),
    "Cuff": band(180, 100),
    "Collar": band(420, 30),
}
BANDED = {**SKIRT, "Bund": band(820, 80)}
LEGS = {"front": leg(250, 50, 200), "back": leg(265, 100, 215), "waistband": band(830, 40)}
HALF_CIRCLE = {"skirt": sector(250, 700, 180), "waistband": band(790, 40)}
CIRCLE = {"skirt": sector(165, 600, 270), "waistband": band(790, 40)}


@pytest.mark.parametrize(
    "name, part, side, kind",
    [
        ("FRT_LEFT", "front", "left", ""),
        ("SkirtBack", "back", "", "skirt"),
        ("Hosenvorderteil links", "front", "left", "trousers"),
        ("Rückenteil", "back", "", ""),
        ("Ärmel rechts", "sleeve", "right", ""),
        ("demi-devant droite", "front", "right", ""),
        ("Jupe dos", "back", "", "skirt"),
        ("Manche gauche", "sleeve", "left", ""),
        ("Espalda", "back", "", ""),
        ("Delantero izquierdo", "front", "left", ""),
        ("Davanti gonna", "front", "", "skirt"),
        ("Manica sinistra", "sleeve", "left", ""),
        ("front facing", "other", "", ""),
        ("Kragen", "", "", "collar"),
        ("neckBinding", "", "", "collar"),
        ("Front waistband", "front", "", "waistband"),
        ("waistband facing", "other", "", "waistband"),
        ("Manschette links", "cuff", "left", ""),
        ("Poncho", "shoulders", "", ""),
        ("piece 3", "", "", ""),
    ],
)
def test_names_in_five_languages(name, part, side, kind):
    assert read_place(name) == PiecePlace(part, side, kind)


def read(path):
    with warnings.catch_warnings(record=True, action="always") as caught:
        pattern = read_pattern(path)
    return pattern, "\n".join(str(w.message) for w in caught)


@pytest.mark.parametrize("degrees", [0, 90, 180, -90])
@pytest.mark.parametrize(
    "pieces, panels, seams",
    [
        (TEE, 4, "armhole shoulder side underarm"),
        (HALVES, 6, "armhole center shoulder side underarm"),
        (SKIRT, 2, "dart side"),
        (TROUSERS, 4, "center inseam outseam"),
    ],
    ids=["tee", "halves", "skirt", "trousers"],
)
def test_seams_join_edges_of_equal_length(tmp_path, pieces, panels, seams, degrees):
    pattern, told = read(write(tmp_path, pieces, degrees))
    report = examine_pattern(pattern)
    assert not report.errors and len(pattern.panels) == panels
    assert {s.name.split()[0] for s in pattern.seams} == set(seams.split())
    assert len(pattern.seams) == 2 * len(seams.split())
    for match in report.seams:
        assert match.ratio == pytest.approx(1.0, abs=0.05), match.seam.name
        assert match.orientation.confirmed is not False, match.seam.name
    assert f"{panels} panels and {len(pattern.seams)} seams are guessed" in told
    for panel in pattern.panels:  # all of them stand upright
        y = place_points(panel, np.asarray(panel.corners))[:, 1]
        assert y.min() > 0.0 and y.max() < 1.5


@pytest.mark.parametrize("pieces", GARMENTS, ids=["tee", "halves", "skirt", "trousers"])
def test_they_start_beside_a_woman(tmp_path, pieces):
    """No panel starts in her body, and no seam closes through it."""
    body = person("woman")
    figure = Figure.of(body)
    pattern, ways = fit_start(read(write(tmp_path, pieces))[0], figure)
    assert not caught_seams(ways, figure)
    assert crossings(pattern, body, figure) == 0


def test_check_writes_the_guess_and_never_overwrites_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path, beside = write(tmp_path, {**TEE, "Kragen": TEE["Sleeve"]}), tmp_path / "drawn.seams.yaml"
    guessed = read(path)[0]
    check_pattern(path, [], None)
    assert "side-car" in capsys.readouterr().out
    written = beside.read_text()
    assert "# Left out: Kragen (a collar of another shape than a rectangle)" in written
    pattern, told = read(path)
    assert "guessed" not in told
    for one, two in zip(guessed.panels, pattern.panels):
        assert one.name == two.name and one.placement == two.placement
    assert [s.first for s in guessed.seams] == [s.first for s in pattern.seams]
    edited = written.replace("shoulder left", "left shoulder")
    beside.write_text(edited)
    check_pattern(path, [], None)
    beside.write_text(edited + "fabric: denim\n")
    check_pattern(path, [], None)
    assert beside.read_text() == edited + "fabric: denim\n"
    beside.write_text("fabric: denim\n")  # a file without panels and seams stays, too
    check_pattern(path, [], None)
    assert beside.read_text() == "fabric: denim\n"


def test_places_in_words(tmp_path):
    """The place decides, and not the name; a place that weft does not know is refused."""
    path = write(tmp_path, TEE)
    car = "panels: {a: {piece: Front, place: front}, b: {piece: Back, place: Rücken}}\n"
    (tmp_path / "drawn.seams.yaml").write_text(f"{car}seams: {{side: [a.0, b.6]}}")
    pattern = read(path)[0]
    ahead = [place_points(p, np.zeros((1, 2)))[0, 2] for p in pattern.panels]
    assert ahead[0] > 0.1 and ahead[1] < -0.1 and pattern.flat_start
    for wrong in ("place: nose", "place: front, placement: {}"):
        (tmp_path / "drawn.seams.yaml").write_text(car.replace("place: front", wrong))
        with refused(PatternError, "place"):
            read(path)


@pytest.mark.parametrize(
    "pieces, panels, seams",
    [
        (RAGLAN, 10, "Collar Cuff Waistband raglan side underarm"),
        (BANDED, 4, "Bund dart side"),
        (LEGS, 6, "center inseam outseam waistband"),
        (HALF_CIRCLE, 2, "center waistband"),
        (CIRCLE, 2, "center waistband"),
    ],
    ids=["raglan", "skirt", "legs", "half circle", "circle"],
)
def test_bands_are_rings_beside_their_edges(tmp_path, pieces, panels, seams):
    """Names of legs do not say what they are; a skirt of one panel is closed behind."""
    path = write(tmp_path, pieces)
    pattern, told = read(path)
    report = examine_pattern(pattern)
    assert not report.errors and len(pattern.panels) == panels
    assert {s.name.split()[0] for s in pattern.seams} == set(seams.split())
    assert "left out" not in told
    body = person("woman")
    figure = Figure.of(body)
    bands = [n for n in pattern.by_name if n.split()[0] in ("Cuff", "Waistband", "waistband")]
    fitted, ways = fit_start(pattern, figure)
    assert not caught_seams(ways, figure) and crossings(fitted, body, figure) == 0
    assert max(w.longest for w in ways) < 0.65
    for w in ways:
        if w.match.seam.second[0].edge in (0, 2) and w.panels[1] in bands:
            up = (w.second - w.first)[:, 1] * (1 if w.match.seam.second[0].edge == 0 else -1)
            assert w.longest < 0.1 and up.min() > -1e-6, w.match.seam.name
    check_pattern(path, [], None)
    again = read(path)[0]
    assert [p.placement for p in again.panels] == [p.placement for p in pattern.panels]


@pytest.mark.parametrize(
    "name, points, reason",
    [
        ("Bund", band(200, 80), "a waistband of 20 cm; the edges are 81 cm long"),
        ("Bund", sleeve(), "a waistband of another shape than a rectangle"),
        ("Cuff", band(200, 80), "a cuff of 20 cm; there are no edges"),
        ("Collar", band(200, 8), "a collar narrower than 1 cm"),
        ("Pocket", band(200, 80), "weft places no such piece"),
    ],
)
def test_a_band_that_does_not_fit_is_left_out_with_the_reason(tmp_path, name, points, reason):
    assert f"left out: {name} ({reason})" in read(write(tmp_path, {**SKIRT, name: points}))[1]


def test_a_part_of_a_piece_that_is_no_band_is_refused(tmp_path):
    path = write(tmp_path, TEE)
    (tmp_path / "drawn.seams.yaml").write_text("panels: {Front: {share: 0.5}}")
    with refused(PatternError, "share", got="of another shape"):
        read(path)


def test_the_hollow_half_of_a_cap_is_sewn_to_the_front(tmp_path):
    """Along both armholes, over the shoulders, from the armpit to the armpit."""
    pattern = read(write(tmp_path, LONG))[0]
    assert pattern.by_name["Sleeve right"].corners[0, 0] == pytest.approx(-0.095)  # as drawn
    report = examine_pattern(pattern)
    cap = {m.seam.name: m for m in report.seams if m.seam.name.startswith("armhole")}
    for side, name in (("left", "Front"), ("right", "Front")):
        match = cap[f"armhole {side}"]
        hole, sleeve_side = match.first, match.second
        at = {"left": 0.1, "right": 0.9}[side]
        assert hole.sides[hole.on_edge(at)[0]].panel == name
        x = float(sleeve_side.on_paper(np.array([at]))[0, 0])
        assert (x < 0) == (side == "left")  # of a left sleeve, the front is at the left
        tops = [p[1] for p in hole.on_paper(np.array([0.0, 0.5, 1.0]))]
        assert tops[1] > max(tops[0], tops[2]) + 0.1


def test_long_sleeves_start_above_the_arms(tmp_path):
    figure = Figure.of(person("woman"))
    fitted, ways = fit_start(read(write(tmp_path, LONG))[0], figure)
    for w in ways:
        if w.match.seam.name.startswith("underarm"):
            sleeve_panel = fitted.by_name[w.panels[0]]
            assert w.middle[1] < place_points(sleeve_panel, np.zeros((1, 2)))[0, 1]
            assert np.abs((w.first - w.second)[:, 1]).max() < 0.02


def test_the_side_ends_at_a_dart_at_the_armpit(tmp_path):
    """The legs of a dart that ends at a corner do not join the edges of this corner."""
    arm = (265, 380)
    front = bodice(100)
    k = front.index(arm)
    half = [*front[:k], (265, 300), (120, 350), (263, 353 + 1), *front[k + 1 :]]
    half[half.index((263, 354))] = arm
    pattern = read(write(tmp_path, {"Front": whole(half), "Back": whole(bodice(30))}))[0]
    assert {s.name.split()[0] for s in pattern.seams} >= {"side", "shoulder"}
    side = next(s for s in pattern.seams if s.name == "side left")
    assert len(side.first) == 1


def test_a_poncho_lies_on_the_shoulders(tmp_path):
    ring = [(100 * np.cos(a), 100 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 33)[:-1]]
    content = [
        text("Piece Name: Poncho"),
        polyline(band(1400, 1000)),
        polyline(np.array(ring) + [700, 500], 11),
    ]
    (tmp_path / "poncho.dxf").write_text(drawing([block("B", *content)]))
    pattern = read(tmp_path / "poncho.dxf")[0]
    body = person("woman")
    figure = Figure.of(body)
    fitted, _ = fit_start(pattern, figure)
    x = place_points(fitted.panels[0], fitted.panels[0].holes[0])
    marks = figure.landmarks.points
    assert np.ptp(x[:, 1]) < 1e-9 and crossings(fitted, body, figure) == 0
    assert marks["shoulder_left"][1] < x[0, 1] < marks["top"][1]
    assert x[:, [0, 2]].mean(0) == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize(
    "unit, taken",
    [
        (1.0, ""),
        (0.1, "takes cm (front and back go 106"),
        (1 / 25.4, "takes in"),
        (100.0, "takes 0.01 mm"),
    ],
)
def test_units_are_compared_with_the_body(tmp_path, unit, taken):
    """The drawing says METRIC, which are millimeters."""
    pattern, told = read(write(tmp_path, TEE, unit=unit))
    assert np.ptp(pattern.by_name["Front"].corners[:, 0]) == pytest.approx(0.53, rel=1e-3)
    assert ("with a unit of mm: weft" in told) == bool(taken) and taken in told


def test_a_size_that_fits_in_no_unit_is_asked_about(tmp_path):
    pattern, told = read(write(tmp_path, {**TEE, "Front": [(9 * x, y) for x, y in TEE["Front"]]}))
    assert "no unit fits a person: write `units: cm`" in told
    assert np.ptp(pattern.by_name["Front"].corners[:, 0]) == pytest.approx(9 * 0.53, rel=1e-3)


def test_the_center_of_a_bodice_is_longer_than_its_side(tmp_path):
    """A center that is slanted by 12 mm, and a side that is vertical."""
    back = [(12, 0), *bodice(30)[1:]]
    pattern = read(write(tmp_path, {"Front": whole(bodice(100)), "Back": back}))[0]
    match = next(m for m in examine_pattern(pattern).seams if m.seam.name == "center back")
    assert match.first.length > 0.6


def test_edges_of_different_lengths_are_told_with_the_line_to_write(tmp_path):
    short = [(x, y / 2 if y <= 380 else y - 190) for x, y in TEE["Back"]]
    told = read(write(tmp_path, {**TEE, "Back": short}))[1]
    assert "Front.0 (38 cm) and Back.6 (19 cm) differ too much for a seam" in told
    assert "`side left: [[Front.0], [Back.6]]` below `seams` in drawn.seams.yaml" in told


def test_pieces_of_unknown_names_are_told_with_the_line_to_write(tmp_path):
    told = read(write(tmp_path, {"A": TEE["Front"], "B": TEE["Back"]}))[1]
    assert "write `panels: {A: {place: front}, ...}` and `seams` in drawn.seams.yaml" in told


def test_both_halves_of_a_back_are_trunk_and_both_sleeves_go_around_the_arms(tmp_path):
    """The seam in the middle of a short back is longer than its seams to the front, and shorter
    than an armhole.
    """
    front, back = ([(0, 150), (265, 150), *bodice(drop)[2:]] for drop in (100, 30))
    pieces = {"Front": whole(front), "Back": [(6, 150), *back[1:]], "Sleeve": long_sleeve()}
    pattern = read(write(tmp_path, pieces))[0]
    tubes = find_tubes(find_ways(pattern), pattern.by_name)
    trunk = {tubes[name] for name in ("Front", "Back left", "Back right")}
    assert len(trunk) == 1 and len(set(tubes.values())) == 3
    body = person("woman")
    figure = Figure.of(body)
    fitted, _ = fit_start(pattern, figure)
    assert crossings(fitted, body, figure) == 0
    assert all(fitted.by_name[f"Sleeve {side}"].placement.wrap for side in ("left", "right"))


def test_a_narrow_sleeve_starts_with_its_edges_below_the_arm(tmp_path):
    """Edges beside the arm slide above it while they close."""
    narrow = [(0.9 * x, y) for x, y in long_sleeve()]
    body = person("woman")
    figure = Figure.of(body)
    pattern = read(write(tmp_path, {**TEE, "Sleeve": narrow}))[0]
    fitted, ways = fit_start(pattern, figure)
    assert crossings(fitted, body, figure) == 0
    marks = figure.landmarks.points
    for w in ways:
        if w.match.seam.name.startswith("underarm"):
            side = w.match.seam.name.split()[1]
            elbow, wrist = marks[f"elbow_{side}"], marks[f"wrist_{side}"]
            along = (wrist - elbow) / np.linalg.norm(wrist - elbow)
            down = np.array([along[1], -along[0], 0.0])
            down *= -np.sign(down[1])
            for x in (w.first, w.second):
                assert ((x - elbow) @ down).min() > 0.003


def test_the_legs_of_a_dart_may_be_bent(tmp_path):
    """At the tip of a dart at the hem, they are as far apart as the sides of a neckline."""
    ahead, tip, behind = (100, 0), (120, 120), (140, 0)
    legs = [*curve(ahead, (100, 100), tip), *curve(tip, (140, 100), behind)]
    half = [(0, 0), ahead, *legs, *bodice(100)[1:]]
    pattern = read(write(tmp_path, {"Front": whole(half), "Back": whole(bodice(30))}))[0]
    assert len([s for s in pattern.seams if s.name.startswith("dart")]) == 2
    assert {s.name.split()[0] for s in pattern.seams} == {"dart", "side", "shoulder"}


def test_fronts_and_backs_without_a_shoulder_are_told(tmp_path):
    """The neckline of a draped front begins at the armhole."""
    arm, end = (265, 380), (185, 600)
    half = [(0, 0), (265, 0), arm, *curve(arm, (160, 390), end), *curve(end, (100, 640), (0, 640))]
    told = read(write(tmp_path, {**TEE, "Front": whole(half)}))[1]
    assert (
        "weft finds no shoulder of Front: if there is one, write `shoulder left: [Front.NU" in told
    )
    assert "finds no" not in read(write(tmp_path, TEE))[1]
    assert "finds no" not in read(write(tmp_path, RAGLAN))[1]


def test_raglan_seams_that_are_not_steep(tmp_path):
    """A shoulder begins at an armhole, and not at the side, unless it is nearly level."""

    def low(neck):
        side = (240, 260)
        return [(0, 0), (240, 0), side, (70, 410), *curve((70, 410), (50, neck), (0, neck))]

    pieces = {**RAGLAN, "Front": whole(low(340)), "Back": whole(low(370))}
    pattern = read(write(tmp_path, pieces))[0]
    assert {s.name.split()[0] for s in pattern.seams} >= {"raglan", "side", "underarm"}
