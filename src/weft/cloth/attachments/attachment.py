"""The base class of attachments: what all kinds of a scene's attachments share.

A kind is one file: a frozen dataclass of its settings, which builds its energies (``build``), and
says what its keyframes change (``numbers``).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, TypeAlias

import numpy as np

from weft.base.arrays import ArrayArgument, ArrayOf, Floats, Vector
from weft.base.errors import SceneError
from weft.base.trees import Json
from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.site import Site
from weft.energies.energy import Energy
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.release import Release

NEAR = 0.05  # [m] default of the largest distance at the start
STIFF = "stiffness per point; none: 100 times the fabric's stretch stiffness"
MOVES = "places are given at the start; they move along attachments.path"
CHOSEN = "weft selects the points at the start; attachments.length is the length that may change"
UNCHECKED = ("build", "numbers", "updated", "weights")  # methods of attachments that scenes call
Place: TypeAlias = Vector
# of the stiffness: one number, or one for each of the points
Weight: TypeAlias = Annotated[ArrayArgument, ArrayOf("numbers", ((), (None,)))]


class Attachment(ABC):
    """An attachment of points of the cloth. Subclasses are frozen dataclasses of settings."""

    kind: ClassVar[str]  # name of the kind in messages
    vertices: ArrayArgument  # (m,) ids
    stiffness: float | None  # [N/m] of a point; None: by the fabric
    weight: Weight | None = None  # None: 1
    release: Release
    name: str  # empty: the attachment is called by its number

    def __post_init__(self) -> None:
        for field in ("vertices", "to"):
            ids = getattr(self, field, None)
            if ids is not None and ids.size == 0:
                what = f"{self.name or self.kind}.{field}"
                raise SceneError(what, got="nothing", expected="ids of vertices, at least one")
        if self.weight is not None:
            w, n = np.asarray(self.weight), np.size(self.vertices)
            if (w.ndim and len(w) != n) or not (w >= 0).all():
                raise SceneError(
                    f"{self.name or self.kind}.weight",
                    got=f"{w.size} numbers, the least {w.min(initial=np.inf):g}",
                    expected=f"one number, or one for each of {n} vertices, at least 0",
                )

    def weights(self, count: int) -> Floats:
        """Return the weights (count,) of the points."""
        w = 1.0 if self.weight is None else self.weight
        return np.broadcast_to(np.asarray(w, dtype=np.float64), count)

    @abstractmethod
    def build(self, site: Site) -> Attached:
        """Return the energies of the attachment, its exceptions for contact, and its links.

        Raises:
            SceneError: the attachment is not possible there.
        """

    def numbers(self, springs: PointSprings) -> Json:
        """Return the fields of its springs that keyframes may change, besides those of all kinds,
        which are stiffness and release.
        """
        return {}

    def updated(self, energies: Sequence[Energy]) -> Sequence[Energy]:
        """Return the energies that an attachment of the same points built, with its numbers."""
        return [self._updated(e) if isinstance(e, PointSprings) else e for e in energies]

    def _updated(self, springs: PointSprings) -> PointSprings:
        new = self.numbers(springs)
        if self.stiffness is not None:
            new["stiffness"] = self.stiffness * self.weights(len(springs))
        if self.release.force is not None:
            new["release"] = self.release
        return replace(springs, **new)
