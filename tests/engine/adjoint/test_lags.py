"""Friction that is taken anew within a step, and equilibria with friction or wind, against
differences of runs.
"""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import compared, hung, landing, noise, quotient, with_start
from weft.adjoint import Adjoint
from weft.integrators.quasi_static import QuasiStaticSettings

CONTACT = [
    "fabric.density",
    "fabric.stretch_warp",
    "contact.friction",
    "contact.gap",
    "contact.stick",
    "gravity",
    "bodies.table.translation",
]
TIGHT = weft.StepSettings(tolerance=1e-10)


def lagged(lags, integrator="backward_euler", settings=TIGHT, **more):
    scene = landing(integrator, **more)
    contact = dataclasses.replace(scene.contact, lags=lags)
    return scene.with_(contact=contact, settings=settings)


@pytest.mark.parametrize(
    "integrator, lags",
    [("backward_euler", 2), pytest.param("bdf2", 3, marks=pytest.mark.slow)],
)
def test_friction_taken_anew(integrator, lags):
    """Each minimization begins with the friction of the one before: a chain of so many."""
    scene = lagged(lags, integrator)
    got, expected, found = compared(scene, CONTACT, frames=2, fps=200, h=5e-5)
    assert got == pytest.approx(expected, rel=1e-5)
    once, _, _ = compared(lagged(1, integrator), CONTACT[:1], frames=1, fps=200)
    twice, _, _ = compared(scene, CONTACT[:1], frames=1, fps=200)
    assert abs(once / twice - 1) > 1e-3  # it is not the derivative of a step with one
    assert found.report.steps == 2


@pytest.mark.slow
def test_the_start_through_friction_taken_anew():
    scene, rng = lagged(2), np.random.default_rng(4)
    by = Adjoint(scene, noise(16), ["positions", "velocities"], frames=2, fps=200)().gradient
    for name, key, h in (("positions", "dx", 2e-6), ("velocities", "dv", 1e-5)):
        way = rng.normal(size=(16, 3))

        def along(s, key=key, way=way):
            return Adjoint(
                with_start(scene, **{key: s * way}), noise(16), frames=2, fps=200
            ).value()

        assert float((by[name] * way).sum()) == pytest.approx(quotient(along, h), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["lags", "at rest"])
def test_the_rest_shape(which):
    """By how stiff contact is, which presses where friction is taken."""
    scene, run, h = lagged(2), {"frames": 1, "fps": 200}, 1e-6
    if which == "at rest":
        scene, run = resting(), {"frames": 2, "fps": 2}
    loss = noise(16, velocities=0.0)
    by, rng = Adjoint(scene, loss, ["rest"], **run)().gradient["rest"], np.random.default_rng(3)
    way = rng.normal(size=by.shape)

    def along(s):
        return Adjoint(with_start(scene, duv=s * way), loss, **run).value()

    assert float((by * way).sum()) == pytest.approx(quotient(along, h), rel=1e-6)


@pytest.mark.slow
def test_wind_is_taken_anew_with_friction():
    """Both are, wherever a step has led."""
    wind = weft.Wind((1.0, -0.3, 0.5))
    names = ["wind.velocity", "wind.density", "wind.lift", "contact.friction", "fabric.density"]
    got, expected, _ = compared(lagged(2, wind=wind), names, frames=2, fps=200, h=5e-5)
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_recomputed_chains_are_bitwise_equal():
    scene = lagged(3, settings=weft.StepSettings(tolerance=1e-7))
    names = ["contact.friction", "positions"]
    whole, little = (
        Adjoint(scene, noise(16), names, frames=4, fps=200, memory=m)() for m in (1e9, 0)
    )
    assert little.report.recomputed == 4
    for name in names:
        assert np.array_equal(whole.gradient[name], little.gradient[name])


