"""The searches of several worlds side by side.

Each search has its own number of iterations and its own line search steps. What the searches ask
for (values, gradients, matrices) is computed for all that ask at once.
"""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.errors import SimulationError
from weft.base.timing import Phases
from weft.energies.step import Step
from weft.integrators.base import StepReport
from weft.integrators.halving import TakenStep
from weft.integrators.lagged_friction import minimize_lagged_steps
from weft.integrators.potential import Potential, is_start
from weft.kernel import WarpArray
from weft.plugins.robots.batch.group import WorldGroup
from weft.plugins.robots.batch.world import World
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.linear.solver import PreparedSolver
from weft.solve.newton.minimize import Minimum, Request, RequestGenerator, Search
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr


class WorldProblem:
    """The problem that the search of one world sees (``solve.newton.minimize.Problem``).

    Values, gradients and matrices are computed for many worlds at once; the matrix is stored here.
    """

    def __init__(self, phi: Potential) -> None:
        self.phi = phi
        self.phases: Phases = phi.phases
        self.truncate_direction = phi.truncate_direction
        self.is_settled_at, self.propose_limit_at = phi.is_settled_at, phi.propose_limit_at
        self.matrix: BlockCsr | None = None

    def value_at(self, x: WarpArray) -> float:
        """Raise an error: values are answered by the group."""
        raise AssertionError("values are answered by the group")

    def gradient_at(self, x: WarpArray, out: WarpArray) -> None:
        """Raise an error: gradients are answered by the group."""
        raise AssertionError("gradients are answered by the group")

    def matrix_at(self, x: WarpArray, psd: Psd | None = None) -> BlockCsr:
        """Return the matrix that the group assembled for x."""
        assert self.matrix is not None
        return self.matrix

    def updates_at(self, x: WarpArray) -> Sequence[LowRankUpdate]:
        """Return the dense rank-one parts of the Hessian."""
        return self.phi.updates_at(x)


@dataclass(frozen=True, eq=False)
class WorldAlone:
    """A world that takes its steps alone: its integrator, or its constants, allow nothing else."""

    worlds: tuple[World]


def step_all(
    group: WorldGroup | WorldAlone, here: Sequence[World], energies: bool
) -> dict[int, SimulationError]:
    """Take one step of some worlds of a group.

    Args:
        group: the worlds.
        here: the worlds that take the step.
        energies: whether reports contain energies by name.

    Returns:
        The errors of worlds whose step does not converge, however short, by number; these worlds
        stay where they are.
    """
    if not here or isinstance(group, WorldAlone):
        return _step_each_alone([(world, None) for world in here])
    clock = time.perf_counter()
    failed: list[tuple[World, StepReport | None]] = [(w, None) for w in here if w.is_divided]
    go = [w for w, world in enumerate(group.worlds) if world in here and not world.is_divided]
    if not go:
        return _step_each_alone(failed)
    steps = [w.plan() for w in group.worlds]
    phis = group.begin(steps)
    found = answer_requests(group, _searches(group, go, steps, phis))
    good = [w for w, m in found.items() if m.outcome.ok]
    if group.contact is not None:
        group.contact.check({w: found[w].x for w in good})
    by_name = group.terms_of(good) if energies else {}
    seconds = (time.perf_counter() - clock) / len(go)
    for w in go:
        world, minimum = group.worlds[w], found.get(w)
        names = world.linear.name, clock, by_name.get(w, {})
        after, memory, report = world.integrator.finish(phis[w], minimum, *names)
        report = dataclasses.replace(report, seconds=seconds, parts=())
        if report.outcome.ok and minimum is not None:
            world.prepared = minimum.prepared
            world.went([TakenStep(report, after, memory)])
        else:
            failed.append((world, report))
    return _step_each_alone(failed)


def _step_each_alone(
    worlds: Sequence[tuple[World, StepReport | None]],
) -> dict[int, SimulationError]:
    """Take one step of each world alone; arguments as for ``World.step_alone``, and errors as for
    ``step_all``.
    """
    errors: dict[int, SimulationError] = {}
    for world, report in worlds:
        try:
            world.step_alone(report)
        except SimulationError as error:
            errors[world.number] = error
    return errors


