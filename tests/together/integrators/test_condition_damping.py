"""Damping of conditions in the step of 1998: each with a constant of its own; and energies that are
no conditions, which take part as they do under backward Euler.
"""

import dataclasses

import numpy as np
import pytest
import scipy.sparse.linalg as spla

import weft
from tests.checks import dense, scatter
from tests.refusals import refused
from tests.verification.test_derivatives import MESH, Springs
from weft.base.errors import LawError, SceneError
from weft.bodies.motion.pins import Pin
from weft.discretization.linear_triangle import linear_triangle
from weft.energies.elastic.condition import ConditionForm, Conditions, Variant, condition_energies
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.integrators.model import Model
from weft.laws import BaraffWitkin, Psd
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick

MASS = 0.1 * MESH.vertex_area
DT = 0.02
BETA = {"stretch": 0.03, "shear": 0.11, "bend": 0.007}
CONDITIONS = Conditions((500.0, 400.0), 60.0, (1e-3, 5e-4))
SETTINGS = {"linear": "splu", "tolerance": 1e-12}


def state(size=0.01, speed=0.5, stretch=1.0):
    rng = np.random.default_rng(3)
    x = stretch * np.array(MESH.vertices) + size * rng.normal(size=MESH.vertices.shape)
    return State(x, speed * rng.normal(size=x.shape))


def on_energies(variant):
    c = dataclasses.replace(CONDITIONS, variant=variant, damping=tuple(BETA.values()))
    return condition_energies(MESH, c), Settings1998(**SETTINGS)


def by_name(variant):
    c = dataclasses.replace(CONDITIONS, variant=variant, damping=(0.5, 0.5, 0.5))  # counts no more
    return condition_energies(MESH, c), Settings1998(damping=BETA, **SETTINGS)


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("given", [on_energies, by_name])
def test_every_condition_has_its_own(given, variant):
    """Forces have an entry for the damping of each condition, -beta_c G_c v with G_c from local
    arrays; df/dv is the sum of the -beta_c G_c.
    """
    energies, settings = given(variant)
    model, s = Model(MASS, (*energies, Gravity(MASS))), state()
    system = BaraffWitkin1998(settings).system(model, s, DT)
    assert set(system.forces) == {"gravity", *BETA, *(f"{c} damping" for c in BETA)}
    total = 0.0
    for e in energies:
        G = BETA[e.name] * dense(e, s.x, Psd.GAUSS_NEWTON)
        expected = -(G @ s.v.reshape(-1)).reshape(-1, 3)
        np.testing.assert_allclose(
            system.forces[f"{e.name} damping"], expected, atol=1e-10 * np.abs(expected).max()
        )
        np.testing.assert_allclose(system.forces[e.name], -scatter(e, s.x), atol=1e-10)
        total = total - G
    np.testing.assert_allclose(system.dfdv.toarray(), total, atol=1e-12 * np.abs(total).max())


def test_constants_of_a_form():
    """``ConditionForm(damping=...)`` reaches energies, in place of the scene's and the fabric's."""
    how = {"integrator": "baraff_witkin_1998", "damping": 0.9}
    form = ConditionForm(damping=tuple(BETA.values()))
    scene = weft.Scene(weft.sheet(5, 5, fabric="cotton"), conditions=form, **how)
    conditions = prepare(scene).model.energies[:3]
    assert {e.name: e.damping for e in conditions} == BETA


def mixed(damping=0.0):
    """Conditions, a membrane and hinges of their own damping, an energy in NumPy, and gravity."""
    own = Membrane(linear_triangle(MESH), BaraffWitkin((90.0, 70.0), 20.0), damping=0.04)
    c = dataclasses.replace(CONDITIONS, variant=Variant.EXACT, damping=(damping,) * 3)
    return (*condition_energies(MESH, c), own, Springs(), Gravity(MASS))


@pytest.mark.filterwarnings("ignore:energy 'springs' has no kernels")
def test_what_is_no_condition_moves_as_under_backward_euler():
    """Conditions undamped, the membrane damped as in a step of backward Euler: the step of 1998 is
    one full Newton iteration on that potential, to round-off, with vertices pinned too.
    """
    s = state(size=1e-4, stretch=1.1)
    pins = (Pin(MESH.groups["top"]),)
    model = Model(MASS, mixed(), pins, s.x)
    after, _, report = BaraffWitkin1998(Settings1998(**SETTINGS)).step(model, s, {}, DT)
    assert report.outcome.ok and report.iterations == 1
    phi = BackwardEuler().potential(model, s, {}, DT)
    free = np.repeat(phi.free, 3)
    H = phi.hessian(s.x, Psd.EXACT)[free][:, free]
    dx = np.zeros(3 * len(s.x))
    dx[free] = spla.spsolve(H.tocsc(), -phi.gradient(s.x).reshape(-1)[free])
    np.testing.assert_allclose(after.x, s.x + dx.reshape(-1, 3), atol=1e-12)


@pytest.mark.filterwarnings("ignore:energy 'springs' has no kernels")
def test_their_damping_stays_when_conditions_have_theirs():
    """A = M + h^2 (S of conditions + the Hessian of the rest in backward Euler's potential)."""
    s, model = state(), Model(MASS, mixed(damping=0.05))
    system = BaraffWitkin1998(Settings1998(**SETTINGS)).system(model, s, DT)
    alone = Model(MASS, model.energies[:3])
    conditions = BaraffWitkin1998(Settings1998(**SETTINGS)).system(alone, s, DT).A.toarray()
    rest = BackwardEuler().potential(Model(MASS, model.energies[3:]), s, {}, DT)
    expected = conditions + DT**2 * rest.hessian(s.x, Psd.EXACT).toarray()
    expected -= np.diag(np.repeat(MASS, 3))  # which both have
    scale = np.abs(expected).max()
    np.testing.assert_allclose(system.A.toarray(), expected, atol=1e-12 * scale)


@pytest.mark.filterwarnings("ignore:energy 'springs' has no kernels")
def test_what_cannot_be_damped_as_a_condition():
    """By a name that no energy has, or of one that is none: each is said."""
    model, s = Model(MASS, (*mixed(), HingeBending.of(MESH, (1e-3, 1e-3)))), state()
    for name, error, said in (
        ("strech", SceneError, ("Settings1998.damping", "'strech'")),
        ("membrane", LawError, "damping of conditions of baraff_witkin"),
        ("springs", LawError, "damping of conditions of springs"),
    ):
        with refused(error, said):
            BaraffWitkin1998(Settings1998(damping={name: 0.1})).step(model, s, {}, DT)
