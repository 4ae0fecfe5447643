"""The drafted garments: files that are current, read, checked, mirror-symmetric; one is sewn."""

import itertools
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from studies.garments import trial
from studies.garments.alterations import change_armhole, change_neckline, cut_hem, lower_half
from studies.garments.body_measures import BodyMeasures
from studies.garments.catalog import GARMENTS
from studies.garments.draft import Draft, DraftPanel
from studies.garments.intersection_count import count_intersections
from studies.garments.random_designs import draw_design
from studies.garments.sampler_families import FAMILIES, draw_family
from studies.garments.skirts import ring
from studies.garments.tops import Bodice, add_bodice
from studies.garments.trial import BODIES, try_garment
from tests.plugins.garments.patterns.people import crossings
from weft.bodies.body import Body
from weft.contact.exact.intersections import intersections
from weft.plugins.garments.mannequin.figure import Mannequin
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.placement import panel_points, place_points
from weft.plugins.garments.patterns.seam_ways import SeamWays
from weft.plugins.garments.patterns.start_positions import caught_seams, fit_start
from weft.plugins.garments.quality.garment_lines import MovingLandmarks, find_lines

pytestmark = pytest.mark.campaign

FOLDER = Path("examples/garments/garmentcode")


@lru_cache
def measures(body):
    """Return the measures of a body of the study."""
    return BodyMeasures.of(Mannequin.of(**BODIES[body]))


@pytest.mark.parametrize("name", GARMENTS)
def test_garments_are_read_and_cut_and_mirror_symmetric(name):
    pattern = read_pattern(FOLDER / f"{name}_specification.json")
    report = check_pattern(pattern)
    assert not report.errors
    assert not report.warnings
    mesh = cut(pattern, size=0.06).mesh
    assert len(mesh.faces) > 0
    # every panel's outline has a mirror image, across x = 0
    corners = [place_points(p, np.asarray(p.corners)) for p in pattern.panels]
    for points in corners:
        image = points * [-1.0, 1.0, 1.0]
        nearest = [
            max(np.linalg.norm(other - p, axis=1).min() for p in image)
            for other in corners
            if len(other) == len(image)
        ]
        limit = 0.05 if name == "wrap_top" else 1e-3  # [m] fronts of a wrap top lie on each other
        assert min(nearest) < limit


@pytest.mark.parametrize("body", ["child", pytest.param("size-48", marks=pytest.mark.slow)])
def test_other_bodies_have_drafts_without_errors(body, tmp_path):
    for name, garment in GARMENTS.items():
        path = tmp_path / f"{name}_specification.json"
        path.write_text(garment(measures(body)).text(), encoding="utf-8")
        report = check_pattern(read_pattern(path))
        assert not report.errors, (name, report.errors)


@pytest.mark.parametrize("name", ["tee", "hoody", "trousers"])
def test_drafts_of_a_child_start_on_it(name, tmp_path):
    """Panels stand at its own heights, not at those of the mean adult, and a hood beside its head,
    which is wider than its neck.
    """
    made = Mannequin.of("child")
    path = tmp_path / f"{name}_specification.json"
    path.write_text(GARMENTS[name](measures("child")).text(), encoding="utf-8")
    body = Body(made.vertices, made.faces)
    figure = Figure.of(body)
    fitted, ways = fit_start(read_pattern(path), figure)
    assert not caught_seams(ways, figure)
    assert crossings(fitted, body, figure) == 0
    trunk = [p for p in fitted.panels if "wb" not in p.name and "hood" not in p.name]
    top = max(place_points(p, p.corners)[:, 1].max() for p in trunk)
    level = "waist" if name == "trousers" else "neck_back"
    assert abs(top - figure.landmarks.points[level][1]) < 0.06


def rounded(tree):
    """The tree with numbers in tenths of a millimeter: processors round landmarks differently."""
    if isinstance(tree, dict):
        return {k: rounded(v) for k, v in tree.items()}
    if isinstance(tree, list):
        return [rounded(v) for v in tree]
    return pytest.approx(tree, abs=0.01) if isinstance(tree, float) else tree  # [cm]


def test_files_are_those_of_the_default_woman():
    for name, garment in GARMENTS.items():
        path = FOLDER / f"{name}_specification.json"
        pattern = garment(measures("woman"))
        assert json.loads(path.read_text(encoding="utf-8")) == rounded(json.loads(pattern.text()))


@pytest.mark.slow
def test_a_bodice_without_shoulders_stays_above_the_bust(tmp_path):
    """Its upper edge is where it is drafted, once it has settled with its weight."""
    result = try_garment("strapless_dress", "woman", tmp_path, walks=False, coarse=True)
    assert not result.problem


