"""What keeps frames rigid, and joints: derivatives, invariance, projection, the production face."""

import numpy as np
import pytest

from tests.checks import InStep, assert_derivative, clamp, dense, rotations, scatter
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.energies import rigid_energies
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.bodies.rigid.rigidity import Rigidity
from weft.contact import Joint, Rigid, box
from weft.energies.springs.point_springs import PointSprings
from weft.solve.newton.psd import Psd

pytestmark = pytest.mark.quick

JOINTS = [
    Joint(kind, axis=(1.0, 2.0, 0.5), point=(0.0, 0.4, 0.1))
    for kind in ("ball", "hinge", "slider", "fixed_rotation")
]


def loose(first=0):
    bodies = [
        AffineBody(
            box((0.1, 0.2, 0.3), 0.3).move((k, 0.1, 0.0)), Rigid(1e3, joints=[j]), first + 4 * k
        )
        for k, j in enumerate(JOINTS)
    ]
    return RigidBodies(bodies, first + 16)


def energies(first=0):
    return rigid_energies(loose(first))


def squeezed(rng):
    return np.array(loose().points) + 0.03 * rng.normal(size=(16, 3))


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("which", [0, 1])
def test_derivatives_and_projection(which, rng):
    energy, x = energies()[which], squeezed(rng)
    d = rng.normal(size=x.shape)
    assert_derivative(lambda y: energy.value(y).sum(), (scatter(energy, x) * d).sum(), x, d, 1e-7)
    exact = (dense(energy, x) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda y: scatter(energy, y), exact, x, d, 1e-7)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("psd", list(Psd))
def test_production_face(which, psd, rng, device):
    """Value, gradient and matrix beside other points; the matrix that searches get is projected."""
    first = 3
    energy, x = energies(first)[which], np.concatenate([np.ones((first, 3)), squeezed(rng)])
    made, force, exact = InStep(energy, len(x)), scatter(energy, x), dense(energy, x)
    assert made.value(x) == pytest.approx(energy.value(x).sum(), rel=1e-12)
    np.testing.assert_allclose(made.gradient(x), force, atol=1e-12 * np.abs(force).max())
    wanted = exact if psd is Psd.EXACT else np.zeros_like(exact)
    if psd is not Psd.EXACT:
        for k, ids in enumerate(energy.stencil):
            own = (3 * ids[:, None] + np.arange(3)).reshape(-1)
            local = energy.hessian(x)[k].transpose(0, 2, 1, 3).reshape(12, 12)
            wanted[np.ix_(own, own)] += clamp(local[None])[0]
    np.testing.assert_allclose(made.matrix(x, psd), wanted, atol=1e-9 * np.abs(exact).max())


def test_rigid_motions_cost_nothing(rng):
    """Turned and moved bodies have no energy, and stretched ones the same in every direction."""
    rigidity, _ = energies()
    x = np.array(loose().points)
    assert rigidity.value(x).max() < 1e-12 * rigidity.stiffness.max()
    y = squeezed(rng)
    for R in rotations(3):
        moved = x @ R.T + (1.0, -2.0, 0.3)
        assert rigidity.value(moved).max() < 1e-24 * rigidity.stiffness.max()
        np.testing.assert_allclose(rigidity.value(y @ R.T), rigidity.value(y), rtol=1e-9)
        forces = rigidity.gradient(y)
        np.testing.assert_allclose(rigidity.gradient(y @ R.T), forces @ R.T, rtol=1e-8, atol=1e-3)
        assert np.abs(forces.sum(1)).max() < 1e-9 * np.abs(forces).max()
        torque = np.cross(y[rigidity.stencil], forces).sum(1)
        assert np.abs(torque).max() < 1e-9 * np.abs(forces).max()


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
    about = (
        np.outer(axis, axis) * (1 - np.cos(0.7))
        + np.cos(0.7) * np.eye(3)
        + np.sin(0.7)
        * (np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]]))
    )
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


def test_kinds():
    assert isinstance(energies()[0], Rigidity) and isinstance(energies()[1], PointSprings)
    assert rigid_energies(RigidBodies()) == ()
