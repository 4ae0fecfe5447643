"""Garments of splines in scenes: sewn around a body as triangles are, by every law."""

import warnings

import numpy as np
import pytest

import weft
from tests.plugins.garments.scene.test_garments import (
    PATTERN,
    SCENE,
    SLOW,
    assert_resumes_bitwise,
    assert_sews,
    gap,
    loaded,
)
from tests.refusals import refused
from weft.base.errors import WeftError
from weft.run.quality import Quality

SPLINES = SCENE.replace(
    "size: 4 cm}}", "size: 3 cm}, discretization: bspline, spline: {span_size: 5 cm}}"
)
# the back is 15 % longer along the seams: the longer side is eased into the shorter one
EASED = PATTERN.replace(
    "    copy: front\n",
    "    outline:\n"
    "      - {at: [-width/2, 0], edge: hem}\n"
    "      - {at: [width/2, 0], edge: right}\n"
    "      - {at: [width/2, 1.15*height], edge: top}\n"
    "      - {at: [-width/2, 1.15*height], edge: left}\n",
)


@pytest.fixture
def scene_file(tmp_path):
    def write(second="[front.left, back.right]", scene=SPLINES, pattern=PATTERN):
        (tmp_path / "tube.yaml").write_text(pattern.replace("SECOND", second))
        path = tmp_path / "scene.yaml"
        path.write_text(scene)
        return path

    return write


@pytest.fixture(scope="module")
def sewn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sewn")
    (folder / "tube.yaml").write_text(PATTERN.replace("SECOND", "[front.left, back.right]"))
    (folder / "scene.yaml").write_text(SPLINES)
    scene = loaded(folder / "scene.yaml")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # seams are closed, and nothing is too tight
        return scene, weft.simulate(scene, frames=22, fps=25, out=folder / "run", progress=False)


def between(scene, run, name):
    """(k,) [m] distances of the borders at places between the vertices of a seam."""
    points, found = run.points(-1), []
    pairs = dict(scene.cloth.seams)[name]
    owner = {p.name: (p.vertices[0], s) for p, s in scene.cloth.pieces}
    for panel, side in (("front", 0), ("back", 1)):
        first, surface = owner[panel]
        at = surface.touched.uv[pairs[:, side] - first]
        middles = np.concatenate([at[:-1] + f * np.diff(at, axis=0) for f in (0.25, 0.5, 0.75)])
        shape = surface.patches[0].functions(middles)
        local = points[surface.ids[0].reshape(-1)]
        found.append(shape.of(local))
    return np.linalg.norm(found[0] - found[1], axis=1)


def test_seams_close_around_the_body_and_nothing_intersects(sewn):
    scene, run = sewn
    assert [p.name for p in scene.cloth.parts] == ["front", "back"]
    assert len(scene.cloth.points) < scene.cloth.n_vertices
    assert gap(run, "one", 0).min() > 0.2
    for name in ("one", "two"):
        assert gap(run, name).max() < 1e-4
        assert between(scene, run, name).max() < 1e-4, "between the points that are sewn, too"
    report = Quality(run).report()
    assert report["worst"]["intersections"] == 0
    assert report["worst"]["least_distance_mm"] > 0.5
    assert report["worst"]["seam_gap_mm"] < 0.1
    assert not report["worst"]["slipped_off"]
    x, faces = run.positions(-1), run.faces
    a, b, c = np.moveaxis(x[faces], 1, 0)
    normal, center = np.cross(b - a, c - a), x[faces].mean(1)
    assert ((normal * (center * [1, 0, 1])).sum(1) > 0).all(), "right sides look out"


def test_the_band_is_shorter_than_its_edge(sewn):
    scene, run = sewn
    bands = next(e for e in scene.energies if e.name == "elastics").source
    x = run.positions(-1)
    d = np.linalg.norm(x[bands.pairs[:, 1]] - x[bands.pairs[:, 0]], axis=1)
    assert d.sum() == pytest.approx(0.9 * 0.64, rel=0.05)


def test_a_sewn_run_resumes_bitwise(sewn, tmp_path):
    assert_resumes_bitwise(*sewn, tmp_path)


def test_it_is_welded_drawn_and_exported(sewn, tmp_path):
    scene, run = sewn
    run.save(tmp_path / "a.obj", weld=True)
    mesh = weft.load(tmp_path / "a.obj").mesh
    seams = sum(len(pairs) for _, pairs in scene.cloth.seams)
    assert mesh.n_vertices == scene.cloth.n_vertices - seams
    run.save(tmp_path / "b.obj", density=2)
    with refused(WeftError, "weld", got="density 2"):
        run.save(tmp_path / "c.obj", weld=True, density=2)
    run.render(tmp_path / "a.png", look="panels")
    assert (tmp_path / "a.png").stat().st_size > 5000


@pytest.mark.slow
def test_the_longer_side_is_eased_into_the_shorter(scene_file, tmp_path):
    scene = loaded(scene_file(pattern=EASED))
    run = weft.simulate(scene, frames=20, fps=25, out=tmp_path / "run", progress=False)
    for name in ("one", "two"):
        assert gap(run, name).max() < 1e-4
    assert Quality(run).report([0, 10, 20])["worst"]["intersections"] == 0


@pytest.mark.slow
def test_a_zip_opens_from_its_first_point_on(scene_file, tmp_path):
    zip_ = "{join: [front.left, back.right], closing: zip, open_at: 100 ms}"
    scene = loaded(scene_file(zip_, SPLINES.replace("seconds: 1", "seconds: 2")))
    run = weft.simulate(scene, frames=34, fps=25, out=tmp_path / "run", progress=False)
    closed, later = gap(run, "two", 21), gap(run, "two", 34)
    assert closed.max() < 2.5e-3, "as far apart as contact keeps its sides"
    assert closed.min() > 0.5e-3
    assert later[0] > 2 * later[-1], "open at its beginning, not yet at its end"
    assert gap(run, "one", 34).max() < 1e-4
    assert Quality(run).report([0, 21, 34])["worst"]["intersections"] == 0


BARAFF_WITKIN = pytest.param("baraff_witkin", marks=pytest.mark.slow)


@pytest.mark.parametrize("law", ["immediate_buckling", BARAFF_WITKIN, *SLOW])
def test_every_law_sews(scene_file, tmp_path, law):
    assert_sews(loaded(scene_file(), f"law.name={law}"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bdf2", "bdf2_semi_implicit", "baraff_witkin_1998"])
def test_every_integrator_sews(scene_file, tmp_path, name):
    assert_sews(loaded(scene_file(), f"integrator={name}"), tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"span_size: 5 cm": "span_size: 5 cm, density: 2"},
            ("cloth", "scene.yaml:2", "spline.density"),
        ),
        ({"span_size: 5 cm": "span_size: 5 cm, smooth: true"}, ("cloth", "spline.smooth")),
        ({"span_size: 5 cm": "spans: [5, 5]"}, ("cloth", "spline.spans: of garments")),
        ({"span_size: 5 cm": "span_size: 3 cm"}, ("panel front", "vertices", "scene.yaml:2")),
        ({"span_size: 5 cm": "rule: full"}, ("cloth", "spline.span_size")),
        ({"seconds: 1": "seconds: 1\nbending: quadratic"}, ("scene.bending", "splines")),
    ],
)
def test_what_is_wrong_is_named(scene_file, change, said):
    text = SPLINES
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    with refused(WeftError, said):
        loaded(scene_file(scene=text))
