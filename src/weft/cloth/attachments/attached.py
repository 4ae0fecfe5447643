"""What attachments are made of: energies, what contact leaves out for them, and what they hold."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, Positions


@dataclass(frozen=True, eq=False)
class Link:
    """What holds vertices at the start, for the check of what stretches.

    Args:
        vertices: (m,).
        others: (m,) vertices at the other ends; None: places.
        places: (m,3) [m] of the other ends; None: vertices.
        length: (m,) [m] between both, at most.
        name: of the attachment.
    """

    vertices: Ints
    others: Ints | None
    places: Positions | None
    length: Floats
    name: str


@dataclass(frozen=True, eq=False)
class Attached:
    """What attachments are made of.

    Args:
        energies: of the points.
        together: pairs of vertices, those of bodies after those of the cloth, whose surroundings do
            not meet in contact.
        links: what is held at the start.
        rigid: vertices of the cloth with the number of a rigid body that they do not meet.
    """

    energies: tuple[Any, ...] = ()
    together: tuple[tuple[int, int], ...] = ()
    links: tuple[Link, ...] = ()
    rigid: tuple[tuple[int, int], ...] = ()

    def sewn(self, given: Ints | None, n: int, b: int, rigid: int = 0) -> Ints | None:
        """(n+b,) numbers of what does not meet, with those of seams; ``given`` where nothing more.
        Where the cloth does not meet rigid bodies, (n+b+rigid,): then those of these, a body each.

        Args:
            given: (n,) of the cloth's seams.
            n: vertices of the cloth.
            b: vertices of bodies that nothing moves.
            rigid: number of rigid bodies.
        """
        if not (self.together or self.rigid):
            return given
        import scipy.sparse as sp

        k = n + b + (rigid if self.rigid else 0)
        seams = np.arange(n) if given is None else np.asarray(given)
        held = [(v, n + b + body) for v, body in self.rigid]
        pairs = np.array([*self.together, *held])
        pairs = np.concatenate([pairs, np.stack([np.arange(n), seams], axis=1)])
        graph = sp.coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(k, k))
        return np.asarray(sp.csgraph.connected_components(graph, directed=False)[1], np.int32)
