"""Quadratic bending: the paper's cotangents, the hinges' linear limit, what collapses, and what is
refused. The closed forms are rows of the certificate (``quadratic_bending``).
"""

import numpy as np
import pytest

from tests.checks import DampingInStep, InStep, dense, rotations, still
from tests.refusals import refused
from weft import kernel
from weft.base.errors import MeshError
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.elastic.quadratic_bending import FOLDED, QuadraticBending
from weft.kernel import vec3
from weft.laws import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick

MESH = grid(7, 6, 0.6, 0.5, "random", seed=2)
PATTERN = BlockPattern.of(MESH.n_vertices, [MESH.hinges])
BETA, DT = 0.03, 0.01
OUT = slice(1, None, 3)  # the sheet lies on y = 0


def bent(mesh, radius=0.3):
    u = mesh.vertices[:, 0]
    return np.stack(
        [radius * np.sin(u / radius), radius * (1 - np.cos(u / radius)), mesh.vertices[:, 2]],
        axis=1,
    )


def cotangent(a, b, c):
    """Of the angle at a in the triangle abc."""
    return (b - a) @ (c - a) / np.linalg.norm(np.cross(b - a, c - a))


def test_is_the_form_of_the_paper():
    """Bergou et al. 2006: 1/2 k 3/(A0 + A1) |K x|^2, K of four cotangents, k = 5 D/12."""
    D, x = 2e-5, bent(MESH)
    form = QuadraticBending.of(MESH, (D, D))
    flat, expected = MESH.vertices, []
    for (i, j, k, m), faces in zip(MESH.hinges, MESH.hinge_faces):
        p, q, r, s = flat[[i, j, k, m]]
        c1, c2 = cotangent(p, q, r), cotangent(p, q, s)
        c3, c4 = cotangent(q, p, r), cotangent(q, p, s)
        K = np.array([c3 + c4, c1 + c2, -c1 - c3, -c2 - c4])
        y = K @ x[[i, j, k, m]]
        expected.append(0.5 * (5 * D / 12) * 3 / MESH.rest_area[faces].sum() * (y @ y))
    np.testing.assert_allclose(form.value(x), expected, rtol=1e-11, atol=1e-30)


