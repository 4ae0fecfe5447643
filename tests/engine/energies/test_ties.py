"""Ties, rings that keep apart, and releases: closed forms, friction and bristles."""

import dataclasses

import numpy as np
import pytest

from tests.checks import InStep, still
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

N, M = 12, 4
STIFF = np.array([3.0, 4.0, 5.0, 6.0])
RAIL = np.array([[-2.0, 0, 0], [0, 0.3, 0], [1, 0.2, 0.4], [3, 0, 0]])
ONE = np.arange(M, dtype=np.int32)[:, None]
TWO = np.stack([np.arange(M), np.arange(M) + M], axis=1).astype(np.int32)
THREE = np.stack([np.arange(M) + 2 * k for k in range(3)], axis=1).astype(np.int32)
PAIR, SHARES = np.tile([1.0, -1.0], (M, 1)), np.tile([0.5, 0.3, 0.2], (M, 1))
KINDS = ("place", "combined", "two points", "spring", "rope", "ring", "ring with radius")


def places(seed=5):
    return FixedAnchor(np.random.default_rng(seed).normal(size=(M, 3)))


def of(kind, **more):
    if kind == "place":
        return PointSprings(ONE, np.ones((M, 1)), STIFF, place=places(), **more)
    if kind == "combined":
        return PointSprings(THREE, SHARES, STIFF, length=0.4, place=places(), **more)
    if kind in ("two points", "spring", "rope"):
        length = {"two points": 0.0, "spring": 1.5, "rope": 1.0}[kind]
        rope = {"pulls": True, "onset": np.full(M, 0.8)} if kind == "rope" else {}
        return PointSprings(TWO, PAIR, STIFF, length=length, **rope, **more)
    radius = 0.3 if "radius" in kind else 0.0
    along = arc_lengths(RAIL)
    return PointSprings(
        THREE, SHARES, STIFF, length=radius, rail=FixedAnchor(RAIL), along=along, **more
    )


def spacing(x):
    rings = of("ring")
    order = np.argsort(rings.coordinates(x)[:, 1])
    pairs = np.stack([order[:-1], order[1:]], axis=1).astype(np.int32)
    return RingSpacing(rings, pairs, 0.9, np.full(M - 1, 7.0))


def push(e, k, onset):
    """Energies of ropes that are longer by e than their length."""
    soft = k * e**3 / (6 * onset) if onset > 0 else 0.0 * e
    firm = k * ((e - onset / 2) ** 2 / 2 + onset**2 / 24)
    return np.where(e > 0, np.where(e < onset, soft, firm), 0.0)


def independent(energy, x):
    """Energies by another formulation: distances in NumPy, feet by ``feet_on``."""
    if isinstance(energy, RingSpacing):
        s = feet_on(energy.rings.attached_positions(x), RAIL, energy.rings.along).s
        apart = s[energy.pairs[:, 1]] - s[energy.pairs[:, 0]]
        return push(energy.apart - apart, energy.stiffness, 0.1 * energy.apart)
    A = np.einsum("ma,mai->mi", energy.c, x[energy.stencil])
    foot = energy.places(None, 0.0)
    if energy.rail is not None:
        foot = feet_on(A, RAIL, energy.along).place
    e = np.linalg.norm(A - foot, axis=1) - energy.lengths(0.0)
    if energy.pulls:
        return push(e, energy.stiffness, energy.onset[0])
    return energy.stiffness * e**2 / 2


@pytest.mark.parametrize("kind", (*KINDS, "spacing"))
def test_energies_by_another_formulation(kind, rng):
    """Their derivatives are in ``test_energies.py``."""
    x = rng.normal(size=(N, 3))
    energy = spacing(x) if kind == "spacing" else of(kind)
    assert np.abs(energy.value(x)).max() > 0
    np.testing.assert_allclose(energy.value(x), independent(energy, x), rtol=1e-12, atol=1e-14)


def test_a_rope_is_slack_and_c2(rng):
    """Nothing below its length; third differences of the energy stay bounded at both ends of the
    onset.
    """
    rope = PointSprings(
        ONE[:1],
        np.ones((1, 1)),
        STIFF[:1],
        length=1.0,
        pulls=True,
        onset=np.array([0.2]),
        place=FixedAnchor(np.zeros((1, 3))),
    )

    def at(r):
        x = np.array([[r, 0.0, 0.0]])
        return rope.value(x)[0], rope.forces_along(x)[0, 0], rope.hessian(x)[0, 0, 0, 0, 0]

    assert at(0.999) == (0, 0, 0)
    for r in (1.0, 1.2):
        low, high = np.array(at(r - 1e-9)), np.array(at(r + 1e-9))
        np.testing.assert_allclose(low, high, atol=1e-7)
    assert at(2.0)[1] == pytest.approx(STIFF[0] * 0.9) and at(2.0)[2] == STIFF[0]


