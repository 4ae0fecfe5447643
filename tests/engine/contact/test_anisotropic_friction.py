"""Friction twice as large along the warp: another law, with an elliptic norm of the slip, and
nothing else.
"""

import numpy as np
import pytest
import warp as wp

from tests.engine.adjoint.cases import quotient
from tests.engine.contact.test_barrier import SCENES, contacts
from tests.engine.contact.test_friction import MU, SMOOTH, check_derivatives, gradient_of, one_pair
from tests.reference.contact_sets import uniform_friction
from weft import kernel
from weft.contact.derivatives.reverse_kernels import FrictionReverse
from weft.contact.friction.friction import FrictionInputs, FrictionSet, normal_forces
from weft.contact.friction.law import (
    FrictionCurvature,
    FrictionLaw,
    SlidingPair,
    smoothed_curvature,
    smoothed_energy,
    smoothed_slope,
)
from weft.kernel import Scalar, vec2

# The warp is the x axis. With w the slip along it, y^2 = |u|^2 + 3 w^2 = u . M u.


@wp.func
def metric(u: vec2, s: SlidingPair):
    """Return M u."""
    w = u[0] * s.t0[0] + u[1] * s.t1[0]
    return u + Scalar(3.0) * w * vec2(s.t0[0], s.t1[0])


@wp.func
def norm(u: vec2, s: SlidingPair):
    return wp.sqrt(wp.max(wp.dot(u, metric(u, s)), Scalar(1e-300)))


@wp.func
def elliptic_energy(u: vec2, s: SlidingPair):
    return smoothed_energy(norm(u, s), s)


@wp.func
def elliptic_slope(u: vec2, s: SlidingPair):
    return smoothed_slope(norm(u, s), s) * metric(u, s)


@wp.func
def elliptic_curvature(u: vec2, s: SlidingPair):
    y = norm(u, s)
    out = FrictionCurvature()
    g = metric(vec2(Scalar(1.0), Scalar(0.0)), s)
    length = wp.sqrt(g[0])
    if wp.dot(u, u) > Scalar(0.0):
        g = metric(u, s)
        length = y
    out.a = g / length
    # M = a a^T + c c^T
    det = Scalar(1.0) + Scalar(3.0) * (s.t0[0] * s.t0[0] + s.t1[0] * s.t1[0])
    across = vec2(-u[1], u[0])
    if wp.dot(u, u) == Scalar(0.0):
        across = vec2(Scalar(0.0), Scalar(1.0))
    out.c = (wp.sqrt(det) / length) * across
    out.second = smoothed_curvature(y, s)
    out.over = smoothed_slope(y, s)
    return out


ELLIPTIC = FrictionLaw("elliptic", elliptic_energy, elliptic_slope, elliptic_curvature)


@pytest.mark.parametrize(
    "way, factor",
    [((1.0, 0.0), 2.0), ((0.0, 1.0), 1.0), ((1.0, 1.0), np.sqrt(8.5 / 2.5))],
    ids=["warp", "weft", "both"],
)
def test_sliding_force(way, factor):
    """2 mu N along the warp and mu N along the weft; at 45 degrees |M u|/sqrt(u . M u)."""
    x, one = one_pair()
    friction = FrictionSet.of(one, x, x, uniform_friction(MU), SMOOTH, law=ELLIPTIC)
    moved = x.copy()
    moved[0, [0, 2]] += 10 * SMOOTH * np.array(way)
    force = gradient_of(friction, moved)[0]
    load = normal_forces(one, x)[3][0]
    assert np.linalg.norm(force) == pytest.approx(factor * MU * load, rel=1e-12)
    assert force @ (moved - x)[0] > 0 and force[1] == pytest.approx(0.0, abs=1e-12 * load)


@pytest.mark.parametrize("size", [0.0, 1e-3, 1e-2], ids=["rest", "sticks", "slides"])
def test_derivatives(rng, size):
    x, X, faces = SCENES["crumpled"]
    table = uniform_friction(MU)
    friction = FrictionSet.of(contacts(x, X, faces), x, x, table, SMOOTH, law=ELLIPTIC)
    y, d = x + size * rng.normal(size=x.shape), rng.normal(size=x.shape)
    check_derivatives(friction, y, 1e-3 * d, value=size > 0, h=1e-6)


def test_reverse_mode(rng):
    """Forces and remembered slips by all that friction is frozen from, against differences."""
    x, X, faces = SCENES["crumpled"]
    pairs, table = contacts(x, X, faces), uniform_friction(MU, 0.4 * MU)
    slip, y = rng.uniform(-0.5, 0.5, x.shape), x + 1e-3 * rng.normal(size=x.shape)
    by_force, by_slip, d = (rng.normal(size=x.shape) for _ in range(3))
    inputs = FrictionInputs(
        kernel.points(x.copy()), table, SMOOTH, kernel.points(slip.copy()), ELLIPTIC
    )
    back = FrictionReverse(pairs, kernel.points(x.copy()), kernel.points(y.copy()), inputs)
    found = back.pull_back(by_force, by_slip)

    def of(start, origin, end, before):
        friction = FrictionSet.of(pairs, start, origin, table, SMOOTH, before, ELLIPTIC)
        after = friction.update_slips(kernel.points(end), kernel.points(before))
        forces = (gradient_of(friction, end) * by_force).sum()
        return float(forces + (np.array(kernel.numpy(after)) * by_slip).sum())

    base = {"start": x, "origin": x, "end": y, "before": slip}
    derivatives = (found.start, found.origin, found.end, found.slip)
    for (name, at), by in zip(base.items(), derivatives, strict=True):
        slope = quotient(lambda s: of(**base | {name: at + s * d}), 1e-9)  # noqa: B023
        assert float((by * d).sum()) == pytest.approx(slope, rel=1e-5), name
