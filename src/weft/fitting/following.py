"""Drapes for a fit: several specimens that start from one outline, turned, and go on from fabric to
fabric.

Draped cloth has many equilibria. To drape anew for every trial of a fit would let its residuals
jump by a point or two of the drape coefficient; to go on from the last one for ever would keep
folds that the fabric at the end would never have formed. So drapes go on where no number has moved
by more than a quarter since the shelf went down, and are made anew beyond that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats
from weft.errors import SimulationError
from weft.fabric import Fabric
from weft.fitting.draped import FIELDS, MOVED, Drape, Eye, Tester
from weft.fitting.outline import Outline

FAR = 0.25  # of a logarithm
GOLDEN = 2.399963  # [rad] by which starts are turned: never twice the same
MOST_KEPT = 12  # fabrics


@dataclass(frozen=True, eq=False)
class _Kept:
    """Drapes of one fabric."""

    at: Floats  # (6,) logarithms of FIELDS
    anchor: Floats  # (6,) of the fabric for which the shelf went down
    drapes: Sequence[Drape]


@dataclass(eq=False)
class Following:
    """Drapes of one fabric after another. It remembers: an answer depends on where it went on from,
    by no more than the branch.

    Args:
        tester: the specimen.
        radius: (720,) [m] of the outline whose folds the starts have.
        count: how many starts.
        far: of a logarithm: from where on the shelf goes down anew.
    """

    tester: Tester
    radius: Floats
    count: int = 3
    far: float = FAR
    changed: int = 0  # times that a drape's number of folds changed as it went on: it snapped
    anew: int = 0  # times that the shelf went down
    _kept: list[_Kept] = field(default_factory=list)

    def drapes(self, fabric: Fabric) -> Sequence[Drape]:
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
        turns = GOLDEN * np.arange(self.count)
        made = [self.tester.fresh(fabric, self.radius, float(t)) for t in turns]
        return self._keep(at, at, made)

    def numbers(self, fabric: Fabric, eye: Eye) -> Floats:
        """(3,) mean coefficient, depth and waves of what an eye sees."""
        seen = [d.outline(eye).numbers for d in self.drapes(fabric)]
        return np.asarray(np.mean(seen, axis=0))

    def rates(self, fabric: Fabric, eye: Eye, fields: Sequence[str]) -> Floats:
        """(3,len(fields)) of these by logarithms, on the branches that the drapes are on."""
        return np.asarray(np.mean([self._of(d, eye, fields) for d in self.drapes(fabric)], axis=0))

    def outlines(self, fabric: Fabric, eye: Eye) -> Sequence[Outline]:
        """What an eye sees of each."""
        return [d.outline(eye) for d in self.drapes(fabric)]

    def _of(self, drape: Drape, eye: Eye, fields: Sequence[str]) -> Floats:
        columns = []
        for rate in self.tester.rates(drape, fields):
            size = float(np.abs(rate).max())
            if size == 0.0:
                columns.append(np.zeros(3))
                continue
            h = MOVED / size
            up, down = (drape.outline(eye, s * rate).numbers for s in (h, -h))
            columns.append((up - down) / (2 * h))
        return np.stack(columns, axis=1) if columns else np.zeros((3, 0))

    def _on(self, fabric: Fabric, drapes: Sequence[Drape]) -> Sequence[Drape]:
        made = []
        for drape in drapes:
            made.append(self.tester.followed(fabric, drape))
            straight = Eye()
            self.changed += made[-1].outline(straight).nodes != drape.outline(straight).nodes
        return made

    def _keep(self, at: Floats, anchor: Floats, drapes: Sequence[Drape]) -> Sequence[Drape]:
        self._kept = [*self._kept[-(MOST_KEPT - 1) :], _Kept(at, anchor, drapes)]
        return drapes
