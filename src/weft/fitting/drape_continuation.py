"""Continuation of simulated drapes from fabric to fabric during a fit.

Draped cloth has many equilibria. If a fit draped from scratch for each trial fabric, its residuals
would jump by a point or two of the drape coefficient. If it always continued from the last drape,
it would keep folds that the final fabric would never have formed. So drapes are continued while no
number of the fabric has changed by more than a quarter since they were draped from scratch, and are
draped from scratch beyond that. Several drapes of one specimen, from different initial bumps, are
followed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SimulationError
from weft.fabric.fabric import Fabric
from weft.fitting.drape_equilibrium import FIELDS, MOVED, DrapedSpecimen, DrapeTester, Eye
from weft.fitting.outline import RadialOutline

FAR = 0.25  # change of the logarithm of a number beyond which drapes start from scratch
MOST_KEPT = 12  # fabrics in the cache
NUMBERS = 4  # numbers of an outline: ``RadialOutline.numbers``


@dataclass(frozen=True, eq=False)
class _CachedDrapes:
    """Cached drapes of one fabric."""

    at: Floats  # (6,) logarithms of FIELDS
    anchor: Floats  # (6,) those of the fabric for which the specimens were draped from scratch
    drapes: Sequence[DrapedSpecimen]


@dataclass(eq=False)
class DrapeContinuation:
    """Drapes of a sequence of similar fabrics.

    The object keeps a cache, and results depend on the drape from which they were continued, within
    one branch of equilibria.

    Args:
        tester: the specimen.
        count: number of drapes.
        seed: of the initial bumps of the first drape; the others follow it.
        far: change of the logarithm of a number beyond which specimens are draped from scratch.
    """

    tester: DrapeTester
    count: int = 3
    seed: int = 0
    far: float = FAR
    changed: int = 0  # number of times that a continued drape snapped to another number of folds
    anew: int = 0  # number of times that the specimens were draped from scratch
    _kept: list[_CachedDrapes] = field(default_factory=list)

    def drapes(self, fabric: Fabric) -> Sequence[DrapedSpecimen]:
        """Return the drapes of a fabric.

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
                self.changed += 1  # the branch of equilibria has ended
        self.anew += 1
        made = [self.tester.fresh(fabric, self.seed + k) for k in range(self.count)]
        return self._keep(at, at, made)

    def numbers(self, fabric: Fabric, eyes: Sequence[Eye]) -> Floats:
        """Return mean coefficient, depth, waves and length along warp of the outlines, (4,).

        Drapes are seen from the camera positions ``eyes`` in turn.
        """
        return np.asarray(np.mean([o.numbers for o in self.outlines(fabric, eyes)], axis=0))

    def rates(self, fabric: Fabric, eyes: Sequence[Eye], fields: Sequence[str]) -> Floats:
        """Return the derivatives of ``numbers`` by logarithms of fields, (4, len(fields)).

        They are derivatives along the branches of equilibria on which the drapes are.
        """
        pairs = zip(self.drapes(fabric), cycle(eyes))
        return np.asarray(np.mean([self._of(d, eye, fields) for d, eye in pairs], axis=0))

    def outlines(self, fabric: Fabric, eyes: Sequence[Eye]) -> Sequence[RadialOutline]:
        """Return the outline of each drape, seen from the camera positions in turn."""
        return [d.outline(eye) for d, eye in zip(self.drapes(fabric), cycle(eyes))]

    def _of(self, drape: DrapedSpecimen, eye: Eye, fields: Sequence[str]) -> Floats:
        """Return the derivatives of the numbers of one outline, (4, len(fields))."""
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
        """Return drapes of a fabric that continue from ``drapes``, and count those that snapped."""
        made = []
        for drape in drapes:
            made.append(self.tester.follow(fabric, drape))
            straight = Eye()
            self.changed += made[-1].outline(straight).nodes != drape.outline(straight).nodes
        return made

    def _keep(
        self, at: Floats, anchor: Floats, drapes: Sequence[DrapedSpecimen]
    ) -> Sequence[DrapedSpecimen]:
        """Store drapes in the cache and return them."""
        self._kept = [*self._kept[-(MOST_KEPT - 1) :], _CachedDrapes(at, anchor, drapes)]
        return drapes
