"""The drafted garments: files that are current, read, checked, mirror-symmetric; one is sewn."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from studies.garments.body_measures import BodyMeasures
from studies.garments.catalog import GARMENTS
from studies.garments.draft import between, toward
from studies.garments.intersection_count import count_intersections
from studies.garments.trial import BODIES, try_garment
from weft.bodies.body import Body
from weft.contact.exact.intersections import intersections
from weft.garment.check import check_pattern
from weft.garment.cutting import cut
from weft.garment.figure import Figure
from weft.garment.formats import read_pattern
from weft.garment.placement import place_points
from weft.garment.start_positions import caught_seams, fit_start
from weft.mannequin.figure import Mannequin

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


@pytest.mark.parametrize("name", ["tee", "trousers"])
def test_drafts_of_a_child_start_on_it(name, tmp_path):
    """Its panels stand at its own heights, and not at those of the mean adult."""
    made = Mannequin.of("child")
    path = tmp_path / f"{name}_specification.json"
    path.write_text(GARMENTS[name](measures("child")).text(), encoding="utf-8")
    figure = Figure.of(Body(made.vertices, made.faces))
    fitted, ways = fit_start(read_pattern(path), figure)
    assert not caught_seams(ways, figure)
    top = max(place_points(p, p.corners)[:, 1].max() for p in fitted.panels)
    level = {"tee": "neck_back", "trousers": "waist"}[name]
    assert abs(top - figure.landmarks.points[level][1]) < 0.06


def test_files_are_those_of_the_default_woman():
    for name, garment in GARMENTS.items():
        path = FOLDER / f"{name}_specification.json"
        pattern = garment(measures("woman"))
        assert path.read_text(encoding="utf-8") == pattern.text()


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
