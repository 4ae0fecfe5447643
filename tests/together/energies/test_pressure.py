"""Pressure: volumes, forces of a closed surface, gas, and the rank-one update that Newton needs."""

import numpy as np
import pytest

from tests.checks import InStep, scatter
from tests.refusals import refused
from weft import kernel
from weft.base.errors import MeshError, SceneError
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.elastic.membrane import Membrane
from weft.energies.loads.pressure import Gas, Pressure, volume_hessians
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998
from weft.integrators.base import StepSettings
from weft.integrators.model import Model
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2
from weft.kernel import Scalar, mat33
from weft.laws import BaraffWitkin, Psd
from weft.plugins.lab.validate.pillow import pillow

pytestmark = pytest.mark.quick


def ball(n=7):
    """A pillow blown up to a lens, some way from the origin."""
    mesh = pillow(grid(n, n, 1, 1, "alternating"))
    x = np.array(mesh.vertices)
    inner = n * n
    height = 0.3 * np.cos(np.pi * x[:, 0]) * np.cos(np.pi * x[:, 2])
    x[:, 1] = np.where(np.arange(len(x)) < inner, height, -height)
    return mesh.with_vertices(x + [2.0, -1.0, 0.5])


MESH = ball()
X = np.array(MESH.vertices) + 0.03 * np.random.default_rng(0).normal(size=MESH.vertices.shape)
LAWS = {"constant": 40.0, "gas": Gas(40.0, 0.2, 1000.0)}


def volume(x):
    """From the centroids and normals of the faces: another formula."""
    a, b, c = np.moveaxis(x[MESH.faces], 1, 0)
    return ((a + b + c) / 3 * np.cross(b - a, c - a) / 2).sum() / 3


def test_volume():
    pressure = Pressure.of(MESH, 1.0)
    assert pressure.volumes(X).sum() == pytest.approx(volume(X), rel=1e-12)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_force_is_pressure_times_area_and_balances(law):
    pressure = Pressure.of(MESH, law)
    g = scatter(pressure, X)
    a, b, c = np.moveaxis(X[MESH.faces], 1, 0)
    third = -pressure.at(volume(X))[1] * np.cross(b - a, c - a) / 6
    expected = np.zeros_like(X)
    np.add.at(expected, MESH.faces.reshape(-1), np.repeat(third, 3, axis=0))
    np.testing.assert_allclose(g, expected, atol=1e-12)
    np.testing.assert_allclose(g.sum(0), 0, atol=1e-12)
    np.testing.assert_allclose(np.cross(X, g).sum(0), 0, atol=1e-12)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_derivatives_of_the_whole(law, rng):
    """Energy, force, and the Hessian with its update, on the device."""
    pressure = Pressure.of(MESH, law)
    made, d, h = InStep(pressure, MESH.n_vertices), rng.normal(size=X.shape), 1e-6
    made.assert_equals(pressure, X)
    slope = (made.value(X + h * d) - made.value(X - h * d)) / (2 * h)
    assert slope == pytest.approx((made.gradient(X) * d).sum(), rel=1e-6)
    H, updates = made.matrix(X), made.bound.updates(kernel.points(X))
    assert len(updates) == isinstance(law, Gas)
    for update in updates:
        flat = kernel.numpy(update.u).reshape(-1)
        H = H + update.c * np.outer(flat, flat)
    difference = (made.gradient(X + h * d) - made.gradient(X - h * d)) / (2 * h)
    np.testing.assert_allclose((H @ d.reshape(-1)).reshape(-1, 3), difference, atol=1e-5)
    assert not made.matrix(X, Psd.PROJECTED).any()


def test_hessians_of_volumes_have_no_diagonal():
    """Their blocks are zero, whatever the memory held before."""
    pressure, m = Pressure.of(MESH, 1.0), len(MESH.faces)
    out = kernel.array(np.full((m, 6, 3, 3), 7.0), mat33)
    blocks = kernel.numpy(pressure.launch(volume_hessians, kernel.points(X), out, Scalar(1.0)))
    assert not blocks[:, [0, 3, 5]].any() and np.abs(blocks).max() < 7


def test_gas():
    """p V is constant, and E is minus the work that the gas can do against the surroundings."""
    gas = Gas(pressure=500.0, volume=2.0, ambient=1000.0)
    for v in (0.5, 2.0, 7.0):
        _, p, stiffness = gas.at(v)
        assert (p + 1000) * v == pytest.approx(3000)
        low, high = (np.array(gas.at(s * v)) for s in (1 - 1e-5, 1 + 1e-5))
        rate = (high - low) / (2e-5 * v)
        assert -rate[:2] == pytest.approx([p, stiffness], rel=1e-6)
    assert gas.at(-1.0)[0] == np.inf


def balloon(law):
    mass = 0.1 * MESH.vertex_area
    membrane = Membrane(linear_triangle(MESH), BaraffWitkin((500.0, 500.0), 100.0))
    return Model(mass, (membrane, Pressure.of(MESH, law)))


def test_newton_converges_with_a_stiff_gas():
    """Air at one atmosphere is 1e5 times as stiff as the cloth: a few iterations a step."""
    model = balloon(Gas(20.0, float(volume(np.array(MESH.vertices)))))
    stepper, state = BackwardEuler(StepSettings(tolerance=1e-5)), State.at_rest(MESH.vertices)
    before = volume(state.x)
    for _ in range(5):
        state, _, report = stepper.step(model, state, {}, 0.01)
        assert report.outcome.ok and report.iterations <= 15  # multigrid: 13
    assert volume(state.x) == pytest.approx(before, rel=3e-3)


@pytest.mark.parametrize("stepper", [BaraffWitkin1998(), SemiImplicitBdf2()])
def test_one_linear_solve_refuses_a_gas(stepper):
    model, state = balloon(Gas(20.0, 0.2)), State.at_rest(MESH.vertices)
    with refused(SceneError, "gas pressure", expected="backward_euler"):
        stepper.step(model, state, stepper.init(model, state), 0.01)


def test_errors():
    with refused(MeshError, "pressure", got="20"):
        Pressure.of(grid(6, 6, 1, 1), 1.0)
    faces = np.array(MESH.faces)
    faces[0] = faces[0, ::-1]
    with refused(MeshError, "pressure", got="orientation"):
        Pressure.of(TriangleMesh(MESH.vertices, faces, MESH.corner_uv), 1.0)
    with refused(SceneError, "gas.volume"):
        Gas(1.0, 0.0)
    with refused(SceneError, "absolute pressure"):
        Gas(-200.0, 1.0, 100.0)


@pytest.mark.parametrize("size", [1.0, 1e-3], ids=["1 m", "1 mm"])
def test_faces_that_look_inwards_enclose_the_same(size):
    """The surface is blown up, not sucked in, whatever its size."""
    turned = TriangleMesh(size * MESH.vertices, MESH.faces[:, ::-1], MESH.corner_uv[:, ::-1])
    with pytest.warns(UserWarning, match="look inwards"):
        made = Pressure.of(turned, 10.0)
    x = size * X
    assert made.value(x).sum() == pytest.approx(Pressure.of(MESH, 10.0).value(x).sum())
    assert made.value(x).sum() == pytest.approx(-10 * volume(x))
