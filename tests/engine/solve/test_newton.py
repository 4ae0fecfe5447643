"""Newton and its line search on functions whose answers are known."""

import numpy as np
import pytest

from weft import kernel
from weft.base.timing import Phases
from weft.integrators.effort import FEW, QUIET, EarlyEnd
from weft.kernel import mat33, vec3
from weft.solve.linear.select import linear_solver
from weft.solve.linear.solver import LinearSolution, Outcome
from weft.solve.newton.descent import LATE, Newton
from weft.solve.newton.direction import SearchDirection
from weft.solve.newton.line_search import backtrack
from weft.solve.newton.minimize import minimize
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


def test_start_is_not_written_to():
    x0 = kernel.array(np.zeros((2, 3)), vec3)
    minimize(QUADRATIC, x0, linear_solver("splu"), Newton(1e-8))
    assert not kernel.numpy(x0).any()


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


def test_a_solver_prepares_nothing_after_a_factorization_took_over(monkeypatch):
    """Later matrices of the search are factorized, and not prepared for the iterative solver."""
    solver, prepared = linear_solver("pcg"), []
    prepare = type(solver).prepare
    monkeypatch.setattr(
        type(solver),
        "prepare",
        lambda self, A, *rest: prepared.append(A) or prepare(self, A, *rest),
    )
    function = Unsettled(QUARTIC.f, QUARTIC.g, QUARTIC.H)
    start = kernel.array(np.full((2, 3), 10.0), vec3)
    result = minimize(function, start, solver, Newton(1e3, bounds=Doubts()))
    assert result.outcome.ok and result.counts.rescues == result.counts.iterations > 2
    assert len(prepared) == 1


class Loose:
    """A solver that gives Newton's increment turned by 87 degrees where it may be off by more than
    a tenth: as long as that is all, the error falls by a part in a thousand an iteration.
    """

    name, is_direct = "loose", False

    def prepare(self, A, previous=None):
        return self

    def forget(self):
        pass

    def solve(self, b, tolerance):
        b = np.array(kernel.numpy(b)).reshape(-1)
        if tolerance > 0.1:
            angle = np.radians(87.0)
            turn = np.kron(
                np.eye(3), [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            )
            b = np.cos(angle) * (turn @ b)
        x = kernel.array(b.reshape(2, 3), vec3)
        return LinearSolution(x, Outcome.CONVERGED, 1, tolerance)


def test_searches_that_take_long_get_better_directions():
    """Loose ones can go round in circles: a drape's step of 100 x 100 did, for 100 iterations."""
    start = kernel.array(np.zeros((2, 3)), vec3)
    result = minimize(QUADRATIC, start, Loose(), Newton(1e-10))
    assert result.outcome.ok and LATE <= result.counts.iterations <= LATE + 3
    np.testing.assert_allclose(np.reshape(kernel.numpy(result.x), -1), TARGET, atol=1e-12)


def test_uphill_direction():
    wrong = Function(QUADRATIC.f, QUADRATIC.g, lambda x: -np.eye(6))
    assert run(wrong, np.zeros(6)).outcome is Outcome.INDEFINITE


def test_gradient_of_another_function_stalls():
    wrong = Function(QUADRATIC.f, lambda x: -(x - TARGET), lambda x: np.eye(6))
    assert run(wrong, np.zeros(6)).outcome is Outcome.STALLED


def test_not_finite():
    nan = Function(lambda x: np.nan, QUADRATIC.g, QUADRATIC.H)
    assert run(nan, np.zeros(6)).outcome is Outcome.NOT_FINITE


def test_outcomes_are_advice():
    for outcome in Outcome:
        assert outcome.ok or len(outcome.advice) > 20


def no_slope(step):
    raise AssertionError("the slope was asked for, although values differ by more than round-off")


def test_line_search_takes_the_full_step():
    result = backtrack(lambda a: (1 - a) ** 2, no_slope, 1.0, -2.0)
    assert result.step == 1.0 and result.trials == 1


def test_line_search_halves():
    """phi(a) = (1 - 5a)^2 grows from a = 0.4 on; Armijo allows the step of 1/4."""
    result = backtrack(lambda a: (1 - 5 * a) ** 2, no_slope, 1.0, -10.0)
    assert result.step == 0.25 and result.value == pytest.approx(0.0625)


def test_line_search_gives_up():
    assert backtrack(lambda a: 1.0 + a, lambda a: 1.0, 1.0, -1.0).step == 0.0


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


def test_line_search_passes_infinity():
    result = backtrack(lambda a: np.inf if a > 0.3 else -a, no_slope, 0.0, -1.0)
    assert result.step == 0.25


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


ROOT = Function(  # of 1 + u^2, whose full steps go to -u^3: too far from u = 1 on
    lambda x: np.sqrt(1 + (x - TARGET) ** 2).sum(),
    lambda x: (x - TARGET) / np.sqrt(1 + (x - TARGET) ** 2),
    lambda x: np.diag((1 + (x - TARGET) ** 2) ** -1.5),
)


def test_a_last_increment_that_is_not_converged_is_searched_along():
    """A search that stops early ends lower than it began, whatever its last full step would do."""
    start = TARGET + 1.4
    assert ROOT.f(TARGET - 1.4**3) > 1.6 * ROOT.f(start)
    stopped = run(ROOT, start, early=EarlyEnd(60, 100.0))
    x = np.reshape(kernel.numpy(stopped.x), -1)
    assert stopped.outcome is Outcome.STOPPED and ROOT.f(x) < ROOT.f(start)


def test_enough_is_not_converged():
    """An increment that is enough ends the search as STOPPED, one below the tolerance as it was."""
    start = np.full(6, 10.0)
    stopped = run(QUARTIC, start, early=EarlyEnd(60, 0.5))
    assert stopped.outcome is Outcome.STOPPED and 1e-10 < stopped.increment <= 0.5
    assert 2 < stopped.counts.iterations < run(QUARTIC, start).counts.iterations
    assert stopped.remaining.unsettled > 0
    assert run(QUARTIC, TARGET, early=EarlyEnd(60, 0.5)).outcome is Outcome.CONVERGED