def test_the_independent_count_agrees_with_exact_predicates():
    """Random triangles, every vertex its own."""
    rng = np.random.default_rng(3)
    x = (rng.uniform(0, 1, (60, 1, 3)) + rng.uniform(-0.2, 0.2, (60, 3, 3))).reshape(-1, 3)
    faces = np.arange(180, dtype=np.int32).reshape(-1, 3)
    expected = len(intersections(x, faces))
    assert expected > 10
    assert count_intersections(x, faces, 60, np.arange(180)) == expected
    # pairs of two body faces do not count
    pairs = intersections(x, faces)
    with_cloth = int((pairs < 20).any(1).sum())
    assert count_intersections(x, faces, 20, np.arange(180)) == with_cloth


def test_designs_drawn_at_random_are_read_without_errors(tmp_path):
    """Each number of a seed gives a design of its own, the same every time."""
    texts = [draw_design(1, number, measures("woman")).text() for number in range(8)]
    assert len(set(texts)) == len(texts)
    assert draw_design(1, 3, measures("woman")).text() == texts[3]
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}_specification.json"
        path.write_text(text, encoding="utf-8")
        assert not check_pattern(read_pattern(path)).errors


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_the_sampler_is_read_without_errors(family, tmp_path):
    """Its designs depend on seed and number, and are the same every time."""
    texts = [draw_family(family, 1, number, measures("woman")).text() for number in range(2)]
    assert texts[0] != texts[1]
    assert draw_family(family, 1, 1, measures("woman")).text() == texts[1]
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}_specification.json"
        path.write_text(text, encoding="utf-8")
        assert not check_pattern(read_pattern(path)).errors


def test_a_cut_takes_a_triangle_out_of_a_hem():
    draft = Draft("skirt")
    draft.add(DraftPanel("front", ring(40.0, 50.0, 1.5), (0.0, 0.0, 0.0)))
    cut_hem(draft, "front", 0.5, 8.0, 20.0)
    panel = draft.panels["front"]
    corners = {e.name: (e.x, e.y) for e in panel.edges}
    assert np.linalg.norm(np.subtract(corners["slit_a"], corners["hem++"])) == pytest.approx(
        8, 0.01
    )
    middle = np.add(corners["slit_a"], corners["hem++"]) / 2
    assert np.subtract(corners["slit_b"], middle) == pytest.approx([0.0, 20.0], abs=1e-6)


@pytest.mark.parametrize(("kind", "edges"), [("V", 1), ("arc", 1), ("square", 2), ("trapezoid", 2)])
def test_another_neckline_has_the_same_ends(kind, edges):
    draft = Draft("top")
    add_bodice(draft, measures("woman"), Bodice())
    before = draft.panels["left_ftorso"]
    panel, count = change_neckline(before, kind)
    assert count == edges
    assert panel.names()[-1 - edges :] == ["neck", "neck_1"][:edges] + ["center"]
    assert panel.edges[-1] == before.edges[-1]
    assert len(change_armhole(panel, "square").edges) == len(panel.edges) + 1
    assert lower_half(panel, 2.0).names() == ["hem", "side", "upper", "center"]


def test_a_sector_of_nearly_a_whole_ring_has_its_lengths_and_is_divided_on_its_arc():
    edges = ring(40.0, 50.0, 1.8 * np.pi)
    sector = DraftPanel("skirt", edges, (0.0, 0.0, 0.0))
    assert sector.edge_length("waist") == pytest.approx(40.0)
    assert sector.edge_length("hem") == pytest.approx(40.0 + 50.0 * 1.8 * np.pi)
    halves, _ = sector.divide("hem", 0.5)
    pieces = [halves.edge_length(name) for name in ("hem", "hem+")]
    assert pieces == pytest.approx(2 * [sector.edge_length("hem") / 2])
    middle = halves.edges[2]
    inner = 40.0 / (1.8 * np.pi)
    assert middle.x == pytest.approx(0.0, abs=1e-9)
    assert middle.y == pytest.approx(inner * np.cos(0.9 * np.pi) - inner - 50.0)


def test_the_hem_of_an_asymmetric_skirt_is_compared_with_its_length_on_paper(tmp_path):
    """Its panels start on a cone, where the difference of front and back is less than on paper."""
    draft = draw_design(1, 40, measures("woman"))
    assert "asymmetric" in draft.title
    path = tmp_path / "skirt_specification.json"
    path.write_text(draft.text(), encoding="utf-8")
    made = Mannequin.of(**BODIES["woman"])
    body = Body(made.vertices, made.faces)
    figure = Figure.of(body)
    garment = cut(fit_start(read_pattern(path), figure)[0], 0.04)
    mesh = garment.mesh.with_vertices(garment.mesh.vertices @ figure.turn.T + figure.origin)
    parts = [(name, slice(r.start, r.stop)) for name, r in garment.faces.items()]
    seams = [(s.seam.name, s.pairs) for s in garment.seams]
    wearer = MovingLandmarks.of(body.vertices, body.faces, [len(body.vertices)])
    lines = find_lines(mesh, parts, seams, garment.weld_ids, wearer)
    hem = next(line for line in lines if line.kind == "hem")
    front, back = (draft.panels[f"skirt_{side}"] for side in ("front", "back"))
    on_paper = [_drop(p) for p in (front, back)]
    assert np.ptp(hem.start[:, 1]) == pytest.approx((on_paper[1] - on_paper[0]) / 100, rel=0.1)


