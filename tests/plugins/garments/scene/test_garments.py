"""Garments in scenes: sewn around a body as triangles and as splines, opened by a zip, resumed,
judged; errors by name.
"""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import weft
from tests.plugins.garments.builders import changed, scene_file, scene_of, simulated
from tests.refusals import refused
from weft.base.errors import WeftError
from weft.bodies.motion.point_sequence import BodyFrames
from weft.io import write_mesh
from weft.plugins.garments.mannequin import mannequin
from weft.run.plausibility import about_haste, about_jumps, sewn_at
from weft.run.quality import Quality
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

SKIRT = Path("examples/garments/garmentcode/pencil_skirt_specification.json").absolute()
PATTERN = """
measures: {width: 32 cm, height: 20 cm}
fabric: cotton
panels:
  front:
    outline:
      - {at: [-width/2, 0], edge: hem}
      - {at: [width/2, 0], edge: right}
      - {at: [width/2, height], edge: top}
      - {at: [-width/2, height], edge: left}
    placement: {translation: [0, 0, 12 cm]}
  back:
    copy: front
    placement: {translation: [0, 0, -12 cm], rotation: [0, 180, 0]}
seams:
  one: [front.right, back.left]
  two: [front.left, back.right]
elastics:
  band: {edges: [front.top, back.top], ratio: 0.9, stiffness: 300 N}
"""
# the back is 15 % longer along the seams: the longer side is eased into the shorter one
EASED = PATTERN.replace(
    "    copy: front\n",
    "    outline:\n"
    "      - {at: [-width/2, 0], edge: hem}\n"
    "      - {at: [width/2, 0], edge: right}\n"
    "      - {at: [width/2, 1.15*height], edge: top}\n"
    "      - {at: [-width/2, 1.15*height], edge: left}\n",
)
ZIP = "{join: [front.left, back.right], closing: zip, open_at: 100 ms}"
CLOTH = "cloth: {garment: {pattern: tube.yaml, size: 4 cm}}"
SCENE = f"""
{CLOTH}
bodies:
  - {{name: limb, capsule: {{radius: 8 cm, length: 60 cm, size: 3 cm}}, translation: [0, 10 cm, 0]}}
contact: {{gap: 2 mm, friction: 0.5}}
sewing: {{closing: 0.4 s, settle: 0.4 s}}
gravity: [0, 0, 0]
integrator: {{backward_euler: {{effort: interactive}}}}
seconds: 1
fps: 25
"""
SPLINES = SCENE.replace(
    "size: 4 cm}}", "size: 3 cm}, discretization: bspline, spline: {span_size: 5 cm}}"
)
SCENES = {"triangles": SCENE, "splines": SPLINES}


def second(seam):
    """The pattern with another second seam."""
    return changed(PATTERN, "[front.left, back.right]", seam)


def gap(run, name, frame=-1):
    pairs = dict(Quality(run).seams)[name]
    x = run.positions(frame)
    return np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)


