"""Drapes for a fit: several of one specimen, from other bumps, that go on from fabric to fabric.

Draped cloth has many equilibria. To drape anew for every trial of a fit would let its residuals
jump by a point or two of the drape coefficient; to go on from the last one for ever would keep
folds that the fabric at the end would never have formed. So drapes go on where no number has moved
by more than a quarter since the shelf went down, and are made anew beyond that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SimulationError
from weft.fabric.fabric import Fabric
from weft.fitting.draped import FIELDS, MOVED, DrapedSpecimen, Eye, Tester
from weft.fitting.outline import RadialOutline

FAR = 0.25  # of a logarithm
MOST_KEPT = 12  # fabrics
NUMBERS = 4  # of an outline


@dataclass(frozen=True, eq=False)
class _Kept:
    """Drapes of one fabric."""

    at: Floats  # (6,) logarithms of FIELDS
    anchor: Floats  # (6,) of the fabric for which the shelf went down
    drapes: Sequence[DrapedSpecimen]


@dataclass(eq=False)
class Following:
    """Drapes of one fabric after another. It remembers: an answer depends on where it went on from,
    by no more than the branch.

    Args:
        tester: the specimen.
        count: how many drapes.
        seed: of the bumps of the first.
        far: of a logarithm: from where on the shelf goes down anew.
    """

    tester: Tester
    count: int = 3
    seed: int = 0
    far: float = FAR
    changed: int = 0  # times that a drape's number of folds changed as it went on: it snapped
    anew: int = 0  # times that the shelf went down
    _kept: list[_Kept] = field(default_factory=list)

    def drapes(self, fabric: Fabric) -> Sequence[DrapedSpecimen]:
        """Those of a fabric.

        Raises:
            SimulationError: no equilibrium was found.
        """
        at = np.log([getattr(fabric, name) for name in FIELDS])
        near = [k for k in self._kept if np.abs(at - k.anchor).max() <= self.far]
        if near:
            start = min(near, key=lambda k: float(np.abs(at - k.at).max()))
            if np.abs(at - start.at).max() < 1e-12:
                return start.drapes
            try:
                return self._keep(at, start.anchor, self._on(fabric, start.drapes))
            except SimulationError:
                self.changed += 1  # the branch has ended
        self.anew += 1
        made = [self.tester.fresh(fabric, self.seed + k) for k in range(self.count)]
        return self._keep(at, at, made)

    def numbers(self, fabric: Fabric, eyes: Sequence[Eye]) -> Floats:
        """(4,) mean coefficient, depth, waves and length along warp of what eyes see, each drape
        by one of them in turn.
        """
        return np.asarray(np.mean([o.numbers for o in self.outlines(fabric, eyes)], axis=0))

    def rates(self, fabric: Fabric, eyes: Sequence[Eye], fields: Sequence[str]) -> Floats:
        """(4,len(fields)) of these by logarithms, on the branches that the drapes are on."""
        pairs = zip(self.drapes(fabric), cycle(eyes))
        return np.asarray(np.mean([self._of(d, eye, fields) for d, eye in pairs], axis=0))

    def outlines(self, fabric: Fabric, eyes: Sequence[Eye]) -> Sequence[RadialOutline]:
        """What the eyes see of each."""
        return [d.outline(eye) for d, eye in zip(self.drapes(fabric), cycle(eyes))]

    def _of(self, drape: DrapedSpecimen, eye: Eye, fields: Sequence[str]) -> Floats:
        columns = []
        for rate in self.tester.rates(drape, fields):
            size = float(np.abs(rate).max())
            if size == 0.0:
                columns.append(np.zeros(NUMBERS))
                continue
            h = MOVED / size
            up, down = (drape.outline(eye, s * rate).numbers for s in (h, -h))
            columns.append((up - down) / (2 * h))
        return np.stack(columns, axis=1) if columns else np.zeros((NUMBERS, 0))

    def _on(self, fabric: Fabric, drapes: Sequence[DrapedSpecimen]) -> Sequence[DrapedSpecimen]:
        made = []
        for drape in drapes:
            made.append(self.tester.followed(fabric, drape))
            straight = Eye()
            self.changed += made[-1].outline(straight).nodes != drape.outline(straight).nodes
        return made

    def _keep(
        self, at: Floats, anchor: Floats, drapes: Sequence[DrapedSpecimen]
    ) -> Sequence[DrapedSpecimen]:
        self._kept = [*self._kept[-(MOST_KEPT - 1) :], _Kept(at, anchor, drapes)]
        return drapes
