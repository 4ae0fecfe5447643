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


def bent(mesh, along, curvature):
    """(n,3) a cylinder of small curvature about weft (0) or warp (1)."""
    x = np.array(mesh.vertices)
    x[:, 1] = 0.5 * curvature * mesh.vertex_uv[:, along] ** 2
    return x


@pytest.mark.parametrize("along", [0, 1])
@pytest.mark.parametrize(
    "mesh, rigid",
    [
        (triangulate_piece(SQUARE, [], 0.01, seed=1), (3e-6, 1e-6)),
        (triangulate_piece(SQUARE, [], 0.01), (1e-5, 1e-7)),  # a ratio that no weights have
        (grid(41, 41, 0.2, 0.2, "regular"), (1e-6, 1e-6)),
    ],
    ids=["random", "ratio", "grid"],
)
def test_cylinders(mesh, rigid, along):
    """The energy of a bent mesh is 1/2 D kappa^2 A."""
    hinges, curvature = plate_hinges(mesh, rigid), 1e-3
    assert (hinges.weight >= 0).all()
    energy = hinges.value(bent(mesh, along, curvature)).sum()
    assert energy == pytest.approx(0.5 * rigid[along] * curvature**2 * 0.04, rel=1e-6)


def test_the_usual_weights_are_a_quarter_stiffer():
    """docs/explanations/bending.md: a cylinder that is forced costs 5/4 of D."""
    mesh, _, _ = specimen(4e-3, 0)
    assert cylinder_energies(mesh).sum(1) == pytest.approx(1.25, abs=0.04)


def test_cylinders_pay_half_of_the_hysteresis():
    """Per area and curvature, along warp and weft, however the triangles lie."""
    mesh, _, _ = specimen(10e-3, 3)
    friction = plate_friction(mesh, (2e-3, 1e-3))
    moments = friction.weight * friction.slip
    paid = np.abs(cylinder_angles(mesh)) @ moments / mesh.rest_area.sum()
    np.testing.assert_allclose(paid, [1e-3, 5e-4], rtol=1e-12)
