"""Derivatives of whole runs against central differences of the run."""

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import compared, hung, landing, noise, quotient, with_start
from weft.adjoint.adjoint import Adjoint
from weft.scene.prepare import prepare

FABRIC = [
    "fabric.density",
    "fabric.stretch_warp",
    "fabric.stretch_weft",
    "fabric.shear",
    "fabric.bending_warp",
    "fabric.bending_weft",
    "fabric.damping",
]
FORCES = ["gravity", "fabric.rest_stretch_warp"]
PATHS = ["pins.pin.keyframes", "pins.pin.rotations"]
CONTACT = [
    "fabric.density",
    "fabric.stretch_warp",
    "contact.friction",
    "contact.gap",
    "contact.stick",
    "gravity",
    "bodies.table.translation",
]


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_numbers_of_a_scene(integrator):
    got, expected, found = compared(hung(integrator), [*FABRIC, *FORCES, *PATHS])
    assert got == pytest.approx(expected, rel=1e-5)
    assert found.report.correction < 1e-10
    assert not found.report.indefinite and not found.report.singular


@pytest.mark.slow
@pytest.mark.parametrize(
    "more, names",
    [
        ({"wind": weft.Wind((1.0, 0.2, 0.5))}, ["wind.velocity", "wind.density", "wind.lift"]),
        (
            {"wind": weft.Wind((1.0, 0.2, 0.5), crossflow=True)},
            ["wind.velocity", "wind.density", "wind.lift"],
        ),
        ({"bending": "quadratic"}, FABRIC),
        ({"bending": "pairs", "bend": 0.15}, ["fabric.bending_warp", "fabric.damping"]),
        ({"law": weft.laws.StVK(500.0)}, ["fabric.density", "fabric.damping"]),
        ({"adaptive": weft.AdaptiveSettings(limit=0.004)}, FABRIC),
    ],
    ids=["wind", "crossflow", "quadratic", "pairs", "law", "adaptive"],
)
def test_other_energies(more, names):
    got, expected, _ = compared(hung(**more), names)
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
@pytest.mark.parametrize("what", ["positions", "velocities", "rest"])
def test_whole_arrays(integrator, what):
    scene = hung(integrator)
    loss, n = noise(16), scene.cloth.n_vertices
    gradient = Adjoint(scene, loss, [what], frames=2, fps=100)().gradient[what]
    way = np.random.default_rng(3).normal(size=gradient.shape)
    key = {"positions": "dx", "velocities": "dv", "rest": "duv"}[what]

    def along(s):
        return Adjoint(with_start(scene, **{key: s * way}), loss, frames=2, fps=100).value()

    assert gradient.shape == (n, 2 if what == "rest" else 3)
    assert float((gradient * way).sum()) == pytest.approx(quotient(along, 2e-6), rel=1e-5)


def test_targets_of_pins_step_by_step():
    """An offset of the pins in one step alone is what ``targets`` says of it."""
    scene = hung()
    name = "pins.pin.targets"
    by = Adjoint(scene, noise(16), [name, "pins.pin.translation"], frames=3, fps=100)().gradient
    np.testing.assert_allclose(by[name].sum((0, 1)), by["pins.pin.translation"], rtol=1e-5)
    assert by[name].shape == (3, 2, 3)


def test_equilibrium():
    """One solve, whatever led there; bdf2 and dynamics have no part in it."""
    scene = hung("quasi_static")
    names = [
        "fabric.density",
        "fabric.stretch_warp",
        "fabric.shear",
        "fabric.bending_warp",
        "gravity",
    ]
    got, expected, found = compared(scene, names, frames=1, velocities=0.0)
    assert got == pytest.approx(expected, rel=1e-5)
    assert found.report.steps == 1


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_contact_and_friction(integrator):
    got, expected, found = compared(landing(integrator), CONTACT, frames=2, fps=200, h=1e-4)
    assert got == pytest.approx(expected, rel=1e-5)
    assert found.report.stiffness_adapted == 0


def test_bdf2_through_a_blow():
    """Steps in which contact begins are backward Euler's in both directions, and have no past."""
    thrown = landing("bdf2").with_(velocity=(0.2, -0.3, 0.1))
    scene = with_start(thrown, dx=np.array([0.0, 0.005, 0.0]))
    ready = prepare(scene)
    stepper, model, state = ready.stepper, ready.model, ready.state
    memory, past = stepper.init(model, state), []
    for _ in range(6):
        state, memory, report = stepper.step(model, state, memory, 0.005)
        past.append(float(memory["dt"]))
    assert past[0] > 0.0 and 0.0 in past and report.contact["count"] > 0
    got, expected, _ = compared(scene, CONTACT, frames=6, fps=200, h=1e-5)
    assert got == pytest.approx(expected, rel=1e-5)


def test_contact_by_where_and_how_fast_it_starts():
    scene = landing()
    loss = noise(16)
    by = Adjoint(scene, loss, ["positions", "velocities"], frames=2, fps=200)().gradient
    rng = np.random.default_rng(4)
    for name, key, h in (("positions", "dx", 2e-6), ("velocities", "dv", 1e-5)):
        way = rng.normal(size=(16, 3))

        def along(s, key=key, way=way):
            return Adjoint(with_start(scene, **{key: s * way}), loss, frames=2, fps=200).value()

        assert float((by[name] * way).sum()) == pytest.approx(quotient(along, h), rel=1e-5)


@pytest.mark.slow
def test_splines():
    cloth = weft.spline_sheet(4, 4, 0.4, 0.4, fabric={"preset": "cotton", "damping": "0.02 s"})
    cloth = cloth.move((0, 0, 0), (30, 0, 0))
    settings = weft.StepSettings(tolerance=1e-9)
    pins = [weft.Pin(cloth.corners("top"))]
    scene = weft.Scene(cloth, pins, settings=settings, step=0.01)
    names = [
        "fabric.density",
        "fabric.stretch_warp",
        "fabric.bending_warp",
        "fabric.damping",
        "gravity",
    ]
    got, expected, _ = compared(scene, names)
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_tangents_say_the_same():
    """Forwards and backwards share the Hessian alone, and agree."""
    for scene, name in (
        (hung("bdf2"), "fabric.shear"),
        (landing(), "contact.friction"),
        (hung(), "pins.pin.keyframes"),
    ):
        adjoint = Adjoint(scene, noise(16), [name], frames=2, fps=100)
        back = adjoint().gradient[name]
        dx, dv = adjoint.tangent(name)
        _, by_x, by_v = noise(16)(np.zeros(dx.shape[:3]), np.zeros(dx.shape[:3]), None)
        ahead = np.einsum("fni,fni...->...", by_x, dx) + np.einsum("fni,fni...->...", by_v, dv)
        np.testing.assert_allclose(ahead, back, rtol=1e-5, atol=1e-7 * np.abs(back).max())
