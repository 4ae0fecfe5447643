"""Contact under every integrator, and what runs say of it."""

import json

import numpy as np
import pytest
from PIL import Image

import weft
from studies import effort_scenes
from tests.refusals import refused
from tests.stepping import model_steps, stepped
from weft import kernel
from weft.base.errors import RunError, SceneError
from weft.bodies.motion.pins import Pin
from weft.contact import plate, sphere
from weft.contact.settings import SelfContact
from weft.energies.state import State
from weft.integrators.adaptive import AdaptiveSettings
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.laws import ImmediateBuckling
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

GAP = 5e-3
KINDS = {
    "backward_euler": {},
    "bdf2": {"integrator": "bdf2"},
    "semi-implicit": {"integrator": "bdf2_semi_implicit"},
    "1998": {"integrator": "baraff_witkin_1998"},
    "1998 adaptive": {"integrator": "baraff_witkin_1998", "adaptive": AdaptiveSettings()},
    "immediate buckling": {
        "integrator": "bdf2_semi_implicit",
        "law": ImmediateBuckling((500.0, 500.0), (100.0, 100.0)),
    },
    "quasi-static": {
        "integrator": "quasi_static",
        "settings": QuasiStaticSettings(max_iterations=60),
    },
}


def advance(model, stepper, state, memory, dt):
    """A step, or two of half its length where it fails, as a simulation takes it."""
    after, kept, report = stepper.step(model, state, memory, dt)
    if report.outcome.ok:
        return after, kept, [report]
    assert report.divisible and dt > 0.02 / 2**6, report.outcome
    reports = []
    for _ in range(2):
        state, memory, more = advance(model, stepper, state, memory, dt / 2)
        reports += more
    return state, memory, reports


@pytest.mark.parametrize("kind", KINDS)
def test_a_sheet_on_a_sphere(kind):
    """Falls on it, in steps of one linear solve too, and passes through nothing."""
    cloth = weft.sheet(9, 9, 0.3, 0.3).move((0.01, 0.11, 0.005))
    bodies = [sphere(0.1, 0.04), plate(1.0, 1.0).move((0, -0.1, 0))]
    contact = SelfContact(GAP, friction=0.4)
    scene = Scene(cloth, bodies=bodies, contact=contact, **KINDS[kind])
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    steps = 1 if kind == "quasi-static" else 15
    for _ in range(steps):
        if kind == "quasi-static":  # nothing but friction would hold it on the sphere
            state, memory, _ = stepper.step(model, state, memory, 0.02)
        else:
            state, memory, (*_, report) = advance(model, stepper, state, memory, 0.02)
            assert report.contact["count"] >= 0 and report.phases["solve"] > 0
        assert len(model.contact.crossings(state.x, state.t)) == 0
    if kind != "quasi-static":
        assert report.contact["count"] > 0 and report.contact["least_distance"] < GAP
        assert 0.09 < state.x[:, 1].max() < 0.11


def test_the_1998_step_is_the_same_where_nothing_meets():
    """With contact on and nothing near, there is nothing to search."""
    cloth = weft.sheet(9, 9, 0.3, 0.3)
    pins = [Pin(cloth.corners("top"))]
    for integrator in ("baraff_witkin_1998", "bdf2_semi_implicit"):
        free = Scene(cloth, pins, integrator=integrator, damping=0.01)
        met = free.with_(contact=SelfContact(GAP))
        states = [stepped(scene, 5, 0.02)[1] for scene in (free, met)]
        np.testing.assert_array_equal(states[0].x, states[1].x)


