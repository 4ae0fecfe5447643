"""Short runs whose ends are stored: what a change of the machinery must not change.

Every integrator on triangles and splines, with contact, friction, moving bodies and pins, pressure,
the conditions of 1998, equilibria. Steps are solved to a tolerance at which the minimum, not the
way to it, decides. No cloth lies along an edge of a body, where rounding decides between contacts.
``python -m tests.reference.runs [NAME]...`` records them anew, or some of them.
"""

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import weft
from weft.bodies.motion.pins import Keyframe
from weft.bodies.motion.pins import Path as PinPath
from weft.contact import plate, sphere
from weft.discretization.triangulate import triangulate_piece
from weft.energies.loads.pressure import Pressure
from weft.fabric.fabric import fabric
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.laws import Arap, DotShear, ImmediateBuckling
from weft.plugins.lab.validate.pillow import pillow as bag
from weft.run.drive import advance
from weft.scene.prepare import prepare

STORED = Path(__file__).with_name("runs.npz")
STEPS = 4
TIGHT = weft.StepSettings(tolerance=1e-7, max_iterations=400, linear="splu")
ONE_SOLVE = weft.SemiImplicitSettings(linear="splu")
OF_1998 = weft.Settings1998(linear="splu")

# Fabrics as they were when the runs were stored: what presets learn since must not change them.
RIGIDITY = {"cotton": (0.08, 0.06), "silk": (0.02, 0.015), "denim": (0.45, 0.25)}


GENERIC = (3.0, 7.0, 2.0)  # [degrees] turned so, no edge is along one of a body


def of(name):
    """A preset with its bending rigidities (warp, weft) [gf cm^2/cm] of then."""
    warp, weft = (f"{b} gf*cm^2/cm" for b in RIGIDITY[name])
    return dataclasses.replace(fabric(name), bending_warp=warp, bending_weft=weft)


def hung(name="silk", n=9, **more):
    """A sheet that hangs by two corners, level at the start."""
    cloth = weft.sheet(n, n, width=0.3, height=0.3, fabric=of(name))
    return weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], settings=TIGHT, **more)


def splines(**more):
    cloth = weft.spline_sheet(8, 8, width=0.3, height=0.3, fabric=of("silk"))
    return weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], settings=TIGHT, **more)


def over_ball(make=weft.sheet, gap=2e-3, height=0.052, speed=-0.6, exact=False, path=None, **more):
    cloth = make(9, 9, width=0.2, height=0.2, fabric=of("cotton"))
    cloth = cloth.move((0.004, height + 0.001, 0.003), GENERIC)
    ball = sphere(0.05, 0.02, mesh=not exact).move((0, 0, 0), path)
    contact = weft.SelfContact(gap=gap, thickness=2e-4, friction=0.3)
    more.setdefault("settings", TIGHT)
    return weft.Scene(
        cloth, bodies=[ball], contact=contact, velocity=(0, speed, 0), step=0.005, **more
    )


def pulled_pins():
    cloth = weft.sheet(9, 9, width=0.3, height=0.3, fabric="jersey")
    path = PinPath([Keyframe(0.0), Keyframe(0.1, (0.05, 0.02, 0.0), 0.4)], hold=True)
    pins = [weft.Pin(cloth.border("left")), weft.Pin(cloth.border("right"), path=path)]
    return weft.Scene(cloth, pins, settings=TIGHT)


def taut_and_slack():
    """A sheet held along its border, stretched in one direction and slack in the other.

    Where it is neither, rounding decides which fibers resist, and the end differs by 1e-3.
    """
    cloth = weft.sheet(9, 9, width=0.3, height=0.3, fabric=of("silk"))
    x = np.array(cloth.vertices) * [1.03, 1.0, 0.97]
    pins = [weft.Pin(cloth.border(side)) for side in ("left", "right")]
    cloth = weft.Cloth(cloth.mesh.with_vertices(x), of("silk"))
    law = ImmediateBuckling((200.0, 200.0), (40.0, 40.0))
    return weft.Scene(cloth, pins, settings=TIGHT, law=law)


def two_sheets():
    one = weft.sheet(8, 8, width=0.1, height=0.1, fabric=of("cotton"))
    one = one.move((0.013, 0, 0.007), (0.3, 11.0, 0.2))
    two = weft.sheet(7, 7, width=0.08, height=0.08, fabric=of("denim")).move(
        (0, 0.0025, 0), (-0.3, 20, 0.4)
    )
    floor = plate(0.4, 0.4, 0.1).move((0, -0.0015, 0))
    contact = weft.SelfContact(gap=2e-3, friction=0.2)
    cloth = weft.join([one, two], ["one", "two"])
    return weft.Scene(cloth, bodies=[floor], contact=contact, settings=TIGHT, step=0.005)


