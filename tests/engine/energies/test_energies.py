"""Every energy, by being listed once: derivatives, invariance, momentum, assembly, permutation."""

from functools import partial

import numpy as np
import pytest

from tests.checks import InStep, assert_derivative, clamp, dense, rotations, scatter
from tests.engine.energies import builders as made
from tests.engine.energies.builders import (
    ENERGIES,
    MESH,
    crumple,
    step_of,
)
from weft import kernel
from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.energy import Energy
from weft.kernel import vec3
from weft.laws import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick

EXTERNAL = {made.gravity, made.gas, made.pressure, made.joints, made.ropes, made.goals, made.rings}
EXTERNAL |= {made.spacing}
NO_POTENTIAL = {made.folds}  # the bend of 1998: tests/engine/energies/test_condition.py
NOT_LOCAL = {made.gas}  # a rank-one part of its matrix is left out
LINEARIZED = {made.quadratic, made.quadrics, made.spline_damping}  # damping has one matrix
CLAMPED = (
    made.pairs,
    made.rigid,
    made.guides,
    made.joints,
    made.ropes,
    made.springs,
    made.goals,
    made.rings,
    made.spacing,
    made.on_a_pole,
)


def each(makes):
    return pytest.mark.parametrize("make", makes, ids=lambda make: make.__name__)


def but(*kinds):
    return [make for make in ENERGIES if make not in set().union(*kinds)]


def inverted(x):
    """Some faces turned over in the plane."""
    y = 0.95 * np.array(x)
    y[20] += [0.35, 0.02, 0.1]
    return y


STATES = {
    "crumpled": lambda x: crumple(x, 1),
    "nearly flat": lambda x: crumple(x, 2, 1e-4),
    "compressed": lambda x: crumple(0.5 * np.array(x), 3, 0.02),
    "inverted": inverted,
}


def total(energy, x):
    return float(energy.value(x).sum())


def assert_derivatives(x, value, gradient, matrix, rng):
    """The gradient of a value, and the matrix of a gradient if there is one."""
    d = 0.02 * rng.normal(size=x.shape)
    assert_derivative(value, (gradient(x) * d).sum(), x, d, 1e-6)
    if matrix is not None:
        exact = (matrix(x) @ d.reshape(-1)).reshape(-1, 3)
        assert_derivative(gradient, exact, x, d, 1e-6)


@pytest.mark.parametrize("state", STATES)
@each(but(NO_POTENTIAL))
def test_gradient_and_hessian(make, state, rng):
    energy, x = make(MESH), STATES[state](MESH.vertices)
    matrix = None if make in NOT_LOCAL else partial(dense, energy)
    assert_derivatives(x, partial(total, energy), partial(scatter, energy), matrix, rng)


@each(but(NO_POTENTIAL))
def test_gradient_and_hessian_in_a_step(make, rng):
    """With what it damps, rubs and remembers since two steps of the past."""
    face = InStep(make(MESH), MESH.n_vertices, step_of())
    matrix = None if make in NOT_LOCAL | LINEARIZED else face.matrix
    assert_derivatives(crumple(MESH.vertices, 1), face.value, face.gradient, matrix, rng)


@pytest.mark.parametrize("psd", list(Psd))
@each(ENERGIES)
def test_hessian_is_symmetric_and_projections_definite(make, psd):
    energy, x = make(MESH), crumple(MESH.vertices, 1)
    H = dense(energy, x, psd)
    scale = np.abs(H).max()
    np.testing.assert_allclose(H, H.T, atol=1e-12 * scale)
    if psd is not Psd.EXACT:
        assert np.linalg.eigvalsh(H).min() >= -1e-12 * scale


@each(CLAMPED)
def test_projected_is_the_clamp(make):
    """Of the Hessian of every element: what it lacks are negative eigenvalues."""
    energy, x = make(MESH), crumple(MESH.vertices, 1)
    size = 3 * energy.stencil.shape[1]
    exact, projected = (
        np.moveaxis(energy.hessian(x, psd), 2, 3).reshape(-1, size, size)
        for psd in (Psd.EXACT, Psd.PROJECTED)
    )
    np.testing.assert_allclose(projected, clamp(exact), atol=1e-12 * np.abs(exact).max())


