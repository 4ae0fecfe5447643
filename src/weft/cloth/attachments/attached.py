"""The result of building attachments: energies, exceptions for contact, and links at the start."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.energies.energy import Energy


@dataclass(frozen=True, eq=False)
class Link:
    """Connections that hold vertices at the start, for the check of stretched cloth
    (``check_start``).

    Args:
        vertices: (m,) vertices that are held.
        others: (m,) vertices at the other ends; None: the other ends are places.
        places: (m,3) [m] other ends; None: they are vertices.
        length: (m,) [m] largest distance between both ends.
        name: name of the attachment.
    """

    vertices: Ints
    others: Ints | None
    places: Positions | None
    length: Floats
    name: str


@dataclass(frozen=True, eq=False)
class Attached:
    """The energies of attachments, and what contact must ignore because of them.

    Args:
        energies: energies of the points.
        together: pairs of vertices, numbered as in contact: those of the cloth, of rigid bodies, of
            other bodies. The faces around such a pair do not meet in contact.
        links: connections at the start.
        owners: the attachment of each energy, by its number.
    """

    energies: tuple[Energy, ...] = ()
    together: tuple[tuple[int, int], ...] = ()
    links: tuple[Link, ...] = ()
    owners: tuple[int, ...] = ()

    @property
    def ties(self) -> Ints | None:
        """``together`` as an array (k,2); None if there are no pairs."""
        return np.array(self.together, dtype=np.int32) if self.together else None
