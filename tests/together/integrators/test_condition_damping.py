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


def test_one_alone():
    """Named alone, a condition is damped alone, whatever the energies say."""
    energies, _ = by_name(Variant.BODY)
    stepper = BaraffWitkin1998(Settings1998(damping={"shear": 0.2}))
    system = stepper.system(Model(MASS, energies), state(), DT)
    assert {n for n in system.forces if n.endswith("damping")} == {"shear damping"}
    assert np.abs(system.forces["shear damping"]).max() > 0


def test_constants_of_a_form():
    """``ConditionForm(damping=...)`` reaches the step, in place of the scene's and the fabric's."""
    form = ConditionForm(damping=tuple(BETA.values()))
    scene = weft.Scene(
        weft.sheet(5, 5, fabric="cotton"),
        integrator="baraff_witkin_1998",
        conditions=form,
        damping=0.9,
    )
    ready = prepare(scene)
    model, start = ready.model, ready.state
    rng = np.random.default_rng(1)
    s = State(start.x + 0.01 * rng.normal(size=start.x.shape), rng.normal(size=start.x.shape))
    system = prepare(scene).stepper.system(model, s, DT)
    for e in model.energies[:3]:
        G = dense(e, s.x, Psd.GAUSS_NEWTON)
        expected = -BETA[e.name] * (G @ s.v.reshape(-1)).reshape(-1, 3)
        got = system.forces[f"{e.name} damping"]
        np.testing.assert_allclose(got, expected, atol=1e-10 * np.abs(expected).max())


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
    # Each of them does take part in it.
    for energy in model.energies[-3:-1]:
        others = Model(MASS, tuple(e for e in model.energies if e is not energy), pins, s.x)
        without = BaraffWitkin1998(Settings1998(**SETTINGS)).step(others, s, {}, DT)[0]
        assert np.abs(without.x - after.x).max() > 1e-4
    undamped = Model(
        MASS,
        tuple(
            dataclasses.replace(e, damping=0.0) if e.name == "membrane" else e
            for e in model.energies
        ),
        pins,
        s.x,
    )
    without = BaraffWitkin1998(Settings1998(**SETTINGS)).step(undamped, s, {}, DT)[0]
    assert np.abs(without.x - after.x).max() > 1e-4


@pytest.mark.filterwarnings("ignore:energy 'springs' has no kernels")
def test_their_damping_stays_when_conditions_have_theirs():
    """A = M + h^2 (S of conditions + the Hessian of the rest in backward Euler's potential)."""
    s, model = state(), Model(MASS, mixed(damping=0.05))
    system = BaraffWitkin1998(Settings1998(**SETTINGS)).system(model, s, DT)
    assert sorted(n for n in system.forces if n.endswith("damping")) == [
        "bend damping",
        "shear damping",
        "stretch damping",
    ]
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
