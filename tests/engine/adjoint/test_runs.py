"""Derivatives of whole runs against central differences of the run: one table of all that a scene
can have.
"""

from functools import partial

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import (
    along,
    carried,
    compared,
    folded,
    hung,
    keys,
    lagged,
    landing,
    noise,
    resting,
    slide,
    spline_hung,
    tied,
    with_start,
)
from tests.refusals import refused
from weft.adjoint.adjoint import Adjoint
from weft.base.errors import SceneError

DENSITY, SHEAR = "fabric.density", "fabric.shear"
STRETCH = ["fabric.stretch_warp", "fabric.stretch_weft", "fabric.rest_stretch_warp"]
BENDING = ["fabric.bending_warp", "fabric.bending_weft", "fabric.damping"]
FABRIC = [DENSITY, SHEAR, *STRETCH[:2], *BENDING]
PATHS = ["pins.pin.keyframes", "pins.pin.rotations"]
SPRINGS = [
    *(f"attachments.spring.{n}" for n in ("stiffness", "length", "damping")),
    *(f"attachments.across.{n}" for n in ("stiffness", "length", "damping")),
    *(f"attachments.rope.{n}" for n in ("stiffness", "length", "keyframes")),
]
BALL = [f"bodies.ball.{n}" for n in ("mass", "velocity", "spin", "translation")]
PRESSING = [DENSITY, STRETCH[0], "contact.friction", "contact.gap", "gravity"]
PRESSING += ["bodies.table.translation"]
CONTACT = [*PRESSING, "contact.stick"]
WIND = ["wind.velocity", "wind.density", "wind.lift"]
BREEZE = weft.Wind((1.0, 0.2, 0.5))
ADAPTIVE = weft.AdaptiveSettings(limit=0.004)
FALL = {"gravity.1": keys(-9.81, -3.0, -6.0)}
SMOOTH_FALL = {"gravity.1": keys(-9.81, -3.0, -6.0, between="smooth")}
KEYED_WIND = {"wind.velocity.0": keys(1.0, 3.0), "wind.drag": keys(1.3, 1.5)}
ROUGHER = {"contact.friction": weft.Keys([(0, 0.1), (0.02, 0.6)])}
KEYED = ["gravity.1.keys", "gravity", *FABRIC[:3], "pins.pin.keyframes"]
TOUCHING = {"frames": 2, "fps": 200, "h": 5e-5}
STATIC = {"frames": 1, "velocities": 0.0}
SLOPE = {"frames": 2, "fps": 2, "velocities": 0.0, "h": 1e-5, "rel": 1e-6}


def thrown():
    """Steps in which contact begins are backward Euler's in both directions, and have no past."""
    scene = landing("bdf2").with_(velocity=(0.2, -0.3, 0.1))
    return with_start(scene, dx=np.array([0.0, 0.005, 0.0]))


def on_a_rail():
    return hung().with_(attachments=[slide(stiffness=30.0, radius=0.01)])


def letting_go():
    """Between the forces at which points let go, what is held and what is not stays."""
    return tied(release=weft.Release(force=0.9))


def case(name, make, names, slow=False, rel=1e-5, **how):
    marks = [pytest.mark.slow] if slow else []
    return pytest.param(make, names, rel, how, id=name, marks=marks)


