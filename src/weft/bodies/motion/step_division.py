"""Divide a step in which something prescribed does not move nearly straight.

A step sees pins, bodies, arms and hands at its two ends, and contact checks the straight way
between them. A blade that turns by 180 degrees in a step, or a ball that goes through cloth and
back, would pass through the cloth unseen. A step is therefore divided

- at a keyframe inside the step, unless the motion passes the keyframe nearly straight,
- where a motion turns by more than ``MOST_TURN``,
- where a prescribed vertex leaves the straight way by more than contact's gap.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SimulationError

MOST_TURN = float(np.radians(30.0))  # in one part of a step
MOST_PARTS = 64  # of one step
KEYED = 0.1  # of the gap: largest deviation of a motion that passes a keyframe nearly straight
ROUND_OFF = 1e-9  # of a step: keyframes so near to an end of the step are at this end


class KinematicMotion(Protocol):
    """A prescribed motion, as the division of steps sees it."""

    @property
    def name(self) -> str:
        """Name of what moves, for messages."""

    @property
    def is_sampled(self) -> bool:
        """Whether keyframes are samples of a smooth motion, and not places where it turns."""

    @property
    def keys(self) -> Floats:
        """(k,) [s] increasing times of the keyframes."""

    def turn(self, begin: float, end: float) -> float:
        """Return the angle [rad] by which it turns between two times [s], there and back added."""

    def deviation(self, begin: float, end: float, room: float) -> float:
        """Return the largest distance [m] from the straight way between two times [s].

        Any number up to ``room`` [m] stands for a distance that is not larger.
        """

    def travel(self, begin: float, end: float) -> float:
        """Return the largest displacement [m] between two times [s]."""


@dataclass(frozen=True)
class Division:
    """The parts of a step, and the motion for which the step is divided.

    Args:
        parts: [s] lengths of the parts; a single one if the step is not divided.
        name: of the motion that needs most parts; empty if the step is not divided.
        turn: [rad] by which the motion turns in the step.
        deviation: [m] of the motion from the straight way of the step.
        keyed: whether a keyframe of the motion is inside the step.
    """

    parts: Sequence[float]
    name: str = ""
    turn: float = 0.0
    deviation: float = 0.0
    keyed: bool = False

    @property
    def reason(self) -> str:
        """Describe the motion in the step, for messages."""
        if self.turn > MOST_TURN:
            return f"turns by {np.degrees(self.turn):.4g} degrees"
        if self.keyed:
            return "turns at a keyframe"
        return f"leaves a straight line by {1e3 * self.deviation:.3g} mm"


def divide_step(
    motions: Sequence[KinematicMotion], begin: float, dt: float, gap: float
) -> Division:
    """Divide a step so that every motion is nearly straight in every part.

    Args:
        motions: what is prescribed.
        begin: [s] beginning of the step.
        dt: [s] length of the step.
        gap: [m] of contact.

    Returns:
        The parts; the step itself if nothing has to be divided.

    Raises:
        SimulationError: the step needs more than ``MOST_PARTS`` parts.
    """
    end, whole = begin + dt, Division([dt])
    causes: list[tuple[float, Division]] = []
    inside: list[float] = []
    for motion in motions:
        room = gap if motion.is_sampled else KEYED * gap
        turn, deviation = motion.turn(begin, end), motion.deviation(begin, end, room)
        keys = motion.keys[_between(motion.keys, begin, dt)] if deviation > room else ()
        need = max(turn / MOST_TURN, deviation / gap, 2.0 if len(keys) else 0.0)
        if need > 1 + ROUND_OFF:
            causes.append((need, Division([dt], motion.name, turn, deviation, len(keys) > 0)))
            inside += [float(t) for t in keys]
    if not causes:
        return whole
    _, cause = max(causes, key=lambda pair: pair[0])
    parts: list[float] = []
    for a, b in pairwise(_apart([begin, *sorted(inside), end], ROUND_OFF * dt)):
        parts += _equal_parts(motions, a, b, gap)
        if len(parts) > MOST_PARTS:
            raise SimulationError(
                f"step of {dt:.4g} s at t = {begin:.6g} s",
                got=f"{cause.name}, which {cause.reason}",
                expected=f"at most {MOST_PARTS} parts, each with at most 30 degrees and without "
                "a keyframe inside",
                hint="use a shorter `step`, or a slower motion",
            )
    return Division(parts, cause.name, cause.turn, cause.deviation, cause.keyed)


def _between(keys: Floats, begin: float, dt: float) -> slice:
    """Return the slice of the keyframes [s] inside a step."""
    slack = ROUND_OFF * dt
    low, high = np.searchsorted(keys, [begin + slack, begin + dt - slack])
    return slice(int(low), int(high))


def _apart(times: Sequence[float], least: float) -> list[float]:
    """Return increasing times [s] without those that are nearer than ``least`` to one before."""
    found = [times[0]]
    for t in times[1:-1]:
        if t - found[-1] > least:
            found.append(t)
    return [*found, times[-1]]


def _equal_parts(
    motions: Sequence[KinematicMotion], begin: float, end: float, gap: float
) -> list[float]:
    """Return the lengths [s] of equal parts in which every motion is nearly straight.

    They are more than ``MOST_PARTS`` if so many are too few.
    """
    n = 1
    for motion in motions:
        n = max(n, math.ceil(min(motion.turn(begin, end) / MOST_TURN - ROUND_OFF, MOST_PARTS + 1)))
        while n <= MOST_PARTS:
            times = np.linspace(begin, end, n + 1).tolist()
            worst = max(motion.deviation(a, b, gap) for a, b in pairwise(times))
            if worst <= gap * (1 + ROUND_OFF):
                break
            n = max(n + 1, math.floor(n * math.sqrt(min(worst / gap, 1e6))))  # it falls as 1/n^2
    return [(end - begin) / n] * min(n, MOST_PARTS + 1)
