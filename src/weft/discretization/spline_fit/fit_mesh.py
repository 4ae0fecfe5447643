"""Fit of spline patches to a mesh of flat pieces, joined where the pieces share vertices.

If two sides run along the same vertices from end to end, they share their control points, and the
seam is closed exactly. If pieces share vertices along a part of a side only, stiff springs
(``PatchTies``) hold these vertices together.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import TriangleMesh, unique_edges
from weft.discretization.polygon import arc_lengths
from weft.discretization.quadrature import Rule
from weft.discretization.spline_fit.fit_patch import (
    LEAST,
    FitSettings,
    Fitted,
    corners_of,
    fit_patch,
)
from weft.discretization.spline_fit.lift import lift
from weft.discretization.spline_fit.outline import BoundaryPolygon, outline_of, sides_of
from weft.discretization.spline_surface import PatchTies, SharedSide, SplineSurface
from weft.discretization.surface import Tessellation

AROUND = ("bottom", "right", "top", "left")  # sides in the order of ``sides_of``
SAME = 1e-6  # difference of equal material coordinates, over the size of the mesh


@dataclass(frozen=True, eq=False)
class FlatPiece:
    """Part of a mesh with one set of material coordinates."""

    mesh: TriangleMesh
    vertices: Ints  # (k,) indices in the whole mesh

    @cached_property
    def outline(self) -> BoundaryPolygon:
        """Return the border of the piece."""
        return outline_of(self.mesh)

    def sides(self, corners: Ints) -> list[Ints]:
        """Return the vertices of the whole mesh along bottom, right, top and left."""
        ids = self.outline.vertices
        return [self.vertices[ids[side]] for side in sides_of(self.outline, corners)]


@dataclass(frozen=True, eq=False)
class FittedPieces:
    """Spline surface fitted to a mesh, with its control points in space."""

    surface: SplineSurface
    points: Positions  # (N,3) [m] control points in space
    pieces: Sequence[FlatPiece]

    def nearest_vertices(self, shown: Tessellation) -> Ints:
        """Return the vertex of the mesh that is nearest in the material, for each of ``shown``."""
        from scipy.spatial import cKDTree

        nearest = np.full(len(shown.embedding), -1, dtype=np.int64)
        for k, piece in enumerate(self.pieces):
            faces = shown.patch == k
            corners = shown.faces[faces].reshape(-1)
            uv = piece.mesh.vertex_uv
            assert uv is not None
            _, near = cKDTree(uv).query(shown.corner_uv[faces].reshape(-1, 2))
            nearest[corners] = piece.vertices[near]
        return nearest.astype(np.int32)


def flat_pieces(mesh: TriangleMesh) -> list[FlatPiece]:
    """Split a mesh into the parts that are connected in the material plane."""
    _, edge_of = unique_edges(mesh.faces)
    m = len(mesh.faces)
    size = float(np.ptp(mesh.corner_uv.reshape(-1, 2), axis=0).max())
    # Faces are connected across an edge if the material coordinates of its two ends are equal on
    # both sides. List these coordinates for every half-edge, lower vertex first.
    ends = np.stack([mesh.corner_uv, np.roll(mesh.corner_uv, -1, axis=1)], axis=2)
    turned = mesh.faces > np.roll(mesh.faces, -1, axis=1)
    ends = np.where(turned[:, :, None, None], ends[:, :, ::-1], ends).reshape(3 * m, 4)
    key = np.column_stack([edge_of, np.round(ends / (SAME * size)).astype(np.int64)])
    _, group = np.unique(key, axis=0, return_inverse=True)
    group = group.reshape(-1)
    link = sp.csr_matrix((np.ones(3 * m), (np.repeat(np.arange(m), 3), group)))
    count, label = sp.csgraph.connected_components(link @ link.T, directed=False)
    found = []
    for k in range(count):
        faces = np.flatnonzero(label == k)
        ids, local = np.unique(mesh.faces[faces], return_inverse=True)
        own, uv = local.reshape(-1, 3).astype(np.int32), mesh.corner_uv[faces]
        source = mesh.source if count == 1 else f"{mesh.source}, piece {k}"
        part = TriangleMesh(mesh.vertices[ids], own, uv, {}, source)
        found.append(FlatPiece(part, ids.astype(np.int32)))
    return found


def fit_pieces(
    mesh: TriangleMesh,
    spans: tuple[int, int] | None = None,
    size: float | None = None,
    corners: Sequence[Sequence[int]] | None = None,
    *,
    smooth: bool = False,
    rule: Rule = Rule.REDUCED,
    settings: FitSettings | None = None,
) -> FittedPieces:
    """Fit a patch to every piece of a mesh, and join the patches where the pieces are joined.

    Args:
        mesh: pieces that are flat in the material; in space they may have any shape.
        spans: knot spans of a single piece, along warp and weft.
        size: [m] of a knot span, for any number of pieces; joined sides get the same number of
            spans.
        corners: four vertices for every piece; None: found automatically.
        smooth: joined sides bend like the cloth beside them; else they fold freely.
        rule: quadrature.
        settings: settings of the fit; None: the defaults.

    Raises:
        MeshError: neither or both of spans and size, or spans with several pieces.
        PatchError: a piece that no patch fits.
    """
    pieces = flat_pieces(mesh)
    if (spans is None) == (size is None) or (spans is not None and len(pieces) > 1):
        raise MeshError(
            "spans",
            got=spans if spans is not None else size,
            where=mesh.source,
            expected="spans of a single piece, or a span_size for one or several",
            hint=f"this mesh has {len(pieces)} pieces",
        )
    if corners is not None and len(corners) != len(pieces):
        raise MeshError(
            "corners",
            got=f"for {len(corners)} pieces",
            where=mesh.source,
            expected=f"four vertices for each of {len(pieces)}",
        )
    chosen = []
    for k, piece in enumerate(pieces):
        place = {v: i for i, v in enumerate(piece.vertices.tolist())}
        ids = None if corners is None else [place.get(int(v), -1) for v in corners[k]]
        chosen.append(corners_of(piece.outline, ids, piece.mesh.source))
    borders = [piece.sides(c) for piece, c in zip(pieces, chosen)]
    joints = _joints(borders, smooth)
    counts = counts_of(pieces, chosen, joints, spans, size)
    fits = [
        fit_patch(p.outline, sides_of(p.outline, c), *n, settings, p.mesh.source)
        for p, c, n in zip(pieces, chosen, counts)
    ]
    surface = SplineSurface.of([f.patch for f in fits], joints, rule)
    ties = _ties(surface, pieces, chosen, fits)
    deviation = max(f.deviation for f in fits)
    surface = dataclasses.replace(surface, ties=ties, deviation=deviation)
    return FittedPieces(surface, _control_positions(surface, pieces), pieces)


def _ties(
    surface: SplineSurface, pieces: list[FlatPiece], chosen: list[Ints], fits: list[Fitted]
) -> PatchTies | None:
    """Return ties between vertices that pieces share but patches do not; None if there are none."""
    places: dict[int, tuple[Ints, Floats]] = {}
    stencil, coefficient, weight = [], [], []
    for ids, piece, corners, fit in zip(surface.ids, pieces, chosen, fits):
        vertices, uv, share = on_border(piece, corners, fit)
        f = fit.patch.functions(uv)
        for v, s, w, part in zip(vertices.tolist(), ids.reshape(-1)[f.stencil], f.value, share):
            if v not in places:
                places[v] = s, w
                continue
            both = np.concatenate([s, places[v][0]])
            difference = np.concatenate([w, -places[v][1]])
            net = np.bincount(both, difference)
            if np.abs(net).max() > SAME:
                stencil.append(both)
                coefficient.append(difference)
                weight.append(part)
    if not stencil:
        return None
    return PatchTies(np.array(stencil), np.array(coefficient), np.array(weight))


def on_border(piece: FlatPiece, corners: Ints, fit: Fitted) -> tuple[Ints, Floats, Floats]:
    """Return the border vertices of a piece, each once.

    Returns:
        Indices in the whole mesh (k,), parameters (k,2), and the length of border that each vertex
        represents, over a span's size (k,).
    """
    found: dict[int, tuple[Floats, float]] = {}
    m = fit.patch.spans
    for s, ids in enumerate(sides_of(piece.outline, corners)):
        p = piece.outline.places[ids]
        step = np.linalg.norm(np.diff(p, axis=0), axis=1)
        along = arc_lengths(p)
        axis = s % 2  # the parameter that runs along the side
        share = 0.5 * (np.append(step, 0.0) + np.append(0.0, step)) * m[axis] / along[-1]
        uv = np.empty((len(ids), 2))
        uv[:, axis] = m[axis] * along / along[-1]
        uv[:, 1 - axis] = (0.0, m[0], m[1], 0.0)[s]
        for i, at, part in zip(piece.vertices[piece.outline.vertices[ids]].tolist(), uv, share):
            found.setdefault(i, (at, float(part)))
    uv, share = (np.array(column) for column in zip(*found.values()))
    return np.array(list(found), dtype=np.int32), uv, share


def _joints(borders: list[list[Ints]], smooth: bool) -> list[SharedSide]:
    """Return the pairs of sides, of two pieces or of one, that run along the same vertices."""
    sides = [(k, s) for k in range(len(borders)) for s in range(4)]
    found = []
    for i, (k, s) in enumerate(sides):
        for other, t in sides[i + 1 :]:
            a, b = borders[k][s], borders[other][t]
            if len(a) != len(b):
                continue
            straight, turned = np.array_equal(a, b), np.array_equal(a, b[::-1])
            if straight or turned:
                found.append(SharedSide((k, AROUND[s]), (other, AROUND[t]), not straight, smooth))
    return found


def counts_of(
    pieces: Sequence[FlatPiece],
    chosen: Sequence[Ints],
    joints: Sequence[SharedSide],
    spans: tuple[int, int] | None,
    size: float | None,
) -> list[tuple[int, int]]:
    """Return the numbers of control points along u and v of every piece.

    They are equal where sides are joined.
    """
    if spans is not None:
        return [(spans[0] + 2, spans[1] + 2)]
    assert size is not None
    longest = [
        [arc_lengths(piece.outline.places[ids])[-1] for ids in sides_of(piece.outline, c)]
        for piece, c in zip(pieces, chosen)
    ]

    def along(end: tuple[int, str]) -> int:
        """Return the number of a side's direction: 2 k along u of piece k, 2 k + 1 along v."""
        return 2 * end[0] + int(end[1] in ("left", "right"))

    # Joined sides need equal numbers of control points in their directions: one class each.
    pairs = [(along(joint.first), along(joint.second)) for joint in joints]
    label = component_labels(np.array(pairs, dtype=np.int32).reshape(-1, 2), 2 * len(pieces))
    most = np.zeros(len(label))
    np.maximum.at(most, label, [max(v[k::2]) for v in longest for k in (0, 1)])
    n = [max(round(float(m) / size) + 2, LEAST) for m in most[label]]
    return list(zip(n[::2], n[1::2]))


def _control_positions(surface: SplineSurface, pieces: list[FlatPiece]) -> Positions:
    """Return the control points in space, (N,3) [m]; shared ones are at their mean place."""
    total, count = np.zeros((surface.n_points, 3)), np.zeros(surface.n_points)
    for patch, ids, piece in zip(surface.patches, surface.ids, pieces):
        m = piece.mesh
        x = lift(patch.rest.reshape(-1, 2), m.corner_uv, m.vertices[m.faces])
        np.add.at(total, ids.reshape(-1), x)
        np.add.at(count, ids.reshape(-1), 1.0)
    return total / count[:, None]
