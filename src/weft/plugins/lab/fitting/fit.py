"""Nonlinear least-squares fit of a fabric to all measurements, in the logarithms of its numbers.

The steps are those of Levenberg and Marquardt, by SciPy (trust region). A weak Gaussian prior on
the starting fabric allows each number a factor of e^3 = 20 (one standard deviation). It keeps
directions that no measurement determines at their start. The prior does not enter the
uncertainties, nor the fitted values if all measurements are quick. Uncertainties come from the
Gauss-Newton Hessian J^T J at the end. Directions that the data determine only to a factor above
1.65 are removed: one field of each is held at its start (``weakest_direction``).

The ratio of warp and weft keeps its start if all measurements of both tell their mean alone
(``Measurement.tells_ratio``): drapes, whose derivatives would seem to tell it.

Slow measurements, which simulate for seconds, are fitted after the quick ones and start from their
result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError, SimulationError
from weft.fabric.fabric import UNITS, Fabric
from weft.plugins.lab.fitting.measurement import Measurement, set_logarithms

WEAK = 0.5  # standard deviation of a logarithm above which a direction is open (factor 1.65)
TOGETHER = 0.1  # of the largest component: fields with a smaller one are not reported
LIKE = 0.5  # of the largest component: a field with a larger one may be the one that is held
# Preference among the fields of a direction for the one that is held: fields that a balance or a
# gauge gives come first.
FIRST = (
    "thickness",
    "damping",
    "rest_stretch_warp",
    "rest_stretch_weft",
    "density",
    "stretch_warp",
    "stretch_weft",
    "shear",
    "bending_weft",
    "bending_warp",
)
PAIRS = (("stretch_warp", "stretch_weft"), ("bending_warp", "bending_weft"))
Say = Callable[[str], None]  # progress, a line at a time
BELIEF = 3.0  # standard deviation of the prior, of the logarithm of a number
FARTHEST = np.log(1e6)  # bound on the change of the logarithm of a number from its start
MOST_AWAY = 0.99 * FARTHEST  # SciPy needs a start strictly inside the bounds
ROUNDS = 3  # largest number of times that slow measurements are simulated from scratch
SETTLED = 0.5  # standard deviations: a round that moves every number by less is the last
UNLIKELY = 0.01  # probability of chi^2 below which uncertainties are scaled up

ROUND_OFF = 1e-9  # share below which a measurement has none


@dataclass(frozen=True)
class UndeterminedField:
    """A field that the data do not determine, and the fields that change together with it.

    Attributes:
        field: the field that is held.
        factor: factor to which the direction is known (one standard deviation); inf: not at all.
        others: other fields of the direction, and their exponents if ``field`` has exponent 1.
        value: [SI] at which the field is held.
        reason: why, if it is not the data's directions.
    """

    field: str
    factor: float
    others: tuple[tuple[str, float], ...]
    value: float = np.nan
    reason: str = ""

    @property
    def ratio(self) -> Sequence[str]:
        """The two fields whose ratio is held; empty for a field."""
        return self.field.split("/") if "/" in self.field else ()

    @property
    def text(self) -> str:
        """Return the reason as a sentence."""
        if self.reason:
            return self.reason
        known = (
            "the data do not change"
            if self.factor > 1e3
            else f"the data determine this number only to a factor of {self.factor:.2g}"
        )
        if not self.others:
            return known if self.factor <= 1e3 else f"{known} with it"
        along = ", ".join(f"{f} x r{_power(p)}" for f, p in ((self.field, 1.0), *self.others))
        if self.factor > 1e3:
            return f"{known} where {along}, whatever r"
        return f"{known} that {along} at once"


def weakest_direction(N: Floats, fields: Sequence[str]) -> UndeterminedField | None:
    """Return the weakest direction of N = J^T J (n,n) if its standard deviation exceeds ``WEAK``.

    Args:
        N: (n,n) Gauss-Newton Hessian in the logarithms of the fields.
        fields: their n names.

    Returns:
        The field to hold, or None if all directions are determined.
    """
    values, vectors = np.linalg.eigh(N)
    value, v = max(float(values[0]), 0.0), vectors[:, 0]
    if value * WEAK**2 >= 1:
        return None
    alike = [f for f, part in zip(fields, np.abs(v)) if part >= LIKE * np.abs(v).max()]
    held = min(alike, key=FIRST.index)
    powers = v / v[list(fields).index(held)]
    others = tuple(
        (f, round(float(p), 2))
        for f, p in zip(fields, powers)
        if f != held and abs(p) >= TOGETHER * np.abs(powers).max()
    )
    # An eigenvalue below the round-off error of the largest one is zero: nothing is known.
    blind = value <= 1e-12 * max(float(values[-1]), 1.0)
    return UndeterminedField(
        held, np.inf if blind else float(np.exp(min(value**-0.5, 700.0))), others
    )


def _power(p: float) -> str:
    return "" if p == 1.0 else f"^{p:g}"


@dataclass(frozen=True, eq=False)
class Fit:
    """Result of a fit.

    Attributes:
        start: the fabric from which the fit started.
        fabric: the fitted fabric.
        fields: the n fitted fields.
        covariance: (n,n) covariance of the logarithms of the fields, from the data alone.
        open: fields that the data do not determine and that are held at their start.
        measurements: the measurements in their last state (slow ones are prepared near ``fabric``).
        converged: true if SciPy reports convergence.
        unknowns: number of fitted numbers: fields whose ratio is held count as one.
    """

    start: Fabric
    fabric: Fabric
    fields: tuple[str, ...]
    covariance: Floats
    open: Sequence[UndeterminedField]
    measurements: Sequence[Measurement]
    converged: bool
    unknowns: int

    @property
    def residuals(self) -> Sequence[Floats]:
        """Return the residuals of each measurement, (m,) [1] each."""
        return [m.residuals(self.fabric) for m in self.measurements]

    @property
    def squares(self) -> float:
        """Return chi^2, the sum of all squared residuals."""
        return float(sum((r**2).sum() for r in self.residuals))

    @property
    def freedom(self) -> int:
        """Return the number of degrees of freedom: data minus fitted unknowns."""
        unknowns = self.unknowns + sum(m.free for m in self.measurements)
        return sum(map(len, self.residuals)) - unknowns

    @property
    def chance(self) -> float:
        """Return the probability that data of the stated uncertainty give a chi^2 at least as
        large.

        It is 1 if there are no degrees of freedom left.
        """
        if self.freedom <= 0:
            return 1.0
        from scipy.stats import chi2

        return float(chi2.sf(self.squares, self.freedom))

    @property
    def scale(self) -> float:
        """Return the factor by which standard deviations are multiplied.

        As in the reviews of the Particle Data Group, it is above 1 if the data scatter more than
        their stated uncertainties allow.
        """
        if self.chance >= UNLIKELY:
            return 1.0
        return float(np.sqrt(self.squares / self.freedom))

    @property
    def relative(self) -> dict[str, float]:
        """Return the standard deviation of each field over its value, multiplied by ``scale``."""
        return dict(zip(self.fields, (self.scale * np.sqrt(np.diag(self.covariance))).tolist()))

    @property
    def correlation(self) -> Floats:
        """Return the (n,n) correlation matrix of the logarithms of the fields."""
        size = np.sqrt(np.diag(self.covariance))
        return self.covariance / np.multiply.outer(size, size)

    def shares(self, field: str) -> dict[str, float]:
        """Return the share of each measurement in a fitted field.

        It is the measurement's part of the variance of the fitted value: scatter of a measurement
        that the other fields take up has no share. The shares are parts of 1, by the name of the
        measurement; measurements without a share are left out.
        """
        row, found = self.covariance[list(self.fields).index(field)], dict[str, float]()
        for m in self.measurements:
            own = [k for k, name in enumerate(self.fields) if name in m.depends_on]
            weights = m.jacobian(self.fabric, [self.fields[k] for k in own]) @ row[own]
            found[m.name] = found.get(m.name, 0.0) + float((weights**2).sum())
        total = sum(found.values())
        return {name: part / total for name, part in found.items() if part > ROUND_OFF * total}


def fit(
    measurements: Sequence[Measurement],
    start: Fabric,
    hold: Sequence[str] = (),
    say: Say = lambda _: None,
) -> Fit:
    """Return the fabric that fits the measurements best.

    Args:
        measurements: at least one measurement.
        start: the fabric from which the fit starts, and whose numbers stay if the data do not
            determine them.
        hold: fields that keep the value of ``start``.
        say: called with a line of text before operations that take seconds.

    Returns:
        The fit with its covariance and the fields that were not determined.

    Raises:
        FabricError: there are no measurements or no fields to fit, or a number of ``start`` that is
            to be fitted is 0.
        SimulationError: a simulated test of the starting fabric has no equilibrium.
    """
    if not measurements:
        raise FabricError("measurements", got="none", expected="at least one")
    fields = _fields(measurements, start, hold)
    problem = _LeastSquares(start, fields, _untold_ratios(measurements, fields))
    quick = [m for m in measurements if not m.slow]
    slow = [m for m in measurements if m.slow]
    if quick:
        problem.begin(quick)
        problem.solve(quick)
    if not slow:
        problem.close(quick)
        if problem.fields:
            problem.solve(quick, belief=0.0)
        return problem.result(quick)
    for turn in range(ROUNDS):
        ready = [*quick]
        for m in slow:
            say(f"{m.name}: simulating{' again' if turn else ''}")
            ready.append(m.near(problem.fabric))
        if turn == 0:
            problem.close(ready, settle=False)
        before = problem.logs
        problem.solve(ready, say)
        if problem.largest_change(ready, before) <= SETTLED:
            break
    problem.close(ready)
    return problem.result(ready)


def _fields(
    measurements: Sequence[Measurement], start: Fabric, hold: Sequence[str]
) -> tuple[str, ...]:
    """Return the fields to be fitted: those that a measurement depends on and that are not held."""
    asked = {f for m in measurements for f in m.depends_on}
    fields = tuple(f for f in UNITS if f in asked and f not in hold)
    if not fields:
        raise FabricError("hold", got=", ".join(hold), expected="a field that is left to fit")
    for field in fields:
        if not getattr(start, field) > 0:
            raise FabricError(
                f"{field} of the starting fabric {start.name}",
                got=0,
                expected="must be > 0 to be fitted",
                hint="hold the field, or start from another fabric",
            )
    return fields


def _untold_ratios(
    measurements: Sequence[Measurement], fields: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the pairs of fields whose ratio no measurement tells."""
    told = {f for m in measurements if m.tells_ratio for f in m.depends_on}
    return [pair for pair in PAIRS if {*pair} <= {*fields} and not {*pair} & told]


