"""Seams and edges of garments are known from where panels start, and how far off they are."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import weft
from tests.plugins.garments.builders import scene_of, simulated
from tests.plugins.garments.patterns.drawn_pieces import raglan, raglan_sleeve, whole, write_pieces
from weft.plugins.garments.mannequin.figure import Mannequin
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.start_positions import fit_start
from weft.plugins.garments.quality.garment_lines import MovingLandmarks, find_lines, judge_line
from weft.plugins.garments.quality.wear import wear_of
from weft.run.quality import Quality, percentiles, pictures

EXAMPLES = Path(__file__).parents[4] / "examples/garments"
TOP = {("shoulder", s) for s in ("left", "right")} | {("hem", "")}
SIDES = ("left", "right")
SLEEVED = TOP | {("armhole", s) for s in ("left", "right")}
AS_IT_IS, QUARTER = np.eye(3), np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


def start_lines(garment, body, turn=AS_IT_IS, up=0.0):
    """Return the start positions of a garment, its lines by kind and side, and the wearer.

    The garment is the name of an example, or a pattern.

    The garment starts higher by ``up`` [m].
    """
    body = replace(body, vertices=body.vertices @ turn.T)
    figure = Figure.of(body)
    if isinstance(garment, str):
        garment = read_pattern(EXAMPLES / f"garmentcode/{garment}_specification.json")
    garment = cut(fit_start(garment, figure)[0], 0.05)
    x = (garment.mesh.vertices + [0.0, up, 0.0]) @ figure.turn.T + figure.origin
    mesh = garment.mesh.with_vertices(x)
    parts = [(name, slice(r.start, r.stop)) for name, r in garment.faces.items()]
    seams = [(s.seam.name, s.pairs) for s in garment.seams]
    wearer = MovingLandmarks.of(body.vertices, body.faces, [len(body.vertices)])
    lines = find_lines(mesh, parts, seams, garment.weld_ids, wearer)
    return x, {(line.kind, line.side): line for line in lines}, wearer


@pytest.mark.parametrize(
    "name, kinds",
    [
        ("tee", SLEEVED),
        ("hoody", SLEEVED),
        ("tank_top", TOP),
        ("trousers", {("upper edge", ""), ("waist", "")}),
        ("strapless_dress", {("upper edge", ""), ("waist", ""), ("hem", "")}),
    ],
)
def test_lines_of_a_garment(name, kinds, woman):
    assert set(start_lines(name, woman)[1]) == kinds


def test_a_raglan_top_hangs_on_its_sleeves(woman, tmp_path):
    """Its seams end at the neck, not at the shoulder; it starts at the neck, and not lower where
    its girths would fit.
    """
    front, back = (whole([(x, max(y - 60, 0)) for x, y in raglan(n)]) for n in (370, 400))
    narrow = {"Front": front, "Back": back, "Sleeve": raglan_sleeve()}
    narrow = {n: [(0.8 * x, y) for x, y in points] for n, points in narrow.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pattern = read_pattern(write_pieces(tmp_path, narrow))
    x, lines, wearer = start_lines(pattern, woman)
    assert {key for key in lines if key[0] == "raglan"} == {("raglan", s) for s in SIDES}
    assert not any(kind in ("armhole", "shoulder") for kind, _ in lines)
    marks = wearer.landmarks.points
    trunk = x[np.abs(x[:, 0]) < 0.05]
    assert trunk[:, 1].max() > marks["shoulder_left"][1]
    worn = x + np.mean([marks["armpit_left"], marks["neck_side_left"]], axis=0)
    worn = worn - x[lines["raglan", "left"].vertices].mean(axis=0)
    assert judge_line(lines["raglan", "left"].measure(worn, wearer.body))[0] == 0


@pytest.mark.parametrize("turn", [AS_IT_IS, QUARTER], ids=["as it is", "turned"])
def test_a_strap_under_the_armpit_is_named(woman, turn):
    """A top that is moved down is off by as much, whichever way the body looks and goes."""
    x, lines, wearer = start_lines("tank_top", woman, turn)
    line, away = lines["shoulder", "left"], np.array([0.4, 0.0, 1.0])
    start = line.measure(x, wearer.body)["off"]
    worn = x + away - [0.0, -start, 0.0]
    for down, grade in ((0.0, 0), (0.04, 0), (0.07, 1), (0.14, 2)):
        low = line.measure(worn - [0.0, down, 0.0], wearer.body + away)
        assert low["off"] == pytest.approx(down, abs=1e-9)
        assert judge_line(low)[0] == grade
        assert f"{100 * down:.0f} cm" in judge_line(low)[1] or not grade


def test_trousers_that_start_above_the_waist_are_worn_at_the_waist(woman):
    """How far they start above it changes no line."""
    x, lines, wearer = start_lines("trousers", woman)
    _, raised, _ = start_lines("trousers", woman, up=0.04)
    for key in (("upper edge", ""), ("waist", "")):
        now, before = (line[key].measure(x, wearer.body)["off"] for line in (raised, lines))
        assert now == pytest.approx(before, abs=1e-9)


def test_a_dress_that_slid_and_a_hem_that_is_tilted(woman):
    x, lines, wearer = start_lines("strapless_dress", woman)
    low = lines["upper edge", ""].measure(x - [0.0, 0.15, 0.0], wearer.body)
    assert low["off"] == pytest.approx(0.15) and judge_line(low)[0] == 2
    hem = lines["hem", ""]
    width = np.ptp(x[hem.vertices, 0])
    for slope, bad in ((0.0, 0), (0.12 / width, 1)):
        tilted = np.array(x)
        tilted[hem.vertices, 1] = hem.start[:, 1] + slope * x[hem.vertices, 0]
        found = hem.measure(tilted, wearer.body)
        assert found["tilt"] == pytest.approx(slope * width, rel=0.02, abs=1e-9)
        assert judge_line(found)[0] == bad
    assert np.ptp(hem.start[:, 1]) < 0.02, "it is drawn round, and hangs level"


@pytest.mark.parametrize("name", ["circle_skirt", "strapless_dress"])
def test_a_waist_that_lies_on_the_hips_is_worn_badly(woman, name):
    """The flat panels of the circle skirt start low, and that is no excuse."""
    x, lines, wearer = start_lines(name, woman)
    line, marks = lines["waist", ""], wearer.landmarks.points
    for level, grade in (("waist", 0), ("hip", 1), ("knee_left", 2)):
        worn = np.array(x)
        worn[line.vertices, 1] = marks[level][1]
        assert judge_line(line.measure(worn, wearer.body))[0] == grade, level


@pytest.mark.parametrize("motion, stands", [("walk", True), ("sit", False)])
def test_a_body_that_sits_is_not_judged(motion, stands):
    """In every phase of a walk it stands."""
    made = Mannequin.of("woman", size="2 cm")
    x = made.motion(motion, hold=0.1, fps=10).positions
    wearer = MovingLandmarks.of(x[0], made.faces, [len(made.vertices)])
    assert wearer.stands(x[0])
    assert all(map(wearer.stands, x)) == stands


def test_a_body_that_lies_or_bends_is_not_judged(woman):
    wearer = MovingLandmarks.of(woman.vertices, woman.faces, [len(woman.vertices)])
    for turn, stands in ((20.0, True), (80.0, False)):
        x = Rotation.from_euler("x", turn, degrees=True).apply(np.array(woman.vertices))
        assert wearer.stands(x) == stands
        bent = np.where(woman.vertices[:, 1:2] > 0.85, x, woman.vertices)
        assert wearer.stands(bent) == stands


def test_percentiles_are_by_area():
    """A hundred small triangles weigh as much as they cover."""
    values, area = np.r_[np.full(100, 9.0), 1.0], np.r_[np.full(100, 1e-4), 0.99]
    assert percentiles(values)["p50"] == pytest.approx(9.0)
    assert percentiles(values, area)["p50"] == pytest.approx(1.0, abs=0.1)


SCENE = f"""
cloth: {{garment: {{pattern: {EXAMPLES}/patterns/skirt.yaml, size: 6 cm}}}}
bodies: [{{name: body, mannequin: {{figure: woman}}}}]
contact: {{gap: 2 mm}}
seconds: 0.02
fps: 50
"""


@pytest.fixture(scope="module")
def quality(tmp_path_factory):
    """Of a run in which a skirt still lies where it starts."""
    folder = tmp_path_factory.mktemp("skirt")
    return Quality(simulated(scene_of(folder, SCENE), 1, folder, 50))


def test_a_run_says_whether_it_is_worn(quality):
    report = quality.report([0])
    (frame,) = report["frames"]
    wear = frame["wear"]
    assert report["verdict"] == "not worn" and "side_left open by" in " ".join(wear["reasons"])
    off = {line["kind"]: line["off"] for line in wear["lines"]}
    assert set(off) == {"upper edge", "waist", "hem"}
    assert off["upper edge"] == pytest.approx(0.0, abs=0.025), "the skirt starts in its place"
    assert not any("folded" in reason for reason in wear["reasons"])
    frame["parts"]["band_front"]["warp"]["p50"] = -66.0
    assert "band_front folded to 34 %" in wear_of(quality).judge_wear(0, frame)["reasons"]


def test_a_part_that_falls_from_a_seam_in_place_has_not_slipped_off(quality, monkeypatch):
    """As a hood does that lies below the neck when slipping begins."""
    pairs, own = dict(quality.seams)["waist_front"], dict(quality.parts)["front"]
    slip = np.full(quality.mesh.n_vertices, 0.3)
    monkeypatch.setattr(Quality, "slip", lambda self, frame: slip)
    for hangs in (False, True):
        slip[pairs] = 0.0 if hangs else 0.3
        found = {"parts": {"front": {}}, "body": {"front": {"slip": float(np.median(slip[own]))}}}
        wear_of(quality).mark_slipped(0, found)
        assert found["body"]["front"]["slipped_off"] == (not hangs)


def test_pictures_are_named_for_what_is_odd():
    fine = {"coarse": 0.0, "sheared": 0.0, "warp": {"p95": 1.0}, "weft": {"p95": 1.0}}
    line = {"parts": {"hood": fine}, "intersections": 0, "wear": {"verdict": "worn"}}
    assert list(pictures(line)) == []
    line["parts"] = {"hood": fine | {"coarse": 0.3}, "cuff": fine | {"weft": {"p95": 14.0}}}
    line["wear"] = {"verdict": "worn badly"}
    assert dict(pictures(line)) == {
        "curvature": "sharp bends of hood",
        "strain": "strain of cuff",
        "panels": "worn badly",
    }


def test_a_run_says_which_panels_are_sheared(quality):
    mesh, front = quality.run.mesh, dict(quality.parts)["front"]
    uv, area = mesh.corner_uv[front].mean(1), mesh.rest_area[front]
    x = np.zeros((mesh.n_vertices, 3))
    flat, middle = mesh.vertex_uv, np.median(uv[:, 0])
    x[:, :2] = flat + np.outer(np.maximum(flat[:, 0] - middle, 0.0), [0.0, np.tan(np.radians(35))])
    share = quality.strains(x)["front"]["sheared"]
    assert share == pytest.approx(area[uv[:, 0] > middle].sum() / area.sum(), abs=0.12)
    assert quality.strains(x * 1.2)["front"]["strained"] > 0.99


def test_cloth_that_falls_from_the_head_has_not_slipped_off(tmp_path, woman):
    """A hood may fall back; what falls as far in front of the chest has slipped off."""
    sheets = [
        weft.sheet(3, 3, 0.1, 0.1).move((0.0, height, 0.3), (90, 0, 0)) for height in (1.6, 1.2)
    ]
    scene = weft.Scene(
        weft.join(sheets, ["hood", "bib"]), bodies=[woman], contact=weft.SelfContact(2e-3)
    )
    run = simulated(scene, 3, tmp_path, 10)
    body = Quality(run, since=0).measure_frame(3)["body"]
    assert body["hood"]["slip"] > 0.2 and body["bib"]["slip"] > 0.2
    assert (body["hood"]["slipped_off"], body["bib"]["slipped_off"]) == (False, True)
