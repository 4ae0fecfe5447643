"""Gathers: how long their folds are, the edges that they get, and the elastic that makes them."""

import numpy as np
import pytest

from tests.plugins.garments.builders import scene_of, simulated
from tests.plugins.garments.patterns.patterns import panel, rectangle, seam
from weft.fabric.fabric import fabric
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.gathers import EDGES, find_gathers
from weft.plugins.garments.patterns.pattern import Pattern

PATTERN = """
panels:
  front:
    outline:
      - {at: [-20 cm, 0], edge: hem}
      - {at: [20 cm, 0], edge: right}
      - {at: [20 cm, 12 cm], edge: top}
      - {at: [-20 cm, 12 cm], edge: left}
    placement: {wrap: {center: [0, 10 cm, 0], radius: 13.5 cm}}
  back:
    copy: front
    placement: {wrap: {center: [0, 10 cm, 0], radius: 13.5 cm, facing: [0, 0, -1]}}
seams:
  one: [front.right, back.left]
  two: [front.left, back.right]
elastics:
  band: {edges: [front.top, back.top], ratio: 0.7, stiffness: 40 N}
"""
SCENE = """
cloth: {garment: {pattern: tube.yaml, size: 3 cm}}
bodies:
  - {name: limb, capsule: {radius: 8.5 cm, length: 40 cm, size: 3 cm}, translation: [0, 15 cm, 0]}
contact: {gap: 2 mm, friction: 0.5}
sewing: {closing: 0.4 s, settle: 0.3 s}
integrator: {backward_euler: {effort: interactive}}
seconds: 0.7
fps: 20
"""


def ruffled(fullness, **fields):
    """A strip of 30 cm sewn to a panel, with an upper edge so many times as long."""
    skirt = panel("skirt", rectangle(0.3 * fullness, 0.4), "hem right top left", **fields)
    band = panel("band", rectangle(0.3, 0.12), "lower end upper start")
    return Pattern("ruffled", [skirt, band], [seam("gather", ("skirt", 2), ("band", 0))])


def test_a_fold_is_the_longer_the_stiffer_and_the_lighter_the_cloth():
    """4 pi sqrt(B/T), with the weight of all panels for the tension."""
    made = fabric("cotton")
    area, width = 0.3 * 1.5 * 0.4 + 0.3 * 0.12, 0.3 * 1.5
    fold = 4 * np.pi * np.sqrt(made.bending_warp * width / (9.81 * made.density * area))
    found = find_gathers(check_pattern(ruffled(1.5)), 0.05)
    assert found.sizes == {("skirt", 2): pytest.approx(fold / EDGES, rel=1e-6)}
    silk = find_gathers(check_pattern(ruffled(1.5)), 0.05, "silk")
    assert silk.sizes["skirt", 2] < 0.6 * found.sizes["skirt", 2]
    assert len(found.lines) == 1 and not found.warnings


def test_all_gathers_of_a_panel_are_one_warning():
    """Two strips on both ends of one wide panel, of cloth whose folds are finer than the mesh."""
    skirt = panel("skirt", rectangle(0.6, 0.4), "hem right top left")
    bands = [
        panel(name, rectangle(0.3, 0.12), "lower end upper start") for name in ("belt", "frill")
    ]
    seams = [
        seam("waist", ("skirt", 2), ("belt", 0)),
        seam("flounce", ("skirt", 0), ("frill", 2)),
    ]
    report = check_pattern(Pattern("ruffled", [skirt, *bands], seams))
    (wide,) = [text for text in report.warnings if "gathered" in text]
    assert wide.startswith("skirt: seam waist") and "seam flounce" in wide
    found = find_gathers(report, 0.15, "silk")
    (fine,) = found.warnings
    assert fine.startswith("skirt: seam waist") and "seam flounce" in fine and len(found.lines) == 2


def test_cells_are_graded_from_a_gather_outward():
    plain, fine = cut(ruffled(1.2), 0.05), cut(ruffled(1.5), 0.05)
    edge = find_gathers(check_pattern(ruffled(1.5)), 0.05).sizes["skirt", 2]
    top = fine.flat[fine.edge_vertices("skirt", "top"), 0]
    assert np.abs(np.diff(top)).max() < 1.1 * edge < 0.02
    assert np.abs(np.diff(plain.flat[plain.edge_vertices("skirt", "top"), 0])).min() > 0.03
    hem = fine.flat[fine.edge_vertices("skirt", "hem"), 0]
    assert np.abs(np.diff(hem)).min() > 0.04, "far from the gather, cells are as wanted"
    assert fine.mesh.n_vertices < 2.5 * plain.mesh.n_vertices


def test_an_elastic_gathers_cloth_without_compressing_it(tmp_path):
    """The band gets as short as the limb under it lets it; the cloth keeps its length in folds."""
    scene = scene_of(tmp_path, SCENE, tube=PATTERN)
    run = simulated(scene, 14, tmp_path)
    (bands,) = (e for e in scene.energies if e.name == "elastics")
    x = run.positions(-1)
    tape = np.linalg.norm(np.diff(x[bands.pairs], axis=1)[:, 0], axis=1).sum()
    assert tape < 0.75 * 0.8, "from 80 cm on paper to 56 cm"
    top = np.concatenate([scene.cloth.mesh.groups[f"{name} top"] for name in ("front", "back")])
    edges = scene.cloth.mesh.edges
    along = edges[np.isin(edges, top).all(axis=1)]
    flat = np.linalg.norm(np.diff(run.positions(0)[along], axis=1)[:, 0], axis=1)
    now = np.linalg.norm(np.diff(x[along], axis=1)[:, 0], axis=1)
    assert (now / flat).min() > 0.9 and now.sum() > 0.97 * flat.sum()
