"""Cloth: selections, placing, loading."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import MeshError

pytestmark = pytest.mark.quick


@pytest.fixture
def cloth():
    return weft.sheet(5, 4, width=2.0, height=1.0)


def test_corners_and_borders(cloth):
    assert cloth.corners("all").tolist() == [0, 4, 15, 19]
    assert cloth.corners("left").tolist() == [0, 15]
    assert cloth.corners("bottom-right").tolist() == [4]
    assert cloth.border("top").tolist() == cloth.group("top").tolist() == [15, 16, 17, 18, 19]
    assert cloth.border("right").tolist() == [4, 9, 14, 19]


def test_moved(cloth):
    moved = cloth.move((0, 1, 0), (90, 0, 0))
    np.testing.assert_allclose(moved.vertices[:, 1], 1 - cloth.vertices[:, 2], atol=1e-15)
    assert moved.mesh.rest_area.sum() == cloth.mesh.rest_area.sum()


@pytest.mark.parametrize(
    "call, match",
    [
        (lambda c: c.corners("tp"), ("", "top, bottom, left")),
        (lambda c: c.group("sleeve"), ("group", "'sleeve'", "bottom, top")),
        (lambda c: weft.load("missing.obj"), ("mesh file", "missing.obj")),
        (lambda c: weft.load("shirt.fbx"), ("mesh file", "shirt.fbx", ".obj, .ply")),
        (lambda c: weft.load("shirt.abc"), ("mesh file", "shirt.abc", "Blender")),
    ],
)
def test_errors(cloth, call, match):
    with refused(MeshError, match):
        call(cloth)
