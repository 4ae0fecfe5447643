"""What keeps frames rigid, and joints: the stiffness, and which motions are free."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.checks import rotations
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.energies import rigid_energies
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.contact import Joint, Rigid, box

pytestmark = pytest.mark.quick

JOINTS = [
    Joint(kind, axis=(1.0, 2.0, 0.5), point=(0.0, 0.4, 0.1))
    for kind in ("ball", "hinge", "slider", "fixed_rotation")
]


def loose():
    bodies = [
        AffineBody(box((0.1, 0.2, 0.3), 0.3).move((k, 0.1, 0.0)), Rigid(1e3, joints=[j]), 4 * k)
        for k, j in enumerate(JOINTS)
    ]
    return RigidBodies(bodies, 16)


def energies():
    return rigid_energies(loose())


def test_turned_bodies_have_no_energy():
    rigidity, _ = energies()
    x = np.array(loose().points)
    assert rigidity.value(x).max() < 1e-12 * rigidity.stiffness.max()
    moved = x @ rotations(1)[0].T + (1.0, -2.0, 0.3)
    assert rigidity.value(moved).max() < 1e-24 * rigidity.stiffness.max()


def test_the_stiffness_is_youngs_modulus():
    """Stretched by e along one axis, a body has the energy Y V e^2/2, to first order in e."""
    body = loose().affine[0]
    rigidity, _ = energies()
    for axis in range(3):
        stretch = np.ones(3)
        stretch[axis] += 1e-5
        x = (np.array(loose().points) - body.solid.center) * stretch
        expected = 1e8 * 0.006 * 1e-10 / 2
        assert rigidity.value(x)[0] == pytest.approx(expected, rel=1e-4)


def test_what_joints_hold():
    """Each joint lets through its own motions, and holds all others."""
    _, joints = energies()
    turn = rotations(1)[0]
    axis = np.array([1.0, 2.0, 0.5]) / np.linalg.norm([1.0, 2.0, 0.5])
    about = Rotation.from_rotvec(0.7 * axis).as_matrix()
    point = np.array([0.0, 0.4, 0.1])
    motions = {
        "turn about the point": lambda x: (x - point) @ turn.T + point,
        "turn about the axis": lambda x: (x - point) @ about.T + point,
        "slide": lambda x: x + 0.2 * axis,
        "move": lambda x: x + (0.1, -0.2, 0.3),
    }
    free = {
        0: {"turn about the point", "turn about the axis"},
        1: {"turn about the axis"},
        2: {"slide"},
        3: {"slide", "move"},
    }
    rows = {k: [i for i, ids in enumerate(joints.stencil) if ids[0] == 4 * k] for k in range(4)}
    x = np.array(loose().points)
    for name, motion in motions.items():
        energy = joints.value(np.asarray(motion(x)))
        for k, own in rows.items():
            assert (energy[own].sum() < 1e-9) == (name in free[k]), (name, JOINTS[k].kind)
