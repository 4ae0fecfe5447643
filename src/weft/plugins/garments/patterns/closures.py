"""Zips and buttons at the start: their sides keep the distance that contact needs."""

import dataclasses

import numpy as np

from weft.discretization.polygon import normalize
from weft.plugins.garments.patterns.garment import Garment
from weft.plugins.garments.patterns.girths import outward_directions
from weft.plugins.garments.patterns.pattern import Closing

ROOM = 1.001  # distance of the sides over that at which contact begins to push


def separate_closures(garment: Garment, apart: float) -> Garment:
    """Return a garment whose zips and buttons start open by a gap.

    Sides that are drawn on one line move into their panels, by half of the gap each. Points that a
    sewn seam joins, as at the lower end of a zip, stay.

    Args:
        garment: where it starts.
        apart: [m] the gap: the distance at which contact begins to push.
    """
    closures = [s.pairs for s in garment.seams if s.seam.closing is not Closing.SEWN]
    if not closures or apart <= 0:
        return garment
    x, every = garment.mesh.vertices.copy(), np.concatenate(closures)
    outward = outward_directions(garment.mesh)
    free = ~np.isnan(outward[every]).any(axis=(1, 2))
    every = every[free & (garment.weld_ids[every[:, 0]] != garment.weld_ids[every[:, 1]])]
    way = x[every[:, 1]] - x[every[:, 0]]
    missing = ROOM * apart - np.linalg.norm(way, axis=1)
    one, two = outward[every].swapaxes(0, 1)
    inward, close = two - one, missing > 0
    step = 0.5 * missing[close, None] * normalize(inward[close])
    x[every[close, 0]] += step
    x[every[close, 1]] -= step
    return dataclasses.replace(garment, mesh=garment.mesh.with_vertices(x))
