"""Tasks of a robot: the start of the cloth, the measure of progress, and the goal.

Lengths are in meters, up is y, and the table's top is y = 0. Rewards are given in every step; they
follow from a measure that grows all the way to the goal, so that a learner sees which way leads
there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import WeftError, check_known

SIDE = 0.4  # [m] of the square cloth
LIES = 3.5e-3  # [m] initial height over the table
CELLS = 80  # cells along a side, for the covered area
LIFT = 0.25  # [m] height at which a grasped cloth counts as lifted
FOLDED = 0.1  # mean distance of folded halves over the side, below which cloth counts as folded
FLAT = 0.95  # part of the area from which on cloth counts as flattened
BEND = 0.03  # [m] radius of the fold with which flattening begins


@dataclass(frozen=True)
class Task:
    """A task.

    Args:
        name: of the task.
        grippers: number of grippers.
        start: returns positions (n,3) [m] for material coordinates (n,2) [m] of the flat cloth and
            a random generator.
        measure: progress, 0 at none and 1 at the goal, of positions (n,3) [m] and material
            coordinates (n,2) [m].
        done: measure from which on the task is solved.
    """

    name: str
    grippers: int
    start: Callable[[Floats, np.random.Generator], Positions]
    measure: Callable[[Positions, Floats], float]
    done: float


def task(name: str) -> Task:
    """Return the task of a name.

    Raises:
        WeftError: an unknown name.
    """
    check_known(name, TASKS, "task", WeftError)
    return TASKS[name]


def lay_flat(uv: Floats, random: np.random.Generator) -> Positions:
    """Return cloth that lies flat, up to 2 cm from the table's middle and turned by up to 15
    degrees.
    """
    return _place_randomly(np.column_stack([uv[:, 0], np.full(len(uv), LIES), -uv[:, 1]]), random)


def fold_over(uv: Floats, random: np.random.Generator) -> Positions:
    """Return cloth with 30 to 45 % of its side folded over on top, without stretch, round a
    bend.
    """
    along = uv[:, 0]
    crease = SIDE / 2 - random.uniform(0.3, 0.45) * SIDE
    s = along - crease
    turn = np.clip(s / BEND, 0, np.pi)
    x = crease + np.where(s < 0, s, BEND * np.sin(turn)) - np.maximum(s - np.pi * BEND, 0)
    y = LIES + BEND * (1 - np.cos(turn))
    return _place_randomly(np.column_stack([x, y, -uv[:, 1]]), random)


def _place_randomly(x: Positions, random: np.random.Generator) -> Positions:
    a = np.radians(random.uniform(-15, 15))
    turn = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    shift = np.array([random.uniform(-0.02, 0.02), 0, random.uniform(-0.02, 0.02)])
    return np.asarray(x @ turn.T + shift)


def mean_lift(x: Positions, uv: Floats) -> float:
    """Return the mean height of the cloth over ``LIFT``, at most 1."""
    return float(np.clip(x[:, 1].mean() / LIFT, 0, 1))


def fold_progress(x: Positions, uv: Floats) -> float:
    """Return 1 - d/d_flat, d the mean distance of vertices that a fold in the middle brings
    together.

    d_flat is this distance in flat cloth, half a side.
    """
    mirrored = _mirror(uv)
    apart = np.linalg.norm(x - x[mirrored], axis=1).mean()
    flat = np.linalg.norm(uv - uv[mirrored], axis=1).mean()
    return float(1 - apart / flat)


def covered_share(x: Positions, uv: Floats) -> float:
    """Return the part of the cloth's area that it covers on the table.

    The result is the number of cells, of an eightieth of the side, with a point of the cloth above
    them, over the number of cells of the flat cloth (2 to 4 % too much, because cells at the border
    count whole).
    """
    count = round(len(x) ** 0.5)
    dense = _refine_grid(x[:, [0, 2]].reshape(count, count, 2), -(-2 * CELLS // (count - 1)))
    ids = np.floor(dense * (CELLS / SIDE)).astype(np.int64)
    cells = len(np.unique(ids[:, 0] * 100_000 + ids[:, 1]))
    return float(min(cells / CELLS**2, 1.0))


def _refine_grid(grid: Floats, times: int) -> Floats:
    """Return (m,2) points of a grid (r,c,2) with additional points in between, along both sides."""
    for axis in (0, 1):
        count = grid.shape[axis]
        at = np.linspace(0, count - 1, (count - 1) * times + 1)
        low = np.minimum(at.astype(int), count - 2)
        part = (at - low).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        first, second = np.take(grid, low, axis), np.take(grid, low + 1, axis)
        grid = (1 - part) * first + part * second
    return grid.reshape(-1, 2)


def _mirror(uv: Floats) -> Floats:
    """Return (n,) for each vertex, the vertex at the mirrored place."""
    place = {tuple(p): k for k, p in enumerate(np.round(uv / SIDE, 6).tolist())}
    there = np.round(np.column_stack([-uv[:, 0], uv[:, 1]]) / SIDE, 6) + 0.0
    return np.array([place[tuple(p)] for p in there.tolist()])


TASKS: Mapping[str, Task] = {
    "grasp": Task("grasp", 1, lay_flat, mean_lift, 0.5),
    "fold": Task("fold", 2, lay_flat, fold_progress, 1 - 2 * FOLDED),
    "flatten": Task("flatten", 1, fold_over, covered_share, FLAT),
}
