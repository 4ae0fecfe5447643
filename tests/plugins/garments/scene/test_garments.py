"""Garments in scenes: sewn around a body, opened by a zip, resumed, judged; errors by name."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import weft
from tests.refusals import refused
from weft.base.errors import WeftError
from weft.bodies.motion.point_sequence import BodyFrames
from weft.cli.commands import app
from weft.plugins.garments.scene.garments import Wearer
from weft.run.check_scene import check
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
  two: SECOND
elastics:
  band: {edges: [front.top, back.top], ratio: 0.9, stiffness: 300 N}
"""
SCENE = """
cloth: {garment: {pattern: tube.yaml, size: 4 cm}}
bodies:
  - {name: limb, capsule: {radius: 8 cm, length: 60 cm, size: 3 cm}, translation: [0, 10 cm, 0]}
contact: {gap: 2 mm, friction: 0.5}
sewing: {closing: 0.4 s, settle: 0.4 s}
gravity: [0, 0, 0]
integrator: {backward_euler: {effort: interactive}}
seconds: 1
fps: 25
"""


@pytest.fixture
def scene_file(tmp_path):
    def write(second="[front.left, back.right]", scene=SCENE, pattern=PATTERN):
        (tmp_path / "tube.yaml").write_text(pattern.replace("SECOND", second))
        path = tmp_path / "scene.yaml"
        path.write_text(scene)
        return path

    return write


def loaded(path, *overrides):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_scene(path, overrides).scene


def gap(run, name, frame=-1):
    pairs = dict(Quality(run).seams)[name]
    x = run.positions(frame)
    return np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)


@pytest.fixture(scope="module")
def sewn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sewn")
    (folder / "tube.yaml").write_text(PATTERN.replace("SECOND", "[front.left, back.right]"))
    (folder / "scene.yaml").write_text(SCENE)
    scene = loaded(folder / "scene.yaml")
    return scene, weft.simulate(scene, frames=22, fps=25, out=folder / "run", progress=False)


def test_seams_close_around_the_body_and_nothing_intersects(sewn):
    scene, run = sewn
    assert [p.name for p in scene.cloth.parts] == ["front", "back"]
    assert gap(run, "one", 0).min() > 0.2
    for name in ("one", "two"):
        assert gap(run, name).max() < 1e-4
    report = Quality(run).report()
    assert report["worst"]["intersections"] == 0
    assert report["worst"]["least_distance_mm"] > 0.5
    x, faces = run.positions(-1), run.faces
    a, b, c = np.moveaxis(x[faces], 1, 0)
    normal, center = np.cross(b - a, c - a), x[faces].mean(1)
    outward = (normal * (center * [1, 0, 1])).sum(1)
    assert (outward > 0).all(), "right sides look out on all sides of the limb"


def test_the_band_is_shorter_than_its_edge(sewn):
    scene, run = sewn
    bands = next(e for e in scene.energies if e.name == "elastics")
    x = run.positions(-1)
    d = np.linalg.norm(x[bands.pairs[:, 1]] - x[bands.pairs[:, 0]], axis=1)
    assert d.sum() == pytest.approx(0.9 * 0.64, rel=0.05)
    around = np.hypot(*x[np.unique(bands.pairs)][:, [0, 2]].T)
    assert around.min() > 0.08, "outside of the limb"


def assert_resumes_bitwise(scene, run, folder):
    """A run that stops at frame 9 and goes on ends where ``run`` of 22 frames did."""
    half = weft.simulate(scene, frames=9, fps=25, out=folder / "run", progress=False)
    assert len(half) == 10
    whole = weft.simulate(scene, frames=22, fps=25, out=folder / "run", resume=True, progress=False)
    np.testing.assert_array_equal(whole.points(-1), run.points(-1))


def test_a_sewn_run_resumes_bitwise(sewn, tmp_path):
    assert_resumes_bitwise(*sewn, tmp_path)


def test_a_zip_opens_from_its_first_point_on(scene_file, tmp_path):
    zip_ = "{join: [front.left, back.right], closing: zip, open_at: 100 ms}"
    scene = loaded(scene_file(zip_, SCENE.replace("seconds: 1", "seconds: 2")))
    run = weft.simulate(scene, frames=48, fps=25, out=tmp_path / "run", progress=False)
    closed, later = gap(run, "two", 21), gap(run, "two", 34)
    assert closed.max() < 2.5e-3, "as far apart as contact keeps its sides"
    assert closed.min() > 0.5e-3
    assert later[0] > 2 * later[-1], "open at its beginning, not yet at its end"
    assert later[-1] < 2.5e-3
    assert gap(run, "one", 48).max() < 1e-4
    report = Quality(run).report([0, 21, 34, 48])
    assert report["worst"]["intersections"] == 0


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


