"""Measurements of a scene's run: tracked points, depth maps, the silhouette of a hanging sample.
At the fabric that made the data residuals vanish, and derivatives are those of runs nearby.
"""

import dataclasses
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image, ImageDraw

from tests.plugins.lab.fitting import files
from tests.plugins.lab.fitting.differences import difference_jacobian
from tests.refusals import refused
from weft.base.errors import FabricError, PictureError, UnitError, WeftError
from weft.fabric.fabric import fabric
from weft.plugins.lab.fitting.depth import DepthMaps
from weft.plugins.lab.fitting.file import read_fit
from weft.plugins.lab.fitting.silhouette import measure_silhouette
from weft.plugins.lab.fitting.track import locate_points
from weft.plugins.robots.cameras.camera_sensor import CameraSensor, CameraView
from weft.show.picture.camera import Camera

SWINGING = """
cloth:
  sheet: {nx: 5, ny: 5, width: 20 cm, height: 20 cm}
  fabric: cotton
  rotation: [20 deg, 0 deg, 0 deg]
pins:
  - corners: top
step: 20 ms
seconds: 0.2 s
fps: 10
integrator: {backward_euler: {tolerance: 1e-8 m/s}}
"""
HANGING = """
cloth:
  sheet: {nx: 7, ny: 7, width: 20 cm, height: 20 cm}
  fabric: cotton
  rotation: [70 deg, 0 deg, 0 deg]
pins:
  - vertices: [42]
step: 1 s
seconds: 1 s
fps: 1
integrator: {quasi_static: {tolerance: 1e-8 m, force_tolerance: 1e-9, max_iterations: 3000}}
"""
STRIP = (
    HANGING.replace(
        "nx: 7, ny: 7, width: 20 cm, height: 20 cm", "nx: 3, ny: 9, width: 4 cm, height: 8 cm"
    )
    .replace("rotation: [70 deg", "rotation: [2 deg")
    .replace("[42]", "[21, 22, 23, 24, 25, 26]")
)
PIXEL = 1e-3  # [m]
needs_scikit_image = pytest.mark.skipif(
    find_spec("skimage") is None, reason="no scikit-image: pip install 'weft[photographs]'"
)


def fit_file(folder, block, scene=SWINGING):
    (folder / "scene.yaml").write_text(scene)
    return files.fit_file(folder, f"{block}, scene: scene.yaml")


def measurement(folder, block, scene=SWINGING):
    (one,) = read_fit(fit_file(folder, block, scene)).measurements
    return one


def tracked(folder, name="cotton", noise=0.0, head="time [s],u [cm],v [cm],x [m],y [m],z [m]"):
    """A CSV of four marks in two frames of a run, from a file with a first, wrong guess."""
    marks = np.array([[0.03, 0.04], [0.1, 0.02], [0.17, 0.11], [0.1, 0.15]])
    (folder / "points.csv").write_text(f"{head}\n0.1,3,4,0,0,0\n0.2,3,4,0,0,0\n")
    one = measurement(folder, "kind: track, points: points.csv")
    face, weight = locate_points(one.run.scene.cloth.corner_uv, marks, "")
    corners = one.run.faces[face]
    x = one.run.positions(fabric(name))
    rng, rows = np.random.default_rng(0), [head]
    for k, t in ((1, 0.1), (2, 0.2)):
        at = np.einsum("ka,kai->ki", weight, x[k][corners]) + noise * rng.normal(size=(4, 3))
        rows += [",".join(f"{v:.12g}" for v in (t, *(100 * uv), *p)) for uv, p in zip(marks, at)]
    (folder / "points.csv").write_text("\n".join(rows))
    return measurement(folder, "kind: track, points: points.csv")


def run_of(folder, scene=SWINGING):
    """The run of a scene until 0.2 s."""
    (folder / "points.csv").write_text("time [s],u [cm],v [cm],x [m],y [m],z [m]\n.2,3,4,0,0,0\n")
    return measurement(folder, "kind: track, points: points.csv", scene).run


def assert_derivatives(one, f, fields, rel=1e-3):
    exact, other = one.jacobian(f, fields), difference_jacobian(one, f, fields, 1e-3)
    assert exact == pytest.approx(other, rel=rel, abs=rel * np.abs(other).max())


