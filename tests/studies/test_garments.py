"""The drafted garments: files that are current, read, checked, mirror-symmetric; one is sewn."""

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from studies.garments.body_measures import BodyMeasures
from studies.garments.catalog import GARMENTS
from studies.garments.draft import between, toward
from studies.garments.intersection_count import count_intersections
from studies.garments.trial import BODIES, try_garment
from tests.plugins.garments.patterns.people import crossings
from weft.bodies.body import Body
from weft.contact.exact.intersections import intersections
from weft.plugins.garments.mannequin.figure import Mannequin
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.placement import place_points
from weft.plugins.garments.patterns.start_positions import caught_seams, fit_start
from weft.run.quality import Quality
from weft.run.run import Run

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


def start_on_child(name, folder):
    """Return the panels of a child's garment where they start, their ways, the child's body and
    its figure.
    """
    made = Mannequin.of("child")
    path = folder / f"{name}_specification.json"
    path.write_text(GARMENTS[name](measures("child")).text(), encoding="utf-8")
    body = Body(made.vertices, made.faces)
    figure = Figure.of(body)
    return *fit_start(read_pattern(path), figure), body, figure


@pytest.mark.parametrize("name", ["tee", "hoody", "trousers"])
def test_drafts_of_a_child_start_on_it(name, tmp_path):
    """Panels stand at its own heights, not at those of the mean adult, and a hood beside its head,
    which is wider than its neck.
    """
    fitted, ways, body, figure = start_on_child(name, tmp_path)
    assert not caught_seams(ways, figure)
    assert crossings(fitted, body, figure) == 0
    trunk = [p for p in fitted.panels if "wb" not in p.name and "hood" not in p.name]
    top = max(place_points(p, p.corners)[:, 1].max() for p in trunk)
    level = "waist" if name == "trousers" else "neck_back"
    assert abs(top - figure.landmarks.points[level][1]) < 0.06


def test_legs_of_trousers_start_around_the_legs_of_a_child(tmp_path):
    """Panels that start beside a narrow leg slide off it, and a hem at the floor closes around a
    foot.
    """
    fitted, ways, _, figure = start_on_child("trousers", tmp_path)
    ankle = figure.landmarks.points["ankle_left"]
    for name, ahead in (("pant_f_l", 1.0), ("pant_b_l", -1.0)):
        panel = fitted.panel(name)
        x = place_points(panel, panel.corners)
        assert x[:, 1].min() > ankle[1]
        hem = x[np.argsort(x[:, 1])[:2]]
        assert np.mean(hem[:, 0]) == pytest.approx(ankle[0], abs=0.03), "the leg is in its middle"
        assert (ahead * (hem[:, 2] - ankle[2]) > 0).all()
    inseams = [w for w in ways if w.is_inseam(figure.crotch)]
    assert len(inseams) == 2 and all(w.longest < 0.25 for w in inseams)


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
def test_a_skirt_is_sewn_without_intersections(tmp_path):
    """At the waist, and no frame has an intersection by the independent count."""
    result = try_garment("pencil_skirt", "woman", tmp_path, quick=True)
    assert not result.problem


@pytest.mark.slow
def test_a_bodice_without_shoulders_stays_above_the_bust(tmp_path):
    """Its upper edge is where it is drafted, once it has settled with its weight."""
    result = try_garment("strapless_dress", "woman", tmp_path, quick=True)
    assert not result.problem


def test_control_points_reach_the_corner():
    curve = toward((0.0, 0.0), (2.0, 0.0), (1.0, 1.0), 1.0)
    assert curve.controls == ((0.5, 0.5),)
    assert between((0.0, 0.0), (2.0, 4.0), 0.5) == (1.0, 2.0)


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


@pytest.fixture(scope="module")
def worn(tmp_path_factory):
    """Return the quality of a top and of a skirt that are worn."""
    folder = tmp_path_factory.mktemp("worn")
    found = {}
    for name in ("tank_top", "pencil_skirt"):
        assert not try_garment(name, "woman", folder / name, quick=True).problem
        found[name] = Quality(Run(folder / name / "run"))
        assert found[name].measure_frame(-1)["wear"]["verdict"] == "worn"
    return found


def strap_under_armpit(x, quality):
    """Move the left shoulder seam, with what lies above the armpit around it, to the armpit."""
    marks = quality.wearer.landmarks.points
    near = (x[:, 0] > 0.02) & (x[:, 1] > marks["armpit_left"][1])
    low = marks["armpit_left"][1] - 0.02
    return np.where(near[:, None], [1.0, 0.0, 1.0] * x + [0.0, low, 0.0], x)


def hem_off_level(x, quality):
    """Shear the part below the hips, so that its hem rises by 12 cm from right to left."""
    hips = quality.wearer.landmarks.points["hip"][1]
    part = np.clip((hips - x[:, 1]) / (hips - x[:, 1].min()), 0.0, 1.0)
    rise = 0.12 * part * x[:, 0] / np.ptp(x[:, 0])
    return x + np.outer(rise, [0.0, 1.0, 0.0])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, change, verdict, reason",
    [
        ("tank_top", strap_under_armpit, "not worn", "left shoulder seam"),
        ("pencil_skirt", lambda x, _: x - [0.0, 0.45, 0.0], "not worn", "upper edge"),
        ("pencil_skirt", hem_off_level, "worn badly", "not level by 12 cm"),
    ],
)
def test_a_worn_garment_that_is_pulled_out_of_place_is_not_worn(
    name, change, verdict, reason, worn, monkeypatch
):
    quality = worn[name]
    last = quality.at(len(quality.run) - 1)
    moved = replace(last, x=change(last.x, quality))
    monkeypatch.setattr(quality, "at", lambda frame: moved)
    wear = quality.measure_frame(-1)["wear"]
    assert wear["verdict"] == verdict, wear["reasons"]
    assert any(reason in text for text in wear["reasons"])
