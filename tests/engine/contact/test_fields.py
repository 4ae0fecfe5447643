"""Shapes, height fields and signed distance grids: volumes, closedness, what is refused."""

from functools import partial

import numpy as np
import pytest
from PIL import Image

from tests.refusals import refused
from weft.base.errors import SceneError
from weft.bodies.rigid.mass_properties import mass_properties
from weft.contact import (
    box,
    capsule,
    cone,
    cylinder,
    distance_grid,
    height_field,
    intersections,
    read_distance_grid,
    read_heights,
    ring,
    sphere,
)
from weft.scene.build import load_scene


def sphere_grid(n=25, radius=0.1, half=0.13):
    step = 2 * half / (n - 1)
    axis = -half + step * np.arange(n)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    return np.sqrt(x * x + y * y + z * z) - radius, np.full(3, -half), np.full(3, step)


def volume(body):
    a, b, c = np.moveaxis(body.vertices[body.faces], 1, 0)
    return np.einsum("mi,mi->", a, np.cross(b, c)) / 6


CLOSED = {
    "ball": (sphere(0.3, 0.03), 4 / 3 * np.pi * 0.3**3),
    "capsule": (capsule(0.1, 0.3, 0.01), np.pi * 0.1**2 * 0.3 + 4 / 3 * np.pi * 0.1**3),
    "box": (box((0.2, 0.3, 0.4), 0.07), 0.2 * 0.3 * 0.4),
    "ring": (ring(0.2, 0.05, 0.01), 2 * np.pi**2 * 0.2 * 0.05**2),
    "cylinder": (cylinder(0.1, 0.3, 0.01), np.pi * 0.1**2 * 0.3),
    "frustum": (cone(0.1, 0.3, 0.01, top=0.05), np.pi * 0.3 / 3 * (0.01 + 0.005 + 0.0025)),
    "sphere": (distance_grid(*sphere_grid()), 4 / 3 * np.pi * 0.1**3),
    "block": (height_field(np.full((5, 7), 0.1), 0.6, 0.4, base=0.2), 0.6 * 0.4 * 0.2),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_shapes(name):
    """Closed, facing outwards, of the volume of the smooth shape, and nothing intersects."""
    body, expected = CLOSED[name]
    assert body.flaws == [] and volume(body) == pytest.approx(expected, rel=0.02)
    assert len(intersections(body.vertices, body.faces)) == 0
    assert mass_properties(body.vertices, body.faces).volume == pytest.approx(volume(body))


def test_the_surface_of_a_distance_grid_converges():
    """Places are within the linear interpolation's error: a quarter at half the spacing."""
    errors = []
    for n in (14, 27, 53):
        body = distance_grid(*sphere_grid(n))
        step = 0.26 / (n - 1)
        off = np.abs(np.linalg.norm(body.vertices, axis=1) - 0.1)
        errors.append(off.max())
        assert off.max() < 0.26 * step**2 / 0.1 + 0.02 * step
    assert errors[2] < errors[0] / 4


@pytest.mark.parametrize("seed", range(3))
def test_the_surface_of_any_distances_is_closed(seed):
    """Random numbers and zeros in a grid of three lengths: ambiguous cells, and zeros on the
    border.
    """
    rng = np.random.default_rng(seed)
    d = rng.integers(-2, 3, size=(9, 12, 15)).astype(float)
    for axis in range(3):
        np.moveaxis(d, axis, 0)[[0, -1]] = rng.integers(0, 2)
    body = distance_grid(d, (0, 0, 0), 1.0)
    edges = np.concatenate([body.faces[:, [i, j]] for i, j in ((0, 1), (1, 2), (2, 0))])
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert {tuple(e) for e in edges.tolist()} == {(j, i) for i, j in edges.tolist()}
    a, b, c = np.moveaxis(body.vertices[body.faces], 1, 0)
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).min() > 1e-5
    assert volume(body) > 0


def test_heights_of_images_and_numbers(tmp_path):
    """Row 0 is at the back (-z), columns run along x."""
    h = np.array([[0.0, 0.5, 1.0], [0.25, 0.25, 0.25]])
    np.save(tmp_path / "h.npy", h)
    (tmp_path / "h.csv").write_text("0,0.5,1\n0.25,0.25,0.25\n")
    Image.fromarray(np.round(255 * h).astype(np.uint8)).save(tmp_path / "h.png")
    Image.fromarray(np.round(65535 * h).astype(np.uint16)).save(tmp_path / "deep.png")
    for file in ("h.npy", "h.csv", "h.png", "deep.png"):
        found = read_heights(tmp_path / file, "10 cm", 0.3)
        assert found == pytest.approx(0.1 + 0.2 * h, abs=1e-3)
    body = height_field(h, 2.0, 1.0)
    back_right = np.argmin(((body.vertices[:, [0, 2]] - (1.0, -0.5)) ** 2).sum(1))
    assert body.vertices[back_right, 1] == 1.0


d, o, s = sphere_grid(9)
GRID, HEIGHTS = "distance grid.distance", "height field.heights"
REFUSED = {
    "leaves the grid": (partial(distance_grid, d - 0.2, o, s), (GRID, "border")),
    "spacing": (partial(distance_grid, d, o, 0.0), "spacing"),
    "not finite": (
        partial(distance_grid, np.where(d < 0, np.nan, d), o, s),
        "distance_grid.distance",
    ),
    "one row": (partial(height_field, np.zeros((1, 5)), 1, 1), (HEIGHTS, "2 x 2")),
    "a hole": (partial(height_field, [[0, np.inf], [0, 0]], 1, 1), "height_field.heights"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, words = REFUSED[case]
    with refused(SceneError, words):
        make()


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.png", b"no image"),
        ("a.npy", b""),
        ("none.npz", None),
        ("lacks.npz", {"distance": d, "origin": o}),
        ("odd.npz", {"distance": d, "origin": o, "spacing": np.ones(2)}),
    ],
)
def test_files_that_are_no_heights_or_distances(tmp_path, name, content):
    if isinstance(content, dict):
        np.savez(tmp_path / name, **content)
    elif content is not None:
        (tmp_path / name).write_bytes(content)
    with refused(SceneError, "body.file"):
        if name.endswith("npz"):
            read_distance_grid(tmp_path / name)
        else:
            read_heights(tmp_path / name, 0, 1)


SHAPES = """
  - {plane: {}, translation: [0, -1 m, 0]}
  - {height_field: {file: h.npy, width: 1, depth: 1, base: 10 cm}, translation: [4, 0, 0]}
  - {distance_grid: {file: d.npz}, translation: [6, 0, 0]}
"""


def test_in_scene_files(tmp_path):
    np.save(tmp_path / "h.npy", np.linspace(0, 0.1, 12).reshape(3, 4))
    np.savez(tmp_path / "d.npz", distance=d, origin=o, spacing=s[0])
    text = "cloth:\n  sheet: {nx: 5, ny: 5}\n  translation: [0, 1, 0]\nbodies:" + SHAPES
    (tmp_path / "scene.yaml").write_text(text)
    bodies = load_scene(tmp_path / "scene.yaml").scene.bodies
    assert [len(b.faces) > 0 for b in bodies] == [True] * 3
    assert bodies[0].vertices[:, 1].max() == -1
