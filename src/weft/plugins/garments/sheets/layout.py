"""Arrangement of flat panels on a sheet: rows of boxes, and the roomiest place for a panel's
name.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.polygon import contains

ROOM = 28  # samples per side in the search for the roomiest place


def arrange(outlines: Mapping[str, Floats], gap: float) -> tuple[dict[str, Floats], Floats]:
    """Return offsets of the outlines such that none overlap, and the extent (2,) [m] of all.

    Args:
        outlines: (n,2) [m] by name; their order stays.
        gap: [m] between them.

    Returns:
        The vector to add to the points of each outline, by name; width and height.
    """
    boxes = {n: (p.min(axis=0), np.ptp(p, axis=0) + gap) for n, p in outlines.items()}
    if not boxes:
        return {}, np.zeros(2)
    area = sum(float(size[0] * size[1]) for _, size in boxes.values())
    wide = max(1.55 * float(np.sqrt(area)), *(float(size[0]) for _, size in boxes.values()))
    rows: list[list[str]] = [[]]
    used = 0.0
    for name, (_, size) in boxes.items():
        if rows[-1] and used + size[0] > wide * 1.02:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += float(size[0])
    places: dict[str, Floats] = {}
    widest = bottom = 0.0
    for row in rows[::-1]:
        x = 0.0
        tall = max(float(boxes[n][1][1]) for n in row)
        for name in row:
            low, size = boxes[name]
            places[name] = np.array([x, bottom]) - low
            x += float(size[0])
        widest, bottom = max(widest, x), bottom + tall
    return places, np.array([widest - gap, bottom - gap])


def roomiest(loops: Sequence[Floats]) -> tuple[Floats, float]:
    """Return the point of a panel that is farthest from its outline and holes, and its distance
    [m].

    The panel is inside the first loop and outside the others. The point is the best one of a grid
    of samples.
    """
    from scipy.spatial import cKDTree

    every = []
    for loop in loops:
        p = np.asarray(loop, dtype=np.float64)
        t = np.arange(8)[:, None] / 8
        every += [a + t * (b - a) for a, b in zip(p, np.roll(p, -1, axis=0))]
    low, high = loops[0].min(axis=0), loops[0].max(axis=0)
    s = (np.arange(ROOM) + 0.5) / ROOM
    grid = np.stack(np.meshgrid(s, s), axis=-1).reshape(-1, 2) * (high - low) + low
    grid = grid[contains([np.asarray(loop) for loop in loops], grid)]
    if len(grid) == 0:
        return (low + high) / 2, 0.0
    distance, _ = cKDTree(np.concatenate(every)).query(grid)
    # The penalty prefers the place nearest to the middle among places that are almost as good.
    off = np.linalg.norm(grid - (low + high) / 2, axis=1)
    best = int(np.argmax(distance - 0.15 * off))
    return np.asarray(grid[best]), float(distance[best])
