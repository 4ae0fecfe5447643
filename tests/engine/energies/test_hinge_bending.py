"""Hinges: the angle against another formula, the stiffness against cylinders, and what has none."""

import numpy as np
import pytest

from tests.reference import dihedral
from weft.discretization.mesh import grid
from weft.energies.elastic.hinge_bending import HingeBending, dihedral_angles
from weft.energies.elastic.hinge_weights import STRIP

pytestmark = pytest.mark.quick

HINGE = np.array([[0, 1, 2, 3]], dtype=np.int32)


def test_angle_equals_the_reference(rng):
    for _ in range(200):
        x = rng.normal(size=(4, 3))
        assert dihedral_angles(x, HINGE)[0] == pytest.approx(dihedral.angle(*x), abs=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-9, -1e-9, 0.5, -0.5, 3.0, -3.0, 3.14159, -3.14159])
def test_angle_over_the_whole_circle(angle):
    """atan2 keeps its digits at 0 and near +-pi, where arccos has none."""
    x = np.array([[0, 0, 0], [0, 0, 1.0], [-1, 0, 0.3], [np.cos(angle), np.sin(angle), 0.6]])
    got = dihedral_angles(x, HINGE)[0]
    assert abs(got) == pytest.approx(abs(angle), rel=1e-12, abs=1e-16)


def cylinder_energy(mesh, radius, axis, D=(1.0, 1.0)):
    """Bending energy per area of the inner part of a sheet rolled onto a cylinder."""
    u = mesh.vertices[:, 0] if axis == "warp" else -mesh.vertices[:, 2]
    other = -mesh.vertices[:, 2] if axis == "warp" else mesh.vertices[:, 0]
    x = np.stack([radius * np.sin(u / radius), radius * np.cos(u / radius), other], axis=1)
    bending = HingeBending.of(mesh, D)
    inner = np.abs(mesh.vertices[mesh.hinges[:, :2]][..., [0, 2]].mean(1)).max(1) < 0.25
    return bending.value(x)[inner].sum() / 0.25


@pytest.mark.parametrize("axis", ["warp", "weft"])
def test_cylinder_on_a_grid(axis):
    """docs/explanations/bending.md: z_xx = 1/R gives 1/2 w-scale (a + b)^2 with b = 0: 5/4 D / (2
    R^2)."""
    mesh = grid(81, 81, 1.0, 1.0)
    got = cylinder_energy(mesh, 3.0, axis)
    assert got == pytest.approx(STRIP * 0.5 / 9, rel=0.03)


def test_cylinder_of_two_stiffnesses():
    """Rolled about the weft, only the warp yarns bend; the diagonals take half of each."""
    mesh = grid(41, 41, 1.0, 1.0)
    warp_only = cylinder_energy(mesh, 3.0, "warp", (1.0, 0.0))
    weft_only = cylinder_energy(mesh, 3.0, "warp", (0.0, 1.0))
    both = cylinder_energy(mesh, 3.0, "warp", (1.0, 1.0))
    assert warp_only + weft_only == pytest.approx(both, rel=1e-12)
    assert warp_only > 2.5 * weft_only


def test_given_rest_angles():
    mesh = grid(4, 4, 1, 1)
    rest = np.linspace(-1, 1, len(mesh.hinges))
    bending = HingeBending.of(mesh, (1.0, 1.0), rest)
    np.testing.assert_allclose(
        bending.value(mesh.vertices), 0.5 * bending.weight * rest**2, rtol=1e-12
    )


def test_rest_angle_near_pi_takes_the_short_way():
    """A fold of +3.1 with rest angle -3.1 is 0.083 off, not 6.2."""
    x = np.array([[0, 0, 0], [0, 0, 1.0], [-1, 0, 0.3], [np.cos(3.1), np.sin(3.1), 0.6]])
    sign = np.sign(dihedral_angles(x, HINGE)[0])
    bending = HingeBending(HINGE, np.ones(1), np.array([-sign * 3.1]), 4)
    assert bending.value(x)[0] == pytest.approx(0.5 * (2 * np.pi - 6.2) ** 2, rel=1e-9)


def test_collapsed_face_is_finite():
    x = np.array([[0, 0, 0], [1.0, 0, 0], [0.5, 0, 0], [0.5, 0, 1]])
    bending = HingeBending(HINGE, np.ones(1), np.zeros(1), 4)
    from weft.laws import Psd

    assert np.isfinite(bending.gradient(x)).all()
    for psd in Psd:
        assert np.isfinite(bending.hessian(x, psd)).all()
