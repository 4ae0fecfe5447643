"""Drawings without a side-car file: panels, places and seams from names and shapes of pieces."""

import warnings

import numpy as np
import pytest

from tests.plugins.garments.patterns.drawn_pieces import bodice, leg, skirt, sleeve, turned, whole
from tests.plugins.garments.patterns.dxf_writer import block, drawing, line, polyline, text
from tests.plugins.garments.patterns.people import crossings, person
from tests.refusals import refused
from weft.base.errors import PatternError
from weft.plugins.garments.cli.check_pattern import check_pattern
from weft.plugins.garments.patterns.check import examine_pattern
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.piece_names import PiecePlace, read_place
from weft.plugins.garments.patterns.placement import place_points
from weft.plugins.garments.patterns.start_positions import caught_seams, fit_start

TEE = {"Front": whole(bodice(100)), "Back": whole(bodice(30)), "Sleeve": sleeve()}
HALVES = {"Devant": bodice(100), "Dos": bodice(30), "Manche": sleeve()}
SKIRT = {"Falda delantera": whole(skirt(200)), "Falda trasera": whole(skirt(225, dart=True))}
TROUSERS = {"Pantalone davanti": leg(250, 50, 200), "Pantalone dietro": leg(265, 100, 215)}
GARMENTS = [TEE, HALVES, SKIRT, TROUSERS]


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
        ("Kragen", "other", "", ""),
        ("piece 3", "", "", ""),
    ],
)
def test_names_in_five_languages(name, part, side, kind):
    assert read_place(name) == PiecePlace(part, side, kind)


def write(folder, pieces, degrees=0):
    """Write a drawing of pieces that are turned, with their grain, and return its path."""
    blocks = [
        block(
            f"B{i}",
            text(f"Piece Name: {name}"),
            polyline(turned(points, degrees)),
            line(*turned([(40, 100), (40, 150)], degrees), 7),
        )
        for i, (name, points) in enumerate(pieces.items())
    ]
    (folder / "drawn.dxf").write_text(drawing(blocks))
    return folder / "drawn.dxf"


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
    assert "# Pieces without a panel: Kragen" in written
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