@pytest.mark.parametrize(
    "make, names, rel, how",
    [
        case("fabric", hung, [*FABRIC, STRETCH[2], "gravity", *PATHS]),
        case("bdf2", partial(hung, "bdf2"), [*FABRIC, STRETCH[2], "gravity", *PATHS]),
        case("equilibrium", partial(hung, "quasi_static"), [*FABRIC[:-1], "gravity"], **STATIC),
        case("quadratic", partial(hung, bending="quadratic"), FABRIC, slow=True),
        case("pairs", partial(hung, bending="pairs", bend=0.15), BENDING[::2], slow=True),
        case("adaptive", partial(hung, adaptive=ADAPTIVE), FABRIC, slow=True),
        case("splines", spline_hung, [*FABRIC, "gravity"], slow=True),
        case("contact", landing, CONTACT, **{**TOUCHING, "h": 1e-4}),
        case("contact, bdf2", partial(landing, "bdf2"), CONTACT, **{**TOUCHING, "h": 1e-4}),
        case("a blow", thrown, CONTACT, frames=6, fps=200, h=1e-5),
        case("friction anew", partial(lagged, 2), CONTACT, **TOUCHING),
        case(
            "wind anew",
            partial(lagged, 2, wind=weft.Wind((1.0, -0.3, 0.5))),
            [*WIND, "contact.friction", DENSITY],
            slow=True,
            **TOUCHING,
        ),
        # A path: what is held in the second equilibrium depends on where it slid in the first.
        case("at rest", resting, PRESSING, **SLOPE),
        case("at rest, parts", partial(resting, load_steps=3), PRESSING, slow=True, **SLOPE),
        # Loads turn with the cloth: without that part the derivative is another.
        case(
            "equilibrium in wind",
            partial(hung, "quasi_static", wind=BREEZE),
            [*WIND, DENSITY, SHEAR, "pins.pin.translation", "gravity"],
            h=1e-4,
            rel=1e-7,
            **STATIC,
        ),
        case("springs", tied, [*SPRINGS, SHEAR, "gravity"], frames=1),
        case("springs, bdf2", partial(tied, "bdf2"), [*SPRINGS, SHEAR], frames=3),
        case("letting go", letting_go, [*SPRINGS[:2], DENSITY], frames=3),
        # Its frame is four more points of the same minimization.
        case("a ball", carried, [*BALL, *PRESSING], frames=2, fps=200, h=2e-5),
        case("a ball, bdf2", partial(carried, "bdf2"), [*BALL, *PRESSING], slow=True, fps=200),
        case(
            "a rail",
            on_a_rail,
            ["attachments.rail.stiffness", "attachments.rail.radius", DENSITY],
            slow=True,
        ),
        case("keys", partial(hung, keyed=FALL), KEYED),
        case("smooth keys", partial(hung, "bdf2", keyed=SMOOTH_FALL), KEYED),
        case(
            "keys of friction",
            partial(landing, keyed=ROUGHER),
            ["contact.friction.keys", *PRESSING[:2], "contact.gap"],
            **{**TOUCHING, "h": 1e-4},
        ),
    ],
)
def test_numbers(make, names, rel, how):
    got, expected, found = compared(make(), names, **how)
    assert got == pytest.approx(expected, rel=rel)
    assert np.abs(found.gradient[names[0]]).max() > 0
    assert found.report.stiffness_adapted == 0
    assert not found.report.indefinite and not found.report.singular


FAST = {"frames": 2, "fps": 100, "h": 2e-6}
ROUGH = {"frames": 2, "fps": 200, "h": 2e-6}


@pytest.mark.parametrize(
    "make, name, rel, how",
    [
        *(case(f"{n}", hung, n, **FAST) for n in ("positions", "velocities", "rest")),
        *(
            case(f"{n}, bdf2", partial(hung, "bdf2"), n, **FAST)
            for n in ("positions", "velocities", "rest")
        ),
        case("positions in contact", landing, "positions", **ROUGH),
        case("velocities in contact", landing, "velocities", **{**ROUGH, "h": 1e-5}),
        case("rest in contact", landing, "rest", rel=2e-6, **ROUGH),
        # Parallel edges know their rest lengths; without the thresholds it is 2e-5 off.
        case("rest of two", folded, "rest", slow=True, rel=2e-6, **{**ROUGH, "h": 3e-7}),
        case("velocities with springs", tied, "velocities", slow=True, **{**FAST, "h": 1e-4}),
        case(
            "rest at rest",
            resting,
            "rest",
            slow=True,
            rel=1e-6,
            frames=2,
            fps=2,
            h=1e-6,
            velocities=0.0,
        ),
    ],
)
def test_whole_arrays(make, name, rel, how):
    got, expected = along(make(), name, **how)
    assert got == pytest.approx(expected, rel=rel)


