"""What a piece of cloth is made of, and the triangles by which it is seen and touched.

A new kind of surface is a subclass, a line of ``Surfaces.of_arrays`` and one of
``scene.elastic.BENT``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from weft.base.arrays import Bools, CornerUv, Faces, Floats, Ints, Positions
from weft.discretization.embedding import Embedding
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import Samples


@dataclass(frozen=True, eq=False)
class Tessellation:
    """Triangles on samples of a surface."""

    embedding: Embedding  # of the samples in the points
    faces: Faces  # (m,3)
    corner_uv: CornerUv  # (m,3,2) [m]
    patch: Ints  # (m,) of every face
    grids: Sequence[Ints] = ()  # of each patch, (n1,n2) the samples along u and v

    @staticmethod
    def joined(parts: "Sequence[Tessellation]", n_points: int) -> "Tessellation":
        """All samples, one part after the other; numbers of points are common already."""
        first = np.cumsum([0, *(len(p.embedding) for p in parts)])
        return Tessellation(
            Embedding.joined([p.embedding for p in parts], n_points),
            np.concatenate([p.faces + f for p, f in zip(parts, first)]).astype(np.int32),
            np.concatenate([p.corner_uv for p in parts]),
            np.concatenate([p.patch for p in parts]),
        )

    def mesh(self, points: Positions, source: str) -> TriangleMesh:
        """The triangles where points (N,3) are."""
        return TriangleMesh(self.embedding.of(points), self.faces, self.corner_uv, {}, source)


class Surface(ABC):
    """One kind of cloth; its numbers of points are those of all points of the whole cloth."""

    kind: ClassVar[str]  # what messages call it
    lacks: ClassVar[Mapping[str, str]]  # fields of a scene that it has not, and what to do
    density: int  # samples a knot span of what is seen and touched

    @property
    @abstractmethod
    def area(self) -> Floats:
        """(N,) [m^2] of material that each point stands for."""

    @abstractmethod
    def samples(self) -> Samples:
        """Where a membrane law is sampled."""

    @abstractmethod
    def tessellated(self, density: int) -> Tessellation:
        """Triangles, ``density`` samples to a knot span where there are such."""

    @cached_property
    def shown(self) -> Tessellation:
        """The triangles that are touched."""
        return self.tessellated(self.density)

    @abstractmethod
    def net(self) -> tuple[Faces, CornerUv]:
        """Faces between the points, and their material coordinates."""

    @abstractmethod
    def between(self, pinned: Bools) -> tuple[Embedding, Ints]:
        """Places that are held besides where vertices (n,) of ``shown`` are: those halfway between
        neighbors, and points that move nothing else.
        """

    @abstractmethod
    def among(self, points: Positions, first: int) -> Self:
        """The same as a piece of a cloth of ``points`` (N,3), its own from number ``first`` on."""

    @classmethod
    def as_one(cls, several: Sequence[Self]) -> Sequence[Self]:
        """Several pieces of one fabric as fewer, where the kind can."""
        return several

    @abstractmethod
    def arrays(self) -> Mapping[str, Any]:
        """What a file needs to make this again (``of_arrays``), without positions."""

    @classmethod
    @abstractmethod
    def of_arrays(cls, arrays: Mapping[str, Any], n_points: int) -> Self:
        """From a file's arrays."""

    @abstractmethod
    def facts(self) -> str:
        """What ``weft check`` says of it besides its triangles, if anything."""
