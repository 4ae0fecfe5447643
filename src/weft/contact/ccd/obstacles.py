"""Obstacles of a step: the surfaces that leave no room for its prescribed motion."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Floats, Ints, Positions, Vector
from weft.contact.broad_phase.candidates import Candidates
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.cores import Cores
from weft.contact.distance.distance import closest_of
from weft.energies.obstacle import Obstacle

OPPOSITE = -0.3  # cosine between the normals of two sides that close on something between them


@dataclass(frozen=True, eq=False)
class PrescribedContacts:
    """Prescribed sides of pairs that collide in a step.

    Args:
        vertices: (m,4) vertices of each pair.
        held: (m,4) which of them are prescribed, on the side that is meant.
        at: (m,3) [m] places on the prescribed surface.
        normal: (m,3) unit vectors from there to the cloth.
    """

    vertices: Ints
    held: Bools
    at: Positions
    normal: Floats

    @staticmethod
    def of(
        y: Positions, pairs: Candidates, held: Bools, cores: Cores | None
    ) -> "PrescribedContacts":
        """Return the sides of pairs (m,4) that are mostly prescribed, with ``held`` (m,4).

        A side is the part of a pair whose weights at the closest points have one sign. Both sides
        of a pair may be prescribed. If no side is mostly prescribed, those with a prescribed
        vertex are returned. y (n+b,3) [m] are the vertices at the start of the step.
        The surface of a core is at its radius.
        """
        stencil, kinds = pairs.device
        w = closest_of(y, stencil, kinds)[1]
        sides = np.concatenate([held & (w > 0), held & (w < 0)])
        ids, w = np.tile(pairs.pairs, (2, 1)), np.tile(w, (2, 1))
        share = np.abs(np.where(sides, w, 0.0).sum(1))
        chosen = share > (0.5 if (share > 0.5).any() else 0.0)
        ids, w, sides, share = ids[chosen], w[chosen], sides[chosen], share[chosen]
        at = np.einsum("ma,mai->mi", np.where(sides, np.abs(w), 0.0), y[ids]) / share[:, None]
        sign = np.sign(np.where(sides, w, 0.0).sum(1))
        away = -sign[:, None] * np.einsum("ma,mai->mi", w, y[ids])
        normal = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-300)
        if cores is not None:
            at = at + np.where(sides, cores.radius[ids], 0.0).max(1, initial=0.0)[:, None] * normal
        return PrescribedContacts(ids, sides, at, normal)

    @staticmethod
    def join(parts: "Sequence[PrescribedContacts]") -> "PrescribedContacts":
        """Return the pairs of all parts."""
        names = ("vertices", "held", "at", "normal")
        return PrescribedContacts(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))


@dataclass(frozen=True, eq=False)
class ClosingSurfaces:
    """Prescribed surfaces that close on cloth.

    Args:
        cloth: (c,) vertices of the cloth that is caught.
        sides: prescribed vertices of one surface, and of the other one; the second may be empty.
        obstacle: the same, for a report.
    """

    cloth: Ints
    sides: tuple[Ints, Ints]
    obstacle: Obstacle

    @staticmethod
    def of(
        mesh: CollisionMesh,
        dy: Floats,
        last: Ints,
        met: PrescribedContacts,
        place: Vector,
        t: float,
    ) -> "ClosingSurfaces":
        """Find the surfaces that close on cloth: they belong to different pieces or bodies, or have
        opposite normals.

        Args:
            mesh: the surfaces.
            dy: (n+b,3) [m] displacements in the step.
            last: (m,4) vertices of the pairs that collide at last.
            met: all pairs with a prescribed side that collided, at least one.
            place: [m] of the first of the last pairs.
            t: [s] end of the step.
        """
        order = np.argsort(np.linalg.norm(met.at - place, axis=1), kind="stable")
        ids, held = met.vertices[order], met.held[order]
        at, normal = met.at[order], met.normal[order]
        one = ids[np.arange(len(ids)), held.argmax(1)]  # a vertex of each prescribed side
        part = mesh.sides.part[one]
        other = (part != part[0]) | (normal @ normal[0] < OPPOSITE)
        sides = np.unique(ids[~other][held[~other]]), np.unique(ids[other][held[other]])
        cloth = np.setdiff1d(last[last < mesh.sides.first_body], np.concatenate(sides))
        rows, room = [0], None
        if other.any():
            rows.append(int(other.argmax()))
            a, b = (at[k] + dy[one[k]] for k in rows)
            room = max(0.0, float((b - a) @ normal[0]))
        faces = [int(one[k]) for k in rows] + [int(v) for v in cloth[:1]]
        places = [vector(at[k] + dy[one[k]]) for k in rows] + [place]
        obstacle = Obstacle(place, faces, places, t, False, room)
        return ClosingSurfaces(cloth, sides, obstacle)

    def passing_side(self, dy: Floats) -> Ints:
        """Return the vertices of the side that passes through the cloth if that is released: the
        one that moves more in the step, with the displacements dy (n+b,3) [m].
        """
        one, other = self.sides
        if len(other) == 0:
            return one
        speeds = [float(np.linalg.norm(dy[side], axis=1).mean()) for side in self.sides]
        return one if speeds[0] > speeds[1] else other


def passing_sides(y: Positions, pair: Ints, first_body: int, t: float) -> Obstacle:
    """Return the obstacle of prescribed cloth that would pass through another surface.

    Args:
        y: (n+b,3) [m] vertices where they meet.
        pair: (4,) vertices that meet.
        first_body: number of the first vertex of bodies that are prescribed.
        t: [s] when they meet.
    """
    ordered = sorted((int(v) for v in pair), key=lambda v: v >= first_body)
    sides = [ordered[0], ordered[-1]]
    return Obstacle(vector(y[pair].mean(0)), sides, [vector(y[v]) for v in sides], t, True)


def near_sides(y: Positions, pair: Ints, t: float, cores: Cores | None) -> Obstacle:
    """Return the obstacle of a pair (4,) that is nearer than its thickness, at y (n+b,3) [m]."""
    sides, place = [int(pair[0]), int(pair[-1])], middle_of(y, pair, cores)
    places = [place if _is_core(v, cores) else vector(y[v]) for v in sides]
    return Obstacle(place, sides, places, t, False)


def middle_of(y: Positions, pair: Ints, cores: Cores | None) -> Vector:
    """Return the middle [m] of the vertices of a pair (4,) at y (n+b,3) [m], without cores, which
    are inside their bodies.
    """
    own = [v for v in pair.tolist() if not _is_core(v, cores)]
    return vector(y[own].mean(0))


def _is_core(vertex: int, cores: Cores | None) -> bool:
    return cores is not None and bool(cores.radius[vertex] > 0)


def vector(p: Positions) -> Vector:
    """Return a point (3,) as three numbers."""
    x, y, z = p.tolist()
    return x, y, z
