"""Nothing gets to the other side, under any integrator: where no faces cross in a frame, something
may have passed through between two. Winding and linking numbers tell.
"""

import numpy as np
import pytest
from PIL import Image

import weft
from tests.reference.topology import linking, windings
from tests.refusals import refused
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.bodies.shapes.primitives import ring
from weft.contact import plate, sphere
from weft.contact.settings import SelfContact
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.run.drive import StepFailed, advance
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.show.looks import CONTACT
from weft.show.picture.style import Style
from weft.solve.linear.solver import Outcome

INTEGRATORS = ("backward_euler", "bdf2", "bdf2_semi_implicit", "baraff_witkin_1998", "quasi_static")
GAP = 4e-3
SECONDS = 0.1


def border(cloth):
    return np.unique(np.concatenate([cloth.border(s) for s in ("top", "bottom", "left", "right")]))


def along(*way):
    """A motion by ``way`` [m] in all."""
    return Path([Keyframe(0.0), Keyframe(SECONDS, way)], "linear", hold=True)


def moved(scene, steps):
    """Points after the whole motion, its time and last report; it ends where a step fails, however
    often it is halved.
    """
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    for _ in range(steps):
        try:
            parts = advance(stepper, model, state, memory, SECONDS / steps)
        except StepFailed as failed:
            state, report = failed.state, failed.report
            x = model.vertices(state.x if report.reached is None else report.reached)
            assert len(model.contact.crossings(x, state.t)) == 0
            break
        state, memory, report = parts[-1].state, parts[-1].memory, parts[-1].report
        x = model.vertices(state.x)
        for part in parts:
            at = model.vertices(part.state.x)
            assert len(model.contact.crossings(at, part.state.t)) == 0
    return x, state.t, report


def assert_inside_where_beyond(x, faces, flat, points):
    """Points that were above a level sheet with a pinned border: they are below the border's plane
    just where the sheet bags around them.
    """
    beyond = points[:, 1] < flat[:, 1].mean()
    np.testing.assert_array_equal(np.abs(windings(x, faces, flat, points)), beyond)
    return beyond


