"""Cameras as sensors: projection, depth, normals and points against closed forms; occlusion."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import weft
from tests.refusals import refused
from weft.base.errors import WeftError
from weft.bodies.shapes.primitives import plate, sphere
from weft.plugins.robots.cameras.camera_sensor import CameraSensor, CameraView, DepthNoise
from weft.show.picture.camera import Camera, look_at

EYE = np.array([0.25, 0.6, 0.5])
CAMERA = look_at(EYE, (0, 0, 0), field_of_view=40).calibrate(
    np.array([180.0, 190.0]), np.array([70.0, 61.0]), 128, 128
)
EVERY = ("rgb", "depth", "mask", "normal", "point")


def observe(cloth, bodies=(), camera=CAMERA, random=None, **settings):
    x = np.concatenate([cloth.mesh.vertices, *(b.at(0.0) for b in bodies)])
    sensor = CameraSensor(camera, channels=EVERY, **settings)
    return CameraView(sensor, cloth.mesh, bodies).observe(x, random)


def rays(camera, width=128, height=128):
    """(h,w,3) world directions through pixel centers, 1 long along the axis."""
    focal, center = camera.pixels(width, height)
    rows, columns = np.mgrid[:height, :width] + 0.5
    along = [(columns - center[0]) / focal[0], (center[1] - rows) / focal[1], -np.ones(rows.shape)]
    return np.einsum("ihw,ij->hwj", np.array(along), camera.axes)


def test_projection_is_opencvs():
    """K (R X + t), over its third component; OpenCV's pixel centers are whole numbers."""
    matrix = np.array([[310.0, 0, 150.2], [0, 290.0, 96.7], [0, 0, 1]])
    turn = Rotation.from_euler("xyz", [0.2, -0.4, 2.9]).as_matrix()
    pose = np.column_stack([turn, [0.1, -0.2, 1.5]])
    x = np.random.default_rng(0).uniform(-0.3, 0.3, (20, 3))
    seen = (x @ turn.T + pose[:, 3]) @ matrix.T
    camera = Camera.from_opencv(matrix, pose, 320, 200)
    got = camera.project(x, 320, 200)
    assert got[:, :2] == pytest.approx(seen[:, :2] / seen[:, 2:] + 0.5, abs=1e-9)
    assert 1 / got[:, 2] == pytest.approx(seen[:, 2])
    twice = camera.project(x, 640, 400)  # the same camera at another resolution
    assert twice[:, :2] == pytest.approx(2 * got[:, :2])


def test_a_plane_has_its_depth_normal_and_points():
    table = plate(3.0, 3.0, 0.7)
    cloth = weft.sheet(3, 3, 0.01, 0.01).move((0, -1.0, 0))
    seen = observe(cloth, [table])
    depth = EYE[1] / -rays(CAMERA)[..., 1]
    assert (seen["mask"] == 2).all()
    assert seen["depth"] == pytest.approx(depth, rel=2e-6)
    assert seen["normal"] == pytest.approx(np.broadcast_to([0, 1.0, 0], (128, 128, 3)), abs=1e-6)
    assert seen["point"][..., 1] == pytest.approx(np.zeros((128, 128)), abs=2e-6)
    assert seen["point"] == pytest.approx(EYE + depth[..., None] * rays(CAMERA), abs=5e-6)


def test_a_face_that_the_cameras_plane_cuts_is_seen():
    """The camera stands over a table of two triangles, which begin behind it, and looks level."""
    camera = look_at((0, 0.3, 0), (0.1, 0.3, -1.0), field_of_view=60)
    table = plate(10.0, 8.0, 20.0)
    seen = observe(weft.sheet(3, 3, 0.01, 0.01).move((0, 1, 2)), [table], camera)
    down = -rays(camera)[..., 1]
    hit = 0.3 / np.where(down > 0, down, np.inf)
    at = rays(camera) * hit[..., None] + [0, 0.3, 0]
    on = (down > 0) & (np.abs(at[..., 0]) < 5) & (np.abs(at[..., 2]) < 4)
    assert ((seen["mask"] == 2) != on).mean() < 0.005  # rounding at the far edge
    both = on & (seen["mask"] == 2)
    assert seen["depth"][both] == pytest.approx(hit[both], rel=1e-4)


def test_a_ball_hides_cloth_and_has_its_normals():
    """The mask is that of a ray and a sphere, but for the ball's facets at its rim."""
    middle, radius = np.array([0.03, 0.12, 0.05]), 0.06
    ball = sphere(radius, 0.004).move(tuple(middle))
    seen = observe(weft.sheet(9, 9, 0.4, 0.4), [plate(2.0, 2.0, 0.7).move((0, -0.01, 0)), ball])
    d = rays(CAMERA)
    to = middle - EYE
    along = (d @ to) / (d**2).sum(2)
    nearest = np.linalg.norm(to - along[..., None] * d, axis=2)
    assert (seen["mask"] == 3)[nearest < 0.98 * radius].all()
    assert not (seen["mask"] == 3)[nearest > radius].any()
    inside = nearest < 0.9 * radius
    outward = (seen["point"][inside] - middle) / radius
    assert (outward * seen["normal"][inside]).sum(1).min() > 0.998
    assert set(np.unique(seen["mask"])) >= {1, 2, 3}
    off = seen["mask"] == 0
    assert (seen["depth"][off] == 0).all() and (seen["point"][off] == 0).all()


def test_noise_has_its_deviation_and_its_seed():
    camera = look_at((0, 1.5, 0), (0, 0, 0), up=(0, 0, -1), field_of_view=10)
    table, cloth = plate(3.0, 3.0, 0.7), weft.sheet(3, 3, 0.01, 0.01).move((0, -1, 0))
    a, b, c = (
        observe(cloth, [table], camera, np.random.default_rng(k), noise=DepthNoise())["depth"]
        for k in (1, 1, 2)
    )
    assert np.array_equal(a, b) and not np.array_equal(a, c)
    assert a.std() == pytest.approx(0.0012 + 0.0019 * 1.1**2, rel=0.03)
    steep = DepthNoise().deviation(np.array(1.0), np.radians(75.0))
    assert steep == pytest.approx(0.0012 + 0.0019 * 0.36 + 1e-4 * 25, rel=1e-12)


BAD = [
    (lambda: CameraSensor(CAMERA, channels=("heat",)), ("channel of a camera", "'heat'", "rgb")),
    (lambda: look_at((0, 1, 0), (0, 0, 0)), "camera"),
    (lambda: Camera.from_opencv(np.eye(4), np.eye(4), 64, 64), "intrinsics"),
    (lambda: Camera.from_opencv(np.eye(3), np.diag([1, 1, -1, 1]), 64, 64), "extrinsics"),
]


@pytest.mark.parametrize("make, message", BAD)
def test_bad_cameras(make, message):
    with refused(WeftError, message):
        make()
