"""Nothing gets to the other side, under any integrator: where no faces cross in a frame, something
may have passed through between two. Winding and linking numbers tell.
"""

from functools import partial
from itertools import product

import numpy as np
import pytest

import weft
from tests.engine.contact.builders import along, parts_of
from tests.reference.topology import linking, windings
from tests.refusals import refused
from tests.stepping import nothing_crosses
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.bodies.shapes.primitives import ring
from weft.contact import plate, sphere
from weft.contact.settings import SelfContact
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.laws import ImmediateBuckling
from weft.scene.integrators import INTEGRATORS
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.solve.linear.solver import Outcome

GAP = 4e-3
SECONDS = 0.1
PARTS = {  # where an integrator divides a step, solves it more than once, or as cloth buckles
    "sub-steps": {"integrator": "baraff_witkin_1998", "adaptive": weft.AdaptiveSettings()},
    "load steps": {"integrator": "quasi_static", "settings": QuasiStaticSettings(load_steps=3)},
    "immediate buckling": {
        "integrator": "bdf2_semi_implicit",
        "law": ImmediateBuckling((500.0, 500.0), (100.0, 100.0)),
    },
    "lags of friction": {"integrator": "bdf2", "contact": SelfContact(GAP, friction=0.6, lags=3)},
}


def pinned_border(cloth, path=None):
    sides = ("top", "bottom", "left", "right")
    return Pin(np.unique(np.concatenate([cloth.border(s) for s in sides])), path=path)


def moved(scene, steps):
    """Vertices after the whole motion, and its time; nothing intersects after any part of a step,
    and none fails.
    """
    model = prepare(scene).model
    for part in parts_of(scene, steps, SECONDS / steps):
        nothing_crosses(model, part.state, part.report)
    return model.vertices(part.state.x), part.state.t


def ball_and_sheet(make, share=0.0):
    """A ball that comes down on a sheet, by three of its radii beyond it, less the ``share`` by
    which the sheet's border goes up past the ball.
    """
    cloth = make(9, 9, 0.3, 0.3, fabric="jersey")
    down = along(0.02 * (share == 0), -0.16 * (1 - share), 0)
    ball = sphere(0.05, 0.04).move((0.003, 0.06, 0.002), down)
    pins = [pinned_border(cloth, along(0, 0.16 * share, 0))]
    return Scene(cloth, pins, bodies=[ball], contact=SelfContact(GAP))


def two_sheets(pinned):
    """A small sheet that is lowered, all of it pinned, or thrown or laid, on a larger one."""
    lower = weft.sheet(9, 9, 0.3, 0.3, fabric="jersey")
    upper = weft.sheet(5, 5, 0.1, 0.1).move((0.004, 0.02, 0.007), (0, 20, 0))
    cloth, above = weft.join([lower, upper], ["lower", "upper"]), np.arange(81, 106)
    v = np.zeros_like(cloth.vertices)
    v[above, 1] = -2.0 * (not pinned)
    pins = [pinned_border(lower), *pinned * [Pin(above, path=along(0, -0.1, 0))]]
    return Scene(cloth, pins, contact=SelfContact(GAP), velocity=v)


SCENES = {
    "ball": partial(ball_and_sheet, weft.sheet),
    "border": partial(ball_and_sheet, weft.sheet, 1.0),
    "ball and splines": partial(ball_and_sheet, weft.spline_sheet),
    "border of splines": partial(ball_and_sheet, weft.spline_sheet, 1.0),
    "pinned sheet": partial(two_sheets, True),
    "thrown sheet": partial(two_sheets, False),
}


