"""Fits of fabrics: exact data give back the fabric, and stated uncertainties hold.

Data are made by the virtual laboratory from presets (tensile, shear, bending, cantilever, weight),
with noise of known size, and are fitted starting from another preset. If noise is normal and the
fit is right, the true number is within two standard deviations in 95.45 % of many draws; the
counted share may differ by three standard deviations of the count. The sum of squares must have the
mean of chi^2. With the simulated drape and bias strips: ``python -m studies fabric-recovery``.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from weft.base.arrays import Floats
from weft.fabric.fabric import Fabric, fabric
from weft.plugins.lab.fitting.cantilever import CantileverTest
from weft.plugins.lab.fitting.fit import Fit, fit
from weft.plugins.lab.fitting.measurement import Measurement
from weft.plugins.lab.fitting.slopes import SlopeData, per_stiffness
from weft.plugins.lab.fitting.tensile import TensileTest
from weft.plugins.lab.fitting.value import Value
from weft.plugins.lab.validate.check import RowBasis, Rows, attempt, compare, measure

PRESETS = ("silk", "wool", "cotton", "linen", "denim")
START = "polyester"
NOISE = 0.02  # relative
DRAWS = 60  # of each preset
EXACT = 1e-6
STRAINS = np.array([0.005, 0.01, 0.02, 0.03])
ANGLES = np.radians([0.5, 1.0, 2.0, 2.5, 4.0])
CURVATURES = np.array([50.0, 100.0, 150.0])  # [1/m]
WITHIN = 0.9545  # of a normal distribution, in two standard deviations


class Trial(NamedTuple):
    """A fit to one draw of noise, with its errors."""

    found: Fit
    z: Floats  # (n,) errors of logarithms over their standard deviations
    distance: float  # squared Mahalanobis distance of all errors together

    @staticmethod
    def of(found: Fit, true: Fabric) -> "Trial":
        """Return the trial of a fit to data of a known fabric."""
        pairs = [(getattr(found.fabric, f), getattr(true, f)) for f in found.fields]
        error = np.array([np.log(got / put) for got, put in pairs])
        size = found.scale
        z = error / (size * np.sqrt(np.diag(found.covariance)))
        return Trial(found, z, float(error @ np.linalg.solve(size**2 * found.covariance, error)))

    @property
    def covered(self) -> bool:
        """Return whether the true fabric is in the joint confidence region of 95.45 %."""
        from scipy.stats import chi2

        return bool(self.distance <= chi2.ppf(WITHIN, len(self.z)))


def checks() -> Rows:
    """Compare fits to data without noise, and with noise."""
    for name in PRESETS:
        row = f"fitting/{name}, without noise"
        yield from measure(row, 0.0, EXACT, _largest_error, name, basis=RowBasis.SELF)
    yield from attempt("fitting/coverage", _coverage)


def _largest_error(name: str) -> float:
    """Return the largest relative error of a number of a preset that is fitted to exact data."""
    true = fabric(name)
    found = fit(simulate_data(true, np.random.default_rng(0), 0.0), fabric(START))
    return float(max(abs(getattr(found.fabric, f) / getattr(true, f) - 1) for f in found.fields))


def _coverage() -> Rows:
    trials = [t for name in PRESETS for t in draws(name, DRAWS)]
    z = np.concatenate([t.z for t in trials])
    within = float((np.abs(z) <= 2).mean())
    spread = 3 * np.sqrt(WITHIN * (1 - WITHIN) / len(z))
    name = "fitting/within two standard deviations"
    yield compare(name, WITHIN, within, spread / WITHIN, RowBasis.SELF)
    together = float(np.mean([t.covered for t in trials]))
    spread = 3 * np.sqrt(WITHIN * (1 - WITHIN) / len(trials))
    yield compare("fitting/all together within", WITHIN, together, spread / WITHIN, RowBasis.SELF)
    freedom = trials[0].found.freedom
    mean = float(np.mean([t.found.squares for t in trials]))
    spread = 3 * np.sqrt(2 / (freedom * len(trials)))
    yield compare("fitting/mean of chi^2", freedom, mean, spread, RowBasis.SELF)


def draws(name: str, count: int) -> Iterator[Trial]:
    """Yield fits to data of a preset with ``count`` draws of noise."""
    true, start = fabric(name), fabric(START)
    for k in range(count):
        rng = np.random.default_rng([PRESETS.index(name), k])
        yield Trial.of(fit(simulate_data(true, rng, NOISE), start), true)


def simulate_data(true: Fabric, rng: np.random.Generator, noise: float) -> Sequence[Measurement]:
    """Return the measurements of a fabric by a laboratory with the relative error ``noise``.

    The stated uncertainty is ``NOISE``, also if the data have no noise.
    """

    def read(exact: Floats) -> tuple[Floats, Floats]:
        """Return data and their standard deviations."""
        return exact * (1 + noise * rng.normal(size=exact.shape)), NOISE * exact

    out: list[Measurement] = []
    for cut, k in (("warp", true.stretch_warp), ("weft", true.stretch_weft)):
        out.append(TensileTest(f"tensile {cut}", cut, STRAINS, *read(k * STRAINS)))  # type: ignore[arg-type]
    slope, labels = per_stiffness(ANGLES), ("", "")
    out.append(SlopeData("shear", "shear", ANGLES, slope, *read(true.shear * slope), False, labels))
    for way in ("warp", "weft"):
        field = f"bending_{way}"
        data, sigma = read(getattr(true, field) * CURVATURES)
        out.append(
            SlopeData(f"bending {way}", field, CURVATURES, CURVATURES, data, sigma, False, labels)
        )
        exact = CantileverTest("", way, 1.0, 1.0).model(true)
        c, sigma = read(np.array([exact]))
        out.append(CantileverTest(f"cantilever {way}", way, float(c[0]), float(sigma[0])))
    weight, sigma = read(np.array([true.density]))
    return [*out, Value("weight", "density", float(weight[0]), float(sigma[0]))]
