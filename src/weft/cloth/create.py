"""Functions that create cloth: ``weft.sheet``, ``weft.spline_sheet``, ``weft.triangulate``,
``weft.load``, and ``weft.join``, which makes one cloth of several.
"""

import dataclasses
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, cast

import numpy as np

from weft.base.arrays import ArrayArgument, ArrayOf, Floats, Positions, Vector
from weft.base.errors import MeshError, check_known
from weft.base.machine import PER_CLOTH_VERTEX, require_memory
from weft.base.runtime_types import checked
from weft.base.settings import Length, Seed, Size
from weft.cloth.cloth import Cloth, ClothPart
from weft.cloth.regions import ContactThickness, fabric_regions, own_thickness
from weft.discretization.bspline import rectangle
from weft.discretization.compound_surface import Surfaces, merge_pieces
from weft.discretization.manifold import mesh_faults
from weft.discretization.mesh import Pattern, TriangleMesh, grid
from weft.discretization.quadrature import Rule
from weft.discretization.spline_surface import Bending, SplineSurface
from weft.fabric.fabric import Fabric, FabricLike
from weft.fabric.fabric import fabric as as_fabric

Polygon = Annotated[ArrayArgument, ArrayOf("numbers", ((None, 2),), "m")]
DISCRETIZATIONS = ("triangles", "bspline")


@checked(MeshError)
def join(
    cloths: Sequence[Cloth],
    names: Sequence[str] | None = None,
    thickness: Sequence[Length | Literal["fabric"] | None] | None = None,
) -> Cloth:
    """Join several cloths into one for simulation together; they interact by contact alone.

    Args:
        cloths: at least one cloth, each at its start.
        names: name of each cloth; None: ``cloth 1``, ``cloth 2``, ...
        thickness: [m] distance that each cloth keeps in contact; ``fabric``: the thickness of its
            fabric; None: that of the scene's contact.

    Raises:
        MeshError: there are no cloths, a name occurs twice, or a cloth of splines is already
            joined.
    """
    thickness = [None] * len(cloths) if thickness is None else thickness
    if len(thickness) != len(cloths):
        got, expected = f"{len(thickness)} of them", f"one for each of {len(cloths)} cloths"
        raise MeshError("join.thickness", got=got, expected=expected)
    names = [f"cloth {k + 1}" for k in range(len(cloths))] if names is None else names
    if not cloths or len(set(names)) < len(cloths) or len(names) != len(cloths):
        raise MeshError("join.names", got=list(names), expected="a different name for each")
    pieces = [merge_pieces(c.surfaces.pieces) for c in cloths]
    if any(len(made) > 1 for made in pieces):
        raise MeshError(
            "cloths", got="cloths that are joined already", expected="join all cloths in one call"
        )
    parts, groups, loose, vertex, face = [], {}, [], 0, 0
    n = sum(c.n_vertices for c in cloths)
    weights: dict[str, Floats] = {}
    for cloth, name, distance in zip(cloths, names, thickness):
        ids = np.arange(vertex, vertex + cloth.n_vertices, dtype=np.int32)
        faces = np.arange(face, face + len(cloth.faces), dtype=np.int32)
        regions = [r.shift(face, f"{name} {r.name}") for p in cloth.parts for r in p.regions]
        kept = cast("ContactThickness", distance)  # text with a unit is a number by now
        parts.append(ClothPart(name, cloth.fabric, ids, faces, kept, tuple(regions)))
        groups[name] = ids
        groups.update({f"{name} {g}": ids[v] for g, v in cloth.mesh.groups.items()})
        for painted, values in cloth.mesh.weights.items():
            weights.setdefault(painted, np.zeros(n))[ids] = values
        loose.append(ids[cloth.mesh.loose_edges])
        vertex, face = vertex + len(ids), face + len(faces)
    mesh = TriangleMesh(
        np.concatenate([c.vertices for c in cloths]),
        np.concatenate([c.faces + p.vertices[0] for c, p in zip(cloths, parts)]),
        np.concatenate([c.corner_uv for c in cloths]),
        groups,
        ", ".join(dict.fromkeys(c.mesh.source for c in cloths)),
        weights,
        welded=cloths[0].mesh.welded if len(cloths) == 1 else None,
        loose_edges=np.concatenate(loose),
    )
    points = np.concatenate([c.points for c in cloths])
    first = np.cumsum([0, *(len(c.points) for c in cloths)]).tolist()
    surfaces = [piece.among(points, f) for (piece,), f in zip(pieces, first)]
    sewn = None
    if any(c.sewn is not None for c in cloths):
        own = [np.arange(c.n_vertices) if c.sewn is None else c.sewn for c in cloths]
        sewn = np.concatenate([s + p.vertices[0] for s, p in zip(own, parts)])
    return Cloth(mesh, cloths[0].fabric, tuple(parts), Surfaces(points, surfaces), sewn)