@each(but(EXTERNAL))
def test_rigid_motion(make):
    """E stays, forces turn with the body; no net force, no net moment."""
    energy, x = make(MESH), crumple(MESH.vertices, 1)
    R = rotations(1, 9)[0]
    moved = x @ R.T + [0.3, -2.0, 1.0]
    assert total(energy, moved) == pytest.approx(total(energy, x), rel=1e-11)
    g = scatter(energy, x)
    scale = np.abs(g).max()
    np.testing.assert_allclose(scatter(energy, moved), g @ R.T, atol=1e-10 * scale)
    np.testing.assert_allclose(g.sum(0), 0, atol=1e-11 * scale)
    np.testing.assert_allclose(np.cross(x, g).sum(0), 0, atol=1e-11 * scale)


@each(ENERGIES)
def test_bound_face_equals_the_local_one(make, device):
    """What a step uses (row maps, gather kernels) against NumPy's sum of local arrays."""
    energy, x = make(MESH), crumple(MESH.vertices, 1)
    assert isinstance(energy, Energy)
    pattern = BlockPattern.of(MESH.n_vertices, [make(MESH).stencil for make in ENERGIES])
    bound = energy.bind(pattern)
    device = kernel.array(x, vec3)
    assert bound.value(device) == pytest.approx(total(energy, x), rel=1e-13)
    g, expected = kernel.zeros(len(x), vec3), scatter(energy, x)
    bound.add_gradient(device, g)
    size = max(np.abs(expected).max(), 1.0)
    np.testing.assert_allclose(kernel.numpy(g), expected, atol=1e-12 * size)
    for psd in Psd:
        A, expected = BlockCsr.zeros(pattern), dense(energy, x, psd)
        bound.add_hessian(device, psd, A.begin()).finish()
        once = A.to_scipy().toarray()
        np.testing.assert_allclose(once, expected, atol=1e-10)
        bound.add_hessian(device, psd, A)
        np.testing.assert_allclose(A.to_scipy().toarray(), 2 * once, atol=1e-9)


@each(ENERGIES[: ENERGIES.index(made.spline_membrane)])
def test_numbering_does_not_matter(make):
    """Vertices and faces renumbered: the same energy and the same forces."""
    rng = np.random.default_rng(0)
    old_of_new = rng.permutation(MESH.n_vertices)
    new_of_old = np.argsort(old_of_new)
    order = rng.permutation(len(MESH.faces))
    faces = np.roll(new_of_old[MESH.faces[order]], 1, axis=1)
    uv = np.roll(MESH.corner_uv[order], 1, axis=1)
    a, b = make(MESH), make(TriangleMesh(MESH.vertices[old_of_new], faces, uv))
    x = crumple(MESH.vertices, 1)
    assert total(b, x[old_of_new]) == pytest.approx(total(a, x), rel=1e-12)
    np.testing.assert_allclose(scatter(b, x[old_of_new]), scatter(a, x)[old_of_new], atol=1e-11)


def bent_bending(mesh):
    return HingeBending.of(mesh.with_vertices(crumple(mesh.vertices, 5)), (2e-2, 1e-2), "as-given")


@pytest.mark.parametrize(
    "make, numbers",
    [
        (made.membrane, {"rest": 1.0}),
        (made.measured, {"rest": 1.0}),
        (made.limits, {}),
        (made.bending, {"rest": 0.0}),
        (made.creases, {}),
        (made.quadratic, {}),
        (made.quadrics, {}),
        (made.pairs, {}),
        (bent_bending, {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_zero_at_rest(make, numbers):
    x = crumple(MESH.vertices, 5) if make is bent_bending else MESH.vertices
    energy = make(MESH, **numbers)
    assert total(energy, x) < 1e-25
    assert np.abs(scatter(energy, x)).max() < 1e-11