def test_the_command_reports_and_draws(sewn, tmp_path):
    _, run = sewn
    told = CliRunner().invoke(
        app, ["quality", str(run.path), "--frame", "-1", "--out", str(tmp_path / "q")]
    )
    assert told.exit_code == 0, told.output
    assert "front" in told.output and "intersections 0" in told.output
    assert max(map(len, told.output.splitlines())) <= 200
    report = json.loads((tmp_path / "q" / "quality.json").read_text())
    assert report["frames"][0]["frame"] == 22
    for name in ("fit", "panels", "strain"):
        assert (tmp_path / "q" / f"{name}.png").stat().st_size > 5000


def test_a_garment_that_is_too_small_is_named(scene_file, tmp_path):
    pattern = PATTERN.replace("width: 32 cm", "width: 19 cm")
    scene = loaded(scene_file(pattern=pattern))
    with pytest.warns(UserWarning, match="smaller than the body|is open by"):
        weft.simulate(scene, frames=21, fps=25, out=tmp_path / "run", progress=False)


def test_a_body_that_jumps_is_named():
    sphere = weft.contact.sphere(0.1, 0.05, "walker")
    x = np.stack([sphere.vertices + [0.01 * k + 0.5 * (k > 12), 0, 0] for k in range(20)])
    frames = BodyFrames(np.arange(20) / 25, x, hold=True)
    body = weft.contact.Body(x[0], sphere.faces, None, "walker", None, frames)
    (text,) = about_jumps([body], 0.02)
    assert "walker jumps 0.51 m between frames 12 and 13 (t = 0.48 s" in text
    steady = BodyFrames(np.arange(12) / 25, x[:12], hold=True)
    body = weft.contact.Body(x[0], sphere.faces, None, "walker", None, steady)
    assert not list(about_jumps([body], 0.02))


def test_a_body_that_leaves_before_all_is_sewn_is_named():
    sphere = weft.contact.sphere(0.1, 0.05, "walker")
    x = np.stack([sphere.vertices + [0.01 * k, 0, 0] for k in range(20)])
    body = weft.contact.Body(
        x[0], sphere.faces, None, "walker", None, BodyFrames(np.arange(1.0, 21.0), x, hold=True)
    )
    (text,) = about_haste([body], 3.2)
    assert "walker moves from t = 1.4 s on" in text and "hold: 3.2 s" in text
    assert not list(about_haste([body], 1.0))


def test_friction_begins_when_seams_are_closed_where_weft_placed_the_panels(scene_file):
    """The animation begins when garments are at rest, in any case."""
    woman = "  - {name: limb, mannequin: {figure: woman, size: 2 cm}}"
    limb = next(line for line in SCENE.splitlines() if "capsule" in line)
    placed = SCENE.replace("tube.yaml", f"{SKIRT}").replace(limb, woman)
    for text, begin in ((SCENE, 0.8), (placed, 0.4)):
        scene = loaded(scene_file(scene=text))
        assert scene.contact.friction_from == pytest.approx(begin)
        assert sewn_at(scene.contact, prepare(scene).model.energies) == pytest.approx(0.8)


def test_garments_beside_other_cloth_keep_their_names(scene_file):
    scene = SCENE.replace(
        "cloth: {garment: {pattern: tube.yaml, size: 4 cm}}",
        "cloths:\n"
        "  - {name: inner, garment: {pattern: tube.yaml, size: 4 cm}}\n"
        "  - {name: outer, fabric: silk, translation: [0, 0.3, 0],\n"
        "     garment: {pattern: tube.yaml, size: 5 cm, measures: {width: 36 cm}}}\n"
        "  - {name: scarf, sheet: {nx: 4, ny: 4, width: 10 cm, height: 10 cm},\n"
        "     translation: [0, 0.8, 0]}",
    )
    made = loaded(scene_file(scene=scene))
    names = [p.name for p in made.cloth.parts]
    assert names == ["inner front", "inner back", "outer front", "outer back", "scarf"]
    fabrics = [p.fabric.name for p in made.cloth.parts]
    assert fabrics[2:4] == ["silk", "silk"] and fabrics[0] == fabrics[1] != "silk"
    assert len(made.cloth.fabrics) == 3
    own = np.arange(made.cloth.n_vertices)
    part = made.cloth.parts[4].vertices
    assert (made.cloth.sewn[part] == own[part]).all()
    for _, pairs in made.cloth.seams:
        assert (made.cloth.sewn[pairs[:, 0]] == made.cloth.sewn[pairs[:, 1]]).all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pattern: tube.yaml": "pattern: none.yaml"}, ("pattern file", "none.yaml")),
        ({"size: 4 cm": "size: 4 cm, measures: {girth: 1 m}"}, ("measures", "girth")),
        ({"size: 4 cm": "size: 0 cm"}, "cloth.garment.size"),
        ({"size: 4 cm}": "size: 4 cm}, thickness: fabric"}, "thickness"),
        ({"size: 4 cm}": "size: 4 cm}, discretization: bspline"}, ("cloth", "spline.span_size")),
        ({"closing: 0.4 s": "closing: 0 s"}, "sewing.closing"),
    ],
)
def test_what_is_wrong_is_named(scene_file, change, said):
    text = SCENE
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    with refused(WeftError, said):
        loaded(scene_file(scene=text))


SLOW = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in ("arap", "stvk_shear", "no_shear", "stvk", "neo_hookean")
]


