"""Girths of sewn garments: closed paths around the body."""

from itertools import pairwise

import numpy as np
import pytest

from studies.garments.body_measures import BodyMeasures
from studies.garments.catalog import GARMENTS
from tests.plugins.garments.builders import garment_of
from tests.plugins.garments.patterns.people import person
from weft.plugins.garments.bodies.skin import UP
from weft.plugins.garments.mannequin import mannequin
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.ease import measure_ease
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.girths import SewnPanels
from weft.plugins.garments.patterns.start_positions import fit_start

WITHIN = 0.003  # [m]
SKIRT = """
panels:
  front:
    outline: [{{at: [-30 cm, 60 cm], edge: hem}}, {{at: [30 cm, 60 cm], edge: left}},
              {{at: [30 cm, 104.6 cm], edge: waist}}, {{at: [-30 cm, 104.6 cm], edge: right}}]
    {front}
    placement: {{translation: [0, 0, 25 cm]}}
  back:
    outline: [{{at: [-30 cm, 60 cm], edge: hem}}, {{at: [30 cm, 60 cm], edge: right}},
              {{at: [30 cm, 104.6 cm], edge: waist}}, {{at: [-30 cm, 104.6 cm], edge: left}}]
    placement: {{translation: [0, 0, -25 cm], rotation: [0, 180, 0]}}
{panels}
seams:
  left: [front.left, back.left]
  right: [front.right, back.right]
{seams}
"""
PLEAT = "pleats: [{{edge: waist, kind: {}, depth: 3 cm, length: 25 cm}}]"
LINES = "lines: [{{name: a, points: [[{0}, 70 cm], [{0}, 104.6 cm]]}}]"
POCKET = """
  pocket:
    outline: [{at: [0, 0], edge: sewn}, {at: [12 cm, 0], edge: sewn}, {at: [12 cm, 14 cm]},
              {at: [0, 14 cm], edge: sewn}]
"""
FACING = """
  facing_front:
    outline: [{at: [-29 cm, 80 cm]}, {at: [29 cm, 80 cm], edge: left},
              {at: [29 cm, 104.6 cm], edge: waist}, {at: [-29 cm, 104.6 cm], edge: right}]
    placement: {translation: [0, 0, 23 cm]}
  facing_back: {copy: facing_front, placement: {translation: [0, 0, -23 cm], rotation: [0, 180, 0]}}
"""


def skirt(front="", panels="", seams=""):
    return garment_of(SKIRT.format(front=front, panels=panels, seams=seams), 0.05)


def girths(garment, marks):
    return {name: ease.garment for name, ease in eases(garment, marks).items()}


def eases(garment, marks):
    parts = [slice(own.start, own.stop) for own in garment.faces.values()]
    seams = [s.pairs for s in garment.seams]
    found = measure_ease(garment.mesh, parts, seams, marks, garment.folded)
    return {e.name: e for e in found}


@pytest.mark.parametrize(
    "front, taken_in",
    [
        ("darts: [{edge: waist, width: 4 cm, depth: 10 cm}]", 0.04),
        (PLEAT.format("knife, to: start"), 0.06),
        (PLEAT.format("knife, to: end"), 0.06),
        (PLEAT.format("box"), 0.12),
        (PLEAT.format("inverted"), 0.12),
    ],
)
def test_darts_and_pleats_are_taken_in_at_the_waist(front, taken_in, figure):
    found = girths(skirt(front), figure.landmarks)
    assert found["waist"] == pytest.approx(1.2 - taken_in, abs=WITHIN)


def test_a_pressed_pleat_is_taken_in_along_its_folds_only(figure):
    """The hips are 19 cm below the waist."""
    for length, taken_in in (("25 cm", 0.06), ("10 cm", 0.0)):
        pleat = PLEAT.format("knife").replace("25 cm", length)
        found = girths(skirt(pleat), figure.landmarks)
        assert found["hips"] == pytest.approx(1.2 - taken_in, abs=WITHIN)


def test_a_tuck_is_taken_in(figure):
    lines = "lines: {a: [[-2 cm, 70 cm], [-2 cm, 100 cm]], b: [[2 cm, 70 cm], [2 cm, 100 cm]]}"
    garment = skirt(lines, seams="  tuck: {join: [front.a, front.b], flip: false}")
    assert girths(garment, figure.landmarks)["hips"] == pytest.approx(1.16, abs=WITHIN)


