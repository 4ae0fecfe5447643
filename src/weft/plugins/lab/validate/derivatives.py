"""Energies and damping terms against numeric derivatives (Pritchard 2012, section 4).

Energies are differentiated as they are, on a crumpled irregular mesh. The conditions of 1998 are
also written out a second time here, one scalar C(x) per element from section 3 of the notes, and
differentiated numerically: forces, their Jacobians and the damping of eq. 58 must all follow from
them. The bend condition of the body is differentiated with lengths frozen, as section 4 says.
"""

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from weft import kernel
from weft.adjoint.differences import (
    TOLERANCE,
    Difference,
    check_derivatives,
    compare_derivative,
    quotients,
)
from weft.base.arrays import Floats, Ints, Positions
from weft.discretization.bspline import rectangle
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh, grid
from weft.discretization.spline_surface import SplineSurface
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.condition import Conditions, Variant, condition_energies
from weft.energies.elastic.curvature_damping import CurvatureDamping
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.elastic.quadratic_bending import QuadraticBending
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.energies.term import damping_of
from weft.integrators.assembly import Assembly
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.integrators.model import Model
from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.immediate_buckling import ImmediateBuckling
from weft.plugins.lab.validate.check import Check, RowBasis, Rows
from weft.plugins.lab.validate.stepping import gradient
from weft.solve.newton.psd import Psd

BETA, STEP = 0.2, 0.02  # [s] damping and time step of the tests
SECOND = 1e-5  # tolerance of second differences

Scalars = Callable[[Positions], Floats]  # (m,k,3) corners of elements -> (m,) values


def checks() -> Rows:
    """Compare every derivative; the error is the least one over the steps."""
    mesh = grid(6, 5, 0.5, 0.4, "random", 3)
    rng = np.random.default_rng(1)
    x = np.array(mesh.vertices) + 0.02 * rng.normal(size=(mesh.n_vertices, 3))
    v = rng.normal(size=x.shape)
    for energy in _energies(mesh):
        for d in check_derivatives(energy, x):
            yield _line(f"{energy.name} {d.name}", d)
    for label, compression in (("arcs", np.inf), ("arcs after a spring", 2.0)):
        pairs = BucklingBending.of(mesh, (2e-2, 1e-2), compression)
        # The force has a kink at d = L, so the points are scaled until all pairs are compressed.
        for d in check_derivatives(pairs, 0.5 * x):
            yield _line(f"buckled pairs, {label} {d.name}", d)
    yield from _viscous(mesh, x, v)
    for variant in Variant:
        for name, energy, stencil, c, k in _conditions(mesh, x, variant):
            for d in _condition(energy, stencil, c, k, x, v):
                yield _line(f"{name} {variant.value}, {d.name}", d)


def _line(name: str, d: Difference) -> Check:
    slope = "round-off" if np.isnan(d.slope) else f"slope {d.slope:.2f}"
    note = f"{slope}, best at step {d.step:.0e}"
    tolerance = _tolerance(d.name)
    return Check(
        f"derivatives/{name}", 0.0, d.error, d.error, tolerance, d.ok, note, basis=RowBasis.SELF
    )


def _tolerance(derivative: str) -> float:
    return SECOND if "d/dx" in derivative else TOLERANCE


def _energies(mesh: TriangleMesh) -> Iterator[Energy]:
    """Yield the energies whose value and gradient are differentiated directly."""
    yield Membrane(linear_triangle(mesh), BaraffWitkin((500.0, 300.0), 80.0, (1.0, 0.97)))
    buckling = ImmediateBuckling((500.0, 300.0), (80.0, 60.0))
    yield Membrane(linear_triangle(mesh), buckling, name="immediate buckling")
    yield HingeBending.of(mesh, (2e-2, 1e-2))
    yield dataclasses.replace(QuadraticBending.of(mesh, (2e-2, 1e-2)), name="quadratic bending")
    yield Gravity(0.1 * mesh.vertex_area)
    surface, bend = _splines()
    law = BaraffWitkin((500.0, 300.0), 80.0, (1.0, 0.97))
    yield Membrane(surface.samples(), law, name="spline membrane")
    yield dataclasses.replace(bend, name="spline bending")