def test_track(tmp_path):
    one = tracked(tmp_path)
    assert len(one.seen) == 8
    assert one.residuals(fabric("cotton")) == pytest.approx(np.zeros(24), abs=1e-5)
    assert np.abs(one.residuals(fabric("felt"))).max() > 0.5
    assert_derivatives(one, fabric("wool"), ["bending_warp", "bending_weft", "density", "damping"])
    assert (one.jacobian(fabric("wool"), ["thickness"]) == 0).all()
    assert one.jacobian(fabric("wool"), []).shape == (24, 0)


def test_track_between_frames(tmp_path):
    """Straight between two frames."""
    one = tracked(tmp_path)
    frames = np.zeros((3, 25, 3))
    frames[1:, :, 0] = np.array([1.0, 3.0])[:, None]
    half = dataclasses.replace(one, time=np.full(8, 0.15))
    assert half.numbers(frames)[::3] == pytest.approx(np.full(8, 2.0))


@pytest.mark.parametrize(
    ("block", "row", "error", "said"),
    [
        ("", "0.1,30,4,0,0,0", PictureError, ("marked point", "0.3")),
        ("", "-1,3,4,0,0,0", PictureError, ("tracked points", "-1 s")),
        ("", "0.1,3,4,0,0,nan", PictureError, ("table", "'nan'")),
        ("error: 2 m, ", "0.1,3,4,0,0,0", FabricError, ("measurements.0.error", "'2 m'", "0.1")),
        ("", "0.1,3,4,0,0,0\n0.1,13,4,0.0001,0,0", PictureError, ("tracked points", "0.0001")),
    ],
)
def test_bad_tracks(block, row, error, said, tmp_path):
    (tmp_path / "points.csv").write_text(f"time [s],u [cm],v [cm],x [m],y [m],z [m]\n{row}\n")
    with refused(WeftError, said) as caught:
        measurement(tmp_path, f"kind: track, {block}points: points.csv")
    assert isinstance(caught.value.problems[0], error | UnitError)


def test_scene_of_two_fabrics_or_without_derivatives(tmp_path):
    run_of(tmp_path)
    block = "kind: track, points: points.csv"
    old = SWINGING.replace(
        "integrator: {backward_euler: {tolerance: 1e-8 m/s}}", "integrator: bdf2_semi_implicit"
    )
    with refused(WeftError, "integrator", got="SemiImplicitBdf2"):
        measurement(tmp_path, block, old).residuals(fabric("cotton"))
    two = "cloths:\n" + "".join(
        f"  - {{name: {n}, sheet: {{nx: 3, ny: 3, width: 1 m, height: 1 m}}, fabric: {n}}}\n"
        for n in ("silk", "wool")
    )
    with refused(WeftError, "measurements.0.scene", got="2 fabrics"):
        read_fit(fit_file(tmp_path, block, two + "seconds: 1 s\n"))


EYE, AXES = np.array([0.0, 0.25, 0.05]), np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    """Depth maps of two frames from above, as a file has them."""
    run = run_of(tmp_path_factory.mktemp("maps"))
    focal, center = np.full(2, 20.0), np.full(2, 12.0)
    sensor = CameraSensor(Camera(EYE, AXES).calibrate(focal, center, 24, 24), 24, 24, ("depth",))
    view = CameraView(sensor, run.scene.cloth.mesh, [])
    depth = [view.observe(x)["depth"] for x in run.positions(fabric("cotton"))[1:3]]
    pose = {"eye": EYE, "axes": AXES, "focal": focal, "center": center}
    return {"time": np.array([0.1, 0.2]), "depth": np.array(depth), **pose}


def depth_maps(folder, maps):
    """The measurement of a file of depth maps."""
    np.savez(folder / "depth.npz", **maps)
    return measurement(folder, "kind: depth, depth: depth.npz")


def test_depth(tmp_path, maps):
    one = depth_maps(tmp_path, maps)
    assert isinstance(one, DepthMaps) and min(map(len, one.points)) > 50
    residuals = one.residuals(fabric("cotton")) * one.sigma
    assert residuals == pytest.approx(np.zeros_like(residuals), abs=2e-6)  # single precision
    assert np.abs(one.residuals(fabric("felt")) * one.sigma).max() > 1e-4
    f, fields = fabric("wool"), ["bending_weft", "density"]
    exact, other = one.jacobian(f, fields), difference_jacobian(one, f, fields, 3e-2)
    assert np.median(np.abs(exact - other), 0) == pytest.approx(0, abs=0.02 * np.abs(other).max())


