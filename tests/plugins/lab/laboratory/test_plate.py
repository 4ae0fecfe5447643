"""Hinges that bend as a plate: cylinders along warp and weft cost what they should."""

import numpy as np
import pytest

from weft.discretization.mesh import grid
from weft.discretization.triangulate import triangulate_piece
from weft.plugins.lab.laboratory.cusick import specimen
from weft.plugins.lab.laboratory.plate import (
    cylinder_angles,
    cylinder_energies,
    plate_friction,
    plate_hinges,
)

SQUARE = [[0, 0], [0.2, 0], [0.2, 0.2], [0, 0.2]]
RIGID = (3e-6, 1e-6)


def bent(mesh, along, curvature):
    """(n,3) a cylinder of small curvature about weft (0) or warp (1)."""
    x = np.array(mesh.vertices)
    x[:, 1] = 0.5 * curvature * mesh.vertex_uv[:, along] ** 2
    return x


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("along", [0, 1])
def test_cylinders(seed, along):
    """The energy of a bent mesh is 1/2 D kappa^2 A."""
    mesh = triangulate_piece(SQUARE, [], 0.01, seed=seed)
    hinges, curvature = plate_hinges(mesh, RIGID), 1e-3
    energy = hinges.value(bent(mesh, along, curvature)).sum()
    assert energy == pytest.approx(0.5 * RIGID[along] * curvature**2 * 0.04, rel=1e-6)


def test_the_usual_weights_are_a_quarter_stiffer():
    """docs/bending.md: a cylinder that is forced costs 5/4 of D."""
    mesh, _, _ = specimen(4e-3, 0)
    assert cylinder_energies(mesh).sum(1) == pytest.approx(1.25, abs=0.04)


def test_a_grid():
    mesh = grid(41, 41, 0.2, 0.2, "regular")
    hinges = plate_hinges(mesh, (1e-6, 1e-6))
    energy = hinges.value(bent(mesh, 0, 1e-3)).sum()
    assert energy == pytest.approx(0.5e-6 * 1e-6 * 0.04, rel=1e-6)


def test_a_ratio_that_no_weights_have():
    mesh = triangulate_piece(SQUARE, [], 0.01)
    hinges = plate_hinges(mesh, (1e-5, 1e-7))
    assert (hinges.weight >= 0).all()
    energy = hinges.value(bent(mesh, 0, 1e-3)).sum()
    assert energy == pytest.approx(0.5e-5 * 1e-6 * 0.04, rel=1e-6)


def test_cylinders_pay_half_of_the_hysteresis():
    """Per area and curvature, along warp and weft, however the triangles lie."""
    mesh, _, _ = specimen(10e-3, 3)
    friction = plate_friction(mesh, (2e-3, 1e-3))
    moments = friction.weight * friction.slip
    paid = np.abs(cylinder_angles(mesh)) @ moments / mesh.rest_area.sum()
    np.testing.assert_allclose(paid, [1e-3, 5e-4], rtol=1e-12)