def _splines() -> tuple[SplineSurface, QuadraticForm]:
    """Return splines with as many control points as the mesh has vertices, and their bending.

    The control points are numbered as the vertices are.
    """
    surface = SplineSurface.of([rectangle(6, 5, 0.5, 0.4, "uniform")])
    surface = dataclasses.replace(surface, ids=[np.arange(30, dtype=np.int32).reshape(5, 6).T])
    at = surface.laplacians(2e-2, 1e-2)
    return surface, QuadraticForm(at.stencil, at.coefficient, at.weight)


def _viscous(mesh: TriangleMesh, x: Positions, v: Floats) -> Rows:
    """Compare the potentials of stiffness-proportional damping, in a step from x - h v to
    near x.
    """
    law = BaraffWitkin((500.0, 300.0), 80.0)
    membrane = Membrane(linear_triangle(mesh), law, damping=BETA)
    bending = HingeBending.of(mesh, (2e-2, 1e-2), damping=BETA)
    pairs = BucklingBending.of(mesh, (2e-2, 1e-2), damping=BETA)
    pairs = dataclasses.replace(pairs, name="pair")
    surface, spline = _splines()
    slopes = surface.laplacians(2e-2, 1e-2).gradient
    curved = CurvatureDamping(spline, slopes, BETA, mesh.n_vertices, "spline bending")
    folds = QuadraticBending.of(mesh, (2e-2, 1e-2), damping=BETA)
    folds = dataclasses.replace(folds, name="quadratic bending")
    for energy in (membrane, bending, pairs, curved, folds):
        model = Model(0.1 * mesh.vertex_area, (energy,))
        state = State.at_rest(x - STEP * v)
        model.assembly.freeze(model.step(state, STEP, rate=(state.x, STEP)))
        for d in _assembled(model.assembly, x, 0.05 * v):
            # The Hessian of these two is not the derivative of their gradient.
            if energy not in (curved, folds) or d.name == "gradient":
                yield _line(f"{damping_of(energy.name)} {d.name}", d)


def _assembled(assembly: Assembly, x: Positions, d: Floats) -> Iterator[Difference]:
    """Compare gradient and Hessian of an assembly on the device, along the direction d (n,3)."""

    def value(y: Positions) -> Floats:
        return np.array(assembly.value(kernel.points(y)))

    slope = np.sum(gradient(assembly, x) * d)
    yield compare_derivative("gradient", quotients(value, x, [d]), np.array([slope]))
    hessian = assembly.hessian(kernel.points(x), Psd.EXACT).to_scipy()
    curvature = (hessian @ d.reshape(-1)).reshape(1, -1, 3)
    yield compare_derivative("hessian", quotients(partial(gradient, assembly), x, [d]), curvature)


def _conditions(
    mesh: TriangleMesh, x: Positions, variant: Variant
) -> Iterator[tuple[str, Energy, Ints, Scalars, float]]:
    """Yield each scalar condition: its energy, and C(x) times sqrt(k) from section 3 of the notes.

    The two stretch conditions are tested one at a time: the other one has almost no stiffness.
    """
    none, k_u, k_s, k_b, p = 1e-9, 500.0, 80.0, 2e-2, 0.75
    alpha = mesh.rest_area**p
    uv = mesh.corner_uv

    def axes(corners: Positions) -> tuple[Floats, Floats]:
        """Return w_u and w_v. Eqs. 3-4."""
        (du1, dv1), (du2, dv2) = (uv[:, 1] - uv[:, 0]).T, (uv[:, 2] - uv[:, 0]).T
        one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        det = (du1 * dv2 - du2 * dv1)[:, None]
        w_u = (one * dv2[:, None] - two * dv1[:, None]) / det
        return w_u, (two * du1[:, None] - one * du2[:, None]) / det

    def stretch(which: int, rest: float) -> Scalars:
        return lambda y: np.asarray(alpha * (np.linalg.norm(axes(y)[which], axis=1) - rest))

    def shear(y: Positions) -> Floats:
        w_u, w_v = axes(y)
        if variant is Variant.EXACT:
            w_u = w_u / np.linalg.norm(w_u, axis=1, keepdims=True)
            w_v = w_v / np.linalg.norm(w_v, axis=1, keepdims=True)
        return np.asarray(alpha * np.einsum("mi,mi->m", w_u, w_v))

    for which, label in enumerate(("stretch u", "stretch v")):
        pair = (k_u, none) if which == 0 else (none, k_u)
        c = Conditions(pair, k_s, rest_stretch=(0.98, 0.97), p=p, variant=variant)
        energy = condition_energies(mesh, c)[0]
        yield label, energy, mesh.faces, stretch(which, (0.98, 0.97)[which]), k_u
    c = Conditions(shear=k_s, bend=(k_b, k_b), p=p, variant=variant)
    _, shear_energy, bend_energy = condition_energies(mesh, c)
    yield "shear", shear_energy, mesh.faces, shear, k_s
    frozen = None if variant is Variant.EXACT else x[mesh.hinges]
    yield "bend", bend_energy, mesh.hinges, lambda y: angle(y, frozen), k_b