def pillow(law):
    """Two squares, joined along their border, a little apart."""
    piece = triangulate_piece([(0, 0), (0.2, 0), (0.2, 0.2), (0, 0.2)], (), 0.04)
    mesh = bag(piece)
    x = np.array(mesh.vertices)
    u, v = x[:, 0] / 0.2 + 0.5, x[:, 2] / 0.2 + 0.5
    x[:, 1] = 0.3 * u * (1 - u) * v * (1 - v)
    x[piece.n_vertices :, 1] *= -1.0
    inside = float(Pressure.of(mesh, 0.0).volumes(x).sum())
    assert inside > 0
    law = weft.Gas(law, inside) if law > 30 else law
    cloth = weft.Cloth(mesh.with_vertices(x), of("cotton"))
    settings = dataclasses.replace(TIGHT, tolerance=1e-6, max_iterations=4000)
    return weft.Scene(cloth, pressure=law, settings=settings, step=0.002)


def equilibrium(**more):
    settings = QuasiStaticSettings(tolerance=1e-8, force_tolerance=1e-8, linear="splu", **more)
    cloth = weft.sheet(8, 8, width=0.3, height=0.3, fabric=of("denim"))
    return weft.Scene(
        cloth, [weft.Pin(cloth.border("top"))], integrator="quasi_static", settings=settings
    )


SCENES: dict[str, Callable[[], weft.Scene]] = {
    "backward_euler": hung,
    "undamped": lambda: hung(damping=0.0),
    "bdf2": lambda: hung(integrator="bdf2"),
    "bdf2_semi_implicit": lambda: hung().with_(integrator="bdf2_semi_implicit", settings=ONE_SOLVE),
    "adaptive": lambda: hung(adaptive=weft.AdaptiveSettings(limit=0.01), step=0.01),
    "1998": lambda: hung().with_(integrator="baraff_witkin_1998", settings=OF_1998, damping=0.05),
    "1998_exact": lambda: hung().with_(
        integrator="baraff_witkin_1998",
        settings=OF_1998,
        conditions=weft.ConditionForm(p=0.75, variant=weft.Variant.EXACT),
    ),
    "conditions": lambda: hung(conditions=weft.ConditionForm(variant=weft.Variant.EXACT)),
    "quasi_static": equilibrium,
    "load_steps": lambda: equilibrium(load_steps=2, imperfection=0.0),
    "pulled_pins": pulled_pins,
    "arap": lambda: hung(law=Arap(200.0) + DotShear(10.0)),
    "immediate_buckling": taut_and_slack,
    "constant_pressure": lambda: pillow(20.0),
    "gas": lambda: pillow(50.0),
    "splines": splines,
    "splines_bdf2": lambda: splines(integrator="bdf2"),
    "ball": over_ball,
    "ball_bdf2": lambda: over_ball(integrator="bdf2"),
    "ball_rises": lambda: over_ball(
        speed=0.0, path=PinPath([Keyframe(0.0), Keyframe(0.1, (0, 0.1, 0))], hold=True)
    ),
    "ball_semi_implicit": lambda: over_ball(integrator="bdf2_semi_implicit", settings=ONE_SOLVE),
    "ball_1998": lambda: over_ball(integrator="baraff_witkin_1998", settings=OF_1998),
    "exact_ball": lambda: over_ball(exact=True),
    "ball_splines": lambda: over_ball(weft.spline_sheet),
    "two_sheets": two_sheets,
}
# The searches of the first two end at 1e-2 m/s, the gas at 1e-6 m/s: that far the end is open.
# One solve of a step from rest leaves level cloth at 1e-9 of where a start that is disturbed by
# 1e-13 leads.
LOOSE = {
    "ball_semi_implicit": 1e-4,
    "ball_1998": 1e-4,
    "gas": 5e-8,
    "bdf2_semi_implicit": 1e-8,
    "1998": 1e-8,
}


def end_of(scene: weft.Scene) -> tuple[np.ndarray, weft.StepReport]:
    """Positions (n,3) [m] after a few steps, and the last step's report."""
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    steps = 1 if scene.integrator == "quasi_static" else STEPS
    for _ in range(steps):
        part = advance(stepper, model, state, memory, scene.step)[-1]
        state, memory = part.state, part.memory
    return np.asarray(state.x), part.report


if __name__ == "__main__":
    found = dict(np.load(STORED)) if sys.argv[1:] else {}
    for name in sys.argv[1:] or SCENES:
        x, report = end_of(SCENES[name]())
        found[name] = x
        print(name, report.outcome.name, report.iterations, np.abs(x).max(), report.contact)
    np.savez_compressed(STORED, **found)
