"""Steps of a scene, one after another."""

from weft.scene.prepare import prepare


def steps(scene, n, dt=None, stepper=None, begin=None):
    """State, memory and report after each of n steps of dt [s] (None: the scene's), all of which
    succeed; ``begin``: state and memory to go on from.
    """
    yield from model_steps(scene, prepare(scene).model, n, dt, stepper, begin)


def model_steps(scene, model, n, dt=None, stepper=None, begin=None):
    """Steps of a model of the scene that is there already; arguments as for ``steps``."""
    stepper, dt = stepper or prepare(scene).stepper, scene.step if dt is None else dt
    state, memory = begin or (prepare(scene).state, None)
    memory = stepper.init(model, state) if memory is None else memory
    for _ in range(n):
        state, memory, report = stepper.step(model, state, memory, dt)
        assert report.outcome.ok, report.outcome
        yield state, memory, report


def stepped(scene, n, dt=None, watch=None, stepper=None):
    """The model, the last state and all reports of n steps; ``watch`` gets the model, state and
    report after each of them.
    """
    model, state, reports = prepare(scene).model, None, []
    for state, _, report in model_steps(scene, model, n, dt, stepper):
        reports.append(report)
        if watch is not None:
            watch(model, state, report)
    return model, state, reports


def nothing_crosses(model, state, report):
    """No surfaces intersect that must not."""
    x = model.contact.all_vertices(state.x)
    assert len(model.contact.crossings(x, state.t)) == 0
