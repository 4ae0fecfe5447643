"""Every energy, by being listed once: derivatives, invariance, momentum, assembly, permutation."""

import dataclasses

import numpy as np
import pytest

from tests.checks import assert_derivative, clamp, dense, rotations, scatter
from weft import kernel
from weft.discretization.bspline import Patch, rectangle
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh, grid
from weft.discretization.patch_triangulation import PatchTriangulation
from weft.discretization.spline_surface import SplineSurface, grid_faces
from weft.discretization.surface import Tessellation
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.creases import Creases
from weft.energies.elastic.fitted_bending import FittedBending
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.internal_friction import HingeFriction, ShearFriction
from weft.energies.elastic.measured_bending import MeasuredBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.elastic.permanent_stretch import PermanentStretch
from weft.energies.elastic.plasticity import Plasticity
from weft.energies.elastic.quadratic_bending import QuadraticBending
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.elastic.strain_limit import StrainLimits
from weft.energies.embedded import EmbeddedEnergy
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.seams.patch_seams import PatchedPart, hinges_of_patches
from weft.energies.seams.sewing import SeamPanels, SeamRows
from weft.energies.springs.bonds import Bonds
from weft.kernel import vec3
from weft.laws import BaraffWitkin, DotShear, Measured, Psd, StrainLimit
from weft.laws.base import sampled_law
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick

LAW = BaraffWitkin((500.0, 300.0), 80.0, (1.0, 0.97))
MESH = grid(6, 5, 1.0, 0.8, "random", seed=4)


def membrane(mesh):
    return Membrane(linear_triangle(mesh), LAW)


def bending(mesh):
    return HingeBending.of(mesh, (2e-2, 1e-2))


def bent_bending(mesh):
    crumpled = mesh.with_vertices(crumple(mesh.vertices, 5))
    return HingeBending.of(crumpled, (2e-2, 1e-2), "as-given")


def creases(mesh):
    return Creases.yielding(mesh, (2e-2, 1e-2), 5.0, Plasticity(0.5))


def measured_bending(mesh):
    table = np.array([[3e-2], [1e-2], [2e-2]]) * [1.0, 0.9, 0.8, 0.7, 0.6]  # kinks at rest alone
    return MeasuredBending.of_table(mesh, table, 0.2 * np.ones(len(mesh.hinges)))


def rubbing(mesh):
    return HingeFriction.from_hysteresis(mesh, (2e-2, 1e-2), 0.3)


def rubbing_in_shear(mesh):
    return ShearFriction(linear_triangle(mesh), DotShear(60.0, 0.05))


def drawn_out(mesh):
    return PermanentStretch(linear_triangle(mesh), LAW, limits=(0.02, 0.03))


def drawn_out_by_samples(mesh):
    """As it is, but with stiffness and stretches at rest of each sample's own."""
    energy, spread = drawn_out(mesh), 1.0 + 0.1 * mesh.vertices[mesh.faces, 0].mean(axis=1)
    (records,) = (np.array(r) for r in energy.records())
    for name in ("stretch_warp", "rest_warp", "rest_weft"):
        records[name] *= spread
    return dataclasses.replace(energy, law=sampled_law(energy.law, [records]))


def quadratic(mesh):
    return QuadraticBending.of(mesh, (2e-2, 1e-2))


def quadrics(mesh):
    return FittedBending.of(mesh, (2e-2, 1e-2))


def pairs(mesh):
    return BucklingBending.of(mesh, (2e-2, 1e-2), 30.0)


def on_splines(mesh):
    """As many control points as the mesh has vertices, wherever these are."""
    patch = Patch(rectangle(6, 5, 1.0, 0.8).rest + SKEW)
    ids = np.arange(30).reshape(5, 6).T  # the mesh counts along the warp first
    assert mesh.n_vertices == ids.size
    return dataclasses.replace(SplineSurface.of([patch]), ids=[ids])


SKEW = 0.02 * np.sin(9 * np.arange(60).reshape(6, 5, 2))


def spline_membrane(mesh):
    return Membrane(on_splines(mesh).samples(), LAW)


def spline_bending(mesh):
    at = on_splines(mesh).laplacians(2e-2, 1e-2)
    return QuadraticForm(at.stencil, at.coefficient, at.weight)