def test_pockets_and_facings_do_not_count(figure):
    line = "lines: {p: [[-6 cm, 94 cm], [-6 cm, 80 cm], [6 cm, 80 cm], [6 cm, 94 cm]]}"
    pocket = skirt(line, POCKET, "  pocket: [pocket.sewn, front.p]")
    plain = girths(skirt(line), figure.landmarks)
    assert girths(pocket, figure.landmarks) == pytest.approx(plain, abs=1e-4)
    seams = (
        "  top_front: {join: [front.waist, facing_front.waist], flip: false}\n"
        "  top_back: {join: [back.waist, facing_back.waist], flip: false}\n"
        "  facing_left: [facing_front.left, facing_back.right]\n"
        "  facing_right: [facing_front.right, facing_back.left]\n"
    )
    faced = girths(skirt("", FACING, seams), figure.landmarks)
    assert faced == pytest.approx({"waist": 1.2, "hips": 1.2}, abs=WITHIN)


def across(draft, panels, level):
    """Return the width [cm] of panels on paper at a height [cm] above the waist, by scanning their
    outlines.
    """
    total = 0.0
    for panel in (draft.panels[name] for name in panels):
        points = []
        for one, two in zip(panel.edges, (*panel.edges[1:], panel.edges[0])):
            along = np.array([two.x - one.x, two.y - one.y])
            controls = one.curve.controls if one.curve else ()
            line = [np.array([*c], float) for c in ((0, 0), *controls, (1, 0))]
            t = np.linspace(0, 1, 200, endpoint=False)[:, None]
            while len(line) > 1:
                line = [(1 - t) * a + t * b for a, b in pairwise(line)]
            u = line[0]
            normal = np.array([-along[1], along[0]])
            points.append([one.x, one.y] + u[:, :1] * along + u[:, 1:] * normal)
        x, y = np.concatenate(points).T
        below, after = y < level, np.roll(y, -1) < level
        at = np.flatnonzero(below != after)
        part = (level - y[at]) / (np.roll(y, -1)[at] - y[at])
        xs = np.sort(x[at] + part * (np.roll(x, -1)[at] - x[at]))
        total += float((xs[1::2] - xs[::2]).sum())
    return total


BODICE = [f"{side}_{part}torso" for side in ("left", "right") for part in "fb"]


def drafted(name, draft, body, bust, hip):
    """Return the girths [cm] for which a garment of the catalog is drafted.

    Args:
        bust, hip: [cm] heights of these levels above the waist.
    """
    chest, waist = body.chest, body.waist
    straight = {"tee": 1.1, "shirt": 1.16, "hoody": 1.2, "tank_top": 1.06}
    fitted = {"fitted_tee": 1.08, "peplum_top": 1.04, "strapless_dress": 1.02, "jumpsuit": 1.08}
    if name in straight:
        return dict.fromkeys(("chest", "waist", "hips"), straight[name] * chest)
    if name in fitted:
        return {"waist": fitted[name] * waist, "chest": across(draft, BODICE, bust)}
    if name in ("circle_skirt", "flare_skirt"):
        suns = 0.95 if name == "circle_skirt" else 0.5
        return {"waist": 1.02 * waist, "hips": 1.02 * waist - 2 * np.pi * suns * hip}
    skirts = [n for n in draft.panels if n.startswith("skirt") and "godet" not in n]
    if skirts and "skirt" in name:
        return {"waist": 1.02 * waist, "hips": across(draft, skirts, hip)}
    return {
        "sweatshirt": {"chest": 1.18 * chest, "waist": 1.18 * chest, "hips": 0.9 * 1.18 * chest},
        "wrap_top": {"chest": 1.08 * chest, "waist": 1.08 * chest},
        "strap_dress": {"chest": 1.04 * chest, "waist": 1.04 * waist},
        "aline_dress": {"chest": 1.08 * chest},
    }.get(name, {"waist": 1.03 * waist})


@pytest.fixture(scope="module")
def dressed():
    """A woman with her measures, for whom the catalog is drafted."""
    return Figure.of(person("woman")), BodyMeasures.of(mannequin("woman"))


@pytest.mark.slow
@pytest.mark.parametrize("name", GARMENTS)
def test_drafted_ease_comes_back(name, tmp_path, dressed):
    figure, body = dressed
    marks, draft = figure.landmarks, GARMENTS[name](body)
    path = tmp_path / f"{name}_specification.json"
    path.write_text(draft.text())
    found = girths(cut(fit_start(read_pattern(path), figure)[0], 0.02), marks)
    bust, hip = (100 * (marks.points[n][1] - marks.points["waist"][1]) for n in ("bust", "hip"))
    expected = drafted(name, draft, body, bust, hip)
    got = {n: found[n] for n in expected}
    assert got == pytest.approx({n: g / 100 for n, g in expected.items()}, abs=WITHIN)


