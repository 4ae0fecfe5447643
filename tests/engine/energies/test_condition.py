"""The conditions of 1998 against their formulas and finite elements, and how BODY differs."""

import numpy as np
import pytest

from tests.engine.energies.builders import MESH, crumple
from tests.reference import conditions
from tests.stepping import steps as advance
from weft.discretization.mesh import grid
from weft.energies.elastic.bend_condition import FrozenLengthBending
from weft.energies.elastic.condition import (
    POWERS,
    Conditions,
    bend_stiffness,
    condition_energies,
)
from weft.energies.elastic.hinge_bending import HingeBending, dihedral_angles
from weft.laws import Psd

pytestmark = pytest.mark.quick

X = crumple(MESH.vertices, 1)
C = Conditions((500.0, 300.0), 80.0, (2e-2, 1e-2), (1.0, 0.97))


def energies(**changes):
    import dataclasses

    return condition_energies(MESH, dataclasses.replace(C, **changes))


@pytest.mark.parametrize("p", POWERS)
def test_stretch_and_shear_are_the_conditions(p):
    """alpha = a^p times w_u, w_v written out (eqs. 3-4, 13, 19), against weighted laws."""
    stretch, shear, _ = energies(p=p)
    area = MESH.rest_area
    for energy, k_stretch, k_shear in ((stretch, C.stretch, 0.0), (shear, (0.0, 0.0), C.shear)):
        expected = [
            conditions.energy(X[f], uv, k_stretch, k_shear, C.rest_stretch)
            for f, uv in zip(MESH.faces, MESH.corner_uv)
        ]
        np.testing.assert_allclose(energy.value(X), area ** (2 * p - 1) * expected, rtol=1e-10)


HINGE = np.array([[0, 1, 2, 3]], dtype=np.int32)


def frozen(x, at):
    """sin and cos with normals and edge of x over their lengths at ``at`` (section 4)."""

    def parts(y):
        e = y[1] - y[0]
        return e, np.cross(e, y[2] - y[0]), np.cross(y[3] - y[0], e)

    (e, n, m), (e0, n0, m0) = parts(x), parts(at)
    e, n, m = (a / np.linalg.norm(b) for a, b in ((e, e0), (n, n0), (m, m0)))
    return float(e @ np.cross(m, n)), float(n @ m)


def frozen_gradient(x, at):
    """Eqs. 46-49 by central differences of the frozen functions: (2,4,3)."""
    h, g = 1e-6, np.zeros((2, 4, 3))
    for v in range(4):
        for s in range(3):
            d = np.zeros((4, 3))
            d[v, s] = h
            g[:, v, s] = (np.subtract(frozen(x + d, at), frozen(x - d, at))) / (2 * h)
    return g


def frozen_second(at):
    """Eqs. 50-51 by central differences: (2,12,12)."""
    h, H = 1e-4, np.zeros((2, 12, 12))
    for i in range(12):
        d = np.zeros(12)
        d[i] = h
        d = d.reshape(4, 3)
        H[:, i] = ((frozen_gradient(at + d, at) - frozen_gradient(at - d, at)) / (2 * h)).reshape(
            2, 12
        )
    return H


@pytest.mark.parametrize("seed", range(6))
def test_body_bend_is_what_section_4_says(seed):
    """g (eq. 54) and h (eq. 57), from numeric derivatives with the unshifted lengths."""
    x = np.random.default_rng(seed).normal(size=(4, 3))
    bend = type(energies()[2])(HINGE, np.array([0.7]), np.zeros(1), 4)
    theta = dihedral_angles(x, HINGE)[0]
    s, c = np.sin(theta), np.cos(theta)
    assert frozen(x, x) == pytest.approx((s, c), abs=1e-12)
    ds, dc = frozen_gradient(x, x).reshape(2, 12)
    g = c * ds - s * dc
    np.testing.assert_allclose(bend.gradient(x).reshape(-1), 0.7 * theta * g, atol=1e-8)
    d2s, d2c = frozen_second(x)
    h = c * d2s - s * d2c + (s * s - c * c) * (np.outer(ds, dc) + np.outer(dc, ds))
    h += 2 * s * c * (np.outer(dc, dc) - np.outer(ds, ds))
    got = bend.hessian(x)[0].transpose(0, 2, 1, 3).reshape(12, 12)
    np.testing.assert_allclose(got, 0.7 * (np.outer(g, g) + theta * h), atol=2e-6)
    gauss = bend.hessian(x, Psd.GAUSS_NEWTON)[0].transpose(0, 2, 1, 3).reshape(12, 12)
    np.testing.assert_allclose(gauss, 0.7 * np.outer(g, g), atol=1e-8)


