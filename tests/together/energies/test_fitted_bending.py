"""Bending by fitted quadrics: what it costs on surfaces, at borders, seams and corners."""

import numpy as np
import pytest

from studies.bending_meshes import KINDS, sheet
from tests.checks import DampingInStep, rotations, still
from tests.engine.adjoint.cases import compared, hung
from weft.base.errors import MeshError
from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.fitted_bending import FittedBending
from weft.energies.elastic.quadratic_bending import QuadraticBending

D = (3e-5, 1e-5)


def cost(mesh, x, stiffness=D):
    return FittedBending.of(mesh, stiffness).value(x).sum()


def shallow(mesh, uu, vv, uv):
    x = np.array(mesh.vertices)
    u, v = x[:, :2].T
    x[:, 2] = (uu * u * u + vv * v * v) / 2 + uv * u * v
    return x


@pytest.mark.parametrize("kind", KINDS)
def test_shallow_surfaces_cost_what_a_plate_costs(kind):
    """Curvatures in both directions and twist, also where border vertices see one side only."""
    mesh = sheet(kind, 16, 12, 1.0, 0.7)
    uu, vv, uv = 0.3, -0.2, 0.4
    plate = D[0] * uu**2 + D[1] * vv**2 + 2 * np.sqrt(D[0] * D[1]) * uv**2
    assert cost(mesh, shallow(mesh, uu, vv, uv)) == pytest.approx(0.7 * plate / 2, rel=0.02)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 2)])
def test_planes_cost_nothing_where_few_neighbors_are(shape):
    mesh = sheet("parallel", *shape, 1.0, 0.7)
    x = mesh.vertices @ np.random.default_rng(0).normal(size=(3, 3)) + [1, 2, 3]
    assert cost(mesh, x) < 1e-24


@pytest.mark.parametrize("kind", KINDS)
def test_ripples_as_short_as_edges_cost_energy(kind):
    """No displacement besides planes is free: the null space of each coordinate is 3."""
    mesh = sheet(kind, 6, 6, 1.0, 1.0)
    K = FittedBending.of(mesh, (1.0, 1.0)).matrix(mesh.n_vertices).toarray()
    values = np.linalg.eigvalsh(K)
    assert (values < 1e-10 * values[-1]).sum() == 3
    assert values[3] > 1e-6 * values[-1]


def test_seams_bend_as_quadratic_bending_does():
    """Where material coordinates jump, flat cloth costs nothing, and a fold costs its edges."""
    mesh = sheet("parallel", 4, 3, 1.0, 0.75)
    uv = np.array(mesh.corner_uv)
    beyond = mesh.vertices[mesh.faces][:, :, 0].mean(1) > 0.5
    uv[beyond] = uv[beyond] @ [[0.0, 1.0], [-1.0, 0.0]] + 3.0
    sewn = TriangleMesh(mesh.vertices, mesh.faces, uv)
    x = np.array(mesh.vertices)
    assert cost(sewn, x) < 1e-24
    x[:, 2] = np.maximum(x[:, 0] - 0.5, 0.0)
    stiffness = (1e-5, 1e-5)
    hinges = QuadraticBending.of(sewn, stiffness).value(x).sum()
    assert cost(sewn, x, stiffness) == pytest.approx(hinges, rel=1e-12)


def test_curved_rest_shape_is_refused():
    mesh = sheet("parallel", 3, 3, 1.0, 1.0)
    with pytest.raises(MeshError, match="rest angles"):
        FittedBending.of(mesh.with_vertices(shallow(mesh, 1.0, 0, 0)), D, "as-given")


def test_derivative_of_a_run_by_the_rigidity():
    got, expected, found = compared(hung(bending="fitted", bend=0.15), ["fabric.bending_warp"])
    assert got == pytest.approx(expected, rel=1e-6) and abs(got) > 1e-9
    assert "bending" not in found.report.differences


def test_rigid_motion_is_not_damped():
    mesh = sheet("irregular", 5, 6, 1.0, 1.0)
    made = [FittedBending.of(mesh, D, damping=beta) for beta in (0.02, 0.0)]
    x = shallow(mesh, 0.5, 0.2, 0.1)
    damping = DampingInStep(*made, mesh.n_vertices, still(x, dt=0.01, span=0.01))
    bent = np.abs(damping.gradient(x + shallow(mesh, 0.1, 0.0, 0.0) - mesh.vertices)).max()
    for R in rotations(4, 5):
        assert np.abs(damping.gradient(x @ R.T + [0.1, 2.0, -1.0])).max() < 1e-9 * bent
