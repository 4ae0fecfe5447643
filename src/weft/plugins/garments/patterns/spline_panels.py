"""Spline patches of a garment's panels: one patch for each panel with four corners.

The mesh into which the panel was cut stays the surface for pictures, contact and seams; the patch
moves it. Seams therefore meet point by point at equal fractions of their lengths, as on triangles,
with any number of knot spans.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import PatternError, abbreviate
from weft.discretization.mesh import TriangleMesh
from weft.discretization.patch_triangulation import PatchTriangulation, parameters_at
from weft.discretization.polygon import cross, triangle_sides
from weft.discretization.quadrature import Rule
from weft.discretization.spline_fit.fit_mesh import AROUND, FlatPiece, counts_of, on_border
from weft.discretization.spline_fit.fit_patch import LEAST, Fitted, corners_of, fit_patch
from weft.discretization.spline_fit.lift import lift
from weft.discretization.spline_fit.outline import BoundaryPolygon, sides_of
from weft.discretization.spline_fit.patch_error import PatchDrawing, PatchError
from weft.discretization.spline_surface import Bending, SharedSide, SplineSurface
from weft.plugins.garments.patterns.garment import Garment

FEWEST = LEAST - 1  # least mesh edges along an edge of a panel, for the fewest control points
KEPT = 1e-3  # weight of the lifted control points in ``_fit_placement``, relative to one vertex
LEAST_AREA = 0.1  # part of its area on paper that a triangle has to keep on the patch
TRIANGLES = "or use `discretization: triangles` for this garment"


@dataclass(frozen=True, eq=False)
class SplineGarment:
    """A garment of spline patches: the cut garment, and the surface and control points of each
    panel.
    """

    garment: Garment
    surfaces: Mapping[str, SplineSurface]
    points: Mapping[str, Positions]  # (N,3) [m] where each panel starts


def fit_patches(
    garment: Garment,
    size: float,
    rule: Rule = Rule.REDUCED,
    bending: Bending = Bending.PLATE,
) -> SplineGarment:
    """Return a garment with a spline patch for every panel, at its start position.

    Args:
        garment: cut with at least ``FEWEST`` mesh edges along each edge of its panels, and placed.
        size: [m] of a knot span. Two sides that a seam joins from end to end have the same number
            of spans.
        rule: quadrature rule.
        bending: bending model of the patches.

    Raises:
        PatternError: a size out of range, a panel that does not have four corners, or a fold inside
            one.
        PatchError: a panel that no patch fits.
    """
    if not (np.isfinite(size) and size > 0):
        raise PatternError("spline.span_size", got=size, expected="must be > 0 [m]")
    _check_representable(garment)
    pieces = [_panel_mesh(garment, name) for name in garment.vertices]
    chosen = []
    for piece, ids in zip(pieces, garment.patch_corners()):
        local = np.searchsorted(piece.vertices, ids).tolist()
        chosen.append(corners_of(piece.outline, local, piece.mesh.source))
    counts = counts_of(pieces, chosen, _whole_side_seams(garment, pieces, chosen), None, size)
    surfaces, points = {}, {}
    for name, piece, corners, (n1, n2) in zip(garment.vertices, pieces, chosen, counts):
        sides = sides_of(piece.outline, corners)
        _check_counts(name, piece.outline, sides, (n1, n2, n1, n2))
        fit = fit_patch(piece.outline, sides, n1, n2, None, piece.mesh.source)
        own = np.arange(n1 * n2, dtype=np.int32).reshape(n1, n2)
        touched = _triangulate_patch(piece, corners, fit)
        made = SplineSurface([fit.patch], [own], n1 * n2, (), rule, None, bending, fit.deviation)
        surfaces[name] = replace(made, touched=touched)
        points[name] = _fit_placement(surfaces[name], piece.mesh)
    return SplineGarment(garment, surfaces, points)


def _check_representable(garment: Garment) -> None:
    """Raise an error that names the panels which patches cannot represent."""
    bad = [
        f"panel {p.name} ({len(ids)})"
        for p, ids in zip(garment.pattern.panels, garment.patch_corners())
        if len(ids) != 4
    ]
    if bad:
        raise PatternError(
            "corners of a garment of splines",
            got=abbreviate(bad, 8),
            expected="four in every panel, where its outline turns by more than 20 degrees",
            hint="cut these into pieces with four corners (darts and notches have corners too), "
            + TRIANGLES,
        )
    folded = list(dict.fromkeys(f"panel {line.panel}" for line in garment.folds))
    if folded:
        raise PatternError(
            "folds of a garment of splines",
            got=abbreviate(folded, 8),
            expected="no fold inside a panel, because a patch is smooth",
            hint="cut the panel there and sew it with the seam's `angle`, " + TRIANGLES,
        )


def _panel_mesh(garment: Garment, name: str) -> FlatPiece:
    """Return the mesh of a panel, and the ids of its vertices in the garment."""
    ids, mesh = garment.vertices[name], garment.panel_mesh(name)
    named = replace(mesh, source=f"{mesh.source}, panel {name}")
    return FlatPiece(named, np.arange(ids.start, ids.stop, dtype=np.int32))


def _whole_side_seams(
    garment: Garment, pieces: Sequence[FlatPiece], chosen: Sequence[Ints]
) -> list[SharedSide]:
    """Return the pairs of sides that a seam joins from end to end; they get the same number of
    control points.
    """
    place: dict[bytes, tuple[int, str]] = {}
    for k, (piece, corners) in enumerate(zip(pieces, chosen)):
        for name, ids in zip(AROUND, piece.sides(corners)):
            place[np.sort(ids).tobytes()] = k, name
    found = []
    for line in garment.seams:
        ends = [place.get(np.unique(line.pairs[:, s]).tobytes()) for s in (0, 1)]
        if ends[0] is not None and ends[1] is not None:
            found.append(SharedSide(ends[0], ends[1]))
    return found


def _check_counts(
    name: str, outline: BoundaryPolygon, sides: Sequence[Ints], counts: tuple[int, ...]
) -> None:
    """Raise an error if a side has fewer vertices than control points."""
    for side, n in zip(sides, counts):
        if len(side) < n:
            raise PatchError(
                f"panel {name}",
                got=f"{len(side)} vertices along a side of {n} control points",
                expected="at least the same number, because seams and contact use vertices",
                hint="a smaller garment.size, or a larger spline.span_size",
                drawing=outline.drawing(outline.places[side]),
            )


def _triangulate_patch(piece: FlatPiece, corners: Ints, fit: Fitted) -> PatchTriangulation:
    """Return the panel's own triangles on its patch.

    Vertices along the border lie at fractions of the sides' lengths, vertices inside where they are
    on paper.

    Raises:
        PatchError: triangles that the patch inverts or flattens.
    """
    mesh, patch = piece.mesh, fit.patch
    flat = mesh.vertex_uv
    assert flat is not None
    uv = parameters_at(patch, flat)
    border, own, _ = on_border(piece, corners, fit)
    uv[np.searchsorted(piece.vertices, border)] = own
    at = patch.material(uv)
    before, after = _areas(flat, mesh.faces), _areas(at, mesh.faces)
    bad = np.flatnonzero((after < LEAST_AREA * before) | (_areas(uv, mesh.faces) <= 0))
    if len(bad):
        places = flat[mesh.faces[bad]].mean(1)
        raise PatchError(
            mesh.source,
            got=f"{len(bad)} triangles flattened near {np.round(places[0], 3)} m, "
            f"as the patch keeps to the outline by {1e3 * fit.deviation:.2g} mm",
            expected="a patch that follows its outline",
            hint="a smaller spline.span_size, or a larger garment.size",
            drawing=PatchDrawing(piece.outline.places, places),
        )
    return PatchTriangulation(uv, mesh.faces)


def _areas(p: Floats, faces: Ints) -> Floats:
    """Return (m,) twice the signed areas of triangles in a plane."""
    return cross(*triangle_sides(p[faces]))


def _fit_placement(surface: SplineSurface, mesh: TriangleMesh) -> Positions:
    """Return the control points (N,3) [m] whose patch is nearest to the start positions of the
    panel's vertices in the least-squares sense.

    The lifted control points, with the small weight ``KEPT``, determine what the vertices leave
    open.
    """
    W = surface.shown.embedding.matrix
    rest = surface.patches[0].rest.reshape(-1, 2)
    start = lift(rest, mesh.corner_uv, mesh.vertices[mesh.faces])
    A = (W.T @ W + KEPT * sp.eye(W.shape[1])).tocsc()
    return np.asarray(start + spla.splu(A).solve(W.T @ (mesh.vertices - W @ start)))