@pytest.mark.parametrize("integrator", ["bdf2_semi_implicit", "baraff_witkin_1998"])
def test_steps_of_one_solve_drape_at_20_ms(integrator):
    """A sheet on a ball: it hangs down its sides after a second, as far from it as its weight says,
    and not stretched. (Searches ended where contact was far out of balance: the least distance fell
    to a quarter in every step, friction of forces of thousands of weights held the cloth, and an
    exact Hessian that contact finds soft stretched it by half.)
    """
    cloth = weft.sheet(19, 19, 0.5, 0.5, fabric="cotton").move((0.01, 0.13, 0.005))
    contact = SelfContact(3e-3, friction=0.3)
    scene = Scene(cloth, bodies=[sphere(0.12, 0.02)], contact=contact, integrator=integrator)
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory, samples = stepper.init(model, state), cloth.samples()
    least, stretch = [], []
    for _ in range(50):
        state, memory, reports = advance(model, stepper, state, memory, 0.02)
        least += [report.contact["least_distance"] or 1.0 for report in reports]
        F = samples.deformation_gradient(state.x)
        stretch.append(np.linalg.norm(F, axis=1).max())
    assert len(model.contact.crossings(state.x, state.t)) == 0
    assert min(least) > 0.2 * contact.gap
    assert max(stretch) < 1.1 and stretch[-1] < 1.02
    assert 0.12 < state.x[:, 1].max() < 0.124 and state.x[:, 1].min() < -0.08


@pytest.mark.parametrize("integrator", ["bdf2_semi_implicit", "baraff_witkin_1998"])
@pytest.mark.parametrize("speed", [1.0, 6.0])
def test_steps_of_one_solve_gain_no_energy_in_contact(integrator, speed):
    """A tilted sheet that is thrown onto a plate: its total energy falls. The linear model of a
    step stretches what contact turns; such steps of 20 ms are taken again in halves. (They gained
    up to 500 times the kinetic energy.)
    """
    cloth = weft.sheet(9, 9, 0.3, 0.3, fabric="cotton").move((0.0, 0.08, 0.0), (20, 0, 0))
    scene = Scene(
        cloth,
        bodies=[plate(1.0, 1.0)],
        contact=SelfContact(3e-3, friction=0.3),
        integrator=integrator,
        velocity=(0.0, -speed, 0.0),
    )
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory, energy, parts = stepper.init(model, state), [], 0
    for _ in range(12):
        potential = model.assembly.value(kernel.points(np.array(state.x)))
        energy.append(potential + 0.5 * float(cloth.mass @ np.square(state.v).sum(1)))
        state, memory, reports = advance(model, stepper, state, memory, 0.02)
        parts += len(reports)
    rise = np.array(energy) - np.minimum.accumulate(energy)
    kinetic = 0.5 * cloth.mass.sum() * speed**2
    assert rise.max() < 0.2 * kinetic
    assert parts > 12  # not by itself


def test_searches_end_where_contact_is_in_balance():
    """A search that begins far too near does not end there, however little moves: the balance is
    that of one with a tight tolerance, some micrometers away. (It ended at 20 nm.)
    """
    cloth = weft.sheet(5, 5, 0.2, 0.2).move((0.0, 1e-8, 0.0))
    least = []
    for tolerance in (1e-2, 1e-6):
        scene = Scene(
            cloth,
            bodies=[plate(1.0, 1.0)],
            contact=SelfContact(4e-3),
            settings=weft.StepSettings(tolerance=tolerance),
        )
        (report,) = stepped(scene, 1, 1e-5)[2]
        least.append(report.contact["least_distance"])
    assert least[0] == pytest.approx(least[1], rel=0.3) and least[1] > 1e-6


def test_constraints_from_outside_and_contact():
    cloth = weft.sheet(5, 5, 0.2, 0.2)
    scene = Scene(cloth, integrator="baraff_witkin_1998", contact=SelfContact(GAP))
    stepper = BaraffWitkin1998(Settings1998(), lambda state, dt: ([], None))
    model = prepare(scene).model
    x = np.array(cloth.vertices)
    with refused(SceneError, "constraints", got="contact", hint="body"):
        stepper.step(model, State(x, np.zeros_like(x)), {}, 0.01)