def test_the_girth_is_continuous_in_the_level(figure):
    """No jumps where the level passes corners, points of darts and vertices."""
    garment = skirt("darts: [{edge: waist, width: 4 cm, depth: 10 cm}]")
    x, panel = garment.mesh.vertices, np.zeros(garment.mesh.n_vertices, np.int32)
    panel[garment.vertices["back"].start :] = 1
    panels = SewnPanels(garment.mesh, x, panel, [s.pairs for s in garment.seams])
    tube = panels.tube(np.ones(2, bool), UP, 1.2)
    levels = np.arange(0.61, 1.04, 0.002)
    lengths = [tube.girth(y, (x[:, [0, 2]], np.zeros(2))).length for y in levels]
    assert np.abs(np.diff(lengths)).max() < 0.0015
    assert np.ptp(lengths) > 0.03


GATHERED = """
panels:
  top:
    outline: [{{at: [-45 cm, {0}], edge: waist}}, {{at: [45 cm, {0}], edge: left}},
              {{at: [45 cm, 128 cm]}}, {{at: [-45 cm, 128 cm], edge: right}}]
    placement: {{translation: [0, 0, 25 cm]}}
  top_back: {{copy: top, placement: {{translation: [0, 0, -25 cm], rotation: [0, 180, 0]}}}}
  skirt:
    outline: [{{at: [-70 cm, 60 cm], edge: hem}}, {{at: [70 cm, 60 cm], edge: left}},
              {{at: [70 cm, {0}], edge: waist}}, {{at: [-70 cm, {0}], edge: right}}]
    placement: {{translation: [0, 0, 25 cm]}}
  skirt_back: {{copy: skirt, placement: {{translation: [0, 0, -25 cm], rotation: [0, 180, 0]}}}}
seams:
  left: [top.left, top_back.right]
  right: [top.right, top_back.left]
  skirt_left: [skirt.left, skirt_back.right]
  skirt_right: [skirt.right, skirt_back.left]
  waist: [top.waist, skirt.waist]
  waist_back: [top_back.waist, skirt_back.waist]
"""


@pytest.mark.filterwarnings("ignore:.*gathered")
def test_the_girth_at_a_gathered_seam_is_that_of_the_seam(figure):
    """A level a few millimeters higher or lower gives the same, and the table says so."""
    waist = float(figure.landmarks.points["waist"][1])
    for away in (-0.008, 0.0, 0.008):
        found = eases(garment_of(GATHERED.format(f"{waist + away} m"), 0.05), figure.landmarks)
        assert (found["waist"].garment, found["waist"].gathered) == pytest.approx((1.8, 2.8))
        assert "at a gathered seam, 280.0 on its longer side" in str(found["waist"])
        assert found["hips"].gathered == 0 and found["hips"].garment == pytest.approx(
            2.8, abs=WITHIN
        )


def test_fronts_that_meet_or_overlap_count_once_and_fronts_apart_are_open(figure):
    halves = """
panels:
  one:
    outline: [{{at: [{0}, 60 cm], edge: hem}}, {{at: [30 cm, 60 cm], edge: side}},
              {{at: [30 cm, 104.6 cm], edge: waist}}, {{at: [{0}, 104.6 cm], edge: middle}}]
    placement: {{translation: [0, 0, 25 cm]}}
  two: {{mirror: one, placement: {{translation: [0, 0, 23 cm]}}}}
  back:
    outline: [{{at: [-30 cm, 60 cm], edge: hem}}, {{at: [30 cm, 60 cm], edge: right}},
              {{at: [30 cm, 104.6 cm], edge: waist}}, {{at: [-30 cm, 104.6 cm], edge: left}}]
    placement: {{translation: [0, 0, -25 cm], rotation: [0, 180, 0]}}
seams:
  left: [one.side, back.left]
  right: [two.side, back.right]
"""
    for edge, expected in (("0", 1.2), ("-3 cm", 1.2), ("4 cm", None)):
        found = girths(garment_of(halves.format(edge), 0.05), figure.landmarks)
        assert found.get("hips") == (expected and pytest.approx(expected, abs=WITHIN))


def test_a_poncho_that_only_its_shoulders_join_has_no_girth(figure):
    """Nor has a panel without any seam; no equation is singular."""
    panel = """
    outline: [{at: [-30 cm, 60 cm]}, {at: [30 cm, 60 cm]}, {at: [30 cm, 140 cm], edge: left},
              {at: [12 cm, 144 cm]}, {at: [-12 cm, 144 cm], edge: right}, {at: [-30 cm, 140 cm]}]
"""
    text = (
        f"panels:\n  front:{panel}    placement: {{translation: [0, 0, 25 cm]}}\n"
        f"  back:{panel}    placement: {{translation: [0, 0, -25 cm], rotation: [0, 180, 0]}}\n"
        "seams:\n  one: [front.left, back.right]\n  two: [front.right, back.left]\n"
    )
    assert girths(garment_of(text), figure.landmarks) == {}
    assert girths(garment_of(text[: text.index("seams:")]), figure.landmarks) == {}
