"""Nothing passes through anything, whatever options go together.

Every motion of a search is checked by ipctk's continuous collision detection, and the end of every
step by exact predicates.
"""

import dataclasses
from functools import cache

import numpy as np
import pytest
import yaml

import weft
from tests.engine.contact.builders import along, parts_of
from tests.engine.contact.option_pairs import cases, document
from tests.engine.contact.ways import recorded
from tests.stepping import nothing_crosses
from weft import kernel
from weft.bodies.motion.pins import Pin
from weft.contact import plate, sphere
from weft.contact.detector import ContactDetector
from weft.contact.exact.intersection_check import IntersectionCheck
from weft.contact.exact.intersections import intersections
from weft.contact.settings import SelfContact
from weft.energies.barrier import Barrier
from weft.run.drive import StepFailed
from weft.scene.build import load_scene
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.solve.linear.solver import Outcome

SHORT, LONG = 8, 300  # scenes in CI, and in a campaign
STUCK = 3  # one of them is a pinch, whose halved steps cost as much as the others: a campaign's


def run(scene, seconds):
    """Take steps as a simulation does, and check their ways.

    Returns:
        The last state, and the outcome with which the run failed; None: it did not.
    """
    model, outcome, n = prepare(scene).model, None, int(np.ceil(seconds / scene.step - 1e-9))
    with recorded(model) as ways:
        try:
            for part in parts_of(scene, n):
                state = part.state
                nothing_crosses(model, state, part.report)
        except StepFailed as failed:
            state, outcome = failed.state, failed.report.outcome
    assert ways.bad == [] and ways.count > 0
    return state, outcome


def checked(case, folder, part=1.0):
    """Run a part of a case and return the outcome with which it failed, or None."""
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump(document(case)))
    scene = load_scene(path).scene
    return run(scene, part * 0.12 / case["speed"])[1]


@cache
def long_cases():
    """Drawn once a process, and not when tests are collected: it takes seconds."""
    return list(cases(LONG, 2))


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(i), marks=[pytest.mark.slow] if i == STUCK else [])
        for i, case in enumerate(cases(SHORT, 1))
    ],
)
def test_pairs_of_options(case, tmp_path):
    """Bodies go 7 of 12 cm, which stretches the cloth; the campaign goes all the way. Some take
    5 s: ipctk checks every motion.
    """
    checked(case, tmp_path, part=0.6)


@pytest.mark.slow
@pytest.mark.parametrize("k", range(LONG))
def test_pairs_of_options_at_length(k, tmp_path):
    checked(long_cases()[k], tmp_path)


def limited_sheet(speed, step, n=11, radius=0.03, **more):
    """A sheet with a strain limit of 5 %, held at two borders, and a ball that rises through its
    plane.
    """
    fabric = {"preset": "cotton", "limit": 0.05}
    cloth = weft.sheet(n, n, 0.3, 0.3, fabric=fabric)
    rise = along(0, 0.045, 0, seconds=0.045 / speed)
    ball = sphere(radius, 0.02).move((0.004, -radius - 0.01, 0.003), rise)
    pins = [Pin(cloth.border("left")), Pin(cloth.border("right"))]
    return Scene(cloth, pins, bodies=[ball], contact=SelfContact(2e-3), step=step, **more)


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2", "quasi_static"])
@pytest.mark.parametrize("speed, step", [(0.5, 0.02), (3.0, 0.02)])
def test_a_limit_of_strain_and_a_ball(integrator, speed, step):
    """The ball carries cloth along past its limit: the step is halved, and the cloth goes ahead of
    the ball.
    """
    scene = limited_sheet(speed, step, integrator=integrator)
    state, outcome = run(scene, 0.06 / speed)
    assert outcome is None
    assert state.x[:, 1].max() > 0.02  # the ball carries the sheet
    term = next(t for t in prepare(scene).model.assembly.bound if isinstance(t, Barrier))
    assert np.isfinite(term.value(kernel.points(state.x)))


