"""A campaign of random pins, attachments, drives and releases beside bodies and other cloth: every
intersection that an independent count finds, those of prescribed pairs among them, is reported.
"""

import numpy as np
import pytest

from studies.garments.intersection_count import count_intersections
from tests.engine.contact.prescribed_cases import random_scene
from weft.contact.released import released_levels
from weft.run.drive import StepFailed, advance
from weft.scene.prepare import prepare
from weft.solve.linear.solver import Outcome

NAMED = (Outcome.BLOCKED, Outcome.PASSES)
FEW, MANY = 4, 200


def checked(seed, seconds=0.25):
    """Run a scene; return whether it ran to its end. Every step is counted."""
    scene = random_scene(seed)
    if scene is None:
        return None
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory, contact = stepper.init(model, state), model.contact
    for _ in range(int(round(seconds / scene.step))):
        try:
            parts = advance(stepper, model, state, memory, scene.step)
        except StepFailed as failed:
            outcome, why = failed.report.outcome, failed.report.obstacle
            assert outcome not in NAMED or why, f"{seed}: {outcome.name} without a name"
            assert outcome is not Outcome.INTERSECTED
            return False
        state, memory = parts[-1].state, parts[-1].memory
        x = contact.all_vertices(state.x)
        released = released_levels(memory, len(contact.mesh.rest))
        told = contact.all_crossings(x, state.t, released)
        assert len(told.forbidden) == 0, f"{seed}: t = {state.t}"
        y, faces = np.concatenate([x, contact.body_positions(state.t)]), contact.mesh.faces
        of_cloth = int((faces[:, 0] < contact.mesh.sides.first_body).sum())
        found = count_intersections(y, faces, of_cloth, np.arange(len(y)))
        assert found <= len(told.excluded) + len(told.released)
    return True


# In 1013, 1034 and 1083 the nearest pair comes so near that round-off decides.
@pytest.mark.parametrize("seed", [*range(FEW), 1013, 1034, 1083])
def test_every_intersection_is_reported(seed):
    checked(seed, 0.06)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1000, 1000 + MANY))
def test_every_intersection_is_reported_at_length(seed):
    checked(seed)
