"""A campaign of random pins, attachments, drives and releases beside bodies and other cloth: every
intersection that an independent count finds, those of prescribed pairs among them, is reported.
"""

import numpy as np
import pytest

from studies.garments.intersection_count import count_intersections
from tests.engine.contact.builders import parts_of
from tests.engine.contact.prescribed_cases import random_scene
from weft.contact.released import released_levels
from weft.run.drive import StepFailed
from weft.scene.prepare import prepare
from weft.solve.linear.solver import Outcome

NAMED = (Outcome.BLOCKED, Outcome.PASSES)
FEW, MANY = 4, 200


def checked(seed, seconds=0.25):
    """Run a scene; return whether it ran to its end. Every step is counted."""
    scene = random_scene(seed)
    if scene is None:
        return None
    contact = prepare(scene).model.contact
    faces = contact.mesh.faces
    of_cloth = int((faces[:, 0] < contact.mesh.sides.first_body).sum())
    try:
        for part in parts_of(scene, round(seconds / scene.step)):
            x, t = contact.all_vertices(part.state.x), part.state.t
            released = released_levels(part.memory, len(contact.mesh.rest))
            told = contact.all_crossings(x, t, released)
            assert len(told.forbidden) == 0, f"{seed}: t = {t}"
            y = np.concatenate([x, contact.body_positions(t)])
            found = count_intersections(y, faces, of_cloth, np.arange(len(y)))
            assert found <= len(told.excluded) + len(told.released)
    except StepFailed as failed:
        outcome, why = failed.report.outcome, failed.report.obstacle
        assert outcome not in NAMED or why, f"{seed}: {outcome.name} without a name"
        assert outcome is not Outcome.INTERSECTED
        return False
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
