"""Collision groups: to which piece of cloth or body a vertex belongs, their thickness, the friction
between them, and groups that ignore each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from weft.base.arrays import Bools, Floats, Ints
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.contact.distance.distance import PairKind

Marks: TypeAlias = "np.ndarray[Any, np.dtype[np.uint32]]"
MOST_APART = 15  # pairs of groups that ignore each other, at most: each takes two of 32 bits


@checked(SceneError, "contact.friction")
@documented
@dataclass(frozen=True)
class Friction:
    """Coulomb friction with a static and a kinetic coefficient."""

    static: float = setting(
        REQUIRED, "coefficient up to which pairs stick", least=0, keyframes=True
    )
    kinetic: float | None = setting(
        None,
        "coefficient while they slide, at most the static one; none: equal",
        least=0,
        keyframes=True,
    )

    def __post_init__(self) -> None:
        if self.sliding > self.static:
            raise SceneError(
                "contact.friction.kinetic",
                got=self.kinetic,
                expected=f"from 0 to the static one, {self.static:g}",
            )

    @property
    def sliding(self) -> float:
        """Return the coefficient while pairs slide."""
        return self.static if self.kinetic is None else self.kinetic


@dataclass(frozen=True, eq=False)
class CollisionGroups:
    """The piece or body to which each vertex of a collision mesh belongs, numbered: pieces of cloth
    first, then bodies.
    """

    part: Ints  # (n,) number of each vertex's piece or body
    names: Sequence[str]  # of pieces and bodies
    first_body: int  # id of the first vertex of a body
    thickness: Floats  # (n,) [m]; a pair keeps the mean of both sides
    static: Floats  # (k,k) static coefficients of friction between pieces and bodies
    kinetic: Floats  # (k,k) kinetic coefficients
    apart: Sequence[tuple[Bools, Bools]] = ()  # vertices (n,) of two groups that ignore each other
    sewn: Ints | None = None  # (n,) the same number for vertices that are sewn together
    most: float = 0.0  # [m] largest thickness at any time, if it changes

    def __post_init__(self) -> None:
        if len(self.apart) > MOST_APART:
            raise SceneError(
                "contact.pairs",
                got=f"{len(self.apart)} that ignore each other",
                expected=f"at most {MOST_APART}",
                hint="name a whole cloth or body in place of its groups",
            )

    @staticmethod
    def one(n: int, thickness: float = 0.0, friction: float = 0.0) -> "CollisionGroups":
        """Return the groups of a single piece with n vertices, with this thickness [m] and
        coefficient of friction.
        """
        mu = np.full((1, 1), friction)
        return CollisionGroups(
            np.zeros(n, dtype=np.int32), ("cloth",), n, np.full(n, thickness), mu, mu
        )

    @property
    def thickest(self) -> float:
        """Return the largest thickness [m] of a pair at any time."""
        return max(float(self.thickness.max(initial=0.0)), self.most)

    def of_pairs(self, stencil: Ints, kind: Ints) -> tuple[Ints, Ints]:
        """Return a vertex of the first and one of the second side of every pair, (m,) each, for
        stencils (m,4) and kinds (m,).
        """
        return stencil[:, 0], np.where(kind == PairKind.EDGE_EDGE, stencil[:, 2], stencil[:, 1])

    def thickness_of(self, stencil: Ints, kind: Ints) -> Floats:
        """Return the thickness [m] that pairs keep, (m,); (1,) if it is the same for all."""
        T = self.thickness
        if len(T) == 0 or (T[0] == T).all():
            return np.asarray(T[:1] if len(T) else np.zeros(1))
        a, b = self.of_pairs(stencil, kind)
        return np.asarray((T[a] + T[b]) / 2)

    @property
    def has_friction(self) -> bool:
        """Return whether any pair has friction."""
        return bool((self.static > 0).any())

    def marks(self, ids: Ints, prescribed: Bools) -> Marks:
        """Return the group bits of primitives, (m,2) uint32.

        Two primitives are no candidate pair if the first number of one and the second number of the
        other have a common bit. Bit 0 marks primitives with prescribed vertices only: nothing can
        be done about a pair of two of them. Each pair of groups that ignore each other takes two
        more bits.

        Args:
            ids: (m,k) vertices of the primitives.
            prescribed: (n,) vertices that are prescribed.
        """
        out = np.zeros((len(ids), 2), dtype=np.uint32)
        out[prescribed[ids].all(1)] = 1
        for k, (one, other) in enumerate(self.apart):
            for members, is_, ignores in ((one, 1, 2), (other, 2, 1)):
                mine = members[ids].all(1)
                out[mine, 0] |= np.uint32(1 << (2 * k + is_))
                out[mine, 1] |= np.uint32(1 << (2 * k + ignores))
        return out


def friction_table(
    names: Sequence[str],
    friction: Friction,
    pairs: Sequence[tuple[tuple[str, str], Friction]] = (),
) -> tuple[Floats, Floats]:
    """Return the static and the kinetic coefficients between ``names``, (k,k) each: ``friction``,
    except for the named ``pairs``.
    """
    k = len(names)
    static, kinetic = np.full((k, k), friction.static), np.full((k, k), friction.sliding)
    for (a, b), f in pairs:
        for i, j in ((a, b), (b, a)):
            rows = [n for n, name in enumerate(names) if name == i]
            columns = [n for n, name in enumerate(names) if name == j]
            static[np.ix_(rows, columns)] = f.static
            kinetic[np.ix_(rows, columns)] = f.sliding
    return static, kinetic
