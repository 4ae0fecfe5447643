"""What is drawn of a run beside its cloth: bodies, and ropes and springs as tubes."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from weft.base.arrays import Faces, Floats, Positions
from weft.base.errors import RunError
from weft.base.runtime_types import checked
from weft.cloth.attachments.drawing import NAMES
from weft.render.strands import Tubes

TUBE = 0.003  # of the largest extent of cloth and bodies: radius of ropes in pictures


@checked(RunError, "run")
class Solids(ABC):
    """What a run has of them."""

    @abstractmethod
    def _frame(self, number: int) -> dict[str, Any]:
        """The arrays of a frame; -1 is the last."""

    @abstractmethod
    def positions(self, frame: int = -1, density: int | None = None) -> Positions:
        """(n,3) [m] of the cloth."""

    @abstractmethod
    def body_positions(self, frame: int = -1) -> Positions:
        """(b,3) [m] of bodies."""

    @property
    @abstractmethod
    def body_faces(self) -> Faces:
        """(m,3) of bodies."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of frames."""

    def strands(self, frame: int = -1) -> tuple[Floats, Floats, Floats] | None:
        """Ropes and springs in a frame (-1 is the last): their ends (k,2,3) [m], lengths at rest
        (k,) [m], and kinds (k,): 1 of ropes, 2 of springs, 0 of what has let go. None: a run
        without any.
        """
        arrays = self._frame(frame)
        if NAMES[0] not in arrays:
            return None
        ends, lengths, kinds = (arrays[name] for name in NAMES)
        return ends, lengths, kinds

    @cached_property
    def _tubes(self) -> Tubes | None:
        """Ropes and springs as they are drawn."""
        first = self.strands(0) if len(self) else None
        if first is None:
            return None
        every = np.concatenate([self.positions(0), self.body_positions(0)])
        return Tubes(len(first[0]), TUBE * float(np.ptp(every, axis=0).max()))

    @cached_property
    def solid_faces(self) -> Faces:
        """(m,3) faces of what is drawn beside the cloth: bodies, and after them ropes and springs;
        their vertices are ``solid_positions``.
        """
        if self._tubes is None:
            return self.body_faces
        first = len(self.body_positions(0))
        tubes: Faces = self._tubes.faces + np.int32(first)
        return np.concatenate([self.body_faces, tubes])

    def solid_positions(self, frame: int = -1) -> Positions:
        """(b,3) [m] of the vertices of bodies, ropes and springs in a frame; -1 is the last."""
        bodies, strands = self.body_positions(frame), self.strands(frame)
        if strands is None or self._tubes is None:
            return bodies
        return np.concatenate([bodies, self._tubes.positions(*strands)])
