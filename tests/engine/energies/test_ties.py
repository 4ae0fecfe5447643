"""Ties, rings that keep apart, and releases: closed forms, friction and bristles. Their derivatives
are in ``test_energies.py``.
"""

import dataclasses

import numpy as np
import pytest

from tests.checks import InStep, still
from tests.engine.energies.builders import EACH, MESH, RAIL, crumple, rings, ropes, spacing, springs
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SceneError
from weft.bodies.joints.anchors import FixedAnchor
from weft.discretization.polygon import arc_lengths
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.rail import feet_on
from weft.energies.springs.release import Held, Release
from weft.energies.springs.ring_spacing import RingSpacing
from weft.kernel import vec3
from weft.solve.sparse.block_csr import BlockPattern

pytestmark = pytest.mark.quick

X, ALONG = crumple(MESH.vertices, 1), arc_lengths(RAIL.start)


def push(e, k, onset):
    """Energies of ropes that are longer by e than their length."""
    soft = k * e**3 / (6 * onset)
    firm = k * ((e - onset / 2) ** 2 / 2 + onset**2 / 24)
    return np.where(e > 0, np.where(e < onset, soft, firm), 0.0)


def feet(energy, x):
    return feet_on(energy.attached_positions(x), RAIL.start, ALONG)


def independent(energy, x):
    """Energies by another formulation: distances in NumPy, feet by ``feet_on``."""
    if isinstance(energy, RingSpacing):
        s = feet(energy.rings, x).s
        apart = s[energy.pairs[:, 1]] - s[energy.pairs[:, 0]]
        return push(energy.apart - apart, energy.stiffness, 0.1 * energy.apart)
    A = np.einsum("ma,mai->mi", energy.c, x[energy.stencil])
    foot = energy.places(None, 0.0) if energy.rail is None else feet(energy, x).place
    e = np.linalg.norm(A - foot, axis=1) - energy.lengths(0.0)
    if energy.pulls:
        return push(e, energy.stiffness, energy.onset)
    return energy.stiffness * e**2 / 2


@pytest.mark.parametrize("make", [springs, ropes, rings, spacing], ids=lambda make: make.__name__)
def test_energies_by_another_formulation(make):
    energy = make(MESH)
    assert np.abs(energy.value(X)).max() > 0
    np.testing.assert_allclose(energy.value(X), independent(energy, X), rtol=1e-12, atol=1e-14)


def test_a_rope_is_slack_and_c2():
    """Nothing below its length; third differences of the energy stay bounded at both ends of the
    onset.
    """
    one, place = np.zeros((1, 1), np.int32), FixedAnchor(np.zeros((1, 3)))
    rope = PointSprings(
        one, np.ones((1, 1)), np.array([3.0]), length=1.0, place=place, pulls=True, onset=[0.2]
    )

    def at(r):
        x = np.array([[r, 0.0, 0.0]])
        return rope.value(x)[0], rope.forces_along(x)[0, 0], rope.hessian(x)[0, 0, 0, 0, 0]

    assert at(0.999) == (0, 0, 0)
    for r in (1.0, 1.2):
        low, high = np.array(at(r - 1e-9)), np.array(at(r + 1e-9))
        np.testing.assert_allclose(low, high, atol=1e-7)
    assert at(2.0)[1] == pytest.approx(3.0 * 0.9) and at(2.0)[2] == 3.0


def frozen_step(x, v, kept=None, dt=0.01):
    return dataclasses.replace(still(x, dt=dt, span=dt, v=v), memory=kept or {})


Y = crumple(X, 2, 0.02)


def lost(energy):
    """[J] in a step of 10 ms from X to Y, beside the elastic energy at Y."""
    face = InStep(energy, len(X), frozen_step(X, np.zeros_like(X)))
    elastic, found = face.bound.terms(kernel.points(Y)).values()
    assert elastic == pytest.approx(independent(energy, Y).sum(), rel=1e-12)
    assert elastic + found == pytest.approx(face.value(Y), rel=1e-12)
    return found


def test_damping_of_springs():
    energy = springs(MESH, damping=0.02)
    r0, r = (np.linalg.norm(energy.attached_positions(z), axis=1) for z in (X, Y))
    damped = 0.02 / 0.01 * energy.stiffness * (r - r0) ** 2 / 2
    assert lost(energy) == pytest.approx(damped.sum(), rel=1e-10)


def test_friction_of_rings():
    slip, radius = 0.02, 0.05
    energy = rings(MESH, 20.0, radius, 0.4, slip)
    off = energy.attached_positions(X) - feet(energy, X).place
    normal = np.abs(20.0 * EACH * (np.linalg.norm(off, axis=1) - radius))
    u = np.abs(feet(energy, Y).s - feet(energy, X).s)
    assert u.min() < slip < u.max()
    soft = slip * (u / slip) ** 2 * (1 - u / slip / 3)
    drag = 0.4 * normal * np.where(u < slip, soft, u - slip / 3)
    assert lost(energy) == pytest.approx(drag.sum(), rel=1e-10)


def test_feet(rng):
    """Nearest of 20 000 places of the rail; only within the part that is asked for."""
    x = rng.normal(size=(30, 3))
    found = feet_on(x, RAIL.start, ALONG)
    s = np.linspace(0, ALONG[-1], 20001)
    dots = np.stack([np.interp(s, ALONG, c) for c in RAIL.start.T], axis=1)
    far = np.linalg.norm(x[:, None] - dots[None], axis=2)
    np.testing.assert_allclose(found.s, s[far.argmin(1)], atol=2e-4)
    np.testing.assert_allclose(np.linalg.norm(x - found.place, axis=1), far.min(1), atol=5e-5)
    assert (feet_on(x, RAIL.start, ALONG, low=ALONG[1] + 1e-6).s >= ALONG[1]).all()


def test_bristles_follow_at_one_slip():
    """A ring that slid is rooted one slip behind; the next step begins from there."""
    ring = PointSprings(
        np.zeros((1, 1), np.int32),
        np.ones((1, 1)),
        np.array([3.0]),
        "ring",
        rail=FixedAnchor(np.array([[0.0, 0, 0], [9, 0, 0]])),
        along=np.array([0.0, 9.0]),
        friction=0.5,
        slip=0.1,
    )
    bound, v = ring.bind(BlockPattern.of(1, [])), np.zeros((1, 3))
    x = np.array([[2.0, 0.01, 0.0]])
    bound.freeze(frozen_step(x, v))
    for shift, expected in ((0.3, 2.2), (0.04, 2.0)):
        (root,) = bound.remember(kernel.points(x + [[shift, 0, 0]])).values()
        assert root == pytest.approx(expected)
    bound.freeze(frozen_step(x, v, {"ring root": np.array([1.95])}))
    g = kernel.zeros(1, vec3)
    bound.add_gradient(kernel.points(x), g)
    assert kernel.numpy(g)[0, 0] == pytest.approx(0.5 * 0.03 * 0.75)  # mu k r (2 y - y^2), y = 1/2


def test_releases():
    """Each point by itself, at a force or by a function; what has gone stays."""
    held = Held(0.3, np.zeros((3, 3)), np.array([1.0, 5.0, 9.0]), np.array([True, True, False]))
    assert Release(force=4.0).released_points(held).tolist() == [False, True, False]
    some = Release(when=lambda h: h.force < 2).released_points(held)
    assert some.tolist() == [True, False, False]
    assert not Release(at=0.5).expired(0.5) and Release(at=0.5).expired(0.51)
    with refused(SceneError, "release.when", got="float64", expected="3"):
        Release(when=lambda h: h.force).released_points(held)
