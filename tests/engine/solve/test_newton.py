"""Newton and its line search on functions whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest

from weft import kernel
from weft.base.timing import Phases
from weft.integrators.effort import FEW, QUIET, EarlyEnd
from weft.kernel import mat33, vec3
from weft.solve.linear.select import linear_solver
from weft.solve.linear.solver import Outcome
from weft.solve.newton.descent import Newton
from weft.solve.newton.direction import SearchDirection, SearchPoint
from weft.solve.newton.line_search import LineSearchSettings, backtrack
from weft.solve.newton.minimize import Counts, Search, minimize
from weft.solve.newton.shifted import FIRST, LEAST, PATIENCE, Shifted
from weft.solve.newton.stopping import BalanceRule
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick

PATTERN = BlockPattern.of(2, [np.array([[0, 1]], dtype=np.int32)])


class Function:
    """A function of (2,3) numbers given in NumPy, as Newton wants it."""

    def __init__(self, f, g, H):
        self.f, self.g, self.H = f, g, H

    def value_at(self, x):
        return float(self.f(np.array(kernel.numpy(x)).reshape(-1)))

    def gradient_at(self, x, out):
        kernel.numpy(out)[...] = self.g(np.array(kernel.numpy(x)).reshape(-1)).reshape(2, 3)

    phases = Phases()

    def truncate_direction(self, x, d):
        return None

    def max_step_at(self, x, d):
        return 1.0

    def is_settled_at(self, x, d):
        return True

    def updates_at(self, x):
        return ()

    def matrix_at(self, x, psd=None):
        H = self.H(np.array(kernel.numpy(x)).reshape(-1)).reshape(2, 3, 2, 3)
        return BlockCsr(PATTERN, kernel.array(H[PATTERN.row, :, PATTERN.column, :], mat33))


def run(function, x0, solver="splu", **settings):
    newton = Newton(**{"tolerance": 1e-10, **settings})
    start = kernel.array(np.reshape(x0, (2, 3)), vec3)
    return minimize(function, start, linear_solver(solver), newton)


TARGET = np.array([1.0, -2, 3, 0.5, 0, 1])
QUADRATIC = Function(
    lambda x: ((x - TARGET) ** 2).sum() / 2, lambda x: x - TARGET, lambda x: np.eye(6)
)
QUARTIC = Function(
    lambda x: ((x - TARGET) ** 4).sum() + ((x - TARGET) ** 2).sum() / 2,
    lambda x: 4 * (x - TARGET) ** 3 + (x - TARGET),
    lambda x: np.diag(12 * (x - TARGET) ** 2 + 1),
)


@pytest.mark.parametrize("solver", ["splu", "pcg"])
def test_quadratic_takes_one_iteration(solver):
    result = run(QUADRATIC, np.zeros(6), solver)
    assert result.outcome.ok and result.counts.iterations <= 2
    np.testing.assert_allclose(np.reshape(kernel.numpy(result.x), -1), TARGET, atol=1e-12)


@pytest.mark.parametrize("solver", ["splu", "pcg"])
def test_quartic_converges(solver):
    result = run(QUARTIC, np.full(6, 10.0), solver)
    assert result.outcome.ok and result.increment <= 1e-10
    np.testing.assert_allclose(np.reshape(kernel.numpy(result.x), -1), TARGET, atol=1e-9)


class Counted(Function):
    """A function that counts how often its value is asked for."""

    asked = 0

    def value_at(self, x):
        self.asked += 1
        return super().value_at(x)


def watched(function, x0, solver="splu", **settings):
    """The result, and the record and the numbers (2,3) of every iterate."""
    seen, start = [], kernel.array(np.reshape(x0, (2, 3)), vec3)
    found = minimize(
        function,
        start,
        linear_solver(solver),
        Newton(**{"tolerance": 1e-10, **settings}),
        watch=lambda iterate, x: seen.append((iterate, np.array(kernel.numpy(x)))),
    )
    return found, seen


def test_work_is_counted():
    function = Counted(QUARTIC.f, QUARTIC.g, QUARTIC.H)
    found, seen = watched(function, np.full(6, 10.0), "pcg")
    assert found.counts.line_search_trials == function.asked - 1  # one value at the start
    each = [iterate.linear_iterations for iterate, _ in seen]
    assert min(each) > 0 and sum(each) <= found.counts.linear_iterations < sum(each) + max(each) + 3


class Obstructed(Function):
    """A function of which the first point has room for a part of its direction alone."""

    room = 1.0

    def max_step_at(self, x, d):
        return self.room if np.any(kernel.numpy(d)[0]) else 1.0

    def truncate_direction(self, x, d):
        return kernel.array(np.array(kernel.numpy(d)) * [[0.0], [1.0]], vec3)


@pytest.mark.parametrize("room, goes", [(0.05, [[0.0], [1.0]]), (0.1, 0.1), (0.5, 0.5)])
def test_a_direction_without_room_is_truncated_point_by_point(room, goes):
    """Where that goes farther down than the part of all of it that has room."""
    function = Obstructed(QUADRATIC.f, QUADRATIC.g, QUADRATIC.H)
    function.room = room
    found, seen = watched(function, np.zeros(6), max_iterations=1)
    np.testing.assert_allclose(seen[0][1], TARGET.reshape(2, 3) * goes, atol=1e-12)
    assert found.counts.truncations == (np.ndim(goes) > 0)


def test_a_truncated_direction_does_not_judge_the_model():
    A = np.eye(6) - 0.1
    function = Obstructed(
        lambda x: x @ A @ x / 2 - TARGET @ x, lambda x: A @ x - TARGET, lambda x: A
    )
    function.room = 0.05
    found, _ = watched(function, np.zeros(6), max_iterations=1)
    assert found.counts.truncations == 1 and found.counts.model_quality == 1.0


def test_iteration_limit():
    assert run(QUARTIC, np.full(6, 10.0), max_iterations=2).outcome is Outcome.MAX_ITERATIONS


class Unsettled(Function):
    """A function to which no direction is small before the fifth."""

    directions = 0

    def is_settled_at(self, x, d):
        self.directions += 1
        return self.directions > 4


class Doubts:
    """Bounds that no direction of an iterative solver meets."""

    def is_exceeded(self, A, d, g):
        return True


def test_a_factorization_takes_over():
    function = Unsettled(QUARTIC.f, QUARTIC.g, QUARTIC.H)
    start = kernel.array(np.full((2, 3), 10.0), vec3)
    result = minimize(function, start, linear_solver("pcg"), Newton(1e3, bounds=Doubts()))
    assert result.outcome.ok and result.counts.rescues == result.counts.iterations > 2


def test_uphill_direction():
    wrong = Function(QUADRATIC.f, QUADRATIC.g, lambda x: -np.eye(6))
    assert run(wrong, np.zeros(6)).outcome is Outcome.INDEFINITE


def test_not_finite():
    nan = Function(lambda x: np.nan, QUADRATIC.g, QUADRATIC.H)
    assert run(nan, np.zeros(6)).outcome is Outcome.NOT_FINITE


def no_slope(step):
    raise AssertionError("the slope was asked for, although values differ by more than round-off")


def test_line_search_halves():
    """phi(a) = (1 - 5a)^2 grows from a = 0.4 on; Armijo allows the step of 1/4."""
    result = backtrack(lambda a: (1 - 5 * a) ** 2, no_slope, 1.0, -10.0)
    assert result.step == 0.25 and result.value == pytest.approx(0.0625)


@pytest.mark.parametrize("curvature, step", [(1.0, 1.0), (1.9, 1.0), (2.1, 0.5), (8.1, 0.125)])
def test_slopes_decide_where_values_are_equal_within_round_off(curvature, step):
    """A decrease of 1e-18 of a value of 1 cannot be seen. The quadratic function with this slope
    and curvature decreases until 2 / curvature.
    """

    def slope(a):
        return (curvature * a - 1) * 1e-18

    assert backtrack(lambda a: 1.0 + 4e-16, slope, 1.0, -1e-18).step == step


def test_round_off_is_that_of_the_largest_value_met():
    """Near the minimum, terms of the value cancel, and their round-off stays."""
    noisy = (lambda a: 1e-9 + 4e-16, lambda a: 0.0, 1e-9, -1e-18)
    assert backtrack(*noisy).step == 0.0
    assert backtrack(*noisy, size=1.0).step == 1.0


def test_effort_stops_lower_than_it_began_and_says_what_is_left():
    start = np.full(6, 10.0)
    stopped = run(QUARTIC, start, early=EarlyEnd(2))
    assert stopped.outcome is Outcome.STOPPED and stopped.outcome.ok
    assert stopped.counts.iterations == 2
    x = np.reshape(kernel.numpy(stopped.x), -1)
    assert QUARTIC.f(x) < QUARTIC.f(start) and QUARTIC.f(x) > QUARTIC.f(TARGET)
    assert stopped.remaining.unsettled > 0 and stopped.remaining.gain > 0
    settled = run(QUARTIC, start, early=EarlyEnd(60))
    assert settled.outcome is Outcome.CONVERGED and settled.remaining.gain == 0.0


@pytest.mark.parametrize(
    ("far", "size", "step", "ends"),
    [
        (FEW, 0.9 * QUIET, 1.0, True),  # a few vertices are loose, the others hardly move
        (2 * FEW, 0.9 * QUIET, 1.0, False),  # too many are
        (FEW, 1.1 * QUIET, 1.0, False),  # the cloth moves as a whole
        (FEW, 0.9 * QUIET, 0.25, False),  # most of the increment was not taken
    ],
)
def test_a_few_loose_vertices_do_not_keep_a_search_going(far, size, step, ends):
    rule = EarlyEnd(8, enough=1.0).rule(1e-10, 100)
    rule.far, rule.size = far, size
    direction = SearchDirection(None, 5.0, -1.0)
    assert (rule.after_step(direction, step) is Outcome.STOPPED) == ends
    rule.settled = False  # an energy is far from balance
    assert rule.after_step(direction, step) is None


def balance(force=1.0, value=0.0, last=None, **more):
    """A rule that compares forces with 2 N, to 10 %, and the point that it is asked about."""
    numbers = {"max_iterations": 3, "farthest": 1.0, **more}
    rule = BalanceRule(1e-3, 0.1, lambda x: 2.0, **numbers)
    if last is not None:
        d = kernel.zeros(2, vec3)
        rule.after_step(SearchDirection(d, last, -1.0, is_newton=True), 1.0)
    return rule, SearchPoint(
        kernel.zeros(2, vec3), kernel.array([[force, 0, 0], [0, 0, 0]], vec3), value
    )


@pytest.mark.parametrize(
    "force, value, last, outcome",
    [
        (0.0, 1.0, None, Outcome.CONVERGED),  # nothing pulls
        (0.19, 1.0, 9e-4, Outcome.CONVERGED),
        (0.21, 1.0, 9e-4, None),  # forces do not balance
        (0.19, 1.0, 2e-3, None),  # the last increment was too long
        (0.19, 1.0, None, None),
        (1.0, np.inf, None, Outcome.NOT_FINITE),
        (np.nan, 1.0, None, Outcome.NOT_FINITE),
    ],
)
def test_a_search_for_balance_ends(force, value, last, outcome):
    rule, at = balance(force, value, last)
    assert rule.check(at, 0, True) is outcome


def test_a_search_for_balance_has_so_many_attempts():
    rule, at = balance()
    assert [rule.check(at, 0, True) for _ in range(4)] == [None] * 3 + [Outcome.MAX_ITERATIONS]


@pytest.mark.parametrize("length, step, outcome", [(3.0, 0.5, Outcome.UNHELD), (3.0, 0.3, None)])
def test_what_nothing_holds_goes_too_far(length, step, outcome):
    rule, _ = balance()
    direction = SearchDirection(kernel.zeros(2, vec3), length, -1.0)
    assert rule.after_step(direction, step) is outcome


def test_a_line_search_ends_at_the_shortest_step():
    result = backtrack(lambda a: 2.0, no_slope, 1.0, -1.0)
    assert result.step == 0.0 and result.trials == 25  # 1 to 2^-24


def test_counts_add_up():
    first = Counts(Outcome.CONVERGED, 2, 3, 4, 1, 5, 0.3, 0.2)
    assert Counts(Outcome.STALLED).after(first) == replace(first, outcome=Outcome.STALLED)
    both = Counts(Outcome.STALLED, 1, 1, 1, 1, 1, 0.5, 0.1).after(first)
    assert both == Counts(Outcome.STALLED, 3, 4, 5, 2, 6, 0.3, 0.1)


@pytest.mark.parametrize("factor, quality", [(1.0, 1.0), (1.5, 0.5), (4.0, 0.0)])
def test_quality_of_the_model(factor, quality):
    """A quadratic function has a multiple of the curvature that its matrix says: a full step
    decreases it by 1 - factor/2 of the decrement, and the model predicts 1/2.
    """
    steep = Function(
        lambda x: factor * (x @ x) / 2 - TARGET @ x,
        lambda x: factor * x - TARGET,
        lambda x: np.eye(6),
    )
    found, seen = watched(steep, np.zeros(6), max_iterations=1, forcing=0.5)
    a = seen[0][0].step
    assert found.counts.model_quality == pytest.approx((a - factor * a * a / 2) / (a - a * a / 2))
    assert found.counts.forcing == 1.0 and found.counts.truncations == 0
    if factor < 2:
        assert found.counts.model_quality == pytest.approx(quality)


class Decrements:
    """Linear systems whose solutions have given decrements g.d; the forcing terms they get."""

    def __init__(self, *decrements):
        self.problem, self.solver = QUADRATIC, linear_solver("pcg")
        self.left, self.forcing, self.iterations = list(decrements), [], 0

    def prepare(self, A):
        self.iterations += 1

    def solve(self, x, g, forcing):
        self.forcing.append(forcing)
        d = np.zeros((2, 3))
        d[0, 0] = -self.left.pop(0)
        return kernel.array(d, vec3), Outcome.CONVERGED


def test_linear_solves_are_as_accurate_as_the_decrement_falls():
    """Half the ratio of two decrements, between the bounds of the settings."""
    system = Decrements(1.0, 0.8, 0.1, 0.07, 0.7, 1.0)
    descent, _ = Newton(1e-10, forcing=0.5, least_forcing=0.3).begin(system, 2)
    g = np.zeros((2, 3))
    g[0, 0] = 1.0
    at = SearchPoint(kernel.zeros(2, vec3), kernel.array(g, vec3), 0.0)
    for _ in range(6):
        descent.after_step(descent.propose(at), 1.0)
    np.testing.assert_allclose(system.forcing, [0.5, 0.5, 0.4, 0.3, 0.35, 0.5])


def shifted(force=1.0, **settings):
    """A descent of equilibria that compares forces of this size [N] with 2 N, to 10 %."""
    mass = kernel.array(np.ones(2), kernel.Scalar)
    method = Shifted(1e-10, 0.1, lambda x: 2.0, mass, **settings)
    search = Search(QUADRATIC, kernel.zeros(2, vec3), linear_solver("splu"), method, LINE, None)
    search.rule.force = force
    return search


LINE = LineSearchSettings()


def stepped(descent, *steps, slope=-1.0):
    for step in steps:
        descent.after_step(SearchDirection(None, 1.0, slope), step)


def test_forcing_of_equilibria():
    descent = shifted().descent
    found = [descent.forcing]
    for slope in (-1.0, -0.5, -0.05, -1e-6):
        stepped(descent, 1.0, slope=slope)
        found.append(descent.forcing)
    np.testing.assert_allclose(found, [0.1, 0.1, 0.1, 0.05, 1e-3])


def test_the_exact_hessian_is_tried_after_full_steps_and_more_rarely_each_time():
    descent = shifted(force=0.0).descent
    assert not descent.has_other()  # forces balance, and the projected Hessian was tried
    stepped(descent, *[1.0] * PATIENCE)
    assert descent.has_other() and descent.patience == 2 * PATIENCE
    stepped(descent, *[1.0] * PATIENCE)
    assert not descent.has_other()
    stepped(descent, *[1.0] * PATIENCE)
    assert descent.has_other() and descent.patience == 4 * PATIENCE


def test_under_contact_the_exact_hessian_is_tried_after_shortened_steps_too():
    descent = shifted(force=0.0, meets=True).descent
    stepped(descent, *[0.5] * (PATIENCE - 1), 1.0)
    assert not descent.has_other()
    stepped(descent, *[0.5] * PATIENCE, 1.0, 1.0)  # full steps show that it helps
    assert descent.has_other()


def test_the_shift_grows_where_forces_do_not_balance():
    descent = shifted(force=1.0).descent
    assert descent.mu == LEAST and descent.has_other() and descent.mu == FIRST


def test_slope_of_a_shifted_search_has_the_slope_of_the_shift():
    """Values are equal within round-off. The gradient grows six times as fast along the direction
    as the matrix says; with the slope of the shift, 3/16 |g|^2 at the full step, that is too steep.
    """
    steep = Function(lambda x: 1e15, lambda x: 6 * x - TARGET, lambda x: np.eye(6))
    search = shifted()
    search.problem = search.system.problem = steep
    search.descent.mu = 3.0
    seen = []
    search.at.value = 1e15
    steep.gradient_at(search.at.x, search.at.g)
    search.advance(lambda iterate, x: seen.append(iterate.step))
    assert seen == [0.5]
