"""Sensitivity of measures to parameters: Sobol indices for Saltelli's design, else rank
correlations.

First-order indices are computed as in Saltelli et al. 2010 (table 2 b), total ones as in Jansen
1999 (table 2 f):

    S_i  = mean(f_B (f_ABi - f_A)) / V        ST_i = mean((f_A - f_ABi)^2) / 2 V

with V the variance of f_A and f_B together. All values are centered first, which changes neither
expectation and removes most of the error of S_i. These are the formulas of
``scipy.stats.sobol_indices`` (a test compares them), which is not called, because it takes a power
of two rows only: rows with a failed sample are left out here. SALib takes any number of rows; it
would bring pandas, matplotlib and multiprocess along for these two lines. Confidence intervals are
from ``scipy.stats.bootstrap``. For other designs Spearman's rank correlation tells how far a
measure rises or falls with a parameter while the others vary as well. It is no share of a variance,
and it misses dependences that are not monotonic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import AnyArray, Floats
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.measures import measure_values, parameter_values
from weft.plugins.lab.sweep.status import SampleKind, SampleStatus

RESAMPLES = 200  # of the bootstrap for the intervals
LEAST = 8  # fewest samples for an estimate


@dataclass(frozen=True)
class Effect:
    """Dependence of a measure on one parameter.

    Args:
        parameter: its path.
        first: first-order index, or rank correlation.
        total: total index; None for a correlation.
        spread: half of the 95 % interval of ``first``; for a correlation its p value.
        spread_total: half of the 95 % interval of ``total``.
    """

    parameter: str
    first: float
    total: float | None
    spread: float
    spread_total: float | None = None


@dataclass(frozen=True)
class Sensitivity:
    """Dependence of measures on all parameters.

    Args:
        method: the method, in words.
        effects: of every parameter, by measure.
        used: number of samples (or rows of the design) with a result.
        left_out: number of those without a result.
    """

    method: str
    effects: Mapping[str, Sequence[Effect]]
    used: int
    left_out: int


def sensitivity(
    sweep: SweepFolder, samples: Sequence[SampleStatus], measures: Sequence[str]
) -> Sensitivity | None:
    """Return the sensitivity of measures; None: too few samples, or no numbers that vary."""
    if sweep.about["design"] == "saltelli":
        return _of_saltelli(sweep, samples, measures)
    done = [f for f in samples if f.kind is SampleKind.DONE]
    if len(done) < LEAST:
        return None
    parameters = {}
    for path in dict.fromkeys(p for f in done for p in f.sample.values):
        values, _ = parameter_values(path, [f.sample for f in done])
        if values.dtype != object and len(set(values)) > 1:
            parameters[path] = values
    effects = {
        name: _rank_correlations(parameters, measure_values(done, name)) for name in measures
    }
    effects = {name: e for name, e in effects.items() if e}
    if not effects:
        return None
    method = "Spearman's rank correlation (no share of the variance; -1 falls, 1 rises)"
    return Sensitivity(method, effects, len(done), len(samples) - len(done))


def sobol_indices(f: Floats) -> tuple[Floats, Floats]:
    """Return first-order and total indices.

    Args:
        f: (n, d + 2) results at A, B, and A with each coordinate in turn replaced by that of B.

    Returns:
        (d,) and (d,).
    """
    f = f - f[:, :2].mean()
    a, b, ab = f[:, 0], f[:, 1], f[:, 2:]
    variance = f[:, :2].var()
    first = (b[:, None] * (ab - a[:, None])).mean(axis=0) / variance
    total = ((a[:, None] - ab) ** 2).mean(axis=0) / (2 * variance)
    return first, total


def _of_saltelli(
    sweep: SweepFolder, samples: Sequence[SampleStatus], measures: Sequence[str]
) -> Sensitivity | None:
    """Return Sobol indices of the rows whose samples all have a result."""
    names = list(sweep.about["vary"])
    order = np.array(sweep.about["order"]).reshape(-1, len(names) + 2)
    effects, used = {}, 0
    for name in measures:
        f = measure_values(samples, name)[order]
        f = f[np.isfinite(f).all(axis=1)]
        if len(f) < LEAST or np.ptp(f) <= 1e-12 * np.abs(f).max():
            continue
        used = max(used, len(f))
        effects[name] = _with_intervals(names, f)
    if not effects:
        return None
    method = "Sobol indices: shares of the variance (first: alone; total: with others)"
    return Sensitivity(method, effects, used, len(order) - used)


def _with_intervals(names: Sequence[str], f: Floats) -> list[Effect]:
    """Return the indices with bootstrap intervals."""
    from scipy.stats import bootstrap

    def indices_of(rows: AnyArray) -> Floats:
        return np.array(sobol_indices(f[rows]))

    rows = np.arange(len(f))
    resampled = bootstrap((rows,), indices_of, n_resamples=RESAMPLES, method="basic", rng=0)
    first, total = indices_of(rows)
    spread, spread_total = 1.96 * resampled.standard_error
    columns = (first, total, spread, spread_total)
    return [Effect(name, *map(float, numbers)) for name, numbers in zip(names, zip(*columns))]


def _rank_correlations(parameters: Mapping[str, Floats], values: Floats) -> list[Effect]:
    """Return the rank correlation of a measure with each parameter."""
    from scipy.stats import spearmanr

    effects = []
    for path, numbers in parameters.items():
        pairs = np.stack([numbers, values])
        pairs = pairs[:, np.isfinite(pairs).all(axis=0)]
        if pairs.shape[1] >= LEAST and (np.ptp(pairs, axis=1) > 0).all():
            correlation = spearmanr(*pairs)
            effects.append(
                Effect(path, float(correlation.statistic), None, float(correlation.pvalue))
            )
    return effects