@pytest.mark.parametrize(
    "how, made, steps",
    [*product(INTEGRATORS, SCENES, [1, 3]), *((how, "ball", 1) for how in PARTS)],
)
def test_what_meets_a_sheet_ends_in_a_bag_of_it(how, made, steps, device):
    """Points that were above a level sheet with a pinned border end below the border's plane; all
    of them are where the sheet bags around them.
    """
    scene = SCENES[made]().with_(**PARTS.get(how, {"integrator": how}))
    flat = prepare(scene).model.vertices(prepare(scene).state.x)
    x, t = moved(scene, steps)
    n = len(x) if scene.bodies else 81
    points = scene.bodies[0].at(t) if scene.bodies else x[n:]
    if scene.pins[0].path is not None:
        flat = flat + scene.pins[0].path.positions(np.zeros((1, 3)), t)
    faces = scene.cloth.faces[(scene.cloth.faces < n).all(1)]
    assert (points[:, 1] < flat[:n, 1].mean()).all()
    assert (np.abs(windings(x[:n], faces, flat[:n], points)) == 1).all()


@pytest.mark.parametrize(
    "height, way, linked",
    [(0.0, 0.12, 1), (0.09, -0.09, 0), (0.09, -0.2, 0)],
    ids=["around", "off", "beyond"],
)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_hoop_and_a_strip_stay_linked_or_not(integrator, height, way, linked):
    """Of a strip along z that is held at both ends, and a hoop across it. Pulled up by twice its
    radius, the hoop takes the strip along. Lowered from above by more than it would take to have
    the strip inside, or to leave it above, it has the strip below.
    """
    cloth = weft.sheet(3, 13, 0.04, 0.4, fabric="jersey")
    held = [Pin(cloth.border("top")), Pin(cloth.border("bottom"))]
    hoop = ring(0.06, 0.012, 0.025).move((0.002, height, 0.003), along(0, way, 0), (90, 0, 0))
    scene = Scene(cloth, held, bodies=[hoop], contact=SelfContact(GAP), integrator=integrator)
    x, t = moved(scene, 2)
    far = np.array([[0.0, 0, -9], [0, -9, -9], [0, -9, 9], [0, 0, 9]])  # closes the middle line
    before, after = (
        linking(np.concatenate([y[1::3], far]), hoop.at(s).reshape(19, 6, 3).mean(1))
        for y, s in ((cloth.vertices, 0.0), (x, t))
    )
    assert abs(before) == linked and after == before
    if linked:
        assert x[:, 1].max() > 0.06
    else:
        assert x[:, 1].min() < height + way - 0.06


def caught(integrator):
    """A ball that is to go through a table, on which cloth lies."""
    cloth = weft.sheet(7, 7, 0.3, 0.3).move((0, 3e-3, 0))
    ball = sphere(0.05, 0.04).move((0.003, 0.06, 0.002), along(0, -0.16, 0))
    return Scene(
        cloth,
        [pinned_border(cloth)],
        bodies=[ball, plate(0.5, 0.5, 0.1)],
        integrator=integrator,
        contact=SelfContact(GAP),
        step=SECONDS,
    )


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_is_caught_blocks(integrator):
    ready = prepare(caught(integrator))
    model, stepper, state = ready.model, ready.stepper, ready.state
    after, _, report = stepper.step(model, state, stepper.init(model, state), SECONDS)
    assert report.outcome is Outcome.BLOCKED and after is state
    assert -0.11 < report.place[1] < 0.06  # on the ball's way, or where it ends


@pytest.mark.exact_start
def test_a_run_in_which_cloth_is_caught_ends(tmp_path):
    """However short its steps are: its last state has all of the cloth above the table. The run
    knows the place.
    """
    scene, how = caught("bdf2"), {"fps": 1 / SECONDS, "out": tmp_path / "run", "progress": False}
    with refused(SimulationError, "step 1", got="BLOCKED"):
        weft.simulate(scene, frames=1, **how)
    (failed,) = how["out"].rglob("step_*.npz")
    with np.load(failed) as last:
        assert last["x"][:, 1].min() > 0 and last["t"] < SECONDS
    run = weft.Run(how["out"])
    ((x, y, z),) = run.folder.failure_place(0)
    assert max(abs(x), abs(z)) < 0.06 and -0.11 < y < 0.06
    assert run.folder.failure_place(1) is None
