"""Cusick's test: the specimen, a ring that hardly sags, and how draped cloth orders itself."""

import dataclasses

import numpy as np
import pytest

from tests.refusals import refused
from weft.base.errors import WeftError
from weft.contact.exact.intersections import intersections
from weft.fabric.fabric import fabric
from weft.plugins.lab.laboratory.cusick import DISK, SPECIMEN, cusick, specimen
from weft.plugins.lab.validate.laboratory import SAG, plate_sag, ring_sag

COARSE = 12e-3  # [m]


@pytest.mark.parametrize(("size", "seed"), [(12e-3, 0), (6e-3, 0), (6e-3, 3)])
def test_specimen(size, seed):
    """A ring from half a row inside the disk's rim to the border, all faces upwards."""
    mesh, held, free = specimen(size, seed)
    area = np.pi * (SPECIMEN**2 - (DISK - size / 2) ** 2)
    assert mesh.rest_area.sum() == pytest.approx(area, rel=0.01)
    assert (mesh.signed_material_area > 0).all()
    off = np.hypot(mesh.vertices[held, 0], mesh.vertices[held, 2]) - DISK
    assert np.unique(np.round(off, 3)) == pytest.approx([-size / 2, size / 2], abs=1e-3)
    assert len(held) + len(free) == mesh.n_vertices
    assert len(mesh.groups["rim"]) == round(2 * np.pi * SPECIMEN / size)


def test_plate():
    """The closed form against the plate's equation, integrated."""
    from scipy.integrate import solve_bvp

    nu = 0.2

    def rate(r, y):  # of w, w', w'', w''' under a unit load
        _, s, k, j = y
        return [s, k, j, 1.0 - 2 * j / r + k / r**2 - s / r**3]

    def ends(a, b):
        shear = b[3] + b[2] / SPECIMEN - b[1] / SPECIMEN**2
        return [a[0], a[1], b[2] + nu * b[1] / SPECIMEN, shear]

    r = np.linspace(DISK, SPECIMEN, 101)
    found = solve_bvp(rate, ends, r, np.zeros((4, 101)), tol=1e-8)
    assert plate_sag(1.0, nu) == pytest.approx(found.y[0, -1], rel=1e-5)


def test_a_stiff_ring_is_a_plate():
    assert ring_sag(8e-3, 1) == pytest.approx(SAG, rel=4e-2)


@pytest.fixture(scope="module")
def cotton():
    return cusick(fabric("cotton"), COARSE, drapings=2)


def test_cotton_drapes(cotton):
    """In folds, in between flat and hanging; nothing meets."""
    assert 0.45 < cotton.coefficient < 0.7
    assert cotton.spread < 0.06
    assert 4 <= cotton.nodes <= 12
    for draping in cotton.drapings:
        assert draping.energy < 0
        assert not draping.under
        assert len(intersections(draping.x, cotton.mesh.faces)) == 0
        now, rest = (
            np.linalg.norm(np.diff(x[cotton.mesh.edges], axis=1), axis=2)
            for x in (draping.x, cotton.mesh.vertices)
        )
        assert 0.8 < (now / rest).min() <= (now / rest).max() < 1.2  # sheared, hardly longer
    assert cotton.typical in cotton.drapings


@pytest.mark.parametrize(
    "changes, size, n, what",
    [
        ({}, 0.5e-3, 1, "size"),
        ({}, 0.1, 1, "size"),
        ({}, float("nan"), 1, "size"),
        ({}, 5e-3, 0, "drapings"),
        ({"bending_weft": 0.0}, 5e-3, 1, "bending_weft of silk"),
    ],
)
def test_bad_input(changes, size, n, what):
    with refused(WeftError, what):
        cusick(dataclasses.replace(fabric("silk"), **changes), size, n)


def test_stiffer_cloth_drapes_less(cotton):
    f = fabric("cotton")
    stiff = dataclasses.replace(f, bending_warp=8 * f.bending_warp, bending_weft=8 * f.bending_weft)
    assert cusick(stiff, COARSE, drapings=1).coefficient > cotton.coefficient + 0.15
