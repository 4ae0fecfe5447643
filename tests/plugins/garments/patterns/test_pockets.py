"""Panels that are sewn on inner lines of others: pockets, facings, loops."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

import weft
from tests.plugins.garments.patterns.patterns import panel, rectangle, seam
from tests.refusals import refused
from weft.base.errors import PatternProblems, WeftError
from weft.discretization.mesh import unique_edges
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.pattern import Pattern, PatternFold, Placement, SeamSide, Wrap
from weft.plugins.garments.patterns.topology import sewn_topology
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern
from weft.plugins.garments.sheets.svg_writer import write_svg
from weft.run.quality import Quality
from weft.scene.build import load_scene

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


def parse(join=SEAM, pattern=PATTERN):
    return parse_yaml_pattern(pattern.replace("SEAM", join))


def square_on_square(line, first, second):
    """A square of 10 cm on a line of a larger one, which starts wrapped around a limb."""
    wrap = Placement(wrap=Wrap((0.0, 1.0, 0.0), 0.2))
    under = panel("under", rectangle(0.4, 0.4), lines=[line], line_names=["mark"], placement=wrap)
    patch = panel("patch", rectangle(0.1, 0.1))
    return Pattern("p", [patch, under], [seam("sew", first, second)])


def test_a_pocket_hangs_on_its_panel_and_the_run_resumes_bitwise(tmp_path):
    (tmp_path / "pocket.yaml").write_text(PATTERN.replace("SEAM", SEAM))
    (tmp_path / "scene.yaml").write_text(SCENE)
    scene = load_scene(tmp_path / "scene.yaml").scene
    run = weft.simulate(scene, frames=20, out=tmp_path / "run", progress=False)
    last = Quality(run).measure_frame(-1)
    assert last["intersections"] == 0 and last["seams"]["pocket"]["max"] < 0.1
    names, x = run.parts(), run.positions(-1)
    front, pocket = (x[np.unique(run.mesh.faces[part])] for _, part in Quality(run).parts)
    assert [name for name, _ in names] == ["front", "pocket"]
    assert np.ptp(front[:, 2]) < 5e-3, (
        "the panel hangs flat: its line bends as if nothing were sewn"
    )
    over = pocket[:, 2] - front[:, 2].mean()
    assert over.mean() > 5e-4 and over.max() < 12e-3, "in front, and near"
    half = weft.simulate(scene, frames=9, out=tmp_path / "half", progress=False)
    assert len(half) == 10
    whole = weft.simulate(scene, frames=20, out=tmp_path / "half", resume=True, progress=False)
    np.testing.assert_array_equal(whole.points(-1), run.points(-1))


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


def test_the_line_may_be_drawn_in_parts_and_from_either_end():
    """A seam finds the way round in which the pocket fits its line."""
    want = cut(parse(), 0.04).mesh.vertices
    for join in (
        "[[pocket.right, pocket.mouth, pocket.left], front.pocket]",
        "[-front.pocket, [pocket.left, pocket.bottom, pocket.right]]",
    ):
        turned = "mouth" in join  # the pocket is sewn upside down
        garment = cut(parse(join), 0.04)
        assert not garment.warnings
        x = garment.mesh.vertices[garment.edge_vertices("pocket", "bottom")]
        assert x[:, 1].min() == pytest.approx(1.16 if turned else 1.06)
    parts = PATTERN.replace(
        "{pocket: [[4 cm, 16 cm], [4 cm, 6 cm], [13 cm, 6 cm], [13 cm, 16 cm]]}",
        "{l: [[4 cm, 6 cm], [4 cm, 16 cm]], b: [[4 cm, 6 cm], [13 cm, 6 cm]], "
        "r: [[13 cm, 16 cm], [13 cm, 6 cm]]}",
    )
    pairs = ("l", "left"), ("b", "bottom"), ("r", "right")
    joins = [f"  {line}: [front.{line}, pocket.{edge}]" for line, edge in pairs]
    garment = cut(parse_yaml_pattern(parts.replace("  pocket: SEAM", "\n".join(joins))), 0.04)
    np.testing.assert_allclose(
        garment.mesh.vertices[-20:].mean(0)[:2], want[-20:].mean(0)[:2], atol=5e-3
    )
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
        ("[9 cm, 10 cm]", "[300 cm, 10 cm]", "seam pocket"),
        (SEAM, f"{{join: {SEAM}, angle: 90 deg}}", ("seam pocket: angle", "inner line")),
        ("lines: {pocket:", "lines: {a.b:", ("lines", "dots")),
        ("[[4 cm, 16 cm], ", "[[4 cm, oops], ", ("lines", "oops")),
    ],
)
def test_errors_name_the_line(old, new, what):
    text = PATTERN.replace("SEAM", SEAM)
    assert text.count(old) == 1
    with refused(WeftError, what):
        check_pattern(parse_yaml_pattern(text.replace(old, new)))


def test_a_line_takes_one_panel():
    pattern = parse()
    again = seam("again", ("front", 4), [("pocket", 2)])
    with pytest.raises(PatternProblems):
        check_pattern(replace(pattern, seams=[*pattern.seams, again]))


def test_drawings_keep_names_of_lines_and_side_cars_add_some(tmp_path):
    pattern = parse()
    write_svg(tmp_path / "p.svg", pattern)
    found = read_pattern(tmp_path / "p.svg")
    assert found.panels[0].line_names == ["pocket"]
    assert list(found.seams[0].first) == [SeamSide("front", 4)]
    # Round-off of the drawing may change the order of vertices inside a panel.
    drawn, own = (cut(p, 0.04).mesh.vertices for p in (found, pattern))
    distance, order = cKDTree(own).query(drawn)
    assert distance.max() < 1e-8 and sorted(order) == list(range(len(own)))
    beside = tmp_path / "p.seams.yaml"
    text = beside.read_text()
    beside.write_text(
        text.replace("  pocket: {}", "  pocket: {lines: {stitch: [[0, 1 cm], [1 cm, 1 cm]]}}")
    )
    (name,) = read_pattern(tmp_path / "p.svg").panels[1].line_names
    assert name == "stitch"
