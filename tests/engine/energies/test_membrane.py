"""The membrane of linear maps, on mirrored UVs, of two fabrics, and where points move."""

import numpy as np
import pytest

from tests.checks import scatter
from tests.engine.energies.builders import MESH, crumple, membrane
from weft import kernel
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.kernel import vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick


def test_patch():
    """A linear map of the plane gives the same F in every element of any mesh: no inner forces."""
    A = np.array([[1.1, 0.2], [0.05, 0.9], [0.3, -0.1]])
    uv = np.zeros((MESH.n_vertices, 2))
    uv[MESH.faces.reshape(-1)] = MESH.corner_uv.reshape(-1, 2)
    x = uv @ A.T
    energy = membrane(MESH)
    F = linear_triangle(MESH).deformation_gradient(x)
    np.testing.assert_allclose(F, np.broadcast_to(A, F.shape), atol=1e-12)
    g = scatter(energy, x)
    inner = np.setdiff1d(np.arange(len(x)), MESH.boundary)
    np.testing.assert_allclose(g[inner], 0, atol=1e-11)


def test_mirrored_islands_weigh_the_same():
    mirrored = TriangleMesh(MESH.vertices, MESH.faces, MESH.corner_uv * [-1, 1])
    x = crumple(MESH.vertices, 1)
    np.testing.assert_allclose(membrane(mirrored).value(x), membrane(MESH).value(x), rtol=1e-11)


def test_deformation_gradients_are_taken_again_when_points_move():
    """They stay for gradient and Hessian of one value, and for no other."""
    energy = membrane(MESH)
    pattern = BlockPattern.of(MESH.n_vertices, [energy.stencil])
    bound = energy.bind(pattern)
    x = kernel.array(crumple(MESH.vertices, 1), vec3)

    def asked(term):
        g = kernel.zeros(MESH.n_vertices, vec3)
        term.add_gradient(x, g)
        A = term.add_hessian(x, Psd.EXACT, BlockCsr.zeros(pattern).begin()).finish()
        return term.value(x), np.array(kernel.numpy(g)), A.to_scipy().toarray()

    for turn in range(3):
        kernel.view(x)[turn] += 0.01  # in place: the same array
        for a, b in zip(asked(bound), asked(energy.bind(pattern)), strict=True):
            np.testing.assert_array_equal(a, b)
