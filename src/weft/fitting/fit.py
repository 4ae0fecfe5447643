"""The fit: least squares over all measurements, in the logarithms of a fabric's numbers.

Levenberg and Marquardt's steps by SciPy (trust region). A weak belief in the starting fabric, each
number within a factor of e^3 = 20 of it (one standard deviation), keeps directions that no
measurement sees where they began. It has no part in uncertainties, and none in what is found of
measurements that are quick. Uncertainties come from the Gauss-Newton Hessian J^T J at the end.
Directions that it leaves open by more than a factor of 1.65 are closed by holding one number each
at its start (``determined``).

Measurements that are simulated for seconds are fitted after the others, from where these end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError, SimulationError
from weft.fabric.fabric import UNITS, Fabric
from weft.fitting.determined import WEAK, Open, weakest
from weft.fitting.measurement import Measurement, with_logs

Say = Callable[[str], None]  # progress, a line at a time
BELIEF = 3.0  # of a logarithm: standard deviation of the weak belief in the start
FARTHEST = np.log(1e6)  # that a number may go from its start
MOST_AWAY = 0.99 * FARTHEST
ROUNDS = 3  # in which simulated drapes are made anew, at most
SETTLED = 0.5  # standard deviations by which a round may move numbers, to be the last
UNLIKELY = 0.01  # chance of a sum of squares, below which uncertainties are scaled up


@dataclass(frozen=True, eq=False)
class Fit:
    """What was found.

    Attributes:
        start: the fabric that it began with.
        fabric: the fitted one.
        fields: that were fitted, n of them.
        covariance: (n,n) of their logarithms, from the data alone.
        open: what the data do not determine, which is held at its start.
        measurements: as they were at the end.
        converged: whether SciPy was content.
    """

    start: Fabric
    fabric: Fabric
    fields: tuple[str, ...]
    covariance: Floats
    open: Sequence[Open]
    measurements: Sequence[Measurement]
    converged: bool

    @property
    def residuals(self) -> Sequence[Floats]:
        """Of each measurement."""
        return [m.residuals(self.fabric) for m in self.measurements]

    @property
    def squares(self) -> float:
        """Sum of squares, chi^2."""
        return float(sum((r**2).sum() for r in self.residuals))

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        unknowns = len(self.fields) + sum(getattr(m, "free", 0) for m in self.measurements)
        return sum(map(len, self.residuals)) - unknowns

    @property
    def chance(self) -> float:
        """That data of the stated uncertainty give as large a sum of squares; 1 where none is left
        to compare.
        """
        if self.freedom <= 0:
            return 1.0
        from scipy.stats import chi2

        return float(chi2.sf(self.squares, self.freedom))

    @property
    def scale(self) -> float:
        """By which standard deviations are multiplied, as the Particle Data Group does: above 1
        where the data scatter more than they say.
        """
        if self.chance >= UNLIKELY:
            return 1.0
        return float(np.sqrt(self.squares / self.freedom))

    @property
    def relative(self) -> dict[str, float]:
        """One standard deviation over the value, by field, scaled."""
        return dict(zip(self.fields, (self.scale * np.sqrt(np.diag(self.covariance))).tolist()))

    @property
    def correlation(self) -> Floats:
        """(n,n)."""
        size = np.sqrt(np.diag(self.covariance))
        return np.asarray(self.covariance / np.multiply.outer(size, size))

    def shares(self, field: str) -> dict[str, float]:
        """What each measurement adds to what is known of a field, all others fixed: parts of 1."""
        found = [
            float((m.jacobian(self.fabric, [field]) ** 2).sum()) if field in m.depends_on else 0.0
            for m in self.measurements
        ]
        return {m.name: f / sum(found) for m, f in zip(self.measurements, found) if f > 0}


def fit(
    measurements: Sequence[Measurement],
    start: Fabric,
    hold: Sequence[str] = (),
    say: Say = lambda _: None,
) -> Fit:
    """The fabric that suits the measurements best.

    Args:
        measurements: at least one.
        start: where it begins, and what stays where the data say nothing.
        hold: fields that stay as the start has them.
        say: called before what takes seconds.

    Raises:
        FabricError: no measurements, or nothing to fit; a number of the start that is 0.
        SimulationError: a test of the starting fabric has no equilibrium.
    """
    if not measurements:
        raise FabricError("measurements", got="none", expected="at least one")
    problem = _Problem(start, _fields(measurements, start, hold))
    quick = [m for m in measurements if not getattr(m, "slow", False)]
    slow = [m for m in measurements if getattr(m, "slow", False)]
    if quick:
        problem.begin(quick)
        problem.solve(quick)
    if not slow:
        problem.close(quick, WEAK)
        if problem.fields:
            problem.solve(quick, belief=0.0)
        return problem.result(quick)
    for turn in range(ROUNDS):
        ready = [*quick, *(_near(m, problem.fabric, say, turn) for m in slow)]
        if turn == 0:
            problem.close(ready, WEAK, settle=False)
        before = problem.logs
        problem.solve(ready, say)
        if problem.moved(ready, before) <= SETTLED:
            break
    problem.close(ready, WEAK)
    return problem.result([*quick, *(m for m in ready if m not in quick)])


def _near(m: Any, fabric: Fabric, say: Say, turn: int) -> Measurement:
    """The measurement, made ready to be evaluated near a fabric."""
    if not hasattr(m, "near"):
        return m  # type: ignore[no-any-return]
    say(f"{m.name}: simulating it{' anew' if turn else ''}")
    made: Measurement = m.near(fabric)
    return made


def _fields(
    measurements: Sequence[Measurement], start: Fabric, hold: Sequence[str]
) -> tuple[str, ...]:
    asked = {f for m in measurements for f in m.depends_on}
    fields = tuple(f for f in UNITS if f in asked and f not in hold)
    if not fields:
        raise FabricError("hold", got=", ".join(hold), expected="something left to fit")
    for field in fields:
        if not getattr(start, field) > 0:
            raise FabricError(
                f"{field} of the starting fabric {start.name}",
                got=0,
                expected="must be > 0 to be fitted",
                hint="hold it, or start from another fabric",
            )
    return fields


class _Problem:
    """Numbers that are looked for, and those that were found to be open."""

    def __init__(self, start: Fabric, fields: tuple[str, ...]) -> None:
        self.start, self.fields = start, fields
        self.open: list[Open] = []
        self.first = np.log([getattr(start, f) for f in fields])
        self.logs = self.first
        self.converged = False

    @property
    def fabric(self) -> Fabric:
        """The present one."""
        return with_logs(self.start, self.fields, self.logs)

    def begin(self, measurements: Sequence[Measurement]) -> None:
        """Go where measurements point, the median of each field: far from the start an exponential
        is flat.
        """
        for k, field in enumerate(self.fields):
            said = [m.implies(self.start) for m in measurements if hasattr(m, "implies")]
            values = [np.log(s[field]) for s in said if s.get(field, 0.0) > 0]
            if values:
                away = np.clip(np.median(values) - self.first[k], -MOST_AWAY, MOST_AWAY)
                self.logs = self.logs.copy()
                self.logs[k] = self.first[k] + away

    def solve(
        self,
        measurements: Sequence[Measurement],
        say: Say = lambda _: None,
        belief: float = 1 / BELIEF,
    ) -> None:
        """Take the best numbers; ``belief`` 0: without that in the start."""
        from scipy.optimize import least_squares

        slow = any(getattr(m, "slow", False) for m in measurements)
        rows = sum(len(m.residuals(self.fabric)) for m in measurements)

        def residuals(logs: Floats) -> Floats:
            try:
                fabric = with_logs(self.start, self.fields, logs)
                found = [m.residuals(fabric) for m in measurements]
            except SimulationError:
                return np.full(rows + len(logs), np.inf)  # a shorter step is tried then
            if slow:
                say(f"sum of squares {sum(float((r**2).sum()) for r in found):.4g}")
            return np.concatenate([*found, belief * (logs - self.first)])

        def jacobian(logs: Floats) -> Floats:
            fabric = with_logs(self.start, self.fields, logs)
            return np.concatenate(
                [self.derivative(measurements, fabric), belief * np.eye(len(logs))]
            )

        bounds = (self.first - FARTHEST, self.first + FARTHEST)
        small = 1e-4 if slow else 1e-6
        found = least_squares(
            residuals,
            self.logs,
            jacobian,
            bounds,
            xtol=small,
            ftol=small,
            gtol=1e-8,
            max_nfev=30 if slow else 300,
        )
        self.logs, self.converged = found.x, bool(found.success)

    def derivative(self, measurements: Sequence[Measurement], fabric: Fabric) -> Floats:
        """(rows, fields) J."""
        return np.concatenate([m.jacobian(fabric, self.fields) for m in measurements])

    def information(self, measurements: Sequence[Measurement]) -> Floats:
        """(n,n) J^T J, the Gauss-Newton Hessian."""
        J = self.derivative(measurements, self.fabric)
        return np.asarray(J.T @ J)

    def moved(self, measurements: Sequence[Measurement], before: Floats) -> float:
        """The largest way of a number from what it was, in standard deviations."""
        N = self.information(measurements) + np.eye(len(self.fields)) / BELIEF**2
        return float((np.abs(self.logs - before) / np.sqrt(np.diag(np.linalg.inv(N)))).max())

    def close(self, measurements: Sequence[Measurement], limit: float, settle: bool = True) -> None:
        """Hold numbers at their start until no direction is open by more than ``limit``;
        ``settle``: take the best of the others after each.
        """
        N = self.information(measurements)
        while len(self.fields) and (found := weakest(N, self.fields, limit)) is not None:
            k = self.fields.index(found.field)
            self.open.append(replace(found, value=float(getattr(self.start, found.field))))
            self.fields = (*self.fields[:k], *self.fields[k + 1 :])
            self.first, self.logs = np.delete(self.first, k), np.delete(self.logs, k)
            if not self.fields:
                return
            if settle:
                self.solve(measurements)
            N = self.information(measurements)

    def result(self, measurements: Sequence[Measurement]) -> Fit:
        """What was found."""
        N = self.information(measurements) if self.fields else np.zeros((0, 0))
        return Fit(
            self.start,
            self.fabric,
            self.fields,
            np.asarray(np.linalg.inv(N), dtype=np.float64),
            self.open,
            measurements,
            self.converged,
        )
