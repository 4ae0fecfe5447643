"""Steps of a scene, one after another, for tests of what its attachments do."""

from weft.scene.prepare import prepare


def take_steps(scene, count, dt=0.01):
    """The model, the states before and after the last of ``count`` steps, and its report."""
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    for _ in range(count):
        before = state
        state, memory, report = stepper.step(model, state, memory, dt)
        assert report.outcome.ok, report.outcome
    return model, before, state, report