def assert_sews(scene, folder):
    """Its seams are closed after 20 frames, and nothing intersects on the way."""
    run = weft.simulate(scene, frames=20, fps=25, out=folder / "run", progress=False)
    report = Quality(run).report([0, 10, 20])
    assert report["worst"]["intersections"] == 0
    assert report["worst"]["seam_gap_mm"] < 0.1


@pytest.mark.parametrize("law", ["immediate_buckling", "baraff_witkin", *SLOW])
def test_every_law_sews(scene_file, tmp_path, law):
    assert_sews(loaded(scene_file(), f"law.name={law}"), tmp_path)


def test_layers_are_sewn_one_over_the_other(scene_file, tmp_path):
    scene = SCENE.replace(
        "cloth: {garment: {pattern: tube.yaml, size: 4 cm}}",
        "cloths:\n"
        "  - {name: inner, garment: {pattern: tube.yaml, size: 4 cm}}\n"
        "  - {name: outer, garment: {pattern: tube.yaml, size: 4 cm, measures: {width: 38 cm}}}",
    )
    wide = PATTERN.replace("[0, 0, 12 cm]", "[0, 0, 0.375 * width]").replace(
        "[0, 0, -12 cm]", "[0, 0, -0.375 * width]"
    )
    made = loaded(scene_file(scene=scene, pattern=wide))
    run = weft.simulate(made, frames=22, fps=25, out=tmp_path / "run", progress=False)
    report = Quality(run).report([0, 12, 22])
    assert report["worst"]["intersections"] == 0
    assert report["worst"]["seam_gap_mm"] < 0.1
    x = run.positions(-1)
    angle, radius = np.arctan2(x[:, 2], x[:, 0]), np.hypot(x[:, 0], x[:, 2])
    owner = {p.name: p.vertices for p in made.cloth.parts}
    inner = np.concatenate([owner["inner front"], owner["inner back"]])
    outer = np.concatenate([owner["outer front"], owner["outer back"]])
    for a in np.linspace(-np.pi, np.pi, 12, endpoint=False):
        near = [
            radius[ids][np.abs(np.angle(np.exp(1j * (angle[ids] - a)))) < 0.4]
            for ids in (inner, outer)
        ]
        assert near[0].mean() < near[1].mean(), "the outer one is outside, all around"


@pytest.mark.parametrize(
    ("second", "band", "said"),
    [
        (
            "{join: [front.left, back.right], closing: zip, open_at: -10 s}",
            "",
            ("seam two: open_at", "-10 s", "-0.8 s", "scene.yaml:2, tube.yaml:17"),
        ),
        (
            "{join: [front.left, back.right], closing: buttons, close_at: -9 s, open_at: 1 s}",
            "",
            ("seam two: close_at", "-9 s", "scene.yaml:2, tube.yaml:17"),
        ),
        (
            "[front.left, back.right]",
            "ratio: 1e-300, stiffness: 1e300 N",
            ("elastic band.stiffness", "scene.yaml:2, tube.yaml:19"),
        ),
    ],
)
def test_zips_and_elastics_that_cannot_be_are_named_with_their_lines(
    scene_file, second, band, said
):
    pattern = PATTERN.replace("ratio: 0.9, stiffness: 300 N", band or "ratio: 1, stiffness: 1 N")
    with refused(WeftError, said), np.errstate(over="ignore"):
        loaded(scene_file(second, pattern=pattern))


def test_a_body_that_does_not_stand_is_named_where_a_garment_should_start_on_it(tmp_path):
    body = "{capsule: {radius: 10 m, length: 130 m, size: 5 m}, rotation: [90, 0, 0]}"
    path = tmp_path / "scene.yaml"
    path.write_text(f"cloth: {{garment: {{pattern: {SKIRT}, size: 6 cm}}}}\nbodies: [{body}]\n")
    with pytest.warns(UserWarning, match="no body stands: .*in cm: `scale: 1 cm`.*`rotation:"):
        load_scene(path)


def test_panels_that_are_bent_around_an_arm_are_not_called_strained(tmp_path):
    path = tmp_path / "scene.yaml"
    pattern = SKIRT.with_name("tee_specification.json")
    block = f"cloth: {{garment: {{pattern: {pattern}, size: 6 cm}}}}"
    path.write_text(f"{block}\nbodies: [{{mannequin: {{figure: woman}}}}]\n")
    assert not [w for w in check(path).warnings if "strained at the start" in str(w)]


@pytest.mark.parametrize(
    "floor", [weft.contact.plate(6.0, 6.0), weft.contact.box((6, 0.1, 6), 1.0)]
)
def test_a_floor_beside_the_person_is_looked_at_in_the_persons_cells(floor):
    """A flat or wide body has no height of its own from which cells could be made."""
    person = weft.contact.capsule(0.15, 1.5, 0.05)
    person, below = Wearer([person, floor]).depths
    assert below.cell == person.cell > 0 and below.back.size < 4_000_000
    assert Wearer([weft.contact.plate(6.0, 6.0)]).depths == []
