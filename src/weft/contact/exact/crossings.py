"""Pairs of faces that intersect, divided into those that must not and those that may."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Ints, Positions
from weft.contact.collision_groups import Marks
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.exact.intersections import intersections


@dataclass(frozen=True, eq=False)
class Crossings:
    """Pairs of faces that intersect, by what contact says about them.

    Args:
        forbidden: (k,2) faces that must not intersect.
        excluded: (k,2) faces that contact leaves out: joined by a seam or a tie, or of groups that
            ignore each other.
        released: (k,2) faces that pass through each other (``contact.released``).
    """

    forbidden: Ints
    excluded: Ints
    released: Ints

    @staticmethod
    def of(mesh: CollisionMesh, y: Positions, released: Ints | None = None) -> "Crossings":
        """Find the pairs of faces that intersect. Two faces of prescribed bodies, and two faces of
        one rigid body, may do so and are left out.

        Args:
            mesh: the surfaces.
            y: (n+b,3) [m] vertices.
            released: (n+b,) levels of released vertices; None: none are.
        """
        faces = mesh.faces
        # All faces of prescribed bodies come after those of cloth and rigid bodies.
        of_bodies = faces[:, 0] >= mesh.sides.first_body
        pairs = intersections(y, faces, quiet=of_bodies)
        if len(pairs) == 0:
            return Crossings(pairs, pairs, pairs)
        one, other = faces[pairs[:, 0]], faces[pairs[:, 1]]
        joined = mesh.joined.join(one, other)
        own = joined & mesh.sides.in_one_rigid_body(one[:, 0], other[:, 0])

        def ignored(marks: Marks) -> Bools:
            return np.asarray((marks[pairs[:, 0], 0] & marks[pairs[:, 1], 1]) != 0)

        out = joined | ignored(mesh.excluded_without_pins.faces)
        free = np.zeros(len(pairs), dtype=bool)
        if released is not None:
            free = ~out & ignored(mesh.sides.marks(faces, np.zeros(len(y), dtype=bool), released))
        return Crossings(pairs[~(out | free)], pairs[out & ~own], pairs[free])
