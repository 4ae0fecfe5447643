"""Motions and steps that tests of contact share."""

from weft.bodies.motion.pins import Keyframe, Path
from weft.run.drive import advance
from weft.scene.prepare import prepare


def along(*way, seconds=0.1, start=0.0, between="linear"):
    """A straight path by ``way`` [m] in all, which begins at ``start`` [s]."""
    return Path([Keyframe(start), Keyframe(start + seconds, way)], between, hold=True)


def parts_of(scene, n, dt=None):
    """Each part of n steps, which are divided and halved as those of a run.

    Raises:
        StepFailed: a step fails, however short its parts are.
    """
    ready = prepare(scene)
    state, memory = ready.state, ready.stepper.init(ready.model, ready.state)
    for _ in range(n):
        for part in advance(ready.stepper, ready.model, state, memory, dt or scene.step):
            yield part
        state, memory = part.state, part.memory


def until_failure(scene, n, dt=None):
    """The model, the last state, its memory and the reports of n whole steps, or of those up to the
    first that fails.
    """
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory, reports = stepper.init(model, state), []
    for _ in range(n):
        state, memory, report = stepper.step(model, state, memory, dt or scene.step)
        reports.append(report)
        if not report.outcome.ok:
            break
    return model, state, memory, reports
