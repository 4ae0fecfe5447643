"""Who meets whom: pieces of cloth and bodies, their thickness, and the friction between them."""

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
MOST_APART = 15  # pairs of sets that do not meet; each takes two of 32 bits


@checked(SceneError, "contact.friction")
@documented
@dataclass(frozen=True)
class Friction:
    """Coulomb friction with a static and a kinetic coefficient."""

    static: float = setting(REQUIRED, "coefficient up to which pairs stick", least=0)
    kinetic: float | None = setting(
        None, "coefficient while they slide, at most the static one; none: equal", least=0
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
        """Coefficient while pairs slide."""
        return self.static if self.kinetic is None else self.kinetic


@dataclass(frozen=True, eq=False)
class CollisionGroups:
    """What every vertex of a surface belongs to, numbered: pieces of cloth first, then bodies."""

    part: Ints  # (n,) number of the piece or body
    names: Sequence[str]  # of pieces and bodies
    first_body: int  # id of the first vertex of a body
    thickness: Floats  # (n,) [m]; a pair keeps half of both
    static: Floats  # (k,k) coefficients of friction between pieces and bodies
    kinetic: Floats  # (k,k)
    apart: Sequence[tuple[Bools, Bools]] = ()  # sets of vertices (n,) that do not meet
    sewn: Ints | None = None  # (n,) the same number for vertices that are sewn to one another
    most: float = 0.0  # [m] largest thickness at any time, where it changes

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
        """A single piece of n vertices."""
        mu = np.full((1, 1), friction)
        return CollisionGroups(
            np.zeros(n, dtype=np.int32), ("cloth",), n, np.full(n, thickness), mu, mu
        )

    @property
    def thickest(self) -> float:
        """[m] largest thickness of a pair, at any time."""
        return max(float(self.thickness.max(initial=0.0)), self.most)

    def of_pairs(self, stencil: Ints, kind: Ints) -> tuple[Ints, Ints]:
        """A vertex of either side of every pair (m,4)."""
        return stencil[:, 0], np.where(kind == PairKind.EDGE_EDGE, stencil[:, 2], stencil[:, 1])

    def thickness_of(self, stencil: Ints, kind: Ints) -> Floats:
        """(m,) [m] that pairs keep; (1,) where it is the same for all."""
        T = self.thickness
        if len(T) == 0 or (T[0] == T).all():
            return np.asarray(T[:1] if len(T) else np.zeros(1))
        a, b = self.of_pairs(stencil, kind)
        return np.asarray((T[a] + T[b]) / 2)

    @property
    def has_friction(self) -> bool:
        """Whether any pair has."""
        return bool((self.static > 0).any())

    def marks(self, ids: Ints, prescribed: Bools) -> Marks:
        """(m,2) uint32 of primitives with vertices ids (m,k): bits of what each one is, and of what
        it does not meet. Where all vertices are prescribed, nothing can be done about a pair.
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
    """(k,k) static and kinetic coefficients, ``friction`` but for named pairs."""
    k = len(names)
    static, kinetic = np.full((k, k), friction.static), np.full((k, k), friction.sliding)
    for (a, b), f in pairs:
        for i, j in ((a, b), (b, a)):
            rows = [n for n, name in enumerate(names) if name == i]
            columns = [n for n, name in enumerate(names) if name == j]
            static[np.ix_(rows, columns)] = f.static
            kinetic[np.ix_(rows, columns)] = f.sliding
    return static, kinetic
