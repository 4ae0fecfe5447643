"""The other ends of attachments: places, other points, and places of rigid bodies, which are
combinations of four points as vertices of splines are of their control points.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SceneError, check_known
from weft.bodies.body import Body
from weft.bodies.nearest_points import NearestPoints as Nearest
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.energies.springs.point_springs import MovedPlaces


@dataclass(frozen=True, eq=False)
class Ends:
    """Of ropes or springs.

    Args:
        stencil: (m,k) points.
        c: (m,k) with which they make what is between both ends, or from a place.
        to: (m,) vertices at the other ends; None: they are no vertices.
        start: (m,3) [m] places of the other ends; None: vertices.
        place: what moves these; None: points of the simulation.
    """

    stencil: Ints
    c: Floats
    to: Ints | None = None
    start: Positions | None = None
    place: MovedPlaces | None = None

    @staticmethod
    def of(single: tuple[Ints, Floats], place: MovedPlaces) -> "Ends":
        """From points, by their stencil and weights, to places."""
        return Ends(*single, None, place.start, place)


@dataclass(frozen=True, eq=False)
class RigidEnds:
    """Places (m,3) [m] of a rigid body, where it starts.

    Args:
        body: the body, with its points.
        number: among the rigid bodies.
        places: (m,3) [m].
    """

    body: AffineBody
    number: int
    places: Positions

    @staticmethod
    def of(loose: RigidBodies, others: Sequence[Body], name: str, what: str) -> "RigidEnds | None":
        """None yet, of the rigid body of a name; None where that is none.

        Raises:
            SceneError: no body of this name, where there are rigid ones; several, one of them
                rigid.
        """
        names = [b.name for b in loose.bodies]
        every = [*names, *(b.name for b in others)]
        if names:
            check_known(name, tuple(dict.fromkeys(every)), f"{what}.body", SceneError)
        if name not in names:
            return None
        if every.count(name) > 1:
            got = f"{every.count(name)} bodies called {name!r}"
            raise SceneError(f"{what}.body", got=got, expected="one of this name")
        k = names.index(name)
        return RigidEnds(loose.affine[k], k, np.zeros((0, 3)))

    def at(self, places: Positions) -> "RigidEnds":
        """Those at (m,3) [m]."""
        return RigidEnds(self.body, self.number, np.asarray(places, dtype=np.float64))

    @property
    def _found(self) -> Nearest:
        """Of the body's surface, what is nearest."""
        given = self.body.body
        return Nearest.of(self.places, given.vertices, given.faces)

    @property
    def distance(self) -> Floats:
        """(m,) [m] from the surface."""
        return self._found.distance

    @property
    def nearest(self) -> Positions:
        """(m,3) [m] of the surface."""
        return self._found.on(self.body.body.vertices, self.body.body.faces)

    def between(self, stencil: Ints, c: Floats) -> tuple[Ints, Floats]:
        """(m,k+4) points, and with which weights they make the way from the places to points that
        stencil and c (m,k) make.
        """
        own = np.arange(self.body.first, self.body.first + 4, dtype=np.int32)
        ids = np.broadcast_to(own, (len(stencil), 4))
        weights = -self.body.weights(self.places)
        return np.concatenate([stencil, ids], axis=1), np.concatenate([c, weights], axis=1)

    def beside(self, vertices: Ints) -> tuple[tuple[int, int], ...]:
        """Vertices of the cloth, each with the body's number."""
        return tuple((int(v), self.number) for v in vertices)
