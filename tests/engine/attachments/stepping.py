"""Steps of a scene, one after another, for tests of what its attachments do."""

from tests.stepping import model_steps
from weft.scene.prepare import prepare


def take_steps(scene, count, dt=0.01):
    """The model, the states before and after the last of ``count`` steps, and its report."""
    ready = prepare(scene)
    found = [(ready.state, None, None), *model_steps(scene, ready.model, count, dt)]
    (before, _, _), (state, _, report) = found[-2:]
    return ready.model, before, state, report