def test_bend_stiffness_by_direction_of_the_edge():
    """Edges along u take k_u, along v k_v, diagonals of squares the mean."""
    mesh = grid(4, 4, 1, 1)
    k = bend_stiffness(mesh, (3.0, 1.0))
    edge = mesh.vertices[mesh.hinges[:, 1]] - mesh.vertices[mesh.hinges[:, 0]]
    along_u, along_v = np.abs(edge[:, 2]) < 1e-9, np.abs(edge[:, 0]) < 1e-9
    np.testing.assert_allclose(k[along_u], 3.0)
    np.testing.assert_allclose(k[along_v], 1.0)
    np.testing.assert_allclose(k[~along_u & ~along_v], 2.0)


def test_frozen_lengths_add_a_tension_in_the_edge(rng):
    """BODY less EXACT bend is k theta sin cos/|e| along the edge: no net force, no net moment."""
    for _ in range(20):
        x = rng.normal(size=(4, 3))
        k, flat = np.array([2.0]), np.zeros(1)
        frozen = FrozenLengthBending(HINGE, k, flat, 4).gradient(x)[0]
        exact = HingeBending(HINGE, k, flat, 4).gradient(x)[0]
        theta = dihedral_angles(x, HINGE)[0]
        edge = x[1] - x[0]
        tension = 2.0 * theta * np.sin(theta) * np.cos(theta) / np.linalg.norm(edge)
        pull = tension * edge / np.linalg.norm(edge)
        scale = np.abs(frozen).max()
        np.testing.assert_allclose(
            frozen - exact, [-pull, pull, 0 * pull, 0 * pull], atol=1e-11 * scale
        )
        np.testing.assert_allclose(np.cross(x, frozen).sum(0), 0, atol=1e-11 * scale)


def test_the_law_is_the_conditions_on_a_moving_mesh():
    """Kim 2020's equivalence: forces and Hessians of psi(F) against eqs. 13-23 with p = 1/2.

    Written out per triangle in NumPy, and as weft's own conditions, at every step of a fall, and
    for random F.
    """
    import weft
    from weft.discretization.linear_triangle import linear_triangle
    from weft.energies.elastic.membrane import Membrane
    from weft.laws import BaraffWitkin

    cloth = weft.sheet(7, 6, pattern="random", fabric="linen")
    scene = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], damping=0.0)
    mesh, k, ks, b = cloth.mesh, (500.0, 300.0), 80.0, (1.0, 0.97)
    law = Membrane(linear_triangle(mesh), BaraffWitkin(k, ks, b))
    stretch, shear, _ = condition_energies(mesh, Conditions(k, ks, rest_stretch=b))
    crushed = np.random.default_rng(0).normal(size=cloth.vertices.shape)
    for x in (crushed, *(state.x for state, _, _ in advance(scene, 5, 0.05))):
        H = law.hessian(x)
        scale = np.abs(H).max()
        g, gc = law.gradient(x), stretch.gradient(x) + shear.gradient(x)
        np.testing.assert_allclose(g, gc, atol=1e-10 * max(np.abs(g).max(), 1))
        np.testing.assert_allclose(H, stretch.hessian(x) + shear.hessian(x), atol=1e-10 * scale)
        for t, face in enumerate(mesh.faces):
            force, jacobian = conditions.derivatives(x[face], mesh.corner_uv[t], k, ks, b)
            np.testing.assert_allclose(g[t], -force, atol=1e-10 * max(np.abs(g).max(), 1))
            local = H[t].transpose(0, 2, 1, 3).reshape(9, 9)
            np.testing.assert_allclose(local, -jacobian, atol=1e-10 * scale)
