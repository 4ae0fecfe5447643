"""The result of building attachments: energies, exceptions for contact, and links at the start."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.discretization.connectivity import component_labels
from weft.energies.base import Energy

if TYPE_CHECKING:
    from weft.cloth.attachments.attachment import Attachment


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
        together: pairs of vertices, numbered with those of bodies after those of the cloth; the
            faces around such a pair do not meet in contact.
        links: connections at the start.
        rigid: pairs of a vertex of the cloth and the number of a rigid body that it does not meet.
        owners: the attachment of each energy, by its number.
    """

    energies: tuple[Energy, ...] = ()
    together: tuple[tuple[int, int], ...] = ()
    links: tuple[Link, ...] = ()
    rigid: tuple[tuple[int, int], ...] = ()
    owners: tuple[int, ...] = ()

    def updated(self, attachments: "Sequence[Attachment]") -> list[Energy]:
        """Return the energies with the numbers that ``attachments`` have at some time.

        The attached points and places, and the exceptions for contact, remain those of the start.
        """
        own: list[list[Energy]] = [[] for _ in attachments]
        for energy, owner in zip(self.energies, self.owners):
            own[owner].append(energy)
        return [e for a, energies in zip(attachments, own) for e in a.updated(energies)]

    def sewn(self, given: Ints | None, n: int, b: int, rigid: int = 0) -> Ints | None:
        """Return numbers of vertices; contact ignores pairs of primitives that share a number.

        Vertices have the same number if they belong to the same connected component of the graph of
        seams, ``together`` and ``rigid``.

        Args:
            given: (n,) numbers from the cloth's seams; None: no seams.
            n: number of vertices of the cloth.
            b: number of vertices of bodies that are not rigid.
            rigid: number of rigid bodies.

        Returns:
            (n+b,) numbers; (n+b+rigid,), with one number per rigid body at the end, if the cloth
            does not meet some of them; ``given`` itself if attachments add nothing.
        """
        if not (self.together or self.rigid):
            return given
        k = n + b + (rigid if self.rigid else 0)
        seams = np.arange(n) if given is None else np.asarray(given)
        held = [(v, n + b + body) for v, body in self.rigid]
        pairs = np.array([*self.together, *held])
        pairs = np.concatenate([pairs, np.stack([np.arange(n), seams], axis=1)])
        return component_labels(pairs, k)
