"""The other ends of attachments: fixed places, points of the cloth, and points of rigid bodies.

A point of a rigid body is a linear combination of the body's four points, as a vertex of a spline
is one of its control points.
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
    """The ends of ropes or springs.

    Args:
        stencil: (m,k) indices of points.
        c: (m,k) coefficients of the points: with ``place`` they give the point of the cloth (and
            sum to one), otherwise the vector between both ends (and sum to zero).
        to: (m,) vertices at the other ends; None: the other ends are not vertices.
        start: (m,3) [m] places of the other ends at the start; None: they are vertices.
        place: moving places of the other ends; None: the stencil contains the other ends.
    """

    stencil: Ints
    c: Floats
    to: Ints | None = None
    start: Positions | None = None
    place: MovedPlaces | None = None

    @staticmethod
    def of(single: tuple[Ints, Floats], place: MovedPlaces) -> "Ends":
        """Build ends between points, given by stencil and weights, and places."""
        return Ends(*single, None, place.start, place)


@dataclass(frozen=True, eq=False)
class RigidEnds:
    """Places on a rigid body.

    Args:
        body: the body, with its points.
        number: index among the rigid bodies.
        places: (m,3) [m] places, where the body starts.
    """

    body: AffineBody
    number: int
    places: Positions

    @staticmethod
    def of(loose: RigidBodies, others: Sequence[Body], name: str, what: str) -> "RigidEnds | None":
        """Return ends, still without places, on the rigid body with a name; None if there is none.

        Raises:
            SceneError: there are rigid bodies, but no body has this name; or several have it and
                one of them is rigid.
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
        """Return the ends at these places (m,3) [m]."""
        return RigidEnds(self.body, self.number, np.asarray(places, dtype=np.float64))

    @property
    def _found(self) -> Nearest:
        """The nearest points of the body's surface."""
        given = self.body.body
        return Nearest.of(self.places, given.vertices, given.faces)

    @property
    def distance(self) -> Floats:
        """(m,) [m] distances of the places from the surface."""
        return self._found.distance

    @property
    def nearest(self) -> Positions:
        """(m,3) [m] nearest points of the surface."""
        return self._found.on(self.body.body.vertices, self.body.body.faces)

    def between(self, stencil: Ints, c: Floats) -> tuple[Ints, Floats]:
        """Return stencil and coefficients (m,k+4) of the vectors from the places to other points.

        Args:
            stencil: (m,k) indices of points.
            c: (m,k) coefficients with which they make the other points.
        """
        ids, weights = self.stencil(len(stencil)), -self.body.weights(self.places)
        return np.concatenate([stencil, ids], axis=1), np.concatenate([c, weights], axis=1)

    def stencil(self, rows: int) -> Ints:
        """Return the indices of the body's points, (rows,4)."""
        own = np.arange(self.body.first, self.body.first + 4, dtype=np.int32)
        return np.broadcast_to(own, (rows, 4))

    def beside(self, vertices: Ints) -> tuple[tuple[int, int], ...]:
        """Return pairs of a vertex of the cloth and the body's number."""
        return tuple((int(v), self.number) for v in vertices)
