"""The obstacle that leaves no room for the prescribed motion of a step."""

from collections.abc import Sequence
from dataclasses import dataclass

from weft.base.arrays import Vector


@dataclass(frozen=True, eq=False)
class Obstacle:
    """Surfaces that leave no room for a step, or a limit that the step would exceed.

    Args:
        place: [m] where.
        sides: vertices of cloth and bodies, one for each surface that takes part.
        places: [m] a place on each of these surfaces.
        t: [s] when.
        passes: whether prescribed cloth would pass through another prescribed surface; False:
            prescribed surfaces close on free cloth.
        room: [m] distance between two surfaces that close on cloth; None: unknown.
        limit: name of the energy whose limit would be exceeded; there are no surfaces then.
    """

    place: Vector
    sides: Sequence[int]
    places: Sequence[Vector]
    t: float
    passes: bool
    room: float | None = None
    limit: str = ""
