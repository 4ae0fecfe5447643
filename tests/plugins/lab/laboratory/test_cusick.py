"""Cusick's test: the specimen, a ring that hardly sags, and how draped cloth orders itself."""

import dataclasses

import numpy as np
import pytest

from tests.refusals import refused
from weft.base.errors import WeftError
from weft.contact.exact.intersections import intersections
from weft.fabric.fabric import fabric
from weft.plugins.lab.laboratory.cusick import DISK, SPECIMEN, cusick, drape_coefficient, specimen
from weft.plugins.lab.validate.laboratory import SAG, plate_sag, ring_sag

COARSE = 12e-3  # [m]


@pytest.mark.parametrize(("size", "seed"), [(12e-3, 0), (6e-3, 0), (6e-3, 3)])
def test_specimen(size, seed):
    """A ring from half a row inside the disk's rim to the border, all faces upwards."""
    mesh, held, free = specimen(size, seed)
    assert mesh.rest_area.sum() == pytest.approx(
        np.pi * (SPECIMEN**2 - (DISK - size / 2) ** 2), rel=0.01
    )
    assert (mesh.signed_material_area > 0).all()
    radius = np.hypot(mesh.vertices[held, 0], mesh.vertices[held, 2])
    assert np.sort(np.unique(np.round(radius - DISK, 3))) == pytest.approx(
        [-size / 2, size / 2], abs=1e-3
    )
    assert len(held) + len(free) == mesh.n_vertices
    assert len(mesh.groups["rim"]) == round(2 * np.pi * SPECIMEN / size)


def test_coefficients():
    """Areas of the standard, in cm^2."""
    assert drape_coefficient(254.469e-4) == pytest.approx(0.0, abs=1e-5)
    assert drape_coefficient(706.858e-4) == pytest.approx(1.0, abs=1e-5)


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


@pytest.mark.parametrize("seed", [0, 1])
def test_a_stiff_ring_is_a_plate(seed):
    assert ring_sag(8e-3, seed) == pytest.approx(SAG, rel=4e-2)


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
        edge = draping.x[cotton.mesh.edges]
        rest = cotton.mesh.vertices[cotton.mesh.edges]
        stretch = np.linalg.norm(edge[:, 1] - edge[:, 0], axis=1) / np.linalg.norm(
            rest[:, 1] - rest[:, 0], axis=1
        )
        assert 0.8 < stretch.min() <= stretch.max() < 1.2  # sheared, hardly longer
    assert cotton.typical in cotton.drapings


def test_seeds(cotton):
    again = cusick(fabric("cotton"), COARSE, drapings=1, seed=1)
    np.testing.assert_allclose(again.drapings[0].x, cotton.drapings[1].x, atol=1e-9)
    assert np.abs(cotton.drapings[0].x - cotton.drapings[1].x).max() > 1e-3


def test_stiffer_cloth_drapes_less(cotton):
    f = fabric("cotton")
    stiff = dataclasses.replace(f, bending_warp=8 * f.bending_warp, bending_weft=8 * f.bending_weft)
    assert cusick(stiff, COARSE, drapings=1).coefficient > cotton.coefficient + 0.15
    heavy = dataclasses.replace(f, density=8 * f.density)
    assert cusick(heavy, COARSE, drapings=1).coefficient < cotton.coefficient - 0.1


def test_only_the_ratios_count(cotton):
    """Density and all stiffness doubled: the same drape."""
    f = fabric("cotton")
    names = ("density", "stretch_warp", "stretch_weft", "shear", "bending_warp", "bending_weft")
    double = dataclasses.replace(f, **{n: 2 * getattr(f, n) for n in names})
    got = cusick(double, COARSE, drapings=1).drapings[0]
    assert got.coefficient == pytest.approx(cotton.drapings[0].coefficient, abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "points"), [("wool", 0.02), ("denim", 0.05)])
def test_meshes_agree(name, points):
    """Two resolutions and two random meshes: within two points, but where one mesh leads to five
    folds and another one to six, as denim's do.
    """
    found = [cusick(fabric(name), s, mesh_seed=m).coefficient for s, m in ((5e-3, 0), (6e-3, 1))]
    assert np.ptp(found) < points


def test_no_rigidity():
    limp = dataclasses.replace(fabric("silk"), bending_weft=0.0)
    with refused(WeftError, "bending_weft of silk"):
        cusick(limp)


@pytest.mark.parametrize(("size", "n"), [(0.5e-3, 1), (0.1, 1), (5e-3, 0), (float("nan"), 1)])
def test_bad_input(size, n):
    with refused(WeftError, "size" if n else "drapings"):
        cusick(fabric("silk"), size, n)