def two_patches(mesh):
    """Control points of the mesh as two patches side by side, with triangles of their own, and the
    joint of their middle sides.
    """
    uv = np.stack(np.meshgrid([0.0, 0.5, 1.0], np.linspace(0, 3, 6), indexing="ij"), axis=2)
    faces, uv = grid_faces(3, 6), uv.reshape(-1, 2)
    rest = rectangle(3, 5, 0.4, 0.8).rest
    skew = np.concatenate([rest + SKEW[:3], rest + SKEW[3:] + (0.45, 0.0)])
    ids = np.arange(30).reshape(5, 6).T
    parts, n = [], len(uv)
    for k in (0, 1):
        patch = Patch(skew[3 * k : 3 * k + 3])
        surface = SplineSurface([patch], [ids[3 * k : 3 * k + 3]], mesh.n_vertices)
        surface = dataclasses.replace(surface, touched=PatchTriangulation(uv, faces))
        parts.append(PatchedPart(surface, k * n, (2e-2, 1e-2)))
    shown = Tessellation.concatenate([p.surface.shown for p in parts], mesh.n_vertices)
    joint = SeamRows(np.stack([12 + np.arange(6), n + np.arange(6)], axis=1))
    return parts, shown, joint


def spline_seam_bonds(mesh):
    _, shown, joint = two_patches(mesh)
    bonds = Bonds(joint.pairs, np.linspace(20.0, 40.0, 6), len(shown.embedding), last=1e-3)
    return EmbeddedEnergy(bonds, shown.embedding)


def spline_seam_folds(mesh):
    parts, shown, joint = two_patches(mesh)
    n, m = len(shown.embedding), len(shown.faces)
    flat = shown.mesh(np.asarray(mesh.vertices), "patches")
    sides = SeamPanels(flat, np.full(n, 500.0), np.tile([2e-2, 1e-2], (m, 1)))
    joint = dataclasses.replace(joint, angle=0.3)
    return EmbeddedEnergy(*hinges_of_patches(sides, parts, shown.embedding, [joint], 0.0))


def limits(mesh):
    """So wide that all states are within, and at work in all of them."""
    law = StrainLimit((9.0, 8.0), 1.57, (50.0, 30.0, 5.0), 0.001)
    return StrainLimits(linear_triangle(mesh), law)


def measured(mesh):
    curve = [(0.11, 30.0), (0.32, 180.0), (0.53, 400.0), (1.2, 1300.0)]
    return Membrane(linear_triangle(mesh), Measured((curve, curve), 40.0))


def gravity(mesh):
    return Gravity(0.2 * mesh.vertex_area)


ENERGIES = {
    f.__name__: f
    for f in (
        membrane,
        bending,
        bent_bending,
        creases,
        measured_bending,
        rubbing,
        rubbing_in_shear,
        drawn_out,
        drawn_out_by_samples,
        quadratic,
        quadrics,
        pairs,
        spline_membrane,
        spline_bending,
        spline_seam_bonds,
        spline_seam_folds,
        limits,
        measured,
        gravity,
    )
}
INTERNAL = {n: f for n, f in ENERGIES.items() if n != "gravity"}
TRIANGULAR = {n: f for n, f in INTERNAL.items() if not n.startswith("spline")}


def crumple(x, seed, size=0.06):
    """Positions moved at random: stretched, compressed, sheared and folded all at once."""
    return np.array(x) + size * np.random.default_rng(seed).normal(size=x.shape)


def inverted(x):
    """Some faces turned over in the plane."""
    y = 0.95 * np.array(x)
    y[8] += [0.35, 0.02, 0.1]
    return y


STATES = {
    "crumpled": lambda x: crumple(x, 1),
    "nearly flat": lambda x: crumple(x, 2, 1e-4),
    "compressed": lambda x: crumple(0.5 * np.array(x), 3, 0.02),
    "inverted": inverted,
}


def total(energy, x):
    return float(energy.value(x).sum())


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("make", ENERGIES.values(), ids=ENERGIES)
def test_gradient(make, state, rng):
    energy, x = make(MESH), STATES[state](MESH.vertices)
    d = rng.normal(size=x.shape) * 0.02
    slope = (scatter(energy, x) * d).sum()
    assert_derivative(lambda y: total(energy, y), slope, x, d, 1e-6)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("make", INTERNAL.values(), ids=INTERNAL)
def test_hessian(make, state, rng):
    energy, x = make(MESH), STATES[state](MESH.vertices)
    d = rng.normal(size=x.shape) * 0.02
    exact = (dense(energy, x, Psd.EXACT) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda y: scatter(energy, y), exact, x, d, 1e-6)