def resting(kind="triangles", **settings):
    """A square on a slope that holds it, taken there by equilibria."""
    chosen = {
        "tolerance": 1e-10,
        "force_tolerance": 1e-9,
        "lags": 400,
        "max_iterations": 4000,
        "friction": True,
        "imperfection": 0.0,
        **settings,
    }
    if kind == "splines":
        cloth = weft.spline_sheet(3, 3, 0.2, 0.2, fabric="felt")
    else:
        cloth = weft.sheet(4, 4, 0.2, 0.2, fabric="felt")
    cloth, a = cloth.move((0, 2.5e-3, 0), (0, 20, 0)), np.radians(14.0)
    return weft.Scene(
        cloth,
        gravity=(9.81 * np.sin(a), -9.81 * np.cos(a), 0.0),
        integrator="quasi_static",
        settings=QuasiStaticSettings(**chosen),
        contact=weft.SelfContact(gap=4e-3, friction=0.4),
        bodies=[weft.contact.plate(0.6, 0.6, 0.3, name="table")],
        step=0.5,
    )


RESTS = [
    "fabric.density",
    "fabric.stretch_warp",
    "contact.friction",
    "contact.gap",
    "gravity",
    "bodies.table.translation",
]


@pytest.mark.parametrize(
    "kind, settings",
    [
        ("triangles", {}),
        pytest.param("triangles", {"load_steps": 3}, marks=pytest.mark.slow),
        pytest.param("splines", {}, marks=pytest.mark.slow),
    ],
    ids=["triangles", "parts", "splines"],
)
def test_equilibria_with_friction(kind, settings):
    """A path: what is held in the second depends on where it slid in the first."""
    got, expected, found = compared(
        resting(kind, **settings), RESTS, frames=2, fps=2, velocities=0.0, h=1e-5
    )
    assert got == pytest.approx(expected, rel=1e-6)
    assert found.report.steps == 2 * settings.get("load_steps", 1)


@pytest.mark.slow
def test_where_equilibria_with_friction_begin():
    """Without friction nothing that led there counts."""
    scene, way = resting(), np.random.default_rng(2).normal(size=(16, 3))
    way[:, 1] *= 0.01

    def along(s):
        return Adjoint(with_start(scene, dx=s * way), noise(16), frames=1, fps=2).value()

    got = Adjoint(scene, noise(16), ["positions"], frames=1, fps=2)().gradient["positions"]
    assert float((got * way).sum()) == pytest.approx(quotient(along, 1e-6), rel=1e-5)


def test_equilibria_in_wind():
    """Loads turn with the cloth: without that part the derivative is another."""
    scene = hung("quasi_static", wind=weft.Wind((1.0, 0.2, 0.5)))
    names = [
        "wind.velocity",
        "wind.density",
        "wind.lift",
        "fabric.density",
        "fabric.shear",
        "pins.pin.translation",
        "gravity",
    ]
    got, expected, found = compared(scene, names, frames=1, velocities=0.0, h=1e-4)
    assert got == pytest.approx(expected, rel=1e-7)
    assert found.report.steps == 1


@pytest.mark.slow
def test_tangents_say_the_same():
    for scene, name, fps in (
        (lagged(2), "contact.friction", 200),
        (resting(), "gravity", 2),
        (resting(), "bodies.table.translation", 2),
        (hung("quasi_static", wind=weft.Wind((1.0, 0.2, 0.5))), "pins.pin.translation", 100),
    ):
        loss = noise(16, velocities=0.1 if fps == 200 else 0.0)
        adjoint = Adjoint(scene, loss, [name], frames=2, fps=fps)
        back = adjoint().gradient[name]
        dx, dv = adjoint.tangent(name)
        _, by_x, by_v = loss(np.zeros(dx.shape[:3]), np.zeros(dx.shape[:3]), None)
        ahead = np.einsum("fni,fni...->...", by_x, dx) + np.einsum("fni,fni...->...", by_v, dv)
        np.testing.assert_allclose(ahead, back, rtol=1e-4, atol=1e-5 * np.abs(back).max())
