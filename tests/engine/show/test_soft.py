"""Openness and the lamp's shadow, against closed forms."""

import numpy as np
import pytest

from weft import kernel
from weft.discretization.mesh import TriangleMesh, grid
from weft.show.picture.renderer import Renderer, Style

pytestmark = pytest.mark.quick

LEVEL = {"width": 320, "height": 180, "soft": True, "ground": False, "azimuth": 0.0}


def surroundings(mesh, x, radius, **style):
    """(rows,columns) openness and light, and the points [m] of them, with depths."""
    r = Renderer(mesh, [x], Style(**{**LEVEL, **style}))
    r._around.radius = radius
    r.image(x)
    near, s = r._around.near, r.style
    depth, found = (np.array(kernel.numpy(a)) for a in (near.depths, near.shares))
    rows, columns = np.mgrid[0 : depth.shape[0], 0 : depth.shape[1]]
    along, down = (4 * k[..., None] + 2.5 for k in (columns, rows))
    scale = 2 * r.camera.tan_half / (s.height * 2)
    right, up, back = r.camera.axes
    d = (along - s.width) * scale * right + (s.height - down) * scale * up - back
    return found[..., 0], found[..., 1], r.camera.eye + depth[..., None] * d, depth < 1e20


def two_sided(a, b):
    """One mesh of two sheets."""
    (m1, x1), (m2, x2) = a, b
    faces = np.concatenate([m1.faces, m2.faces + len(x1)])
    x = np.concatenate([x1, x2])
    return TriangleMesh(x, faces, np.concatenate([m1.corner_uv, m2.corner_uv])), x


@pytest.mark.parametrize("elevation", [10.0, 80.0])
def test_a_plane_is_open_and_lit(elevation):
    mesh = grid(21, 21, 1.0, 1.0)
    open_, light, _, seen = surroundings(mesh, mesh.vertices, 0.4, elevation=elevation)
    assert seen.sum() > 300
    np.testing.assert_allclose(open_[seen], 1.0, atol=1e-5)
    np.testing.assert_allclose(light[seen], 1.0, atol=1e-5)


def test_a_corner_takes_half_of_the_sky():
    """Form factor of a long wall of height h from a distance d: (1 - d / sqrt(d^2 + h^2)) / 2."""
    floor = grid(41, 41, 4.0, 2.0)
    a = np.array(floor.vertices)
    a[:, 2] -= a[:, 2].min()
    b = np.stack([a[:, 0], a[:, 2], np.zeros(len(a))], axis=1)
    mesh, x = two_sided((floor, a), (floor, b))
    radius = 100.0  # nothing fades
    open_, _, p, seen = surroundings(mesh, x, radius, elevation=45.0)
    middle = seen & (np.abs(p[..., 0]) < 0.3)
    ground = middle & (np.abs(p[..., 1]) < 1e-3)
    for low, high in ((0.1, 0.2), (0.2, 0.3), (0.4, 0.5)):
        ring = ground & (p[..., 2] > low) & (p[..., 2] < high)
        d = p[..., 2][ring]
        expected = 1 - 0.5 * (1 - d / np.hypot(d, 2.0))
        assert ring.sum() > 10
        # 5 steps a direction see a wall a step too low; ends of the wall are open.
        assert open_[ring].mean() == pytest.approx(expected.mean(), abs=0.05)


def test_the_lamps_shadow_softens_with_distance():
    """The half shadow of an edge is as wide as the lamp looks, times the distance from it."""
    floor = grid(31, 31, 3.0, 3.0)
    small = grid(11, 11, 0.8, 0.8)
    widths = []
    for height in (0.1, 0.5):
        above = np.array(small.vertices) + [0, height, 0]
        mesh, x = two_sided((floor, np.array(floor.vertices)), (small, above))
        _, light, p, seen = surroundings(mesh, x, 0.4, elevation=60.0)
        flat = seen & (np.abs(p[..., 1]) < 1e-3)
        assert light[flat].min() < 0.1 and light[flat].max() == 1
        widths.append(int((flat & (light > 0.2) & (light < 0.8)).sum()))
    assert widths[1] > 2 * widths[0]


def test_pictures_do_not_depend_on_threads(threads):
    mesh = grid(21, 21, 1.0, 1.0)
    x = np.array(mesh.vertices)
    x[:, 1] = 0.1 * np.sin(8 * x[:, 0])
    style = Style(width=160, height=90, soft=True, smooth=1, thickness=5e-3)
    pictures = []
    for n in (1, 3):
        threads(n)
        pictures.append(Renderer(mesh, [x], style).image(x))
    np.testing.assert_array_equal(*pictures)