@pytest.mark.parametrize("psd", list(Psd))
@pytest.mark.parametrize("make", INTERNAL.values(), ids=INTERNAL)
def test_hessian_is_symmetric_and_projections_definite(make, psd):
    energy, x = make(MESH), crumple(MESH.vertices, 1)
    H = dense(energy, x, psd)
    scale = np.abs(H).max()
    np.testing.assert_allclose(H, H.T, atol=1e-12 * scale)
    if psd is not Psd.EXACT:
        assert np.linalg.eigvalsh(H).min() >= -1e-12 * scale


@pytest.mark.parametrize("make", INTERNAL.values(), ids=INTERNAL)
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


@pytest.mark.parametrize("make", ENERGIES.values(), ids=ENERGIES)
def test_bound_face_equals_the_local_one(make, device):
    """What a step uses (row maps, gather kernels) against NumPy's sum of local arrays."""
    energy, x = make(MESH), crumple(MESH.vertices, 1)
    assert isinstance(energy, Energy)
    pattern = BlockPattern.of(MESH.n_vertices, [make(MESH).stencil for make in INTERNAL.values()])
    bound = energy.bind(pattern)
    device = kernel.array(x, vec3)
    assert bound.value(device) == pytest.approx(total(energy, x), rel=1e-13)
    g = kernel.zeros(len(x), vec3)
    bound.add_gradient(device, g)
    np.testing.assert_allclose(kernel.numpy(g), scatter(energy, x), atol=1e-12)
    for psd in Psd:
        A = BlockCsr.zeros(pattern)
        bound.add_hessian(device, psd, A.begin()).finish()
        once = A.to_scipy().toarray()
        np.testing.assert_allclose(once, dense(energy, x, psd), atol=1e-10)
        bound.add_hessian(device, psd, A)
        np.testing.assert_allclose(A.to_scipy().toarray(), 2 * once, atol=1e-9)


@pytest.mark.parametrize("make", TRIANGULAR.values(), ids=TRIANGULAR)
def test_numbering_does_not_matter(make):
    """Vertices and faces renumbered: the same energy and the same forces."""
    rng = np.random.default_rng(0)
    old_of_new = rng.permutation(MESH.n_vertices)
    new_of_old = np.argsort(old_of_new)
    order = rng.permutation(len(MESH.faces))
    faces = np.roll(new_of_old[MESH.faces[order]], 1, axis=1)
    uv = np.roll(MESH.corner_uv[order], 1, axis=1)
    other = TriangleMesh(MESH.vertices[old_of_new], faces, uv)
    x = crumple(MESH.vertices, 1)
    a, b = make(MESH), make(other)
    if make is bent_bending:  # its crumpled rest shape must be the same one
        rest = MESH.with_vertices(crumple(MESH.vertices, 5)).vertices[old_of_new]
        b = HingeBending.of(other.with_vertices(rest), (2e-2, 1e-2), "as-given")
    assert total(b, x[old_of_new]) == pytest.approx(total(a, x), rel=1e-12)
    np.testing.assert_allclose(scatter(b, x[old_of_new]), scatter(a, x)[old_of_new], atol=1e-11)


def test_zero_at_rest():
    for energy, x in (
        (Membrane(linear_triangle(MESH), BaraffWitkin((500.0, 300.0), 80.0)), MESH.vertices),
        (bending(MESH), MESH.vertices),
        (quadratic(MESH), MESH.vertices),
        (quadrics(MESH), MESH.vertices),
        (pairs(MESH), MESH.vertices),
        (limits(MESH), MESH.vertices),
        (measured(MESH), MESH.vertices),
        (bent_bending(MESH), crumple(MESH.vertices, 5)),
    ):
        assert total(energy, x) < 1e-25
        assert np.abs(scatter(energy, x)).max() < 1e-11


def test_projected_membrane_is_at_least_the_exact_one():
    """Projection only adds: PROJECTED - EXACT is positive semi-definite."""
    energy, x = membrane(MESH), crumple(0.6 * np.array(MESH.vertices), 3, 0.03)
    D = dense(energy, x, Psd.PROJECTED) - dense(energy, x, Psd.EXACT)
    assert np.linalg.eigvalsh(D).min() > -1e-9 * np.abs(D).max()
    assert (
        np.abs(clamp(dense(energy, x)[None])[0] - dense(energy, x)).max() > 1
    )  # it was indefinite