def test_metrics_frames_and_pictures(tmp_path):
    """Counts, distances, work, seconds and intersections in the metrics; loads in the frames."""
    cloth = weft.sheet(9, 9, 0.3, 0.3, fabric="felt").move((0.01, 4e-3, 0.005))
    scene = Scene(
        cloth,
        bodies=[plate(1.0, 1.0)],
        contact=SelfContact(GAP, friction=0.3),
        velocity=(0.3, 0.0, 0.0),
    )
    run = weft.simulate(scene, frames=12, fps=50, out=tmp_path / "run", progress=False)
    last = run.metrics[-1]
    assert last["contact"]["count"] > 50 and 0 < last["contact"]["least_distance"] < GAP
    assert sum(m["contact"]["friction_work"] for m in run.metrics) > 0
    assert {"broad", "narrow", "ccd", "solve", "elastic", "contact matrix"} <= set(last["phases"])
    assert all(m["intersections"] == 0 for m in run.metrics)
    points, forces, pressure = run.contacts()
    weight = 9.81 * cloth.mass.sum()
    assert forces.sum() == pytest.approx(weight, rel=0.05)  # it lies there
    assert points[:, 1].max() < GAP and (pressure * cloth.mesh.vertex_area).sum() == pytest.approx(
        weight, rel=0.05
    )
    run.render(tmp_path / "plain.png", look="plain")
    run.render(tmp_path / "dots.png", look="plain", contacts=True)
    run.render(tmp_path / "pressure.png", look="pressure")
    run.render(tmp_path / "all.webp", look="pressure", contacts=True)
    plain, dots = (
        np.asarray(Image.open(tmp_path / f"{n}.png").convert("RGB")).astype(int)
        for n in ("plain", "dots")
    )
    yellow = (dots[..., 0] > 200) & (dots[..., 2] < 100)
    assert yellow.sum() > 200 and ((plain != dots).any(2) <= yellow).all()
    free = weft.simulate(Scene(cloth), frames=1, fps=50, out=tmp_path / "free", progress=False)
    assert "intersections" not in json.dumps(free.metrics)
    with refused(RunError, "look pressure", got="contact"):
        free.render(tmp_path / "no.png", look="pressure")


def falls(dt, effort):
    """Kinetic energies of linen that falls on a ball, every 20 ms, solved by multigrid."""
    settings = weft.StepSettings(effort=effort, linear="multigrid")
    scene = effort_scenes.drape(25, 0).with_(step=dt, settings=settings)
    model, energies = prepare(scene).model, []
    for state, _, _ in model_steps(scene, model, round(0.28 / dt), dt):
        energies.append(0.5 * float(np.sum(model.mass[:, None] * state.v**2)))
    each = round(0.02 / dt)
    return np.array(energies[each - 1 :: each])


def test_steps_that_end_early_do_not_drag():
    """What linear solves leave of a step acts like drag: solved to a half, cloth that is still in
    the air fell with a quarter less kinetic energy.
    """
    small, quick = falls(2.5e-3, "converged"), falls(1e-2, "interactive")
    assert np.abs(quick - small).sum() < 0.12 * small.sum()


def test_two_iterations_a_step_keep_what_is_pressed_in_balance():
    """Stopped after two matrices, converged or not, pairs came nearer by a tenth in every step, to
    1e-13 m, where friction of such forces holds anything in the air.
    """
    cloth = weft.sheet(25, 25, 1.0, 1.0, fabric="linen").move((0.03, 0.47, 0.02), (0, 20, 0))
    contact, ball = SelfContact(4e-3, friction=0.3), sphere(0.2, 0.04).move((0, 0.202, 0))
    quick, floor = weft.StepSettings(effort="interactive"), plate(1.7, 1.7)
    scene = Scene(cloth, bodies=[ball, floor], contact=contact, settings=quick, damping=0.02)
    found = [report.contact for report in stepped(scene, 110)[2]]
    nearest = [contact["least_distance"] for contact in found if contact["count"]]
    assert len(nearest) > 20 and min(nearest) > 0.01 * scene.contact.gap
