"""Interface of a piece of cloth, and the triangles that are drawn and that collide.

A new kind of surface is a subclass of ``Surface``, a line of ``Surfaces.of_arrays`` and a line of
``scene.elastic.BENT``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from weft.base.arrays import Arrays, Bools, CornerUv, Faces, Floats, Ints, Positions
from weft.discretization.embedding import Embedding
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import Samples


@dataclass(frozen=True, eq=False)
class Tessellation:
    """Triangles on samples of a surface."""

    embedding: Embedding  # samples as combinations of the points
    faces: Faces  # (m,3)
    corner_uv: CornerUv  # (m,3,2) [m]
    patch: Ints  # (m,) patch of every face
    grids: Sequence[Ints] = ()  # for each patch, (n1,n2) the samples along u and v

    @staticmethod
    def concatenate(parts: "Sequence[Tessellation]", n_points: int) -> "Tessellation":
        """Concatenate tessellations whose stencils already use the point indices of the cloth."""
        first = np.cumsum([0, *(len(p.embedding) for p in parts)])
        return Tessellation(
            Embedding.concatenate([p.embedding for p in parts], n_points),
            np.concatenate([p.faces + f for p, f in zip(parts, first)]).astype(np.int32),
            np.concatenate([p.corner_uv for p in parts]),
            np.concatenate([p.patch for p in parts]),
        )

    def mesh(self, points: Positions, source: str) -> TriangleMesh:
        """Return the triangles as a mesh, for points (N,3) [m] of the cloth."""
        return TriangleMesh(self.embedding.of(points), self.faces, self.corner_uv, {}, source)


class Surface(ABC):
    """Base class of a piece of cloth; its stencils use the point indices of the whole cloth."""

    kind: ClassVar[str]  # name in messages
    unsupported: ClassVar[
        Mapping[str, str]
    ]  # scene fields that it does not support, each with a hint
    density: int  # samples in each knot span of the triangles that are drawn and that collide

    @property
    @abstractmethod
    def area(self) -> Floats:
        """Return the material area [m^2] that each point represents, (N,)."""

    @abstractmethod
    def samples(self) -> Samples:
        """Return the quadrature points of the membrane."""

    @abstractmethod
    def tessellate(self, density: int) -> Tessellation:
        """Return triangles with ``density`` samples in each knot span, if there are knot spans."""

    @cached_property
    def shown(self) -> Tessellation:
        """Return the triangles that are drawn and that collide."""
        return self.tessellate(self.density)

    @abstractmethod
    def net(self) -> tuple[Faces, CornerUv]:
        """Return faces between the points, (m,3), and their material coordinates, (m,3,2) [m]."""

    @abstractmethod
    def between(self, pinned: Bools) -> tuple[Embedding, Ints]:
        """Return what else has to be pinned where vertices of ``shown`` are pinned.

        Args:
            pinned: mask of the vertices of ``shown``.

        Returns:
            Places halfway between neighboring vertices that are both pinned, and indices of points
            that move nothing else.
        """

    @abstractmethod
    def among(self, points: Positions, first: int) -> Self:
        """Return this surface as a piece of a larger cloth.

        Args:
            points: (N,3) [m] all points of that cloth.
            first: index of this surface's first point among them.
        """

    @classmethod
    def as_one(cls, several: Sequence[Self]) -> Sequence[Self]:
        """Merge several pieces of one fabric into fewer, if this kind of surface can."""
        return several

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return the arrays that ``of_arrays`` needs to restore this surface, without positions."""

    @classmethod
    @abstractmethod
    def of_arrays(cls, arrays: Arrays, n_points: int) -> Self:
        """Restore a surface of a cloth of ``n_points`` points from its arrays in a file."""

    @abstractmethod
    def facts(self) -> str:
        """Return a sentence for ``weft check``; empty: nothing to say beyond its triangles."""