def _searches(
    group: WorldGroup, go: Sequence[int], steps: Sequence[Step], phis: Sequence[Potential]
) -> Mapping[int, tuple[RequestGenerator, float]]:
    """Return the search of every world that has a start, and its value [J] at the start.

    Every world takes the first of its starts at which its potential is finite, as in
    ``Potential.first_start``; values of all worlds are computed together.
    """
    starts = {w: phis[w].starts() for w in go}
    x = [s.state.x for s in steps]
    values: dict[int, float] = {}
    asking = list(go)
    while asking:
        found = {w: start for w in asking if (start := next(starts[w], None)) is not None}
        for w, start in found.items():
            x[w] = start
        wp.copy(group.x, kernel.points(np.concatenate(x)))
        now = group.values(list(found), group.x) if found else {}
        values.update({w: value for w, value in now.items() if is_start(value)})
        asking = [w for w in found if w not in values]
    return {w: (_search(group, w, steps[w], phis[w]), values[w]) for w in sorted(values)}


def _search(group: WorldGroup, w: int, step: Step, phi: Potential) -> RequestGenerator:
    """Return the search of one world, as in ``Integrator._minimize``."""
    world = group.worlds[w]
    newton = world.integrator.settings.newton(step, world.model.loose)
    x, g, trial = group.parts[w]
    problem = WorldProblem(phi)

    def begin(start: WarpArray, before: PreparedSolver | None) -> Search:
        return Search(problem, start, group.linear[w], before, (x, g, trial))

    return minimize_lagged_steps(phi, begin, x, newton, world.prepared, world.model.lags)


def answer_requests(
    group: WorldGroup, searches: Mapping[int, tuple[RequestGenerator, float]]
) -> dict[int, Minimum]:
    """Answer the questions of all searches until they end; return the minimum of each.

    Trials of line searches are answered first and new matrices last. Searches that have fallen
    behind so catch up with the others, and as many questions as possible are answered together.
    """
    found: dict[int, Minimum] = {}
    waiting: dict[int, tuple[Request, Search]] = {}
    known = {w: value for w, (_, value) in searches.items()}
    for w, (asking, _) in searches.items():
        waiting[w] = next(asking)
    while waiting:
        first = min(_turn(*asked) for asked in waiting.values())
        now = sorted(w for w, asked in waiting.items() if _turn(*asked) == first)
        answers = _answer(group, now, waiting, known)
        for w in now:
            try:
                waiting[w] = searches[w][0].send(answers.get(w, 0.0))
            except StopIteration as end:
                del waiting[w]
                found[w] = end.value
    return dict(sorted(found.items()))


def _turn(ask: Request, s: Search) -> int:
    """Return the rank of a question in the order of answering; 0 is first."""
    if ask is Request.DIRECTION:
        return 3 if s.wants_matrix else 2
    return 0 if ask is Request.VALUE else 1


def _answer(
    group: WorldGroup,
    now: Sequence[int],
    waiting: Mapping[int, tuple[Request, Search]],
    known: dict[int, float],
) -> dict[int, float]:
    """Compute what the worlds ``now`` ask for; return the numbers to be sent to them."""
    ask = waiting[now[0]][0]
    if ask is Request.VALUE:
        return group.values(now, group.trial)
    if ask is Request.DIRECTION:
        stale = [w for w in now if waiting[w][1].wants_matrix]
        if stale:
            matrices = group.matrices(stale)
            for w in stale:
                problem: Any = waiting[w][1].problem
                problem.matrix = matrices[w]
        group.solve_together(stale, now)
        return {}
    begun = [w for w in now if waiting[w][0] is Request.START]
    unknown = [w for w in begun if w not in known]
    values = group.values(unknown, group.x) if unknown else {}
    for w in begun:
        waiting[w][1].value = values[w] if w in values else known.pop(w)
    group.gradients(now)
    return {}
