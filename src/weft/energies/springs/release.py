"""Release of attachments: at a time, at a force, or when a function says so."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.arrays import Bools, Floats, Positions
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting


@dataclass(frozen=True, eq=False)
class Held:
    """State of an attachment at the end of a step, the argument of a release function.

    Args:
        t: [s].
        x: (m,3) [m] places of the points, or for springs between two points their difference.
        force: (m,) [N] that holds each one; 0 of released points.
        holds: (m,) which still hold.
    """

    t: float
    x: Positions
    force: Floats
    holds: Bools


@checked(SceneError, "release", unchecked=("expired", "released_points"))
@documented
@dataclass(frozen=True)
class Release:
    """Conditions under which points of an attachment are released, each by itself and for good.

    ``when`` is for Python: a function of ``Held`` that says, after every step, whether all (bool)
    or which (m,) points let go. It should depend on nothing else, or resumed runs differ.
    """

    at: float | None = setting(
        None, "time of release; none: never", "s", least=0, constant="a time itself"
    )
    force: float | None = setting(
        None,
        "force on a point that releases it at the end of a step; none: no limit",
        "N",
        above=0,
        keyframes=True,
    )
    when: Callable[[Held], Any] | None = None

    @property
    def is_never(self) -> bool:
        """True if nothing is ever released."""
        return self.at is None and not self.depends

    @property
    def depends(self) -> bool:
        """True if forces or a function decide, so that release is checked after every step."""
        return self.force is not None or self.when is not None

    def expired(self, t: float) -> bool:
        """Return whether the time of release has come in a step that ends at t [s]."""
        # The tolerance keeps a step that ends at the time of release, up to round-off, before it.
        return self.at is not None and t > self.at * (1 + 1e-12)

    def released_points(self, held: Held) -> Bools:
        """Return which points let go at the end of a step, (m,).

        Raises:
            SceneError: a function that returns neither a bool nor one for every point.
        """
        go = np.zeros(len(held.force), dtype=bool)
        if self.force is not None:
            go |= held.force > self.force
        if self.when is not None:
            said = np.asarray(self.when(held))
            if said.dtype != np.bool_ or said.shape not in ((), go.shape):
                raise SceneError(
                    "release.when",
                    got=f"{said.dtype} {said.shape}",
                    expected=f"a bool, or {len(go)} bools: one for every point",
                )
            go = go | said
        return go & held.holds


NEVER = Release()