class _LeastSquares:
    """The least-squares problem: logarithms of the fields to be fitted, and the fields
    found open.

    ``tied`` are pairs of fields whose ratio keeps its start: their logarithms change alike.
    """

    def __init__(
        self, start: Fabric, fields: tuple[str, ...], tied: Sequence[tuple[str, str]]
    ) -> None:
        self.start, self.fields, self.tied = start, fields, list(tied)
        self.open: list[UndeterminedField] = []
        self.first = np.log([getattr(start, f) for f in fields])
        self.logs = self.first
        self.converged = False

    @property
    def fabric(self) -> Fabric:
        """Return the fabric with the current values of the fields."""
        return set_logarithms(self.start, self.fields, self.logs)

    @property
    def _independent(self) -> tuple[Floats, list[int]]:
        """Return the matrix (n,k) from k independent changes of logarithms to those of the n
        fields, and the index of the field that each of the k is named after.
        """
        follows = {two: one for one, two in self.tied}
        own = [i for i, f in enumerate(self.fields) if f not in follows]
        T = np.zeros((len(self.fields), len(own)))
        for i, f in enumerate(self.fields):
            T[i, own.index(self.fields.index(follows.get(f, f)))] = 1.0
        return T, own

    def begin(self, measurements: Sequence[Measurement]) -> None:
        """Move each field to the median of the values that the measurements imply.

        The change is limited to just inside the bounds of the search. Without this step the fit may
        start far from the solution, where residuals are flat in the logarithms.
        """
        for k, field in enumerate(self.fields):
            said = [m.implies(self.start) for m in measurements]
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
        """Minimize the sum of squares over the fields and store the result in ``logs``.

        ``belief`` is the inverse standard deviation of the prior on the start; 0 leaves the prior
        out.
        """
        from scipy.optimize import least_squares

        slow = any(m.slow for m in measurements)
        rows = sum(len(m.residuals(self.fabric)) for m in measurements)
        T, own = self._independent

        def residuals(changes: Floats) -> Floats:
            logs = self.first + T @ changes
            try:
                fabric = set_logarithms(self.start, self.fields, logs)
                found = [m.residuals(fabric) for m in measurements]
            except SimulationError:
                return np.full(rows + len(logs), np.inf)  # SciPy then tries a shorter step
            if slow:
                say(f"sum of squares {sum(float((r**2).sum()) for r in found):.4g}")
            return np.concatenate([*found, belief * (logs - self.first)])

        def jacobian(changes: Floats) -> Floats:
            fabric = set_logarithms(self.start, self.fields, self.first + T @ changes)
            return np.concatenate([self.derivative(measurements, fabric) @ T, belief * T])

        small = 1e-4 if slow else 1e-6
        found = least_squares(
            residuals,
            (self.logs - self.first)[own],
            jacobian,
            (-FARTHEST, FARTHEST),
            xtol=small,
            ftol=small,
            gtol=1e-8,
            max_nfev=30 if slow else 300,
        )
        self.logs, self.converged = self.first + T @ found.x, bool(found.success)

    def derivative(self, measurements: Sequence[Measurement], fabric: Fabric) -> Floats:
        """Return the Jacobian J of all residuals, (rows, fields)."""
        return np.concatenate([m.jacobian(fabric, self.fields) for m in measurements])

    def information(self, measurements: Sequence[Measurement]) -> Floats:
        """Return the (n,n) Gauss-Newton Hessian J^T J; ratios that are held are known to it."""
        J = self.derivative(measurements, self.fabric)
        for r in self._ratios:
            J = J - np.outer(J @ r, r)
        N = J.T @ J
        known = max(float(np.trace(N)), 1 / WEAK**4)
        return N + known * sum((np.outer(r, r) for r in self._ratios), np.zeros_like(N))

    @property
    def _ratios(self) -> list[Floats]:
        """The unit vectors (n,) along which ratios that are held would change."""
        at = self.fields.index
        sides = [(np.eye(len(self.fields))[at(f)] for f in pair) for pair in self.tied]
        return [(one - two) / np.sqrt(2) for one, two in sides]

    def largest_change(self, measurements: Sequence[Measurement], before: Floats) -> float:
        """Return the largest change of a field since ``before``, in its standard deviations."""
        N = self.information(measurements) + np.eye(len(self.fields)) / BELIEF**2
        return float((np.abs(self.logs - before) / np.sqrt(np.diag(np.linalg.inv(N)))).max())

    def close(self, measurements: Sequence[Measurement], settle: bool = True) -> None:
        """Hold fields at their start until no direction has a standard deviation above ``WEAK``.

        If ``settle`` is set, the remaining fields are fitted again after each field that is held.
        """
        N = self.information(measurements)
        while len(self.fields) and (found := weakest_direction(N, self.fields)) is not None:
            held = next((pair for pair in self.tied if found.field in pair), (found.field,))
            self.tied = [pair for pair in self.tied if pair != held]
            for field in held:
                k = self.fields.index(field)
                value = float(getattr(self.start, field))
                powers = {**dict(found.others), found.field: 1.0}
                others = tuple((f, p) for f, p in powers.items() if f != field)
                self.open.append(replace(found, field=field, others=others, value=value))
                self.fields = (*self.fields[:k], *self.fields[k + 1 :])
                self.first, self.logs = np.delete(self.first, k), np.delete(self.logs, k)
            if not self.fields:
                return
            if settle:
                self.solve(measurements)
            N = self.information(measurements)

    def result(self, measurements: Sequence[Measurement]) -> Fit:
        """Return the fit at the current values of the fields."""
        T, _ = self._independent
        J = self.derivative(measurements, self.fabric) @ T if self.fields else np.zeros((0, 0))
        covariance = T @ np.linalg.inv(J.T @ J) @ T.T
        for one, two in self.tied:
            value = float(getattr(self.start, one) / getattr(self.start, two))
            reason = "these data determine only the mean of both, not their ratio"
            ratio = UndeterminedField(f"{one}/{two}", np.inf, (), value, reason)
            self.open.append(ratio)
        return Fit(
            self.start,
            self.fabric,
            self.fields,
            np.asarray(covariance, dtype=np.float64),
            self.open,
            measurements,
            self.converged,
            T.shape[1],
        )