@pytest.fixture(scope="module", params=SCENES)
def sewn(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sewn")
    scene = scene_of(folder, SCENES[request.param], tube=PATTERN)
    with warnings.catch_warnings(action="error"):  # seams are closed, and nothing is too tight
        return scene, simulated(scene, 22, folder, 25)


def between(scene, run, name):
    """(k,) [m] distances of the borders of splines at places between the vertices of a seam."""
    points, found = run.points(-1), []
    pairs = dict(scene.cloth.seams)[name]
    owner = {p.name: (p.vertices[0], s) for p, s in scene.cloth.pieces}
    for panel, side in (("front", 0), ("back", 1)):
        first, surface = owner[panel]
        at = surface.touched.uv[pairs[:, side] - first]
        middles = np.concatenate([at[:-1] + f * np.diff(at, axis=0) for f in (0.25, 0.5, 0.75)])
        shape = surface.patches[0].functions(middles)
        found.append(shape.of(points[surface.ids[0].reshape(-1)]))
    return np.linalg.norm(found[0] - found[1], axis=1)


def test_seams_close_around_the_body_and_nothing_intersects(sewn):
    scene, run = sewn
    assert [p.name for p in scene.cloth.parts] == ["front", "back"]
    assert gap(run, "one", 0).min() > 0.2
    for name in ("one", "two"):
        assert gap(run, name).max() < 1e-4
        if len(scene.cloth.points) < scene.cloth.n_vertices:
            assert between(scene, run, name).max() < 1e-4, "between the points that are sewn, too"
    worst = Quality(run).report()["worst"]
    assert worst["intersections"] == 0 and worst["least_distance_mm"] > 0.5
    assert worst["seam_gap_mm"] < 0.1 and not worst["slipped_off"]
    x, faces = run.positions(-1), run.faces
    a, b, c = np.moveaxis(x[faces], 1, 0)
    normal, center = np.cross(b - a, c - a), x[faces].mean(1)
    outward = (normal * (center * [1, 0, 1])).sum(1)
    assert (outward > 0).all(), "right sides look out on all sides of the limb"


def test_a_sewn_run_resumes_bitwise(sewn, tmp_path):
    """A run that stops at frame 9, before its seams are closed, goes on as the other did."""
    scene, run = sewn
    assert len(simulated(scene, 9, tmp_path, 25)) == 10
    whole = simulated(scene, 14, tmp_path, 25, resume=True)
    np.testing.assert_array_equal(whole.points(14), run.points(14))


def test_it_is_welded_and_exported(sewn, tmp_path):
    scene, run = sewn
    run.save(tmp_path / "a.obj", weld=True)
    mesh = weft.load(tmp_path / "a.obj").mesh
    seams = sum(len(pairs) for _, pairs in scene.cloth.seams)
    assert mesh.n_vertices == scene.cloth.n_vertices - seams
    if len(scene.cloth.points) < scene.cloth.n_vertices:
        with refused(WeftError, "weld", got="density 2"):
            run.save(tmp_path / "c.obj", weld=True, density=2)


def test_quality_says_where_the_garment_is(sewn):
    _, run = sewn
    quality = Quality(run)
    assert quality.since == 20
    last = quality.measure_frame(-1)
    assert set(last["parts"]) == {"front", "back"}
    radius = np.hypot(*run.positions(-1)[:, [0, 2]].T)
    ease = quality.ease(len(run) - 1)
    np.testing.assert_allclose(ease, 1e3 * (radius - 0.08), atol=2.5)  # of an 18-sided limb
    assert last["body"]["front"]["slip"] < 0.02 and not last["body"]["front"]["slipped_off"]
    assert last["static"] == (last["speed"]["p99"] < 0.01)
    json.dumps(last)


SLOW_SPLINES = pytest.param("splines", marks=pytest.mark.slow)


@pytest.mark.parametrize("kind", ["triangles", SLOW_SPLINES])
def test_a_zip_opens_from_its_first_point_on(tmp_path, kind):
    text = SCENES[kind].replace("seconds: 1", "seconds: 2")
    run = simulated(scene_of(tmp_path, text, tube=second(ZIP)), 34, tmp_path, 25)
    closed, later = gap(run, "two", 21), gap(run, "two", 34)
    assert closed.max() < 2.5e-3, "as far apart as contact keeps its sides"
    assert closed.min() > 0.5e-3
    assert later[0] > 2 * later[-1], "open at its beginning, not yet at its end"
    assert later[-1] < 2.5e-3
    assert gap(run, "one").max() < 1e-4
    assert Quality(run).report([0, 21, 34])["worst"]["intersections"] == 0


def assert_sews(scene, folder):
    """Its seams are closed after 20 frames, and nothing intersects on the way."""
    worst = Quality(simulated(scene, 20, folder, 25)).report([0, 10, 20])["worst"]
    assert worst["intersections"] == 0 and worst["seam_gap_mm"] < 0.1


@pytest.mark.slow
def test_the_longer_side_is_eased_into_the_shorter(tmp_path):
    assert_sews(scene_of(tmp_path, SPLINES, tube=EASED), tmp_path)


WAYS = [
    *(f"law.name={n}" for n in ("arap", "stvk_shear", "no_shear", "stvk", "neo_hookean")),
    *(f"integrator={n}" for n in ("bdf2", "bdf2_semi_implicit", "baraff_witkin_1998")),
]


@pytest.mark.parametrize("kind", ["triangles", SLOW_SPLINES])
@pytest.mark.parametrize(
    "way", ["law.name=baraff_witkin", *(pytest.param(w, marks=pytest.mark.slow) for w in WAYS)]
)
def test_every_law_and_integrator_sews(tmp_path, kind, way):
    assert_sews(scene_of(tmp_path, SCENES[kind], way, tube=PATTERN), tmp_path)


WALKER = weft.contact.sphere(0.1, 0.05, "walker")


def walker(jump=0.0, times=25):
    """A body that walks 1 cm a frame and may jump after frame 12."""
    k = np.arange(20)
    along = 0.01 * k + jump * (k > 12)
    x = WALKER.vertices + along[:, None, None] * [1, 0, 0]
    frames = BodyFrames(k / times, x, hold=True)
    return weft.contact.Body(x[0], WALKER.faces, None, "walker", None, frames)


def test_a_body_that_jumps_is_named():
    (text,) = about_jumps([walker(0.5)], 0.02)
    assert "walker jumps 0.51 m between frames 12 and 13 (t = 0.48 s" in text
    assert not list(about_jumps([walker()], 0.02))


def test_a_body_that_leaves_before_all_is_sewn_is_named():
    (text,) = about_haste([walker(times=1)], 3.2)
    assert "walker moves from t = 0.4 s on" in text and "hold: 3.2 s" in text
    assert not list(about_haste([walker(times=1)], 0.0))


def test_friction_begins_when_seams_are_closed_where_weft_placed_the_panels(tmp_path):
    """The animation begins when garments are at rest, in any case."""
    woman = "  - {name: limb, mannequin: {figure: woman, size: 2 cm}}"
    limb = next(line for line in SCENE.splitlines() if "capsule" in line)
    placed = SCENE.replace("tube.yaml", f"{SKIRT}").replace(limb, woman)
    for text, begin in ((SCENE, 0.8), (placed, 0.4)):
        scene = scene_of(tmp_path, text, tube=PATTERN)
        assert scene.contact.friction_from == pytest.approx(begin)
        assert sewn_at(scene.contact, prepare(scene).model.energies) == pytest.approx(0.8)


def test_layers_are_sewn_one_over_the_other(tmp_path):
    cloths = """cloths:
  - {name: inner, garment: {pattern: tube.yaml, size: 4 cm}}
  - name: outer
    fabric: silk
    garment: {pattern: tube.yaml, size: 4 cm, measures: {width: 38 cm}}"""
    wide = PATTERN.replace("12 cm]", "0.375 * width]")
    made = scene_of(tmp_path, changed(SCENE, CLOTH, cloths), tube=wide)
    parts = [(p.name, p.fabric.name) for p in made.cloth.parts]
    assert parts[1:3] == [("inner back", "cotton"), ("outer front", "silk")]
    run = simulated(made, 22, tmp_path, 25)
    worst = Quality(run).report([0, 12, 22])["worst"]
    assert worst["intersections"] == 0 and worst["seam_gap_mm"] < 0.1
    x = run.positions(-1)
    angle, radius = np.arctan2(x[:, 2], x[:, 0]), np.hypot(x[:, 0], x[:, 2])
    inner = np.arange(len(x)) < made.cloth.parts[2].vertices[0]
    for a in np.linspace(-np.pi, np.pi, 12, endpoint=False):
        near = np.abs(np.angle(np.exp(1j * (angle - a)))) < 0.4
        assert radius[near & inner].mean() < radius[near & ~inner].mean(), "outside all around"


@pytest.mark.parametrize(
    "kind, old, new, said",
    [
        ("triangles", "tube.yaml", "none.yaml", ("pattern file", "none.yaml")),
        ("triangles", "4 cm", "4 cm, measures: {girth: 1 m}", ("measures", "girth")),
        ("triangles", "size: 4 cm", "size: 0 cm", "cloth.garment.size"),
        ("triangles", "4 cm}", "4 cm}, thickness: fabric", "thickness"),
        ("triangles", "closing: 0.4 s", "closing: 0 s", "sewing.closing"),
        ("splines", "5 cm", "5 cm, density: 2", ("cloth", "scene.yaml:2", "spline.density")),
        ("splines", "span_size: 5 cm", "spans: [5, 5]", ("cloth", "spline.spans: of garments")),
        ("splines", "5 cm", "3 cm", ("panel front", "vertices", "scene.yaml:2")),
        ("splines", "span_size: 5 cm", "rule: full", ("cloth", "spline.span_size")),
        ("splines", "fps", "bending: quadratic\nfps", ("scene.bending", "splines")),
    ],
)
def test_what_is_wrong_is_named(tmp_path, kind, old, new, said):
    with refused(WeftError, said):
        scene_of(tmp_path, changed(SCENES[kind], old, new), tube=PATTERN)


@pytest.mark.parametrize(
    "pattern, said",
    [
        (
            second(ZIP.replace("100 ms", "-10 s")),
            ("seam two: open_at", "-10 s", "-0.8 s", "scene.yaml:2, tube.yaml:17"),
        ),
        (
            changed(PATTERN, "ratio: 0.9, stiffness: 300 N", "ratio: 1e-300, stiffness: 1e300 N"),
            ("elastic band.stiffness", "scene.yaml:2, tube.yaml:19"),
        ),
    ],
)
def test_zips_and_elastics_that_cannot_be_are_named_with_their_lines(tmp_path, pattern, said):
    with refused(WeftError, said), np.errstate(over="ignore"):
        scene_of(tmp_path, SCENE, tube=pattern)


def test_a_body_that_does_not_stand_is_named_where_a_garment_should_start_on_it(tmp_path):
    body = "{capsule: {radius: 10 m, length: 130 m, size: 5 m}, rotation: [90, 0, 0]}"
    text = f"cloth: {{garment: {{pattern: {SKIRT}, size: 6 cm}}}}\nbodies: [{body}]\n"
    with pytest.warns(UserWarning, match="no standing body: .*in cm: `scale: 1 cm`.*`rotation:"):
        load_scene(scene_file(tmp_path, text))


@pytest.mark.parametrize(
    "place, said",
    [
        ("rotation: [90, 0, 0]", "me: body: height .*the body lies down.*`rotation:"),
        ("rotation: [180, 0, 0]", "me: body: upright .*stands on its head: `rotation:"),
        (
            "mesh: {file: me.obj, scale: 1 mm}",
            "me: body: height = 0.00168 m.*check `scale` of the mesh",
        ),
        ("translation: [0, 1 m, 0]", ""),
    ],
)
def test_a_mesh_body_that_does_not_stand_is_named_when_a_scene_is_built(tmp_path, place, said):
    """So that `weft check` and `weft run` say it; a body that hangs in the air stands, too."""
    woman = mannequin(height=1.68)
    write_mesh(tmp_path / "me.obj", woman.vertices, woman.faces, None)
    more = place if "mesh" in place else f"mesh: {{file: me.obj, scale: 1 m}}, {place}"
    garment = f"cloth: {{garment: {{pattern: {SKIRT}, size: 6 cm, start: pattern}}}}\n"
    path = scene_file(tmp_path, f"{garment}bodies: [{{name: me, {more}}}]\n")
    with warnings.catch_warnings(record=True, action="always") as caught:
        load_scene(path)
    found = [str(w.message) for w in caught if "me: body" in str(w.message)]
    assert len(found) == bool(said) and all(re.search(said, text) for text in found)