def test_gathered_chains_are_divided_alike():
    """Corners that are nearly one are one on the longer and on the shorter chain."""
    draft = draw_family("loose-dress", 5, 3, measures("woman"))
    assert "trousers" in draft.title and len(draft.stitches) > 10


def test_a_seam_that_is_opened_leaves_the_others_turned():
    """A stitch of a right side to a wrong one stays one, whatever is opened before it."""
    draft = Draft("two")
    for name in ("one", "other"):
        draft.add(DraftPanel(name, ring(40.0, 50.0, 1.0), (0.0, 0.0, 0.0)))
    draft.sew("one.left", "other.left")
    draft.sew("one.right", "other.right", right_wrong=True)
    draft.unsew("one.left", "other.left")
    (stitch,) = draft.tree()["pattern"]["stitches"]
    assert stitch[-1] == "right_wrong"


def test_round_levels_start_on_cones_below_one_another(tmp_path):
    """Flat, the lowest one would start below the floor."""
    draft = draw_design(11, 9, measures("woman"))
    assert "levels 2 circles" in draft.title
    made = Mannequin.of(**BODIES["woman"])
    figure = Figure.of(Body(made.vertices, made.faces))
    path = tmp_path / "dress_specification.json"
    path.write_text(draft.text(), encoding="utf-8")
    panels = fit_start(read_pattern(path), figure)[0].by_name
    for side in ("front", "back"):
        rows = [panel_points(panels[f"skirt{k}_{side}"], 0.02)[:, 1] for k in range(3)]
        for above, below in itertools.pairwise(rows):
            assert above.min() - 0.03 < below.max() < above.min()
        assert rows[-1].min() > 0


def test_a_skirt_that_is_drawn_tilted_starts_at_the_hips(tmp_path):
    """The tip of its slanted upper edge is no narrow girth."""
    draft = draw_family("tilted-skirt", 5, 0, measures("woman"))
    made = Mannequin.of(**BODIES["woman"])
    figure = Figure.of(Body(made.vertices, made.faces))
    path = tmp_path / "skirt_specification.json"
    path.write_text(draft.text(), encoding="utf-8")
    panels = fit_start(read_pattern(path), figure)[0].by_name
    top = max(panel_points(panels[f"skirt_{side}"], 0.02)[:, 1].max() for side in ("front", "back"))
    assert abs(top - figure.landmarks.points["waist"][1]) < 0.1


def test_a_waist_of_many_pieces_is_no_shoulder(tmp_path):
    """The sides of a wide circle skirt face up, as without pieces."""
    draft = draw_design(11, 19, measures("man"))
    assert "circle 1.36" in draft.title
    path = tmp_path / "dress_specification.json"
    path.write_text(draft.text(), encoding="utf-8")
    report = check_pattern(read_pattern(path))
    assert len(report.pattern.by_name["skirt_front"].corners) > 4
    sides = {
        match.seam.name: SeamWays.of(match)
        for match in report.seams
        if {s.panel for s in (*match.seam.first, *match.seam.second)}
        == {"skirt_front", "skirt_back"}
    }
    assert len(sides) == 2 and not any(w.is_over for w in sides.values())
    assert any(w.is_over for w in map(SeamWays.of, report.seams)), "the shoulders"


def _drop(panel):
    """Return the length [cm] of a circle skirt's panel in its middle."""
    points = [panel.divide(name, 0.5)[0].edges for name in ("waist", "hem")]
    ends = [next(e for e in p if e.name == f"{n}+").y for n, p in zip(("waist", "hem"), points)]
    return ends[0] - ends[1]


def test_a_trial_is_used_again_only_by_the_same_program(tmp_path, monkeypatch):
    runs = []
    result = trial.TrialResult("tee", "woman", 1, 1, 0, 1.0, 1.0, 0.0, "worn", [], "")
    monkeypatch.setattr(trial, "_run", lambda folder: runs.append(folder) or ("", 1.0, 1.0))
    monkeypatch.setattr(trial, "measure", lambda *_: result)
    for program in ("a", "a", "b"):
        monkeypatch.setattr(trial, "_program", lambda program=program: program)
        assert try_garment("tee", "woman", tmp_path) == result
    assert len(runs) == 2