@pytest.mark.parametrize("D", [(1.0, 1.0), (0.2, 3.0), (1.0, 0.0), (0.0, 2.0), (0.0, 0.0)])
def test_strips_of_a_grid_bend_with_the_rigidity_of_their_yarns(D):
    """The energy of z = (a, b, c).(u^2/2, uv, v^2/2), least over what a strip is free to choose."""
    mesh = grid(41, 41, 1.0, 1.0)
    u, v = mesh.vertices[:, 0], -mesh.vertices[:, 2]
    form = QuadraticBending.of(mesh, D)
    y = np.einsum(
        "ha,hai->hi", form.coefficient, np.stack([u * u / 2, u * v, v * v / 2], 1)[mesh.hinges]
    )
    inner = np.abs(mesh.vertices[mesh.hinges[:, :2]][..., [0, 2]].mean(1)).max(1) < 0.25 + 1e-3
    Q = np.einsum("h,hi,hj->ij", form.weight[inner], y[inner], y[inner]) / 0.25
    for axis in (0, 2):
        free = [i for i in range(3) if i != axis]
        pull = np.linalg.lstsq(Q[np.ix_(free, free)], Q[free, axis], rcond=None)[0]
        assert Q[axis, axis] - Q[axis, free] @ pull == pytest.approx(
            D[axis // 2], rel=0.06, abs=1e-9
        )


def test_a_seam_counts_every_side_in_its_own_material():
    """Two pieces whose material coordinates are turned against each other unfold at their seam."""
    mesh, turn = grid(5, 4, 0.4, 0.3), rotations(1)[0][:2, :2]
    turn = np.linalg.qr(turn)[0]
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    uv = np.array(mesh.corner_uv)
    right = uv[:, :, 0].mean(1) > 0.2
    uv[right] = uv[right] @ turn.T + [5.0, -3.0]
    sewn = TriangleMesh(mesh.vertices, mesh.faces, uv)
    x = bent(mesh)
    one, two = (QuadraticBending.of(m, (1.0, 1.0)) for m in (mesh, sewn))
    np.testing.assert_allclose(two.value(x), one.value(x), rtol=1e-9, atol=1e-20)
    assert one.value(x).sum() > 1e-3


def test_collapsed_faces_change_nothing():
    """The matrix is bitwise the same where faces are points or needles; forces are K x."""
    form = QuadraticBending.of(MESH, (2e-5, 1e-5))
    bound, K = form.bind(PATTERN), form.matrix(MESH.n_vertices)
    matrices = []
    for shape in (np.array(MESH.vertices), bent(MESH)):
        shape = shape.copy()
        if matrices:
            shape[MESH.faces[10]] = shape[MESH.faces[10, 0]]
            shape[MESH.faces[30, 2]] = shape[MESH.faces[30, :2]].mean(0)
        A, g = BlockCsr.zeros(PATTERN), kernel.zeros(len(shape), vec3)
        bound.add_hessian(kernel.array(shape, vec3), Psd.PROJECTED, A.begin()).finish()
        bound.add_gradient(kernel.array(shape, vec3), g)
        np.testing.assert_allclose(kernel.numpy(g), K @ shape, atol=1e-12 * np.abs(K).max())
        matrices.append(A.to_scipy().toarray())
    assert np.array_equal(*matrices) and np.abs(matrices[0]).max() > 0


def test_a_curved_rest_shape_is_refused():
    curved = MESH.with_vertices(bent(MESH))
    with refused(MeshError, "rest angles", got="0.429 rad", hint="bending: hinges"):
        QuadraticBending.of(curved, (1.0, 1.0), "as-given")
    with refused(MeshError, "rest angles", got="0.2 rad"):
        QuadraticBending.of(MESH, (1.0, 1.0), np.full(len(MESH.hinges), 0.2))


@pytest.fixture
def damped():
    """Damping in a step of DT from the sheet bent to 0.3 m."""
    both = (QuadraticBending.of(MESH, (2e-5, 1e-5), damping=b) for b in (BETA, 0.0))
    return DampingInStep(*both, MESH.n_vertices, still(bent(MESH), dt=DT, span=DT))


def test_the_matrix_is_one_for_every_shape_and_damping_scales_it(damped, rng):
    """(1 + beta/h) K."""
    K = dense(QuadraticBending.of(MESH, (2e-5, 1e-5)), MESH.vertices)
    x = bent(MESH)
    for y in (x, x + 0.01 * rng.normal(size=x.shape)):
        np.testing.assert_allclose(
            damped.matrix(y), BETA / DT * K, atol=1e-11 * BETA / DT * K.max()
        )


def test_damping_stays_finite_in_closed_folds(rng, monkeypatch):
    """A sheet folded onto itself, not quite evenly: the mean normal at the fold vanishes."""
    mesh = grid(5, 4, 0.4, 0.3)
    u = np.array(mesh.vertices)
    x = np.stack([0.2 - np.abs(u[:, 0] - u[:, 0].mean()), 1e-9 * u[:, 0], u[:, 2]], axis=1)
    x += 1e-5 * rng.normal(size=x.shape) * [1, 0, 1]
    worst = {}
    for least in (FOLDED, 1e-30):
        monkeypatch.setattr("weft.energies.elastic.quadratic_bending.FOLDED", least)
        rate = QuadraticBending.of(mesh, (1.0, 1.0), damping=BETA).rate
        made = InStep(rate, len(x), still(mesh.vertices, dt=DT, span=DT))
        worst[least] = np.abs(made.gradient(x)).max()
    assert np.isfinite(worst[FOLDED])
    assert worst[FOLDED] < 1e-3 * worst[1e-30]
