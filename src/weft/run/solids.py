"""Drawn parts of a run besides its cloth: bodies, and ropes and springs as tubes."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from weft.base.arrays import Faces, Floats, Positions
from weft.base.errors import RunError
from weft.base.runtime_types import checked
from weft.cloth.attachments.drawing import NAMES
from weft.run.strands import Tubes

TUBE = 0.003  # radius of drawn ropes over the largest extent of cloth and bodies


@checked(RunError, "run")
class Solids(ABC):
    """Base class of runs with the drawn bodies, ropes and springs."""

    @abstractmethod
    def _frame(self, number: int) -> dict[str, Any]:
        """Return the arrays of a frame; -1 is the last."""

    @abstractmethod
    def positions(self, frame: int = -1, density: int | None = None) -> Positions:
        """Return (n,3) [m] positions of the cloth."""

    @abstractmethod
    def body_positions(self, frame: int = -1) -> Positions:
        """Return (b,3) [m] positions of bodies."""

    @property
    @abstractmethod
    def body_faces(self) -> Faces:
        """(m,3) faces of bodies."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of frames."""

    def strands(self, frame: int = -1) -> tuple[Floats, Floats, Floats] | None:
        """Return ropes and springs in a frame (-1 is the last); None of a run without any.

        Returns:
            Ends (k,2,3) [m], lengths at rest (k,) [m], and kinds (k,): 1 for ropes, 2 for springs,
                0
            for strands that have let go.
        """
        arrays = self._frame(frame)
        if NAMES[0] not in arrays:
            return None
        ends, lengths, kinds = (arrays[name] for name in NAMES)
        return ends, lengths, kinds

    @cached_property
    def _tubes(self) -> Tubes | None:
        """The ropes and springs as drawn tubes."""
        first = self.strands(0) if len(self) else None
        if first is None:
            return None
        every = np.concatenate([self.positions(0), self.body_positions(0)])
        return Tubes(len(first[0]), TUBE * float(np.ptp(every, axis=0).max()))

    @cached_property
    def solid_faces(self) -> Faces:
        """(m,3) faces of bodies, and after them of ropes and springs.

        Their vertices are ``solid_positions``.
        """
        if self._tubes is None:
            return self.body_faces
        first = len(self.body_positions(0))
        tubes: Faces = self._tubes.faces + np.int32(first)
        return np.concatenate([self.body_faces, tubes])

    def solid_positions(self, frame: int = -1) -> Positions:
        """Return (b,3) [m] of the vertices of bodies, ropes and springs in a frame; -1 is
        the last.
        """
        bodies, strands = self.body_positions(frame), self.strands(frame)
        if strands is None or self._tubes is None:
            return bodies
        return np.concatenate([bodies, self._tubes.positions(*strands)])
