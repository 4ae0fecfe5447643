"""The second-order backward difference where contact begins: steps with a blow are backward
Euler's, so that nothing is thrown back by a past that has ended.
"""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import weft
from tests.resuming import resumes_bitwise
from tests.stepping import steps
from weft import kernel
from weft.contact import plate
from weft.contact.settings import SelfContact
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.impacts import IMPACT, SLOW, is_impact
from weft.scene.prepare import prepare


def falling(tilt=20.0, height=0.1, **more):
    """A tilted sheet above a plate."""
    high = height + 0.15 * np.sin(np.radians(tilt))
    cloth = weft.sheet(9, 9, 0.3, 0.3, fabric="cotton").move((0.0, high, 0.0), (tilt, 0, 0))
    contact = SelfContact(3e-3, friction=0.3)
    given = {"integrator": "bdf2", "bodies": [plate(2.0, 2.0)], "contact": contact, **more}
    return weft.Scene(cloth, **given)


def taken(scene, dt, seconds, stepper=None):
    """State, memory and report after each step."""
    return list(steps(scene, round(seconds / dt), dt, stepper))


@pytest.mark.parametrize("dt", [0.02, 0.01, 0.005])
def test_cloth_is_not_thrown_back(dt):
    """Kinetic, elastic energy and that of weight do not rise in all. (They rose by 28, 19 and 10 %
    of the kinetic energy at the impact, by velocities of steps before it.)
    """
    scene = falling()
    model, mass = prepare(scene).model, scene.cloth.mass
    kinetic, total = [], []
    for state in [prepare(scene).state, *(state for state, _, _ in taken(scene, dt, 0.4))]:
        kinetic.append(0.5 * float(mass @ np.square(state.v).sum(1)))
        total.append(kinetic[-1] + model.assembly.value(kernel.points(np.array(state.x))))
    rise = np.array(total) - np.minimum.accumulate(total)
    assert rise.max() < 0.02 * max(kinetic)
    assert np.mean(kinetic[-len(kinetic) // 4 :]) < 0.02 * max(kinetic)  # it lies there


def test_a_step_with_a_blow_is_backward_eulers():
    """The same bits, and no past for the next step; steps before it have theirs."""
    scene, dt = falling(tilt=3.0), 0.01
    ready = prepare(scene)
    model, euler = ready.model, BackwardEuler(ready.stepper.settings)
    before, blows = None, 0
    for state, memory, report in taken(scene, dt, 0.25):
        if report.contact["count"] == 0:
            assert memory["dt"] == dt
        elif before is not None and before[1]["dt"] == dt and memory["dt"] == 0.0:
            again, _, other = euler.step(model, before[0], before[1], dt)
            np.testing.assert_array_equal(state.x, again.x)
            np.testing.assert_array_equal(state.v, again.v)
            assert report.iterations > other.iterations  # those of both attempts
            blows += 1
        before = (state, memory)
    assert blows >= 1


def test_steady_contact_keeps_its_past():
    """Cloth that slides on a plate touches it all the time, and has second-order steps."""
    contact = SelfContact(3e-3)
    found = taken(falling(0.0, 2.7e-3, velocity=(0.5, 0, 0), contact=contact), 0.01, 0.2)
    assert all(report.contact["count"] > 50 for _, _, report in found)
    assert all(memory["dt"] == 0.01 for _, memory, _ in found)


def test_a_run_with_a_blow_is_resumed_bitwise(tmp_path):
    """The forces of contact are saved with the state, as the past is: before the impact, amid."""
    resumes_bitwise(partial(falling, step=0.02), 14, [7, 9], tmp_path)


@pytest.mark.parametrize(
    "more, dt, seconds",
    [
        ({"adaptive": weft.AdaptiveSettings()}, 0.02, 0.3),
        ({"tilt": 3.0, "integrator": "bdf2_semi_implicit"}, 0.0025, 0.18),
    ],
    ids=["adaptive", "one solve"],
)
def test_other_steps_of_second_order_meet_blows(more, dt, seconds):
    """Sub-steps begin anew as whole steps do, and so do steps of one solve."""
    found = [(memory["dt"], report) for _, memory, report in taken(falling(**more), dt, seconds)]
    blows = [report.contact["count"] for past, report in found if past == 0.0]
    assert blows and min(blows) > 0 and max(past for past, _ in found) > 0.0


@pytest.mark.parametrize("more, is_one", [(0.99, False), (1.01, True)])
@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_an_impact_has_a_part_of_the_kinetic_energy(speed, more, is_one):
    """The impulse in 2 ms at masses of 1 g and 4 g, and kinetic energies of 2 m/s and of the least
    speed.
    """
    mass, dt = np.array([1e-3, 4e-3]), 2e-3
    model = SimpleNamespace(assembly=SimpleNamespace(mass=mass))
    v, change = np.zeros((2, 3)), np.zeros((2, 3))
    v[:, 1], change[:, 2] = speed, 1.0
    impulse = dt**2 / 2 * (1 / mass).sum()
    kinetic = mass.sum() * (speed**2 + SLOW**2) / 2
    change *= np.sqrt(more * IMPACT * kinetic / impulse)
    assert is_impact(model, v, change, dt) == is_one
