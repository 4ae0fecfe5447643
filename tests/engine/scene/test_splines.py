"""Splines in scenes: every integrator and law, pins, files, runs, pictures and exports."""

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from tests.refusals import refused
from tests.stepping import stepped
from weft.base.errors import SceneError, SceneProblems
from weft.discretization.embedding import determined_points
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.io import read_mesh
from weft.laws import ImmediateBuckling
from weft.run.check_scene import check
from weft.scene.build import load_scene
from weft.scene.points import pinned_points
from weft.scene.prepare import prepare
from weft.scene.spline_pins import undetermined_points
from weft.solve.linear.solver import Outcome

pytestmark = pytest.mark.quick

DT = 0.02
SHEET = """\
cloth:
  sheet: {nx: 9, ny: 8, width: 60 cm, height: 50 cm}
  discretization: bspline
  spline: {net: uniform, rule: full, density: 2}
  fabric: silk
  rotation: [90, 0, 0]
pins: [{corners: top}]
seconds: 0.2
fps: 10
"""


def hung(**more):
    cloth = weft.spline_sheet(9, 8, 0.6, 0.5, "silk")
    return weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], **more)


@pytest.mark.parametrize(
    "more",
    [
        {"integrator": "backward_euler"},
        {"integrator": "bdf2"},
        {"integrator": "baraff_witkin_1998"},
        # Its pairs are a triangle mesh's; on splines it is a membrane, with the spline's bending.
        {"law": ImmediateBuckling((200.0, 200.0), (40.0, 40.0))},
    ],
)
def test_integrators_and_laws(more):
    """After 0.08 s free cloth has fallen by about g t^2/2, whatever the integrator."""
    scene = hung(**more)
    model, state, reports = stepped(scene, 4, DT)
    x, top = model.vertices(state.x), scene.cloth.corners("top")
    assert -0.045 < x[:, 1].min() < -0.02
    assert np.abs(x[top] - scene.cloth.vertices[top]).max() < 1e-9
    assert set(reports[-1].terms) >= {"bending", "gravity"}


@pytest.mark.parametrize(
    "more, name",
    [
        ({"bending": "hinges"}, "bending"),
        ({"buckling": weft.BucklingForm()}, "buckling"),
        ({"rest_angles": "as-given"}, "rest_angles"),
        ({"pressure": 10.0}, "pressure"),
        ({"conditions": weft.ConditionForm(bend=(1e-4, 1e-4))}, "bend"),
        ({"contact": weft.SelfContact(gap=0.01, resolve=True)}, "scene.contact.resolve"),
    ],
)
def test_what_splines_do_not_have_is_said(more, name):
    with refused(SceneError, name):
        prepare(hung(**more))


def test_quasi_static_equilibrium_is_that_of_triangles():
    """Hung at its whole upper border, in the plane: the sag of a weight, a quadratic, which splines
    hold exactly; with fewer points a little of it is lost.
    """
    found = []
    cloths = [weft.spline_sheet(9, 9, 0.5, 0.5, "cotton", rule=r) for r in ("full", "reduced")]
    for cloth in (*cloths, weft.sheet(25, 25, 0.5, 0.5)):
        upright = cloth.move((0, 0, 0), (90, 0, 0))
        scene = weft.Scene(upright, [weft.Pin(upright.border("top"))])
        model = prepare(scene).model
        solver = QuasiStatic(QuasiStaticSettings(tolerance=1e-7))
        result = solver.solve(model, prepare(scene).state.x)
        assert result.outcome is Outcome.CONVERGED
        found.append(model.vertices(result.x)[:, 1].min())
    fabric = weft.sheet(3, 3).fabric
    sag = 0.5 * fabric.density * 9.81 * 0.5**2 / fabric.stretch_weft
    assert found[0] == pytest.approx(-0.25 - sag, abs=1e-5 * sag)
    assert found[1:] == pytest.approx([-0.25 - sag] * 2, abs=0.03 * sag)


def test_borders_and_corners_are_pinned_exactly_and_points_by_springs():
    cloth = weft.spline_sheet(9, 8, 0.6, 0.5, "silk", density=2)
    inner = int(np.argmin(np.linalg.norm(cloth.vertices - [0.02, 0, 0.03], axis=1)))
    pins = [weft.Pin(cloth.border("left")), weft.Pin([inner], name="button")]
    scene = weft.Scene(cloth, pins)
    model, state, _ = stepped(scene, 5, DT)
    assert len(pinned_points(scene).pins) == 2 and pinned_points(scene).anchors == 1
    x = model.vertices(state.x)
    assert np.abs(x[cloth.border("left")] - cloth.vertices[cloth.border("left")]).max() < 1e-12
    assert np.linalg.norm(x[inner] - cloth.vertices[inner]) < 1e-5
    assert x[:, 1].min() < -0.01


def test_moving_pins_turn_the_border_rigidly():
    cloth = weft.spline_sheet(9, 8, 0.6, 0.5, "silk", density=3)
    turn = [weft.Keyframe(0.0), weft.Keyframe(0.08, (0.0, 0.1, 0.0), np.pi / 6)]
    ids = cloth.border("top")
    path = weft.Path(turn, "linear", hold=True)
    model, state, _ = stepped(weft.Scene(cloth, [weft.Pin(ids, path=path)]), 4, DT)
    expected = path.positions(cloth.vertices[ids], 0.08)
    np.testing.assert_allclose(model.vertices(state.x)[ids], expected, atol=1e-12)


