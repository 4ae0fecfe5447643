"""Panels that are sewn on inner lines of others: pockets, facings, loops."""

from dataclasses import replace

import numpy as np
import pytest

from tests.plugins.garments.builders import changed, garment_of, scene_of, simulated
from tests.plugins.garments.patterns.patterns import panel, rectangle, seam
from tests.refusals import refused
from weft.base.errors import WeftError
from weft.discretization.mesh import unique_edges
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.pattern import Pattern, PatternFold, Placement, Wrap
from weft.plugins.garments.patterns.topology import sewn_topology
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern
from weft.plugins.garments.sheets.svg_writer import write_svg
from weft.run.quality import Quality

PATTERN = """
panels:
  front:
    outline: [[0, 0], [20 cm, 0], [20 cm, 24 cm], [0, 24 cm]]
    lines: {pocket: [[4 cm, 16 cm], [4 cm, 6 cm], [13 cm, 6 cm], [13 cm, 16 cm]]}
    placement: {translation: [0, 1 m, 0]}
  pocket:
    outline:
      - {at: [0, 0], edge: bottom}
      - {at: [9 cm, 0], edge: right}
      - {at: [9 cm, 10 cm], edge: mouth}
      - {at: [0, 10 cm], edge: left}
seams:
  pocket: SEAM
"""
SEAM = "[front.pocket, [pocket.left, pocket.bottom, pocket.right]]"
SCENE = """
cloth: {garment: {pattern: pocket.yaml, size: 3 cm}}
pins: [{group: front 2}]
contact: {gap: 2 mm, friction: 0.3}
sewing: {closing: 0.3 s, settle: 0.4 s}
integrator: {backward_euler: {effort: interactive}}
seconds: 1
fps: 20
"""


def square_on_square(line, first, second):
    """A square of 10 cm on a line of a larger one, which starts wrapped around a limb."""
    wrap = Placement(wrap=Wrap((0.0, 1.0, 0.0), 0.2))
    under = panel("under", rectangle(0.4, 0.4), lines=[line], line_names=["mark"], placement=wrap)
    patch = panel("patch", rectangle(0.1, 0.1))
    return Pattern("p", [patch, under], [seam("sew", first, second)])


def parse(join=SEAM):
    return parse_yaml_pattern(PATTERN.replace("SEAM", join))


# Some seconds: a run from the start to rest, and the part in which it is sewn again.
def test_a_pocket_hangs_on_its_panel_and_the_run_resumes_bitwise(tmp_path):
    scene = scene_of(tmp_path, SCENE, pocket=PATTERN.replace("SEAM", SEAM))
    run = simulated(scene, 20, tmp_path / "whole")
    quality = Quality(run)
    last, x = quality.measure_frame(-1), run.positions(-1)
    assert last["intersections"] == 0 and last["seams"]["pocket"]["max"] < 0.1
    front, pocket = (x[np.unique(run.mesh.faces[part])] for _, part in quality.parts)
    assert np.ptp(front[:, 2]) < 5e-3, "it hangs flat: its line bends as if nothing were sewn"
    over = pocket[:, 2] - front[:, 2].mean()
    assert over.mean() > 5e-4 and over.max() < 12e-3, "in front, and near"
    simulated(scene, 5, tmp_path)
    whole = simulated(scene, 9, tmp_path, resume=True)
    np.testing.assert_array_equal(whole.points(9), run.points(9))


@pytest.mark.parametrize("size", [0.02, 0.035, 0.1])
def test_a_pocket_is_cut_and_placed_to_meet_its_line(size):
    garment = cut(parse(), size)
    (line,) = garment.seams
    assert set(line.pairs[:, 0]) == set(garment.edge_vertices("front", "pocket"))
    x = garment.mesh.vertices
    np.testing.assert_allclose(
        x[line.pairs[:, 1]] - x[line.pairs[:, 0]], [[0, 0, 0.01]] * len(x[line.pairs]), atol=1e-12
    )
    assert garment.pattern.panel("pocket").layer == 1 and not garment.warnings
    shape = sewn_topology(garment)
    assert (shape.pieces, shape.openings, shape.euler) == (1, 2, 1), "the outline, and the mouth"
    assert shape.orientable and not shape.warnings
    mesh, _ = garment.weld(x)
    _, of = unique_edges(mesh.faces)
    assert (np.bincount(of) == 3).sum() == len(line.segments) and np.bincount(of).max() == 3
    assert len(np.unique(np.sort(mesh.faces, axis=1), axis=0)) == len(mesh.faces)