@checked(MeshError)
def spline_sheet(
    n1: int,
    n2: int,
    width: Size = 1.0,
    height: Size = 1.0,
    fabric: FabricLike = "cotton",
    *,
    net: str = "greville",
    rule: str = "reduced",
    bending: str = "plate",
    density: int = 1,
) -> Cloth:
    """Create a rectangle of quadratic B-splines on the plane y = 0, centered at the origin.

    Args:
        n1: control points along the width (warp), at least 3.
        n2: control points along the height (weft), at least 3.
        width: [m], or text with a unit.
        height: [m], or text with a unit.
        fabric: a preset's name, a .yaml file, fields as in YAML (``{"preset": "silk", "density":
            "60 gsm"}``), or a Fabric.
        net: ``greville``: all knot spans have the same size; ``uniform``: control points are
            equally far apart, as in Meng et al. (2025), and boundary spans are half as long again.
        rule: quadrature: ``reduced``, ``alternating`` (Meng et al.), ``full`` (3 x 3 points a
            span), ``2x2`` or ``1x1``.
        bending: ``plate``: a strip bends with the fabric's rigidity; ``mean``: the square of the
            mean curvature (Meng et al.), which resists saddles and narrow strips too little.
        density: samples per knot span of the triangles that contact uses.

    Raises:
        MeshError: sizes are out of range, or the net or rule is unknown.
        FabricError: the fabric is unknown.
    """
    width, height = float(width), float(height)
    patch = rectangle(n1, n2, width, height, net)
    surface = SplineSurface.of([patch], (), *_kinds(rule, bending))
    flat = patch.rest.reshape(-1, 2) - (width / 2, height / 2)
    points = np.stack([flat[:, 0], np.zeros(len(flat)), -flat[:, 1]], axis=1)
    source = f"spline sheet {n1} x {n2}"
    return of_splines(surface, points, as_fabric(fabric), density=density, source=source)


@checked(MeshError)
def as_splines(
    cloth: Cloth,
    *,
    spans: int | tuple[int, int] | None = None,
    span_size: Size | None = None,
    corners: Sequence[ArrayArgument] | None = None,
    smooth: bool = False,
    density: int = 1,
    rule: str = "reduced",
    bending: str = "plate",
) -> Cloth:
    """Convert a cloth of triangles to splines: fit a patch to every flat piece of its mesh (Meng et
    al. 2025, supplement, section 3) and join the patches where pieces share vertices.

    Args:
        cloth: a cloth of triangles with one fabric.
        spans: knot spans of a single piece: along the warp and the weft, or one number for both.
        span_size: [m] size of a span, instead of ``spans``; for any number of pieces.
        corners: four vertices of the border, or four for every piece; None: they are detected.
        smooth: seams bend like the cloth beside them; otherwise they fold freely.
        density: samples per knot span of the triangles that contact uses.
        rule: quadrature, as in ``spline_sheet``.
        bending: as in ``spline_sheet``.

    Raises:
        MeshError: neither or both of spans and span_size are given, or the cloth is not a single
            cloth of triangles.
        PatchError: no patch fits a piece: it has no four corners, its border crosses itself, or its
            net stays inverted. ``weft check`` can draw the piece.
    """
    from weft.discretization.spline_fit.fit_mesh import (
        fit_pieces,  # imported here because it loads slow parts of SciPy
    )

    size = None if span_size is None else float(span_size)
    if cloth.embedding is not None or len(cloth.parts) > 1:
        raise MeshError(
            "cloth for splines", got=cloth.mesh.source, expected="a single cloth of triangles"
        )
    if cloth.parts[0].regions:
        raise MeshError(
            "cloth for splines",
            got=f"fabrics by region: {cloth.fabric_names}",
            expected="one fabric",
            where=cloth.mesh.source,
            hint="only triangles have regions; cut the mesh for splines",
        )
    quadrature, form = _kinds(rule, bending)
    both = (spans, spans) if isinstance(spans, int) else spans
    _check_spans(cloth, both, size)
    given = [corners] if corners is not None and np.ndim(corners[0]) == 0 else corners
    mesh = cloth.mesh
    for text in mesh_faults(mesh):
        warnings.warn(text, stacklevel=2)
    found = fit_pieces(mesh, both, size, given, smooth=smooth, rule=quadrature)
    surface = dataclasses.replace(found.surface, bending=form)
    made = of_splines(surface, found.points, density=density, source=mesh.source)
    (own,), (old,) = made.parts, cloth.parts
    # Groups and weights of a vertex are those of the nearest vertex of the mesh.
    near = found.nearest_vertices(made.surfaces.shown)
    groups = {
        name: np.flatnonzero(np.isin(near, ids)).astype(np.int32)
        for name, ids in mesh.groups.items()
    }
    weights = {name: w[near] for name, w in mesh.weights.items()}
    named = dataclasses.replace(made.mesh, groups=groups, weights=weights)
    part = dataclasses.replace(own, name=old.name, thickness=old.thickness, fabric=cloth.fabric)
    return dataclasses.replace(made, mesh=named, fabric=cloth.fabric, given=(part,))


