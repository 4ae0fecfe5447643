"""Outline of a flat piece of cloth, its four corners and its four sides.

Meng et al. 2025, supplement, section 3.1. The paper leaves the corners to the user; here they can
also be found automatically.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import MeshError
from weft.discretization.mesh import TriangleMesh, half_edges
from weft.discretization.polygon import (
    arc_lengths,
    crossing_point,
    first_crossing,
    interpolate_points,
    turn_angles,
)
from weft.discretization.spline_fit.patch_error import PatchDrawing, PatchError

WINDOW = 0.02  # fraction of the perimeter on either side, over which the angle is measured
TURN = np.radians(20.0)  # smallest angle of a usable corner
MOST = 7  # largest number of corners among which four are chosen
APART = 0.06  # smallest fraction of the perimeter between two corners


@dataclass(frozen=True, eq=False)
class BoundaryPolygon:
    """Closed polygon of border vertices, counter-clockwise in the material plane."""

    vertices: Ints  # (k,) vertex indices of the mesh
    places: Floats  # (k,2) [m]

    def drawing(self, marks: Floats | tuple[()] = ()) -> PatchDrawing:
        """Return a drawing of this outline for an error."""
        return PatchDrawing(self.places, marks)


def outline_of(mesh: TriangleMesh) -> BoundaryPolygon:
    """Return the border of a piece that has one set of material coordinates.

    Raises:
        PatchError: no border, a hole, or an outline that crosses itself.
        MeshError: a seam inside the piece, or a border that passes a vertex twice.
    """
    uv = mesh.vertex_uv
    if uv is None:
        raise MeshError(
            "piece to fit",
            got="several material coordinates at the same vertex",
            where=mesh.source,
            expected="one flat piece; `weft.load` fits pieces one by one",
        )
    mirrored = bool(mesh.signed_material_area.sum() < 0)
    loops = _loops(mesh)
    if mirrored:
        loops = [loop[::-1] for loop in loops]
    if len(loops) != 1:
        at = np.concatenate([uv[loop] for loop in loops]) if loops else uv[:0]
        raise PatchError(
            "piece to fit",
            got=f"{len(loops)} borders",
            where=mesh.source,
            expected="one border: a piece without holes",
            drawing=PatchDrawing(at),
            hint="cut the piece in two across the hole, or keep triangles for it",
        )
    found = BoundaryPolygon(loops[0], uv[loops[0]])
    crossing = first_crossing([found.places])
    if crossing is not None:
        ids = [crossing[0][1], crossing[1][1]]
        at = np.round(crossing_point([found.places], crossing), 4).tolist()
        raise PatchError(
            "outline of the piece",
            got=f"crosses itself at vertices {found.vertices[ids].tolist()}, near {at}",
            expected="a simple outline",
            where=mesh.source,
            hint="`weft check` draws the piece; unfold it in the program that made the pattern",
            drawing=found.drawing(found.places[ids]),
        )
    return found


def _loops(mesh: TriangleMesh) -> list[Ints]:
    """Return the borders of a mesh, each in the direction of its faces."""
    half = half_edges(mesh.faces)
    n = mesh.n_vertices
    keys = half[:, 0].astype(np.int64) * n + half[:, 1]
    border = half[~np.isin(half[:, 1].astype(np.int64) * n + half[:, 0], keys)]
    following = dict(border.tolist())
    if len(following) < len(border):
        bad = [int(v) for v in np.flatnonzero(np.bincount(border[:, 0]) > 1)[:5]]
        raise MeshError(
            "border of the piece",
            got=f"passes vertices {bad} twice",
            where=mesh.source,
            expected="each vertex once",
        )
    loops = []
    while following:
        start, at = following.popitem()
        loop = [start]
        while at != start:
            loop.append(at)
            at = following.pop(at)
        loops.append(np.array(loop, dtype=np.int32))
    return loops


def turning(outline: BoundaryPolygon) -> Floats:
    """Return the angle [rad] by which the outline turns left at every vertex, (k,).

    The angle is between the directions from the point ``WINDOW`` of the perimeter before the vertex
    and to the point ``WINDOW`` after it, so that rounded corners are found, too.
    """
    p = outline.places
    closed = np.concatenate([p, p[:1]])
    s = arc_lengths(closed)
    around = s[-1]

    def at(t: Floats) -> Floats:
        return interpolate_points(t % around, s, closed)

    reach = WINDOW * around
    before, after = p - at(s[:-1] - reach), at(s[:-1] + reach) - p
    return turn_angles(before, after)


def usable_corners(outline: BoundaryPolygon, where: str = "mesh") -> Ints:
    """Return the vertices of the outline where it turns most, as places in the outline, (c,).

    Four to ``MOST`` of them, largest angle first, each at least ``APART`` of the perimeter from the
    others.

    Raises:
        PatchError: fewer than four.
    """
    turn = turning(outline)
    p = outline.places
    s = arc_lengths(p)
    around = s[-1] + float(np.linalg.norm(p[0] - p[-1]))
    chosen: list[int] = []
    for i in np.argsort(-turn, kind="stable").tolist():
        gap = [abs(s[i] - s[j]) for j in chosen]
        if turn[i] > TURN and all(min(g, around - g) > APART * around for g in gap):
            chosen.append(i)
        if len(chosen) == MOST:
            break
    if len(chosen) < 4:
        at = p[chosen]
        raise PatchError(
            "corners of the piece",
            got=f"{len(chosen)} usable",
            where=where,
            expected="four places where the outline turns by more than 20 degrees",
            hint="name four vertices of the outline as `corners`",
            drawing=outline.drawing(at),
        )
    return np.array(chosen)


def check_corners(outline: BoundaryPolygon, given: Sequence[int], where: str = "mesh") -> Ints:
    """Return the places in the outline of four vertices, (4,).

    Args:
        outline: the outline.
        given: indices of the vertices.
        where: name in error messages.

    Raises:
        PatchError: not four different vertices, or some that are not on the outline.
    """
    place = {int(v): i for i, v in enumerate(outline.vertices)}
    missing = [int(v) for v in given if int(v) not in place]
    if len(set(given)) != 4 or missing:
        raise PatchError(
            "corners of the piece",
            got=list(given),
            where=where,
            expected="four different vertices of its outline",
            hint=f"not on the outline: {missing}" if missing else None,
            drawing=outline.drawing(),
        )
    return np.array([place[int(v)] for v in given])


def along_warp(outline: BoundaryPolygon, corners: Ints) -> Ints:
    """Return four corners, counter-clockwise, from the side that runs most along the warp."""
    corners = np.sort(corners)
    side = outline.places[np.roll(corners, -1)] - outline.places[corners]
    along = side[:, 0] / np.maximum(np.linalg.norm(side, axis=1), 1e-300)
    return np.roll(corners, -int(np.argmax(along)))


def sides_of(outline: BoundaryPolygon, corners: Ints) -> list[Ints]:
    """Return the places in the outline of the four sides: bottom, right, top, left.

    The bottom and top run along u = 0 to m1, the left and right along v = 0 to m2; each is in the
    direction of its parameter.
    """
    k = len(outline.vertices)
    found: list[Ints] = []
    for side in range(4):
        start, end = int(corners[side]), int(corners[(side + 1) % 4])
        ids = np.arange(start, end + 1 if end > start else end + k + 1) % k
        way = ids if side < 2 else ids[::-1]
        found.append(way.astype(np.int32))
    return found
