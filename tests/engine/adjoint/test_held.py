"""Derivatives with attachments and rigid bodies, by their numbers too, against differences of
runs.
"""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import compared, hung, landing, noise, quotient, with_start
from tests.refusals import refused
from weft.adjoint import Adjoint
from weft.adjoint.parameter_directions import ParameterDirection
from weft.base.errors import SceneError
from weft.contact import Rigid, sphere

TIGHT = weft.StepSettings(tolerance=1e-10)
PATH = weft.Path(
    [weft.Keyframe(0.0), weft.Keyframe(0.1, (0.05, -0.1, 0.02), 0.3)],
    interpolation="linear",
    hold=True,
)


def tied(integrator="backward_euler", release=None):
    """Hung, with a damped spring between vertices, one to a place, and a rope that is wound in."""
    scene = hung(integrator)
    cloth = scene.cloth
    more = {} if release is None else {"release": release}
    spring = weft.Spring(
        cloth.border("bottom"),
        stiffness=5.0,
        length=0.1,
        damping=0.05,
        at=(0.1, -0.5, 0.2),
        name="spring",
        **more,
    )
    across = weft.Spring([4], to=[11], stiffness=20.0, length=0.1, damping=0.03, name="across")
    rope = weft.Rope(
        cloth.corners("bottom"),
        at=(0, -1.0, 0.1),
        length=1.2,
        stiffness=50.0,
        path=PATH,
        name="rope",
    )
    return scene.with_(settings=TIGHT, attachments=[spring, across, rope])


def numbers(scene, kind):
    """Names of its parameters of a kind."""
    return [n for n in Adjoint(scene, noise(16), frames=1).names if n.startswith(kind)]


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_springs_and_ropes(integrator):
    scene = tied(integrator)
    names = numbers(scene, "attachments")
    assert {"attachments.spring.damping", "attachments.rope.keyframes"} <= {*names}
    frames = 3 if integrator == "bdf2" else 1  # two states of the past
    got, expected, _ = compared(scene, [*names, "fabric.shear", "gravity"], frames=frames)
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_velocities_with_damped_springs():
    scene, way = tied(), np.random.default_rng(3).normal(size=(16, 3))

    def along(s):
        return Adjoint(with_start(scene, dv=s * way), noise(16), frames=2, fps=100).value()

    got = Adjoint(scene, noise(16), ["velocities"], frames=2, fps=100)().gradient["velocities"]
    assert float((got * way).sum()) == pytest.approx(quotient(along, 1e-4), rel=1e-5)


def test_what_lets_go_at_a_force():
    """Between the forces at which points let go, what is held and what is not stays."""
    scene = tied(release=weft.Release(force=0.9))
    names = ["attachments.spring.stiffness", "attachments.spring.length", "fabric.density"]
    got, expected, _ = compared(scene, names, frames=3)
    assert got == pytest.approx(expected, rel=1e-5)
    whole, _, _ = compared(tied(), names, frames=3)
    assert abs(got / whole - 1) > 1e-2  # some have let go


@pytest.mark.slow
def test_a_clip_on_a_body_that_moves():
    cloth = hung().cloth
    table = weft.contact.plate(0.3, 0.3, 0.1, name="table")
    low = np.asarray(cloth.points)[cloth.corners("bottom")].mean(0)
    table = table.move(low - [0.0, 0.3, 0.0], rotation=(5, 10, 3), path=PATH)
    clip = weft.AttachToBody(cloth.corners("bottom"), "table", stiffness=30.0, within=0.5, name="c")
    scene = hung().with_(
        settings=TIGHT,
        bodies=[table],
        attachments=[clip],
        contact=weft.SelfContact(gap=1e-3),
    )
    names = [
        "attachments.c.stiffness",
        "bodies.table.translation",
        "bodies.table.keyframes",
        "bodies.table.rotations",
        "fabric.shear",
    ]
    got, expected, _ = compared(scene, names, frames=2, h=1e-4)
    assert got == pytest.approx(expected, rel=1e-5)