def angle(corners: Positions, frozen: Positions | None = None) -> Floats:
    """Return (m,) dihedral angles [rad] of (m,4,3). Eqs. 24-30.

    Lengths are those of ``frozen`` (m,4,3) if given.
    """

    def parts(y: Positions) -> tuple[Floats, Floats, Floats]:
        e = y[:, 1] - y[:, 0]
        return e, np.cross(e, y[:, 2] - y[:, 0]), np.cross(y[:, 3] - y[:, 0], e)

    lengths = [
        np.linalg.norm(a, axis=1, keepdims=True)
        for a in parts(corners if frozen is None else frozen)
    ]
    e, n, m = (a / length for a, length in zip(parts(corners), lengths))
    sin = np.einsum("mi,mi->m", e, np.cross(m, n))
    return np.asarray(np.arctan2(sin, np.einsum("mi,mi->m", n, m)))


def _condition(
    energy: Energy, stencil: Ints, c: Scalars, k: float, x: Positions, v: Floats
) -> Iterator[Difference]:
    """Compare forces, Jacobians and damping of E = k/2 C^2 with differences of C."""
    w = np.random.default_rng(5).normal(size=x.shape)
    model = Model(np.ones(len(x)), (energy,))
    damped = BaraffWitkin1998(Settings1998(damping=BETA)).system(model, State(x, v), STEP)
    elastic = BaraffWitkin1998(Settings1998(damping=0.0)).system(model, State(x, v), STEP)
    corners, speed, along = x[stencil], v[stencil], w[stencil]
    size = float(np.median(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)))

    # one direction for each coordinate of the corners
    axes = list(size * np.eye(corners[0].size).reshape(-1, *corners.shape[1:]))

    def slope(h: float, at: Positions = corners) -> Floats:
        """Return (m,k,3) dC/dx."""
        return (quotients(c, at, axes)(h) / size).T.reshape(corners.shape)

    def bend(h: float) -> Floats:
        """Return (m,k,3) d2C/dx2 w, by second differences."""
        return np.asarray(quotients(partial(slope, h), corners, [size * along])(h)[0] / size)

    def scatter(local: Floats) -> Floats:
        out = np.zeros_like(x)
        np.add.at(out, stencil.reshape(-1), local.reshape(-1, 3))
        return out

    def times(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.einsum("mki,mki->m", a, b)[:, None, None])

    value = c(corners)[:, None, None]
    pairs: dict[str, tuple[Callable[[float], Floats], Floats]] = {
        "force": (lambda h: -k * value * slope(h), elastic.forces[energy.name]),
        "d/dx of force": (
            lambda h: -k * (times(slope(h), along) * slope(h) + value * bend(h)),
            elastic.dfdx @ w.reshape(-1),
        ),
        "damping force": (
            lambda h: -BETA * k * times(slope(h), speed) * slope(h),
            damped.forces[damping_of(energy.name)],
        ),
        "d/dv of damping": (
            lambda h: -BETA * k * times(slope(h), along) * slope(h),
            damped.dfdv @ w.reshape(-1),
        ),
        "d/dx of damping": (
            lambda h: -BETA * k * times(slope(h), speed) * bend(h),
            (damped.dfdx - elastic.dfdx) @ w.reshape(-1),
        ),
    }
    for name, (local, analytic) in pairs.items():

        def numeric(h: float, local: Callable[[float], Floats] = local) -> Floats:
            return scatter(local(h))

        expected = np.asarray(analytic).reshape(-1, 3)
        yield compare_derivative(name, numeric, expected, tolerance=_tolerance(name))