@pytest.mark.slow
def test_where_equilibria_with_friction_begin():
    """Without friction nothing that led there counts."""
    way = np.random.default_rng(2).normal(size=(16, 3)) * [1.0, 0.01, 1.0]
    got, expected = along(resting(), "positions", 1e-6, way=way, frames=1, fps=2)
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "make, name, rel, how",
    [
        case("friction", landing, "contact.friction", fps=100),
        case("paths", hung, "pins.pin.keyframes", slow=True),
        case("keys", partial(hung, "bdf2", keyed=FALL), "gravity.1.keys", slow=True),
        case("balls", carried, "bodies.ball.velocity", slow=True, fps=200),
        case("friction anew", partial(lagged, 2), "contact.friction", slow=True, fps=200),
        case("bodies at rest", resting, "bodies.table.translation", slow=True, fps=2),
    ],
)
def test_tangents_say_the_same(make, name, rel, how):
    """Forwards and backwards share the Hessian alone, and agree."""
    scene, fps = make(), how.get("fps", 100)
    loss = noise(16, velocities=0.0 if scene.integrator == "quasi_static" else 0.1)
    adjoint = Adjoint(scene, loss, [name], frames=2, fps=fps)
    back = adjoint().gradient[name]
    dx, dv = adjoint.tangent(name)
    _, by_x, by_v = loss(np.zeros(dx.shape[:3]), np.zeros(dx.shape[:3]), None)
    ahead = np.einsum("fni,fni...->...", by_x, dx) + np.einsum("fni,fni...->...", by_v, dv)
    np.testing.assert_allclose(ahead, back, rtol=10 * rel, atol=rel * np.abs(back).max())


def test_targets_of_pins_step_by_step():
    """An offset of the pins in one step alone is what ``targets`` says of it."""
    scene = hung()
    name = "pins.pin.targets"
    by = Adjoint(scene, noise(16), [name, "pins.pin.translation"], frames=3, fps=100)().gradient
    np.testing.assert_allclose(by[name].sum((0, 1)), by["pins.pin.translation"], rtol=1e-5)
    assert by[name].shape == (3, 2, 3)


def test_a_number_that_has_keys_is_known_by_them():
    scene = hung(wind=BREEZE, keyed=KEYED_WIND | FALL)
    adjoint = Adjoint(scene, noise(16), ["gravity", "gravity.1.keys"], frames=1, fps=100)
    assert "wind.drag.keys" in adjoint.names and "wind.drag" not in adjoint.names
    assert adjoint().gradient["gravity"][1] == 0  # its keys say what it is


def test_a_key_beyond_the_run_counts_by_what_is_between():
    """With a step that ends at t, numbers are (1 - s) of the first key and s of the last."""
    scene = hung(keyed={"gravity.1": weft.Keys([(0.0, -9.81), (1.0, -9.0)])})
    scene = scene.with_(settings=weft.StepSettings(tolerance=1e-6))  # no halves
    by = Adjoint(scene, noise(16), ["gravity.1.keys"], frames=1, fps=100)().gradient
    first, last = by["gravity.1.keys"]
    assert last / first == pytest.approx(0.01 / 0.99, rel=1e-7)


@pytest.mark.parametrize(
    "message, attachment, names",
    [
        (("attachment rail", "friction"), slide(friction=0.2), [SHEAR]),
        (("parameter positions", "attachments"), slide(), ["positions"]),
    ],
)
def test_refused_by_name(message, attachment, names):
    with refused(SceneError, message):
        scene = hung().with_(attachments=[attachment])
        Adjoint(scene, noise(16), names, frames=1, fps=100)()
