"""All terms of a potential together: sums, names, and what a step's report says of them."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.checks import dense, scatter
from tests.stepping import steps
from weft import kernel
from weft.contact import sphere
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.loads.gravity import Gravity
from weft.integrators.assembly import sum_energies
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.laws import BaraffWitkin, DotShear, Psd
from weft.scene.integrators import INTEGRATORS
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

MESH = grid(5, 4, 0.4, 0.3, "random", 2)
MASS = 0.1 * MESH.vertex_area
DT = 0.02


def crumpled():
    return MESH.vertices + 0.02 * np.random.default_rng(0).normal(size=MESH.vertices.shape)


def kinds():
    """Energies over three vertices, four, two and one, with kernels of their own each; two of them
    have one name. The quadratic form is on pairs of vertices, two of which no face joins.
    """
    triangles, n = linear_triangle(MESH), MESH.n_vertices
    ids = np.array([[0, n - 1], [1, 2], [0, 1]], dtype=np.int32)
    return [
        Membrane(triangles, BaraffWitkin((100.0, 80.0), 20.0)),
        HingeBending.of(MESH, (2e-3, 1e-3)),
        QuadraticForm(ids, np.array([[1.0, -1]] * 3), np.array([3.0, 2.0, 7.0]), "springs"),
        Membrane(triangles, DotShear(50.0)),
        Gravity(MASS),
    ]


@pytest.mark.parametrize("order", [1, -1], ids=["wide first", "gravity first"])
@pytest.mark.parametrize("psd", list(Psd))
def test_a_model_of_several_kinds(psd, order):
    """Whichever term writes first into the matrix: it holds the sum of all, and no rest of the
    matrix before it. Terms of one name are added.
    """
    energies, x = kinds()[::order], crumpled()
    assembly = Model(MASS, energies).assembly
    at, g = kernel.points(x), kernel.zeros(len(x), kernel.vec3)
    for _ in range(2):
        H = assembly.hessian(at, psd).to_scipy().toarray()
        expected = sum(dense(e, x, psd) for e in energies)
        np.testing.assert_allclose(H, expected, atol=1e-12 * np.abs(expected).max())
    assembly.add_gradient(at, g)
    expected = sum(scatter(e, x) for e in energies)
    np.testing.assert_allclose(kernel.numpy(g), expected, atol=1e-12 * np.abs(expected).max())
    terms = dict.fromkeys([e.name for e in energies], 0.0)
    for energy in energies:
        terms[energy.name] += energy.value(x).sum()
    assert sum_energies(assembly.bound, at) == pytest.approx(terms, rel=1e-13)
    assert len(terms) == 4 and assembly.value(at) == pytest.approx(sum(terms.values()), rel=1e-13)


ELASTIC = ("stretch", "shear", "bend")
NAMES = {"inertia", "gravity", "contact", "friction", *ELASTIC, *(f"{e} damping" for e in ELASTIC)}


def laid(integrator):
    """Cloth that comes down on a ball, to one side, with everything that a potential may have."""
    cloth = weft.sheet(6, 6, 0.2, 0.2).move((0.003, 0.103, 0.002))
    return Scene(
        cloth,
        [weft.Pin(cloth.corners("top"))],
        integrator=integrator,
        damping=0.01,
        conditions=weft.ConditionForm(variant=weft.Variant.EXACT),
        bodies=[sphere(0.1, 0.05)],
        contact=weft.SelfContact(5e-3, friction=0.3),
        velocity=(0.2, -0.1, 0.0),
    )


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_terms_of_a_report(integrator):
    """The same names under every integrator; they sum to Phi of the step that was made, taken in
    hand once more, at the new state. What does not act is there, and zero.
    """
    scene, dt = laid(integrator), 0.005
    model, stepper = prepare(scene).model, prepare(scene).stepper
    _, (before, kept, _), (state, memory, report) = steps(scene, 3, dt)
    assert report.terms.keys() == NAMES
    if integrator == "quasi_static":
        step = model.step(before, dt)
        still = {"inertia", "friction", *(n for n in NAMES if n.endswith("damping"))}
        assert all(report.terms[name] == 0.0 for name in still)
    elif integrator == "baraff_witkin_1998":
        step = stepper.plan(model, before, dt)
    elif integrator == "bdf2_semi_implicit":
        step = weft.Bdf2().plan(model, before, kept, dt)
    else:
        step = stepper.plan(model, before, kept, dt)
    phi = Potential(model, dataclasses.replace(step, memory=kept))
    assert "bdf2" not in integrator or memory["dt"] > 0  # no blow: the step has its past
    size = 1e-12 * sum(abs(v) for v in report.terms.values())
    assert phi.value(state.x) == pytest.approx(sum(report.terms.values()), abs=size)
    for name, value in phi.terms(state.x).items():
        assert report.terms[name] == pytest.approx(value, abs=size), name
    assert report.terms["contact"] > 0 and report.terms["stretch"] > 0
    if integrator != "quasi_static":
        assert min(report.terms[n] for n in ("inertia", "friction", "stretch damping")) > 0