@pytest.mark.parametrize(
    "join, bottom",
    [
        # the pocket is sewn upside down
        ("[[pocket.right, pocket.mouth, pocket.left], front.pocket]", 1.16),
        ("[-front.pocket, [pocket.left, pocket.bottom, pocket.right]]", 1.06),
    ],
)
def test_the_line_may_be_drawn_from_either_end(join, bottom):
    """A seam finds the way round in which the pocket fits its line."""
    garment = cut(parse(join), 0.04)
    assert not garment.warnings
    x = garment.mesh.vertices[garment.edge_vertices("pocket", "bottom")]
    assert x[:, 1].min() == pytest.approx(bottom)


def test_the_line_may_be_drawn_in_parts():
    parts = "{l: [[4 cm, 6 cm], [4 cm, 16 cm]], b: [[4 cm, 6 cm], [13 cm, 6 cm]], "
    parts += "r: [[13 cm, 16 cm], [13 cm, 6 cm]]}"
    line = "{pocket: [[4 cm, 16 cm], [4 cm, 6 cm], [13 cm, 6 cm], [13 cm, 16 cm]]}"
    joins = "l: [front.l, pocket.left]\n  b: [front.b, pocket.bottom]\n  r: [front.r, pocket.right]"
    text = changed(changed(PATTERN, line, parts), "pocket: SEAM", joins)
    garment, want = garment_of(text, 0.04), cut(parse(), 0.04)
    one, two = (g.panel_mesh("pocket").vertices.mean(0) for g in (garment, want))
    np.testing.assert_allclose(one, two, atol=5e-3)
    assert sewn_topology(garment).euler == 1 and not garment.warnings


def test_a_patch_on_a_wrapped_panel_follows_the_wrap_and_a_closed_line_has_one_end():
    line = np.array([[0, 0.1], [0.1, 0.1], [0.1, 0.2], [0, 0.2], [0, 0.1]])
    pattern = square_on_square(line, [("patch", e) for e in range(4)], ("under", 4))
    garment = cut(pattern, 0.05)
    radius = np.hypot(*garment.panel_mesh("patch").vertices[:, [0, 2]].T)
    np.testing.assert_allclose(radius, 0.21, atol=1e-9)
    shape = sewn_topology(garment)
    assert (shape.openings, shape.euler) == (1, 2), "a bubble on a disc"


def test_lines_that_cross_a_sewn_one_get_a_vertex_on_it():
    pattern = parse()
    front, pocket = pattern.panels
    quilt = np.array([[0.0, 0.09], [0.2, 0.11]])
    lines = replace(front, lines=[*front.lines, quilt], line_names=["pocket", "quilt"])
    garment = cut(replace(pattern, panels=[lines, pocket]), 0.03)
    both = set(garment.edge_vertices("front", "pocket")) & set(
        garment.edge_vertices("front", "quilt")
    )
    assert len(both) == 2
    assert sewn_topology(garment).euler == 1


def test_a_fold_may_be_named_and_elastics_run_along_lines():
    pattern = parse()
    front, pocket = pattern.panels
    fold = PatternFold(np.array([[0.0, 0.2], [0.2, 0.2]]), 1.0, name="crease")
    band = replace(front, folds=[fold])
    strip = panel("strip", rectangle(0.2, 0.03), "low right high left")
    seams = [*pattern.seams, seam("facing", ("strip", 0), ("front", 5))]
    garment = cut(Pattern("p", [band, pocket, strip], seams), 0.03)
    assert garment.pattern.panel("strip").placement.on_paper == pytest.approx((0.1, 0.2, 0.0))
    assert len(garment.folds[0].vertices) == len(garment.seam("facing").pairs)


@pytest.mark.parametrize(
    "old, new, what",
    [
        ("front.pocket,", "front.poket,", ("seams.pocket.0", "pocket")),
        ("[13 cm, 16 cm]]", "[23 cm, 16 cm]]", ("line 0 (pocket)", "inside the panel")),
        (SEAM, f"{{join: {SEAM}, angle: 90 deg}}", ("seam pocket: angle", "inner line")),
        ("lines: {pocket:", "lines: {a.b:", ("lines", "dots")),
        (SEAM, f"{SEAM}\n  again: [front.pocket, pocket.mouth]", "seam again"),
    ],
)
def test_errors_name_the_line(old, new, what):
    with refused(WeftError, what):
        check_pattern(parse_yaml_pattern(changed(PATTERN.replace("SEAM", SEAM), old, new)))


def test_side_cars_add_names_of_lines(tmp_path):
    write_svg(tmp_path / "p.svg", parse())
    beside = tmp_path / "p.seams.yaml"
    stitch = "  pocket: {lines: {stitch: [[0, 1 cm], [1 cm, 1 cm]]}}"
    beside.write_text(changed(beside.read_text(), "  pocket: {}", stitch))
    front, pocket = read_pattern(tmp_path / "p.svg").panels
    assert (front.line_names, pocket.line_names) == (["pocket"], ["stitch"])