@pytest.mark.parametrize(
    ("key", "change", "said"),
    [
        ("time", lambda a: a[:1], ("time", "1 times, 2 frames")),
        ("depth", lambda a: 0 * a, ("depth maps", "no pixel")),
        ("depth", lambda a: 1000 * a, ("depth", "100.0 m")),
        ("depth", lambda a: a[0], ("depth", "24, 24", "3")),
        ("axes", lambda a: 2 * a, "axes"),
        ("time", lambda a: 100 * a, ("recorded times", "0.2")),
    ],
)
def test_bad_depth(key, change, said, tmp_path, maps):
    with refused(WeftError, said):
        depth_maps(tmp_path, {**maps, key: change(maps[key])})


def test_no_depth(tmp_path):
    (tmp_path / "depth.npz").write_text("none")
    with refused(WeftError, "depth maps", expected="npz"):
        measurement(tmp_path, "kind: depth, depth: depth.npz")


def draw_rectangle(folder, right, bottom):
    """A picture p.png of a white rectangle from pixel 60 on."""
    image = Image.new("RGB", (300, 300), (0, 0, 0))
    ImageDraw.Draw(image).rectangle((60, 60, right, bottom), fill=(255, 255, 255))
    image.save(folder / "p.png")


def drawn_silhouette(folder, x, faces, fine=4):
    """A mask of triangles seen from the front, a pixel a millimeter."""
    low, high = x.min(0), x.max(0)
    size = np.ceil((high - low)[:2] / PIXEL).astype(int) + 40
    image = Image.new("L", tuple(int(v) for v in size * fine), 0)
    pen = ImageDraw.Draw(image)
    at = fine * np.stack([(x[:, 0] - low[0]) / PIXEL + 20, (high[1] - x[:, 1]) / PIXEL + 20], 1)
    for face in faces:
        pen.polygon([tuple(p) for p in at[face]], fill=255)
    image.resize(tuple(int(v) for v in size), Image.Resampling.BOX).convert("RGB").save(
        folder / "p.png"
    )


@needs_scikit_image
def test_silhouette(tmp_path):
    """A square held by a corner: widths to half a pixel, the drop between two tips, each less than
    half a pixel wide at its end, to one and a half; derivatives as of differences.
    """
    draw_rectangle(tmp_path, 200, 200)
    block = "kind: silhouette, picture: p.png, pixel: 1 mm"
    first = measurement(tmp_path, block, HANGING)
    assert first.seen.drop == pytest.approx(0.141, abs=2e-4)
    assert first.seen.right - first.seen.left == pytest.approx(np.full(30, 0.141), abs=2e-4)
    x = first.run.positions(fabric("cotton"))[-1]
    drawn_silhouette(tmp_path, x, first.run.faces)
    one = measurement(tmp_path, block, HANGING)
    edges = one.run.scene.cloth.mesh.edges
    exact = measure_silhouette(x[edges[:, 0], :2], x[edges[:, 1], :2])
    assert one.seen.drop == pytest.approx(exact.drop, abs=1.5e-3)
    off = np.abs(one.seen.numbers - exact.numbers)
    assert np.median(off) < 4e-4 and off.max() < 2e-3
    assert np.abs(one.residuals(fabric("cotton"))).max() < 1.0
    assert len(one.comparison(fabric("cotton")).x) == 30


@needs_scikit_image
def test_silhouette_of_a_strip(tmp_path):
    """Held at an edge and seen from the side: a curve, whose derivatives are those of differences.
    (A square held by a corner has several equilibria, among which differences of runs jump.)
    """
    draw_rectangle(tmp_path, 160, 180)
    block = "kind: silhouette, picture: p.png, pixel: 0.5 mm, azimuth: 90 deg, error: 1 mm"
    one = measurement(tmp_path, block, STRIP)
    drop, *widths = one.model(fabric("cotton"))[:31]
    assert 0.02 < drop < 0.075
    assert widths == pytest.approx(np.zeros(30), abs=1e-2)  # it twists a little
    assert_derivatives(one, fabric("cotton"), ["bending_weft", "density"], rel=2e-2)


@needs_scikit_image
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("pixel: 1 m", ("hanging sample", "141 m", "0.283 m")),
        ("azimuth: 0 deg", "pixel"),
    ],
)
def test_bad_silhouettes(more, said, tmp_path):
    draw_rectangle(tmp_path, 200, 200)
    with refused(WeftError, said):
        measurement(tmp_path, f"kind: silhouette, picture: p.png, {more}", HANGING)