def _check_spans(cloth: Cloth, spans: tuple[int, int] | None, size: float | None) -> None:
    """Raise a MeshError for numbers of spans, or sizes [m], that no memory or no cloth has."""
    if spans is None and size is not None and not size > 0:
        raise MeshError("spline.span_size", got=size, expected="must be > 0 [m]")
    area = float(cloth.mesh.rest_area.sum())
    count = float(spans[0]) * spans[1] if spans else area / (size or math.inf) ** 2
    what, got = ("spline.spans", spans) if spans else ("spline.span_size", size)
    if min(spans or (1,)) < 1:
        raise MeshError(what, got=got, expected="1 or more")
    require_memory(count * PER_CLOTH_VERTEX, what, got, MeshError)


def _kinds(rule: str, bending: str) -> tuple[Rule, Bending]:
    """Return the quadrature rule and the bending energy with these names."""
    check_known(rule, tuple(r.value for r in Rule), "spline rule", MeshError)
    check_known(bending, tuple(b.value for b in Bending), "spline bending", MeshError)
    return Rule(rule), Bending(bending)


def of_splines(
    surface: SplineSurface,
    points: Positions,
    fabric: FabricLike = "cotton",
    *,
    density: int = 1,
    source: str = "spline",
) -> Cloth:
    """Create a cloth of spline patches with control points at ``points`` (N,3) [m].

    Args:
        surface: the patches and their quadrature.
        points: (N,3) [m] control points.
        fabric: as in ``sheet``.
        density: samples per knot span of the triangles that contact uses.
        source: name of the source for messages.
    """
    points = np.array(points, dtype=np.float64)
    made_of = Surfaces(points, [dataclasses.replace(surface, density=density)])
    return Cloth(made_of.shown.mesh(points, source), as_fabric(fabric), (), made_of)


@checked(MeshError)
def sheet(
    nx: int,
    ny: int,
    width: Size = 1.0,
    height: Size = 1.0,
    *,
    pattern: Pattern = "regular",
    fabric: FabricLike = "cotton",
    seed: Seed = 0,
) -> Cloth:
    """Create a rectangle of nx by ny vertices, on the plane y = 0 and centered at the origin; its
    "top" edge is at the back.

    Args:
        nx: vertices along the width (warp), at least 2.
        ny: vertices along the height (weft), at least 2.
        width: [m], or text with a unit.
        height: [m], or text with a unit.
        pattern: ``regular``, ``alternating`` or ``random`` triangles.
        fabric: a preset's name, a .yaml file, fields as in YAML (``{"preset": "silk", "density":
            "60 gsm"}``), or a Fabric.
        seed: seed of the random pattern.

    Raises:
        MeshError: sizes are out of range.
        FabricError: the fabric is unknown.
    """
    width, height = float(width), float(height)
    require_memory(nx * ny * PER_CLOTH_VERTEX, "sheet.nx", (nx, ny), MeshError)
    return Cloth(grid(nx, ny, width, height, pattern, seed), as_fabric(fabric))


@checked(MeshError)
def triangulate(
    outline: Polygon,
    holes: Sequence[Polygon] = (),
    size: Size = 0.02,
    *,
    divide: bool = True,
    fabric: FabricLike = "cotton",
    seed: Seed = 0,
) -> Cloth:
    """Create a cloth of any outline from irregular, nearly equilateral triangles.

    The cloth lies on the plane y = 0, centered at the origin; the outline gives its material
    coordinates.

    Args:
        outline: (k,2) [m] polygon, warp along the first coordinate. Vertices 0, 1, ... of the mesh
            are its points in turn, then those of the holes (groups ``outline``, ``hole 0``, ...).
        holes: polygons inside the outline.
        size: [m] edge length inside; triangles are smaller along shorter edges of the outline.
        divide: add points on edges of the outline that are longer than ``size``, closer together
            towards sharp corners; False: add none. Given points are never moved.
        fabric: a preset's name, a .yaml file, fields as in YAML (``{"preset": "silk", "density":
            "60 gsm"}``), or a Fabric.
        seed: seed of the points inside; another seed gives another mesh of the same outline.

    Raises:
        MeshError: the size is out of range, or polygons cross.
        FabricError: the fabric is unknown.
    """
    from weft.discretization.triangulate import triangulate_piece  # loads slow parts of SciPy, too

    return Cloth(triangulate_piece(outline, holes, float(size), divide, seed), as_fabric(fabric))


