"""Hinges of ARCSim's bending tables: their moment is ARCSim's, and its integral is their energy."""

import numpy as np
import pytest

from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.hinge_bending import HingeBending, dihedral_angles
from weft.energies.elastic.measured_bending import MeasuredBending

pytestmark = pytest.mark.quick

TABLE = 1e-5 * np.array([[9, 7, 6, 5.5, 5.2], [11, 6, 5, 6, 8], [15, 11, 9, 8, 7.5]])


def arcsims_moment(bending, edge, length, areas, angle):
    """Moment over dtheta of a hinge in ARCSim's forces; the curvature is halved there."""
    place = np.degrees(np.arctan2(abs(edge[1]), abs(edge[0]))) / 45
    row = min(int(place), 1)
    numbers = bending[row] + (place - row) * (bending[row + 1] - bending[row])
    column = 0.2 * abs(angle) * length / areas / 2
    k = np.interp(column, range(5), numbers)
    return k * length**2 / (2 * areas) * angle / 2


def flap(turned, angle):
    """Two triangles with the common edge along a direction [degrees], folded by an angle [rad]."""
    c, s = np.cos(np.radians(turned)), np.sin(np.radians(turned))
    R = 0.02 * np.array([[c, -s], [s, c]])
    uv = np.array([[0, 0], [1, 0], [0.4, 0.9], [0.5, -0.7]]) @ R.T
    x = np.zeros((4, 3))
    x[:, :2] = 0.02 * np.array([[0, 0], [1, 0], [0.4, 0.9], [0.5, 0]])
    x[3] = 0.02 * np.array([0.5, -0.7 * np.cos(angle), -0.7 * np.sin(angle)])
    return TriangleMesh(x, np.array([[0, 1, 2], [1, 0, 3]]), uv[[[0, 1, 2], [1, 0, 3]]])


@pytest.mark.parametrize("turned", [0, 20, 45, 70, 90, 110])
def test_moment_is_arcsims(turned):
    for angle in (-2.0, -0.3, 0.004, 0.1, 0.25, 0.6, 1.0):
        mesh = flap(turned, angle)
        energy = MeasuredBending.of_table(mesh, 0.2 * TABLE)
        theta = dihedral_angles(mesh.vertices, mesh.hinges)[0]
        assert abs(theta) == pytest.approx(abs(angle))
        unit = HingeBending(energy.hinges, np.ones(1), energy.rest_angle, 4)
        edge = mesh.corner_uv[0, 1] - mesh.corner_uv[0, 0]
        wanted = arcsims_moment(TABLE, edge, 0.02, mesh.rest_area.sum(), theta)
        slope = unit.gradient(mesh.vertices) / theta  # d theta/dx
        np.testing.assert_allclose(energy.gradient(mesh.vertices), wanted * slope, rtol=1e-9)