def test_what_pinned_vertices_determine():
    """A region fixes the control points inside it; a single vertex fixes none of its nine."""
    cloth = weft.spline_sheet(12, 12, 1.0, 1.0, density=2)
    for ids, count in (
        (cloth.in_box((-0.5, -1, -0.2), (-0.1, 1, 0.2)), 36),
        (np.array([len(cloth.vertices) // 2]), 0),
        (cloth.border("top"), 12),
        (cloth.corners("top-left"), 1),
    ):
        W = cloth.embedding.matrix[ids]
        lines, whole = cloth.surfaces.between(ids)
        control = determined_points(sp.vstack([W, lines.matrix]), whole)
        loose = undetermined_points(control, W)
        assert len(control) == count
        assert loose.all() if count == 0 else not loose.any()


def test_triangles_and_splines_fall_together():
    a = weft.sheet(5, 5, 0.3, 0.3, fabric="silk").move((0, 0.5, 0))
    b = weft.spline_sheet(6, 5, 0.3, 0.3, "cotton")
    both = weft.join([a, b], ["triangles", "spline"])
    assert len(both.points) == 25 + 30
    assert both.mass.sum() == pytest.approx(a.mass.sum() + b.mass.sum())
    scene = weft.Scene(both, contact=weft.SelfContact(gap=0.01))
    _, state, _ = stepped(scene, 5, DT)
    fallen = prepare(scene).state.x - state.x
    assert fallen[:, 1] == pytest.approx(9.81 * DT**2 * (1 + 2 + 3 + 4 + 5), rel=1e-9)
    assert scene.cloth.samples().stencil.shape[1] == 9


def test_joined_splines_keep_their_densities():
    """Vertices are where the embedding has them, and pins find the sides of each."""
    cloths = [weft.spline_sheet(6, 5, density=d).move((0, d, 0)) for d in (1, 3)]
    both = weft.join(cloths)
    assert both.n_vertices == 5 * 4 + 13 * 10
    np.testing.assert_allclose(both.embedding.of(both.points), both.vertices, atol=1e-15)
    for cloth, part in zip(cloths, both.parts):
        pin = weft.Pin(both.border("top", part))
        np.testing.assert_array_equal(
            both.vertices[pin.vertices], cloth.vertices[cloth.border("top")]
        )
        held = pinned_points(weft.Scene(both, [pin]))  # with one sample less than points, too
        assert held.anchors == 0 and len(held.pins[0].vertices) == 6


def write(tmp_path, text):
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    return path


def test_scene_file(tmp_path):
    path = write(tmp_path, SHEET)
    cloth = load_scene(path).scene.cloth
    (piece,) = cloth.surfaces.pieces
    assert piece.patches[0].shape == (9, 8) and piece.rule.value == "full"
    assert cloth.n_vertices == 15 * 13
    found = check(path)
    assert not found.errors and any("72 control points" in f for f in found.facts)


PANEL = """\
cloth:
  panel: {{outline: [{}], size: 8 cm}}
  discretization: bspline
  spline: {{{}}}
"""


def test_fitted_scene_file(tmp_path):
    text = PANEL.format("[0, 0], [1, 0], [0.8, 0.6], [0.1, 0.7]", "span_size: 10 cm")
    found = check(write(tmp_path, text))
    assert not found.errors
    assert any("outline" in f and "mm" in f for f in found.facts)
    text = PANEL.format("[0, 0], [1, 0], [1, 0.5], [0.45, 0.1], [0, 1]", "spans: [2, 3]")
    found = check(write(tmp_path, text))  # of a piece that no patch fits, which is drawn
    assert found.piece is not None and "at least 5" in str(found.errors[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rule: full", "spans: [3, 3]"), ("cloth", "spline.spans and span_size")),
        (("bspline", "triangles"), ("cloth", "`discretization: bspline`")),
        (("nx: 9", "nx: 2"), ("control points along a side", 2, "3")),
        (("nx: 9", "pattern: random, nx: 9"), ("cloth.sheet.pattern", "random")),
    ],
)
def test_bad_scene_files(tmp_path, change, message):
    with refused(SceneProblems, message) as problems:
        load_scene(write(tmp_path, SHEET.replace(*change)))
    assert "scene.yaml:" in str(problems.value)


def test_runs_resume_and_export(tmp_path):
    scene = load_scene(write(tmp_path, SHEET)).scene
    whole = weft.simulate(scene, frames=3, out=tmp_path / "whole", progress=False)
    weft.simulate(scene, frames=2, out=tmp_path / "parts", progress=False)
    parts = weft.simulate(scene, frames=3, out=tmp_path / "parts", resume=True, progress=False)
    np.testing.assert_array_equal(whole.points(), parts.points())
    assert whole.points().shape == (72, 3) and whole.positions().shape == (195, 3)
    fine = whole.save(tmp_path / "fine.obj", density=4)
    net = whole.save(tmp_path / "net.ply", net=True)
    assert read_mesh(fine).n_vertices == 29 * 25 and read_mesh(net).n_vertices == 72


def test_border_of_a_fitted_piece_is_its_whole_curved_side():
    outline = [(0, 0), (0.5, -0.05), (1, 0), (0.9, 0.6), (0.5, 0.55), (0.1, 0.6)]
    flat = weft.join([weft.triangulate(outline, size=0.06)], ["shirt"], [2e-3])
    cloth = weft.as_splines(flat, span_size=0.1)
    assert (cloth.parts[0].name, cloth.parts[0].thickness) == ("shirt", 2e-3)
    (patch,) = cloth.surfaces.pieces[0].patches
    for spans, sides in zip(patch.spans, (("top", "bottom"), ("left", "right"))):
        a, b = map(cloth.border, sides)
        assert len(a) == len(b) == spans + 1 and not set(a) & set(b)
    held = pinned_points(weft.Scene(cloth, [weft.Pin(cloth.border("top"))]))
    assert held.anchors == 0 and len(held.pins[0].vertices) == patch.shape[0]
