"""What attachments are made of: energies, what contact leaves out for them, and what they hold."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats, Ints, Positions


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
    """

    energies: tuple[Any, ...] = ()
    together: tuple[tuple[int, int], ...] = ()
    links: tuple[Link, ...] = ()

    def sewn(self, given: Ints | None, n: int, b: int) -> Ints | None:
        """(n+b,) numbers of what does not meet, with those of seams; ``given`` where nothing more.

        Args:
            given: (n,) of the cloth's seams.
            n: vertices of the cloth.
            b: vertices of bodies.
        """
        if not self.together:
            return given
        import scipy.sparse as sp

        seams = np.arange(n) if given is None else np.asarray(given)
        pairs = np.concatenate([np.array(self.together), np.stack([np.arange(n), seams], axis=1)])
        one = np.ones(len(pairs))
        graph = sp.coo_matrix((one, (pairs[:, 0], pairs[:, 1])), shape=(n + b, n + b))
        return np.asarray(sp.csgraph.connected_components(graph, directed=False)[1], np.int32)
