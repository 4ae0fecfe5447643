"""Contact under every integrator, and what runs say of it."""

import numpy as np
import pytest
from PIL import Image

import weft
from tests.engine.contact.builders import parts_of
from tests.refusals import refused
from tests.stepping import nothing_crosses, stepped
from weft import kernel
from weft.base.errors import SceneError
from weft.contact import plate, sphere
from weft.contact.settings import SelfContact
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

GAP = 5e-3
ONE_SOLVE = ("bdf2_semi_implicit", "baraff_witkin_1998")


@pytest.mark.parametrize("integrator", ONE_SOLVE)
def test_steps_of_one_solve_drape_at_20_ms(integrator):
    """A sheet on a ball: it hangs down its sides after a second, as far from it as its weight says,
    and not stretched. (Searches ended where contact was far out of balance: the least distance fell
    to a quarter in every step, friction of forces of thousands of weights held the cloth, and an
    exact Hessian that contact finds soft stretched it by half.)
    """
    cloth = weft.sheet(15, 15, 0.5, 0.5, fabric="cotton").move((0.01, 0.13, 0.005))
    contact = SelfContact(3e-3, friction=0.3)
    scene = Scene(cloth, bodies=[sphere(0.12, 0.02)], contact=contact, integrator=integrator)
    least, stretch = [], []
    for part in parts_of(scene, 50, 0.02):
        state, report = part.state, part.report
        least.append(report.contact["least_distance"] or 1.0)
        F = cloth.samples().deformation_gradient(state.x)
        stretch.append(np.linalg.norm(F, axis=1).max())
    nothing_crosses(prepare(scene).model, state, report)
    assert min(least) > 0.2 * contact.gap
    assert max(stretch) < 1.1 and stretch[-1] < 1.02
    assert 0.12 < state.x[:, 1].max() < 0.124 and state.x[:, 1].min() < -0.08


@pytest.mark.parametrize("integrator", ONE_SOLVE)
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
    model, energy = prepare(scene).model, []
    for state in [prepare(scene).state, *(part.state for part in parts_of(scene, 12, 0.02))]:
        potential = model.assembly.value(kernel.points(np.array(state.x)))
        energy.append(potential + 0.5 * float(cloth.mass @ np.square(state.v).sum(1)))
    rise = np.array(energy) - np.minimum.accumulate(energy)
    kinetic = 0.5 * cloth.mass.sum() * speed**2
    assert rise.max() < 0.2 * kinetic
    assert len(energy) > 13  # not by itself


def test_searches_end_where_contact_is_in_balance():
    """A search that begins far too near does not end there, however little moves: the balance is
    that of one with a tight tolerance, some micrometers away. (It ended at 20 nm.)
    """
    cloth = weft.sheet(5, 5, 0.2, 0.2).move((0.0, 1e-8, 0.0))
    least = []
    scene = Scene(cloth, bodies=[plate(1.0, 1.0)], contact=SelfContact(4e-3))
    for tolerance in (1e-2, 1e-6):
        scene = scene.with_(settings=weft.StepSettings(tolerance=tolerance))
        (report,) = stepped(scene, 1, 1e-5)[2]
        least.append(report.contact["least_distance"])
    assert least[0] == pytest.approx(least[1], rel=0.3) and least[1] > 1e-6


def test_constraints_from_outside_and_contact():
    ready = prepare(Scene(weft.sheet(5, 5, 0.2, 0.2), contact=SelfContact(GAP)))
    stepper = BaraffWitkin1998(Settings1998(), lambda state, dt: ([], None))
    with refused(SceneError, "constraints", got="contact", hint="body"):
        stepper.step(ready.model, ready.state, {}, 0.01)


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
    plain, dots = (
        np.asarray(Image.open(tmp_path / f"{n}.png").convert("RGB")).astype(int)
        for n in ("plain", "dots")
    )
    yellow = (dots[..., 0] > 200) & (dots[..., 2] < 100)
    assert yellow.sum() > 200 and ((plain != dots).any(2) <= yellow).all()
