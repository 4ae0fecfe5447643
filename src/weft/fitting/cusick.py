"""Cusick's drape coefficient as a number (BS 5058, ISO 9073-9), against the simulated test.

Drapes from the flat state have many equilibria, and the coefficient jumps by points from one to the
next if a number of the fabric changes by a percent (``docs/laboratory.md``). So a fit drapes a few
specimens of one fabric (``near``) and follows these equilibria from there, which is smooth and has
exact derivatives (``fitting.draped``). The remaining random error of their mean is added to the
uncertainty of the data. Then the specimens are draped again with the fitted fabric.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.settings import REQUIRED, setting
from weft.base.trees import Yaml
from weft.fabric.fabric import Fabric
from weft.fitting.block import MeasurementSettings, PlacedBlock
from weft.fitting.drape_equilibrium import FIELDS as DRAPING
from weft.fitting.drape_equilibrium import MOVED, DrapedSpecimen, DrapeTester
from weft.fitting.measurement import Measurement
from weft.fitting.noise import UNCERTAINTY, mean_reading, read_noise
from weft.laboratory.cusick import DISK, cusick, drape_coefficient
from weft.laboratory.shadow import area

SIZE, DRAPINGS = 7e-3, 3
SCATTER = 0.02  # prior of one drape's standard deviation: docs/laboratory.md has 0.01 to 0.03
KNOWN = 2.0  # weight of this prior, in drapes
KEPT = 16  # fabrics in the cache of drapes


@dataclass(frozen=True, kw_only=True)
class CusickSettings(MeasurementSettings):
    """A drape test."""

    drape_coefficient: Sequence[float] = setting(
        REQUIRED, "of the standard, such as 62 %; readings: a list", "1", above=0, most=1
    )
    size: float = setting(
        SIZE,
        "edges of the simulated specimen: coarser is faster, and up to points higher (7 mm)",
        "m",
        least=1e-3,
        most=15e-3,
    )
    drapings: int = setting(DRAPINGS, "simulated specimens whose mean counts (3)", least=1, most=20)
    seed: int = setting(0, "of the waves from which they buckle (0)", least=0, most=2**31 - 1)
    uncertainty: Yaml = setting(None, f"relative: {UNCERTAINTY}")


@dataclass(frozen=True, eq=False)
class CusickTest:
    """A measured mean drape coefficient."""

    name: str
    coefficient: float  # 0 to 1
    sigma: float  # of the data
    size: float = SIZE  # [m]
    drapings: int = DRAPINGS
    seed: int = 0
    starts: tuple[Positions, ...] = ()  # [m] equilibria of a similar fabric; none: flat start
    scatter: float = 0.0  # standard deviation of the mean of the simulated drapes
    _kept: dict[object, Sequence[DrapedSpecimen]] = field(default_factory=dict, repr=False)
    slow: ClassVar[bool] = True
    advice: ClassVar[str] = (
        "elastic bending may not drape as this cloth does: docs/laboratory.md, what does not fit"
    )
    depends_on: ClassVar[tuple[str, ...]] = DRAPING

    def near(self, fabric: Fabric) -> "CusickTest":
        """Return this test, prepared to follow drapes of ``fabric`` that start from the
        flat state.
        """
        made = cusick(fabric, self.size, self.drapings, self.seed)
        each = np.array([d.coefficient for d in made.drapings])
        n = len(each)
        variance = (KNOWN * SCATTER**2 + ((each - each.mean()) ** 2).sum()) / (KNOWN + n - 1)
        starts = tuple(d.x for d in made.drapings)
        return replace(self, _kept={}, starts=starts, scatter=float(np.sqrt(variance / n)))

    @property
    def total(self) -> float:
        """Return the standard deviation of the data and of the simulated mean together."""
        return float(np.hypot(self.sigma, self.scatter))

    def model(self, fabric: Fabric) -> float:
        """Return the mean coefficient of the drapes that are followed."""
        return float(np.mean([_coefficient(d) for d in self._drapes(fabric)]))

    def residuals(self, fabric: Fabric) -> Floats:
        """Return the residual, (1,)."""
        return np.array([(self.model(fabric) - self.coefficient) / self.total])

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return the Jacobian, (1, len(fields))."""
        slopes = []
        for drape in self._drapes(fabric):
            rates = _tester(self.size).rates(drape, fields)
            slopes.append([_slope(drape, rate) for rate in rates])
        return np.asarray(np.mean(slopes, axis=0)[None] / self.total)

    def _drapes(self, fabric: Fabric) -> Sequence[DrapedSpecimen]:
        """Return the drapes of a fabric, continued from ``starts``; the last ones are cached."""
        ready = self if self.starts else self.near(fabric)
        key = tuple(getattr(fabric, f) for f in (*DRAPING, "curve_warp", "curve_weft"))
        if key not in self._kept:
            tester = _tester(self.size)
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[key] = [
                tester.follow(fabric, DrapedSpecimen(fabric, tester.mesh, x, 0))
                for x in ready.starts
            ]
        return self._kept[key]


@lru_cache(maxsize=4)
def _tester(size: float) -> DrapeTester:
    return DrapeTester.of(size)


def _coefficient(drape: DrapedSpecimen, shift: Positions | float = 0.0) -> float:
    """Return the drape coefficient of a specimen whose positions are shifted by ``shift`` [m]."""
    x = drape.x + shift
    flat = np.stack([x[:, 0], -x[:, 2]], axis=1)
    return drape_coefficient(area(flat, drape.mesh.faces, DISK))


def _slope(drape: DrapedSpecimen, rate: Positions) -> float:
    """Return the derivative of the coefficient if vertices move with ``rate``, (n,3) [m]."""
    size = float(np.abs(rate).max())
    if size == 0:
        return 0.0
    step = MOVED / size
    up, down = _coefficient(drape, step * rate), _coefficient(drape, -step * rate)
    return (up - down) / (2 * step)


def read(block: PlacedBlock[CusickSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    given = block.given
    mean, sigma = mean_reading(np.array(given.drape_coefficient), read_noise(block, "1"))
    called = given.name or "drape coefficient"
    return [CusickTest(called, mean, sigma, given.size, given.drapings, given.seed)]
