"""Surface nets with one vertex for every sheet of the surface in a cell.

Gibson's surface nets (1998) have one vertex per cell, so that sheets which meet in a cell are glued
together; here they stay separate (dual marching cubes: Nielson 2004). On a face whose corners
alternate in sign, the corners inside are taken to be separate.
"""

from functools import cache
from itertools import product

import numpy as np

from weft.base.arrays import Bools, Floats, Positions
from weft.mannequin.solids import FAR, Ids, Union, smooth_minimum

CORNERS = np.array(list(product((0, 1), repeat=3)))  # number 4i + 2j + k
# An edge of a cell by its axis and its place (0 or 1) along the two next axes: 4 axis + 2u + v.
EDGES = np.zeros((12, 2, 3), dtype=np.int64)
for _axis, _u, _v in product(range(3), (0, 1), (0, 1)):
    EDGES[4 * _axis + 2 * _u + _v, :, (_axis + 1) % 3] = _u
    EDGES[4 * _axis + 2 * _u + _v, :, (_axis + 2) % 3] = _v
    EDGES[4 * _axis + 2 * _u + _v, 1, _axis] = 1
INNER = (0.05, 0.95)  # part of an edge to which crossings are clamped
_WEIGHTS = np.array([4, 2, 1])


def surface_nets(shape: Union, size: float, shift: Floats) -> tuple[Positions, Ids]:
    """Return the quads of a surface on a grid.

    Args:
        shape: the solids.
        size: [m] of the cells.
        shift: (3,) [m] of the grid.

    Returns:
        Vertices (b,3) [m] and quads (q,4), counter-clockwise seen from outside.
    """
    low, high = shape.box()
    first = np.floor(low / size) - 3
    counts = (np.ceil(high / size) + 3 - first).astype(np.int64)
    origin = first * size + shift
    values = sample_grid(shape, origin, counts, size)
    inside = values < 0
    n = counts - 1
    config = np.zeros(tuple(n), dtype=np.int64)
    for bit, (i, j, k) in enumerate(CORNERS):
        config |= inside[i : n[0] + i, j : n[1] + j, k : n[2] + k].astype(np.int64) << bit
    sheets, number = _table()
    start = (np.cumsum(number[config].reshape(-1)) - number[config].reshape(-1)).reshape(n)
    total = np.zeros((int(number[config].sum()), 3))
    count = np.zeros(len(total))
    quads = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        head, tail = [slice(None)] * 3, [slice(None)] * 3
        head[axis], tail[axis] = slice(0, -1), slice(1, None)
        a, b = values[tuple(head)], values[tuple(tail)]
        edges = np.argwhere((a < 0) != (b < 0))
        one, two = a[tuple(edges.T)], b[tuple(edges.T)]
        where = edges.astype(np.float64)
        where[:, axis] += np.clip(one / (one - two), *INNER)  # so that vertices do not coincide
        ring = []
        for du, dv in ((1, 1), (0, 1), (0, 0), (1, 0)):  # position of the edge in each of 4 cells
            cell = edges.copy()
            cell[:, u] -= du
            cell[:, v] -= dv
            at = tuple(cell.T)
            ids = start[at] + sheets[config[at], 4 * axis + 2 * du + dv]
            for i in range(3):
                total[:, i] += np.bincount(ids, where[:, i], len(total))
            count += np.bincount(ids, minlength=len(total))
            ring.append(ids)
        quad = np.stack(ring, axis=1)
        quads.append(np.where((one < 0)[:, None], quad, quad[:, ::-1]))
    return origin + size * total / count[:, None], np.concatenate(quads)


def sample_grid(shape: Union, origin: Floats, counts: Ids, size: float) -> Floats:
    """Return the distances (nx,ny,nz) [m] on a grid; every solid is evaluated only near its box.

    Args:
        shape: the solids.
        origin: (3,) [m] first point of the grid.
        counts: (3,) numbers of points.
        size: [m] of the cells.
    """
    values = np.full(tuple(counts), FAR)
    axes = [origin[i] + size * np.arange(counts[i]) for i in range(3)]
    for solid in shape.solids:
        low, high = solid.box()
        margin = shape.reach + 1.5 * size
        cut = tuple(
            slice(*np.searchsorted(a, (lo - margin, hi + margin)))
            for a, lo, hi in zip(axes, low, high)
        )
        points = np.stack(np.meshgrid(*(a[c] for a, c in zip(axes, cut)), indexing="ij"), -1)
        d = solid.distance(points.reshape(-1, 3)).reshape(points.shape[:3])
        values[cut] = smooth_minimum(values[cut], d, solid.blend)
    return values


@cache
def _table() -> tuple[Ids, Ids]:
    """Return, for every pattern of corners inside, (256,12) the sheet that crosses each edge of a
    cell, and (256,) the number of sheets.
    """
    sheets, number = np.zeros((256, 12), dtype=np.int64), np.zeros(256, dtype=np.int64)
    for config in range(256):
        inside = np.array([config >> bit & 1 for bit in range(8)], dtype=bool)
        label = _labels(inside)
        names: dict[tuple[int, int], int] = {}
        for e, (p, q) in enumerate(EDGES):
            a, b = int(p @ _WEIGHTS), int(q @ _WEIGHTS)
            if inside[a] != inside[b]:
                pair = (label[a], label[b]) if inside[a] else (label[b], label[a])
                sheets[config, e] = names.setdefault(pair, len(names))
        number[config] = len(names)
    return sheets, number


def _labels(inside: Bools) -> list[int]:
    """Return the components of the 8 corners: those inside are joined along edges, those outside
    across faces, too.
    """
    label, signs = list(range(8)), inside.tolist()
    for _ in range(4):
        for a, b in product(range(8), repeat=2):
            if signs[a] == signs[b] and (a ^ b).bit_count() <= (1 if signs[a] else 2):
                label[a] = label[b] = min(label[a], label[b])
    return label