def with_regions(
    mesh: TriangleMesh,
    fabrics: Mapping[str, Fabric],
    rest: Fabric | None = None,
    *,
    own: bool = False,
) -> Cloth:
    """Create a cloth from a mesh whose regions have fabrics of their own and share border vertices.

    Args:
        mesh: mesh with ``regions``.
        fabrics: fabric of each region by the name of the region.
        rest: fabric of the faces in no region; None: every face must be in a region.
        own: every region keeps the thickness of its own fabric in contact; False: that of the
            scene's contact.

    Raises:
        MeshError: a region does not exist, or a face is in two regions or in none.
    """
    regions = fabric_regions(mesh, fabrics, rest)
    if own:
        regions = tuple(dataclasses.replace(r, thickness=own_thickness(r.fabric)) for r in regions)
    cloth = Cloth(mesh, regions[0].fabric)
    (whole,) = cloth.parts
    return dataclasses.replace(cloth, given=(dataclasses.replace(whole, regions=regions),))


@checked(MeshError)
def load(
    path: str | Path,
    *,
    fabric: FabricLike | None = None,
    scale: Size | None = None,
    uv_scale: Size | None = None,
    warp: Vector | None = None,
    prim: str | None = None,
    rest: str | Path | float | None = None,
    weld: bool | Size | None = None,
    sewing: Literal["edges"] | None = None,
    fabrics: Mapping[str, FabricLike] | None = None,
    discretization: str = "triangles",
    spans: int | tuple[int, int] | None = None,
    span_size: Size | None = None,
    corners: Sequence[ArrayArgument] | None = None,
    smooth: bool = False,
) -> Cloth:
    """Load a cloth from a mesh file: OBJ, PLY, USD or glTF.

    Args:
        path: the file.
        fabric: a preset's name, a .yaml file, fields as in YAML (``{"preset": "silk", "density":
            "60 gsm"}``), or a Fabric; None: cotton.
        scale: length of the file's unit [m]: 0.01 or "1 cm" for centimeters; None: as the file says
            (USD), else 1 m.
        uv_scale: length of the unit of its texture coordinates [m]; None: the same as ``scale``.
        warp: direction of the warp yarns in space, on the mesh of the rest shape; None: that of the
            first texture coordinate. Needed if the file has no texture coordinates.
        prim: path or name of the mesh in a USD or glTF file with several meshes.
        rest: the rest shape: ``mesh``, the mesh of the file; ``uv``, its texture coordinates;
            another mesh file of the same faces; a number, the mesh at that time code (USD). None:
            the mesh if a warp is given, or if texture coordinates are far from isometric, which is
            a warning; else the texture coordinates.
        weld: True: vertices that coincide become one; a distance [m], or text with a unit: also
            those that are so near; False: none; None: those that texture coordinates by vertex have
            split (PLY, glTF).
        sewing: ``edges``: ``cloth.mesh.loose_edges`` (k,2) are the edges of the file without faces.
            ``weft.AttachCloth(*cloth.mesh.loose_edges.T, closing="1 s")`` sews along them.
        fabrics: fabric of each region of the file (USD subsets, OBJ groups and materials, glTF
            materials, PLY numbers of faces); ``fabric`` is then for faces in none of these.
        discretization: ``triangles``, or ``bspline``: splines are fitted (``as_splines``).
        spans: knot spans of the splines of a single piece.
        span_size: [m] size of a span, instead of ``spans``.
        corners: four vertices of the border of splines, or four for every piece.
        smooth: seams of splines bend like the cloth beside them.

    Raises:
        MeshError: the file cannot be read, or the mesh cannot be simulated.
        FabricError: the fabric is unknown.
    """
    from weft.io import read_mesh

    unit = None if scale is None else float(scale)
    uv_unit = None if uv_scale is None else float(uv_scale)
    how = {"warp": warp, "prim": prim, "rest": rest, "sewing": sewing}
    how["weld"] = weld if weld is None or isinstance(weld, bool) else float(weld)
    mesh = read_mesh(Path(path), scale=unit, uv_scale=uv_unit, **how)  # type: ignore[arg-type]
    check_known(discretization, DISCRETIZATIONS, "discretization", MeshError)
    if fabrics:
        other = None if fabric is None else as_fabric(fabric)
        cloth = with_regions(mesh, {name: as_fabric(f) for name, f in fabrics.items()}, other)
    else:
        cloth = Cloth(mesh, as_fabric("cotton" if fabric is None else fabric))
    if discretization == "triangles":
        return cloth
    return as_splines(cloth, spans=spans, span_size=span_size, corners=corners, smooth=smooth)