def test_a_way_beyond_a_limit_is_blocked():
    """A ball that would stretch cloth far past its limit ends in an error."""
    scene = limited_sheet(3.0, 0.02, n=7, radius=0.01)
    rise = along(0, 0.3, 0, seconds=0.04)
    ball = sphere(0.01, 6e-3).move((4e-3, -0.04, 3e-3), rise)
    scene = scene.with_(pins=[Pin([0, 6, 42, 48])], bodies=[ball])
    state, outcome = run(scene, 0.06)
    assert outcome is Outcome.BLOCKED and state.t < 0.04


def test_steps_that_intersect_are_refused(monkeypatch):
    """Collision detection that sees nothing does not make a run wrong in silence."""
    scene = limited_sheet(1.0, 0.01).with_(pins=[], velocity=(0, -2.0, 0))
    scene = scene.with_(bodies=[dataclasses.replace(b, core=None) for b in scene.bodies])
    monkeypatch.setattr(ContactDetector, "max_step", lambda self, *_: 1.0)
    model = prepare(scene).model
    with pytest.raises(StepFailed) as failed:
        for part in parts_of(scene, 5):
            nothing_crosses(model, part.state, part.report)
    assert failed.value.report.outcome is Outcome.INTERSECTED


def test_intersections_that_are_there_already_are_no_reason():
    """Cloth that is pinned through a body and let go: steps go on, as nothing new intersects."""
    cloth = weft.sheet(7, 7, 0.2, 0.2, fabric="cotton")
    table = plate(0.1, 0.1, size=0.05, name="table").move((0, -0.004, 0))
    scene = Scene(cloth, [], bodies=[table], contact=SelfContact(2e-3), step=0.01)
    model = prepare(scene).model
    # Aside, so that no edge of the cloth lies in the plane of one of the table's.
    x = prepare(scene).state.x - [0.0013, 0.0042, 0.0021]
    x[24, 1] += 0.01  # the table's plane is crossed around one vertex
    term, y = model.assembly.contact_term, np.concatenate([x, model.bodies(0.0)])
    excluded = model.contact.excluded(np.zeros(49, bool))
    assert len(term.workspace.intersection_check.pairs(kernel.points(y), excluded)) > 0
    stepper, still = prepare(scene).stepper, weft.State(x, np.zeros_like(x))
    phi = stepper.potential(model, still, stepper.init(model, still), 0.01)
    assert not phi.has_new_intersections(x)
    more = x.copy()
    more[23, 1] += 0.01
    assert phi.has_new_intersections(more)


@pytest.mark.parametrize("seed", range(4))
def test_the_check_after_a_step_finds_what_exact_predicates_find(seed):
    """On crumpled sheets: the same pairs of triangles that share no vertex."""
    rng, cloth = np.random.default_rng(seed), weft.sheet(12, 12, 0.2, 0.2, fabric="cotton")
    contact = prepare(Scene(cloth, contact=SelfContact(1e-3))).model.contact
    x = np.asarray(cloth.points) * [0.2, 1, 0.3] + rng.normal(0, 0.01, (144, 3))
    if seed == 3:
        x[:, 1] = np.round(x[:, 1], 2)  # many coplanar corners
    faces = np.asarray(cloth.faces)
    expected = {
        frozenset(map(int, (i, j)))
        for i, j in intersections(x, faces)
        if not set(faces[i].tolist()) & set(faces[j].tolist())
    }
    number = {tuple(f): i for i, f in enumerate(faces.tolist())}
    found = IntersectionCheck(contact.mesh).pairs(
        kernel.points(x), contact.mesh.excluded_without_pins
    )
    pairs = {frozenset((number[tuple(p[:3])], number[tuple(p[3:])])) for p in found.tolist()}
    assert pairs == expected and len(pairs) > 50
