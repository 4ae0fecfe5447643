"""Exact balls and capsules: contact with the points or the segment inside, at the distance of the
radius, in place of the drawn faces.

A ball is one vertex, a capsule one edge, whose pairs keep the radius as a thickness. The faces of
the body lie inside this surface. They stay in the collision mesh for what needs a surface: exact
predicates at the start and for frames, attachments, pictures and files.

A ball or capsule is exact if it stands still or moves without rotation, because friction follows
the motion of the vertex or edge. It is in contact with its faces if it is a rigid body, a link of
an arm or rotates, if cloth is attached to it, if contact untangles a start, releases cloth or lets
pins pass, and if cloth starts inside (the inside of a sphere may be a room).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.bodies.body import Body
from weft.contact.settings import SelfContact


@dataclass(frozen=True, eq=False)
class Cores:
    """The vertices and segments in a collision mesh that stand for exact balls and capsules."""

    radius: Floats  # (n,) [m] distance of the surface from a vertex; 0 for other vertices
    points: Ints  # (p,) vertices with a radius
    segments: Ints  # (s,2) vertices of the segments of capsules
    surface: Bools  # (n,) vertices of the drawn faces, in whose place the cores are

    @staticmethod
    def of(bodies: Sequence[Body], exact: Sequence[int], first: int, n: int) -> "Cores | None":
        """Return the cores of exact bodies, whose vertices are the last of the n of a collision
        mesh; None if no body is exact.

        Args:
            bodies: bodies that the cloth does not move.
            exact: numbers of the exact ones.
            first: vertex of the mesh with which the bodies begin.
            n: number of vertices.
        """
        if not exact:
            return None
        ends = first + np.cumsum([0, *(len(body.vertices) for body in bodies)])
        radius, surface = np.zeros(n), np.zeros(n, dtype=bool)
        points, segments = [], []
        at = int(ends[-1])
        for k in exact:
            core = bodies[k].core
            assert core is not None
            surface[ends[k] : ends[k + 1]] = True
            own = list(range(at, at + len(core.points)))
            radius[own] = core.radius
            points += own
            if len(own) == 2:
                segments.append(own)
            at += len(own)
        both = np.array(segments, dtype=np.int32).reshape(-1, 2)
        return Cores(radius, np.array(points, dtype=np.int32), both, surface)


def _force_at_half_gap(gap: Any, thickness: Any) -> Any:
    """Return the force of a barrier of stiffness 1 at half the gap beyond a thickness, over 2 k."""
    t = thickness + gap / 2
    s = (thickness + gap / 4) / (gap + 2 * thickness)  # y/Y
    return 2 * t * t * (2 * (1 - s) * np.log(s) - (1 - s) ** 2 / s)


def stiffness_part(gap: float, thickness: Floats, radius: Floats) -> Floats:
    """Return the part of the stiffness that pairs with a core have, (n,); 1 at other vertices.

    The barrier is a function of squared distances, so its slope grows with the distance that a pair
    keeps. With this part, a core pushes at half the gap as a pair without a radius does.

    Args:
        gap: [m] beyond the thickness.
        thickness: (n,) [m] of the vertices.
        radius: (n,) [m] of the cores; 0 at other vertices.
    """
    whole = _force_at_half_gap(gap, thickness + radius)
    return np.asarray(_force_at_half_gap(gap, thickness) / whole)


def change_of_stiffness_part(
    gap: float, thickness: Floats, radius: Floats, by_gap: float, by_thickness: Floats
) -> Floats:
    """Return the relative change (n,) of ``stiffness_part`` by changes of gap and thickness, from
    a complex step.
    """
    h = 1e-30j
    changed = [
        _force_at_half_gap(gap + h * by_gap, thickness + h * by_thickness + r)
        for r in (np.zeros(1), radius)
    ]
    return np.asarray(np.log(changed[0] / changed[1]).imag / 1e-30)


def exact_bodies(
    bodies: Sequence[Body], settings: SelfContact, start: Positions, ties: Ints | None
) -> list[int]:
    """Return the numbers of the bodies whose cores take the place of their faces.

    Args:
        bodies: bodies that the cloth does not move.
        settings: of contact.
        start: (n,3) [m] vertices of cloth and rigid bodies at the start.
        ties: (k,2) vertices of the collision mesh that are tied; None: there are none.
    """
    if settings.resolve or settings.pinch == "release" or settings.prescribed == "pass":
        return []
    ends = len(start) + np.cumsum([0, *(len(body.vertices) for body in bodies)])
    tied = np.zeros(0, dtype=np.int32) if ties is None else ties
    return [
        k
        for k, body in enumerate(bodies)
        if body.core is not None
        and not _rotates(body)
        and not ((tied >= ends[k]) & (tied < ends[k + 1])).any()
        and not _is_inside(start, core_of(body).at(0.0), body.core.radius)
    ]


def _rotates(body: Body) -> bool:
    """Return whether a body may rotate or deform, which friction of its core would not follow."""
    if body.rigid is not None or body.link is not None or body.frames is not None:
        return True
    return body.path is not None and bool(body.path.values[:, 3].any())


def _is_inside(points: Positions, core: Positions, radius: float) -> bool:
    """Return whether one of the points (n,3) is nearer than the radius to a core (1,3) or (2,3)."""
    first, last = core[0], core[-1]
    way = last - first
    part = np.clip((points - first) @ way / max(float(way @ way), 1e-300), 0.0, 1.0)
    far = np.linalg.norm(points - first - part[:, None] * way, axis=1)
    return bool((far < radius).any())


def core_of(body: Body) -> Body:
    """Return the points of a body's core as a body with the same motion."""
    core = body.core
    assert core is not None
    # A body has a face at least; contact does not search this one.
    face = np.arange(3, dtype=np.int32)[None] % len(core.points)
    return Body(core.points, face, body.path, body.name, body.thickness)