def frozen_step(x, v, kept=None, dt=0.01):
    return dataclasses.replace(still(x, dt=dt, span=dt, v=v), memory=kept or {})


def lost(energy, x, y, v):
    """[J] in a step from x to y, beside the elastic energy at y."""
    face = InStep(energy, N, frozen_step(x, v))
    elastic, found = face.bound.terms(kernel.points(y)).values()
    assert elastic == pytest.approx(independent(energy, y).sum(), rel=1e-12)
    assert elastic + found == pytest.approx(face.value(y), rel=1e-12)
    return found


@pytest.fixture
def moved(rng):
    x = rng.normal(size=(N, 3))
    return x, x + 0.02 * rng.normal(size=(N, 3)), rng.normal(size=(N, 3))


def test_damping_of_springs(moved):
    energy, (x, y, v) = of("spring", damping=0.02), moved
    r0, r = (np.linalg.norm(energy.attached_positions(z), axis=1) for z in (x, y))
    damped = 0.02 / 0.01 * STIFF * (r - r0) ** 2 / 2
    assert lost(energy, x, y, v) == pytest.approx(damped.sum(), rel=1e-10)


def test_friction_of_rings(moved):
    slip = 0.05
    energy, (x, y, v) = of("ring with radius", friction=0.4, slip=slip), moved
    s0, s = (feet_on(energy.attached_positions(z), RAIL, energy.along).s for z in (x, y))
    normal = np.abs(STIFF * (np.linalg.norm(off(energy, x), axis=1) - 0.3))
    u = np.abs(s - s0)
    soft = slip * (u / slip) ** 2 * (1 - u / slip / 3)
    drag = 0.4 * normal * np.where(u < slip, soft, u - slip / 3)
    assert lost(energy, x, y, v) == pytest.approx(drag.sum(), rel=1e-10)


def off(energy, x):
    """(m,3) from the rail to the rings."""
    A = energy.attached_positions(x)
    return A - feet_on(A, RAIL, energy.along).place


def test_feet(rng):
    """Nearest of 20 000 places of the rail; only within the part that is asked for."""
    x = rng.normal(size=(30, 3))
    along = arc_lengths(RAIL)
    found = feet_on(x, RAIL, along)
    s = np.linspace(0, along[-1], 20001)
    dots = np.stack([np.interp(s, along, RAIL[:, k]) for k in range(3)], axis=1)
    far = np.linalg.norm(x[:, None] - dots[None], axis=2)
    np.testing.assert_allclose(found.s, s[far.argmin(1)], atol=2e-4)
    np.testing.assert_allclose(np.linalg.norm(x - found.place, axis=1), far.min(1), atol=5e-5)
    late = feet_on(x, RAIL, along, low=along[2] + 1e-6)
    assert (late.s >= along[2]).all()


def test_bristles_follow_at_one_slip():
    """A ring that slid is rooted one slip behind; the next step begins from there."""
    rail = FixedAnchor(np.array([[0.0, 0, 0], [9, 0, 0]]))
    rings = PointSprings(
        ONE[:1],
        np.ones((1, 1)),
        STIFF[:1],
        "ring",
        rail=rail,
        along=np.array([0.0, 9.0]),
        friction=0.5,
        slip=0.1,
    )
    bound = rings.bind(BlockPattern.of(1, []))
    x = np.array([[2.0, 0.01, 0.0]])
    bound.freeze(frozen_step(x, np.zeros((1, 3))))
    (root,) = bound.remember(kernel.points(x + [[0.3, 0, 0]])).values()
    assert root == pytest.approx(2.2)
    (root,) = bound.remember(kernel.points(x + [[0.04, 0, 0]])).values()
    assert root == pytest.approx(2.0)
    step = frozen_step(x, np.zeros((1, 3)), {"ring root": np.array([1.95])})
    bound.freeze(step)
    g = kernel.zeros(1, vec3)
    bound.add_gradient(kernel.points(x), g)
    assert kernel.numpy(g)[0, 0] == pytest.approx(0.5 * 0.03 * 0.75)  # mu k r (2 y - y^2), y = 1/2


def test_releases():
    """Each point by itself, at a force or by a function; what has gone stays."""
    held = Held(0.3, np.zeros((3, 3)), np.array([1.0, 5.0, 9.0]), np.array([True, True, False]))
    assert Release(force=4.0).released_points(held).tolist() == [False, True, False]
    some = Release(when=lambda h: h.force < 2).released_points(held)
    assert some.tolist() == [True, False, False]
    assert Release(when=lambda h: h.t > 0.2).released_points(held).tolist() == [True, True, False]
    assert not Release(at=0.5).expired(0.5) and Release(at=0.5).expired(0.51)
    with refused(SceneError, "release.when", got="float64", expected="3"):
        Release(when=lambda h: h.force).released_points(held)