@pytest.mark.parametrize("make, steps", [(weft.sheet, 1), (weft.sheet, 3), (weft.spline_sheet, 1)])
@pytest.mark.parametrize("moving", ["body", "cloth"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_ball_and_a_sheet_with_pinned_border(integrator, moving, make, steps, device):
    """A ball comes down on a sheet, by three of its radii beyond it, or the sheet's border goes up
    past the ball: the ball ends in a bag of cloth, all of it.
    """
    cloth, share = make(9, 9, 0.3, 0.3, fabric="jersey"), 1.0 if moving == "cloth" else 0.0
    path, down = along(0, 0.16 * share, 0), along(0, -0.16 * (1 - share), 0)
    ball = sphere(0.05, 0.04).move((0.003, 0.06, 0.002), down)
    scene = Scene(
        cloth,
        [Pin(border(cloth), path=path)],
        bodies=[ball],
        contact=SelfContact(GAP),
        integrator=integrator,
    )
    flat = prepare(scene).model.vertices(prepare(scene).state.x)
    x, t, report = moved(scene, steps)
    assert report.outcome.ok, report.outcome
    flat = flat + path.positions(np.zeros((1, 3)), t)
    assert assert_inside_where_beyond(x, cloth.faces, flat, ball.at(t)).all()


PARTS = {
    "sub-steps": {"integrator": "baraff_witkin_1998", "adaptive": weft.AdaptiveSettings()},
    "load steps": {"integrator": "quasi_static", "settings": QuasiStaticSettings(load_steps=3)},
    "lags of friction": {"integrator": "bdf2"},
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_a_ball_in_parts_of_a_step(parts):
    """Where an integrator divides a step, or solves it more than once: in the bag, too."""
    cloth = weft.sheet(9, 9, 0.3, 0.3, fabric="jersey")
    ball = sphere(0.05, 0.04).move((0.003, 0.06, 0.002), along(0.02, -0.16, 0))
    contact = SelfContact(GAP, friction=0.6, lags=3)
    scene = Scene(cloth, [Pin(border(cloth))], bodies=[ball], contact=contact, **parts)
    x, t, report = moved(scene, 1)
    assert report.outcome.ok, report.outcome
    assert assert_inside_where_beyond(x, cloth.faces, cloth.vertices, ball.at(t)).all()


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("how", ["pinned", "thrown"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_sheet_and_another_with_pinned_border(integrator, how, steps):
    """A small sheet is lowered (all of it pinned), or thrown or laid, on a larger one: it ends in a
    bag of that.
    """
    lower = weft.sheet(9, 9, 0.3, 0.3, fabric="jersey")
    upper = weft.sheet(5, 5, 0.1, 0.1).move((0.004, 0.02, 0.007), (0, 20, 0))
    cloth, n = weft.join([lower, upper], ["lower", "upper"]), len(lower.vertices)
    pins = [Pin(border(lower))]
    v = np.zeros_like(cloth.vertices)
    if how == "pinned":
        pins.append(Pin(np.arange(n, len(v)), path=along(0, -0.1, 0)))
    else:
        v[n:, 1] = -2.0
    scene = Scene(cloth, pins, contact=SelfContact(GAP), integrator=integrator, velocity=v)
    x, _, report = moved(scene, steps)
    assert report.outcome.ok, report.outcome
    faces = cloth.faces[(cloth.faces < n).all(1)]
    assert assert_inside_where_beyond(x[:n], faces, lower.vertices, x[n:]).all()


def strip_and_hoop(integrator, height, way):
    """Linking numbers, before and after, of a strip along z that is held at both ends and a hoop
    across it. The hoop's center starts ``height`` above the strip and moves by ``way`` upwards. The
    strip's middle line is closed far below.
    """
    cloth = weft.sheet(3, 13, 0.04, 0.4, fabric="jersey")
    held = [Pin(cloth.border("top")), Pin(cloth.border("bottom"))]
    hoop = ring(0.06, 0.012, 0.025).move((0.002, height, 0.003), along(0, way, 0), (90, 0, 0))
    scene = Scene(cloth, held, bodies=[hoop], contact=SelfContact(GAP), integrator=integrator)
    x, t, report = moved(scene, 2)
    assert report.outcome.ok, report.outcome
    far = np.array([[0.0, 0, -9], [0, -9, -9], [0, -9, 9], [0, 0, 9]])
    return [
        linking(np.concatenate([y[1::3], far]), hoop.at(s).reshape(19, 6, 3).mean(1))
        for y, s in ((cloth.vertices, 0.0), (x, t))
    ], x


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_hoop_stays_around_a_strip(integrator):
    """Pulled up by twice its radius, it takes the strip along: they are linked, and stay so."""
    (before, after), x = strip_and_hoop(integrator, 0.0, 0.12)
    assert abs(before) == 1 and after == before
    assert x[:, 1].max() > 0.06


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_hoop_stays_off_a_strip(integrator):
    """Lowered from above by more than it would take to have the strip inside, and then by more than
    it would take to leave it above: they are not linked, and the strip is below the hoop.
    """
    for way in (-0.09, -0.2):
        (before, after), x = strip_and_hoop(integrator, 0.09, way)
        assert before == after == 0
        assert x[:, 1].min() < 0.09 + way - 0.06


@pytest.mark.exact_start
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_is_caught_blocks(integrator, tmp_path):
    """A ball is to go through a table, on which cloth lies: the step is refused, and so is a run,
    however short its steps. Its last state has all of the cloth above the table.
    """
    cloth = weft.sheet(7, 7, 0.3, 0.3).move((0, 3e-3, 0))
    ball = sphere(0.05, 0.04).move((0.003, 0.06, 0.002), along(0, -0.16, 0))
    table = plate(0.5, 0.5, 0.1)
    scene = Scene(
        cloth,
        [Pin(border(cloth))],
        bodies=[ball, table],
        integrator=integrator,
        contact=SelfContact(GAP),
        step=SECONDS,
    )
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    after, _, report = stepper.step(model, state, stepper.init(model, state), SECONDS)
    assert report.outcome is Outcome.BLOCKED and after is state
    assert -0.11 < report.place[1] < 0.06  # on the ball's way, or where it ends
    out = tmp_path / "run"
    with refused(SimulationError, "step 1", got="BLOCKED"):
        weft.simulate(scene, frames=1, fps=1 / SECONDS, out=out, progress=False)
    (failed,) = out.rglob("step_*.npz")
    with np.load(failed) as last:
        assert last["x"][:, 1].min() > 0 and last["t"] < SECONDS
    # A picture of the last good frame marks the place; that of a branch does not.
    run = weft.Run(out)
    ((x, y, z),) = run.folder.failure_place(0)
    assert max(abs(x), abs(z)) < 0.06 and -0.11 < y < 0.06
    assert run.folder.failure_place(1) is None
    picture = run.render(tmp_path / "failed.png", style=Style(bodies=False))
    with Image.open(picture) as image:
        dot = (np.asarray(image) == [int(CONTACT[i : i + 2], 16) for i in (0, 2, 4)]).all(axis=2)
    assert dot.sum() >= 9
    branch = scene.with_(step=SECONDS / 2)
    with pytest.warns(UserWarning, match="only the start"):
        weft.simulate(branch, frames=0, fps=1 / SECONDS, out=out, from_frame=0, progress=False)
    assert weft.Run(out).folder.failure_place(0) is None