def carried(integrator="backward_euler"):
    """A sheet that lands on a table, with a light ball on it."""
    scene = landing(integrator)
    ball = sphere(0.03, 0.02, name="ball").move((0.01, 0.0345, 0.004), rotation=(0, 10, 20))
    rigid = Rigid(mass=4e-4, velocity=(0.02, -0.03, 0.01), spin=(0.1, 0.2, 0.3), stiffness=1e6)
    ball = dataclasses.replace(ball, rigid=rigid)
    return scene.with_(settings=weft.StepSettings(tolerance=1e-9), bodies=[*scene.bodies, ball])


@pytest.mark.parametrize(
    "integrator", ["backward_euler", pytest.param("bdf2", marks=pytest.mark.slow)]
)
def test_a_rigid_body_on_cloth(integrator):
    """Its frame is four more points of the same minimization."""
    scene = carried(integrator)
    names = [
        *numbers(scene, "bodies.ball"),
        "bodies.table.translation",
        "fabric.density",
        "contact.friction",
        "contact.gap",
    ]
    assert {"bodies.ball.mass", "bodies.ball.spin", "bodies.ball.translation"} <= {*names}
    got, expected, found = compared(scene, names, frames=2, fps=200, h=2e-5)
    assert found.report.stiffness_adapted == 0
    assert got == pytest.approx(expected, rel=1e-5)
    assert abs(found.gradient["bodies.ball.mass"]) > 0  # it presses


@pytest.mark.slow
def test_tangents_say_the_same():
    for scene, name in (
        (tied("bdf2"), "attachments.rope.keyframes"),
        (carried(), "bodies.ball.velocity"),
    ):
        adjoint = Adjoint(scene, noise(16), [name], frames=2, fps=200)
        back = adjoint().gradient[name]
        dx, dv = adjoint.tangent(name)
        _, by_x, by_v = noise(16)(np.zeros(dx.shape[:3]), np.zeros(dx.shape[:3]), None)
        ahead = np.einsum("fni,fni...->...", by_x, dx) + np.einsum("fni,fni...->...", by_v, dv)
        np.testing.assert_allclose(ahead, back, rtol=1e-4, atol=1e-5 * np.abs(back).max())


def test_recomputed_steps_are_bitwise_equal():
    scene = tied(release=weft.Release(force=0.9))
    whole, little = (
        Adjoint(scene, noise(16), ["velocities"], frames=4, fps=100, memory=m)() for m in (1e9, 0)
    )
    assert little.report.recomputed > 0
    assert np.array_equal(whole.gradient["velocities"], little.gradient["velocities"])


def slide(**more):
    """An attachment to a rail."""
    return weft.Slide(
        hung().cloth.corners("bottom"),
        along=[(-0.3, -0.1, -0.2), (0.3, 0.2, -0.2)],
        within=1.0,
        name="rail",
        **more,
    )


@pytest.mark.slow
def test_smooth_rails():
    scene = hung().with_(settings=TIGHT, attachments=[slide(stiffness=30.0, radius=0.01)])
    names = ["attachments.rail.stiffness", "attachments.rail.radius", "fabric.density"]
    got, expected, _ = compared(scene, names)
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "message, more, names",
    [
        (("attachment rail", "friction"), {"attachments": [slide(friction=0.2)]}, ["fabric.shear"]),
        (("parameter positions", "attachments"), {"attachments": [slide()]}, ["positions"]),
    ],
)
def test_refused_by_name(message, more, names):
    with refused(SceneError, message):
        Adjoint(hung().with_(**more), noise(16), names, frames=1, fps=100)()


def test_ropes_on_bodies_by_where_these_start():
    table = weft.contact.plate(0.3, 0.3, 0.1, name="table").move((0.0, -0.5, 0.0))
    spring = weft.Spring([15], stiffness=1.0, body="table")
    scene = hung().with_(bodies=[table], attachments=[spring])
    moved = Adjoint(scene, noise(16), frames=1).parameter("bodies.table.translation")
    with refused(SceneError, "parameter bodies.table.translation"):
        ParameterDirection.of(scene, moved, (0,))
