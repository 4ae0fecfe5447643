"""USD reader: cloth and bodies from .usd, .usda, .usdc and .usdz, static, animated or skinned.

Meshes that are drawn are read (``usd_stage``). Transforms are applied, axes are turned to y up, and
units are those of the stage. Subsets of faces and points become groups; primvars of one number per
vertex become painted weights. Skinned meshes (UsdSkel) are baked to points, by linear blending
or by dual quaternions where they say so, before they are read.
"""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray, CornerUv, Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.discretization.mesh import mean_at_vertices
from weft.io.animation import turn_y_up
from weft.io.surface import (
    PLAIN,
    Contents,
    MovingMesh,
    PolygonTriangles,
    StageOptions,
    check_positions,
    check_selection,
    join_contents,
    join_moving,
    triangulate_polygons,
)
from weft.plugins.film.catmull_clark import INFINITE, Subdivision, cage
from weft.plugins.film.usd.usd_materials import MATERIAL_UV
from weft.plugins.film.usd.usd_open import is_below, open_stage
from weft.plugins.film.usd.usd_stage import (
    Placed,
    count_left_out,
    everything,
    list_drawn_meshes,
    n_points,
)

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom

# primvars of texture coordinates; the first one is used
UV_NAMES = (MATERIAL_UV, "st", "UVMap", "map1", "uv")
UV_TYPES = ("texCoord2f[]", "float2[]", "texCoord2d[]")
WEIGHT_TYPES = ("float[]", "double[]", "half[]", "int[]")
COLORS = ("red", "green", "blue")


def usd_contents(
    path: Path, prim: str | None, *, one: bool, options: StageOptions = PLAIN
) -> Contents:
    """Return the meshes of a stage at its first time, or at that of ``options``.

    Args:
        path: the file.
        prim: path or name of one of them; None: all.
        one: refuse several meshes, because the result becomes one cloth.
        options: how the stage is read.

    Raises:
        MeshError: ``usd-core`` is missing, a damaged file, no such mesh, or several.
    """
    with open_stage(path, prim, options) as stage:
        meshes = select_meshes(stage, path, prim, one, options)
        codes = _times(stage, meshes)
        start = options.frame
        if start is None:
            start = min(max(_origin(stage, codes, options), codes[0]), codes[-1])
        if not codes[0] <= start <= codes[-1]:
            raise MeshError(
                "frame",
                got=f"{start:g}",
                where=f"{path}{meshes[0].placed.name}",
                expected=f"a time code from {codes[0]:g} to {codes[-1]:g}, where it has samples",
            )
        meters = stage_meters(stage, path)
        found = []
        for mesh in meshes:
            x = mesh.positions(start)
            triangles = mesh.triangles(x, start)
            groups, regions = mesh.subsets(triangles)
            if len(meshes) > 1:
                own = {mesh.mesh.GetPrim().GetName(): np.arange(len(x), dtype=np.int32)}
                groups, regions = own | groups, {}
            uv, flaw = None, triangles.flaw
            try:
                uv = mesh.corner_uv(triangles, start)
            except MeshError as error:  # a body needs no texture coordinates
                flaw = flaw or error
            found.append(
                Contents(
                    x,
                    triangles.faces,
                    uv,
                    groups,
                    mesh.weights(start),
                    meters,
                    regions,
                    mesh.placed.name,
                    left_out=triangles.left_out,
                    flaw=flaw,
                )
            )
        joined = join_contents(found)
        return replace(joined, left_out={**joined.left_out, **_left_out(stage, meshes, prim)})


def usd_moving(
    path: Path, fps: float | None, prim: str | None, options: StageOptions = PLAIN
) -> MovingMesh:
    """Return the meshes of a stage at all times at which one of them has a sample.

    Args:
        path: the file.
        fps: time codes per second; None: those of the stage.
        prim: path or name of one of them; None: all.
        options: how the stage is read.

    Raises:
        MeshError: for the reasons of ``usd_contents``, or triangles that change.
    """
    with open_stage(path, prim, options) as stage:
        meshes = select_meshes(stage, path, prim, False, options)
        codes = _times(stage, meshes)
        x = [np.array([mesh.positions(code) for code in codes]) for mesh in meshes]
        triangles = [mesh.triangles(p[0], codes[0]) for mesh, p in zip(meshes, x)]
        rate = fps or stage.GetTimeCodesPerSecond()
        if not rate > 0:
            raise MeshError("timeCodesPerSecond", got=rate, expected="must be > 0", where=path)
        times = (np.array(codes) - _origin(stage, codes, options)) / rate
        names = [mesh.placed.name for mesh in meshes]
        for name, mesh, p in zip(names, meshes, x):
            end = max(mesh.placed.times(), default=codes[-1])
            if end < codes[-1] and np.ptp(p, axis=0).any():
                warnings.warn(
                    f"{path}{name}: its samples end at time code {end:g}, but others end at "
                    f"{codes[-1]:g}: this prim then stands still",
                    stacklevel=2,
                )
        faces = [found.faces for found in triangles]
        joined = join_moving(times, x, faces, stage_meters(stage, path), names)
        collapsed = sum((Counter(found.left_out) for found in triangles), Counter[str]())
        return replace(joined, left_out={**collapsed, **_left_out(stage, meshes, prim)})


def _left_out(stage: "Usd.Stage", meshes: "Sequence[UsdMesh]", prim: str | None) -> dict[str, int]:
    """Return the number of things of a stage that are not read, by their kind."""
    within = "/" if prim is None else prim if prim.startswith("/") else meshes[0].placed.name
    return dict(count_left_out(stage, [mesh.placed for mesh in meshes], within))


def stage_meters(stage: "Usd.Stage", path: Path) -> float:
    """Return the unit [m] of a stage.

    Raises:
        MeshError: it is not positive.
    """
    from pxr import UsdGeom

    meters = float(UsdGeom.GetStageMetersPerUnit(stage))
    if not (np.isfinite(meters) and meters > 0):
        raise MeshError("metersPerUnit", got=meters, expected="must be > 0", where=path)
    return meters


def select_meshes(
    stage: "Usd.Stage", path: Path, prim: str | None, one: bool, options: StageOptions
) -> "list[UsdMesh]":
    """Return the drawn meshes with a name: a mesh's own path or name, or the path of a prim above
    it.

    A mesh that is named by its own path or name is returned whether it is drawn or not.
    """
    from pxr import UsdGeom

    drawn = list_drawn_meshes(stage, path, 4**options.subdivide)
    meshes = drawn if prim is None else [p for p in drawn if _is_named(p.prim, p.name, prim)]
    if not meshes:
        every = [(p, str(p.GetPath())) for p in everything(stage) if p.IsA(UsdGeom.Mesh)]
        meshes = [Placed(p, at) for p, at in every if prim in (at, p.GetName())]
        hidden = [at for p, at in every if prim is None or _is_named(p, at, prim)]
        if hidden and not meshes:
            raise MeshError(
                "USD file",
                got=f"no mesh that is drawn{f' below {prim}' if prim else ''}",
                where=path,
                expected="a visible mesh of purpose default or render",
                hint=f"choose a mesh that is not drawn by its path: prim: {hidden[0]}",
            )
    names, known = [p.name for p in meshes], [p.name for p in drawn]
    check_selection(names, known, prim, one=one, what="USD file", path=path)
    read: dict[str, UsdMesh] = {}  # meshes that several instances share are read once
    found = []
    for p in meshes:
        at = str(p.prim.GetPath())
        if at not in read:
            read[at] = _read_polygons(p, path, options.subdivide)
        found.append(replace(read[at], placed=p))
    return found


def _is_named(prim: "Usd.Prim", name: str, said: str) -> bool:
    """Return whether ``said`` is a mesh's path or name, or the path of a prim above it."""
    return said in (name, prim.GetName()) or is_below(name, said)


def _times(stage: "Usd.Stage", meshes: "Sequence[UsdMesh]") -> list[float]:
    """Return the time codes at which points or transforms have samples; one code if nothing
    moves.
    """
    codes = set[float]().union(*(mesh.placed.times() for mesh in meshes))
    return sorted(codes) or [float(stage.GetStartTimeCode())]


def _origin(stage: "Usd.Stage", codes: Sequence[float], options: StageOptions) -> float:
    """Return the time code of the time 0, for samples at ``codes``."""
    if options.origin is not None:
        return options.origin
    start = float(stage.GetStartTimeCode())
    return start if stage.HasAuthoredTimeCodeRange() and start <= codes[-1] else codes[0]


def _read_polygons(placed: Placed, path: Path, levels: int) -> "UsdMesh":
    """Return a mesh with its polygons, and of a subdivision surface those of this level.

    Raises:
        MeshError: invalid faces or creases, or faces that change in time.
    """
    from pxr import Usd, UsdGeom

    mesh, where = UsdGeom.Mesh(placed.prim), f"{path}{placed.name}"
    for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()):
        codes = attribute.GetTimeSamples()  # many programs write the same faces at every frame
        same = [np.array_equal(attribute.Get(codes[0]), attribute.Get(c)) for c in codes[1:]]
        if not all(same):
            expected = "the same values at all times"
            raise MeshError(
                "faces", got="values that change in time", where=where, expected=expected
            )
    first = Usd.TimeCode.EarliestTime()
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(first) or [], dtype=np.int64)
    ids = np.array(mesh.GetFaceVertexIndicesAttr().Get(first) or [], dtype=np.int64)
    if len(counts) == 0 or counts.min() < 3 or counts.sum() != len(ids):
        raise MeshError(
            "faces",
            got=f"{len(counts)} of {counts.sum()} corners, and {len(ids)} indices",
            where=where,
            expected="faces of three or more corners, and an index for each",
        )
    corners = np.split(np.arange(len(ids)), np.cumsum(counts)[:-1])
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        corners = [c[::-1] for c in corners]
    places, least = np.concatenate(corners), int(ids.max()) + 1
    n = n_points(placed.prim)
    scheme = mesh.GetSubdivisionSchemeAttr().Get()
    if ids.min() < 0 or least > n or scheme in (UsdGeom.Tokens.none, UsdGeom.Tokens.bilinear):
        levels = 0  # polygons; what is wrong with them is found when they are cut to triangles
    if levels and scheme != UsdGeom.Tokens.catmullClark:
        expected = "catmullClark, bilinear or none"
        raise MeshError("subdivisionScheme", got=scheme, where=where, expected=expected)
    sharp = _sharp_features(mesh, ids, n, where) if levels else (ids[:0, None], ids[:0], ids[:0])
    shape = cage(counts, ids[places], n, *sharp)
    for _ in range(levels):
        shape = shape.refine()
    return UsdMesh(placed, mesh, str(path), shape, places, least)


def _sharp_features(
    mesh: "UsdGeom.Mesh", ids: AnyArray, n: int, where: str
) -> tuple[AnyArray, Floats, Floats]:
    """Return the sharp edges (k,2) of a mesh, their sharpness (k,), and that of its n vertices.

    Raises:
        MeshError: creases or corners whose arrays do not fit together.
    """
    from pxr import Usd, UsdGeom

    def read(attribute: "Usd.Attribute", kind: type) -> AnyArray:
        return np.array(attribute.Get(Usd.TimeCode.EarliestTime()) or [], dtype=kind)

    chain, lengths = read(mesh.GetCreaseIndicesAttr(), int), read(mesh.GetCreaseLengthsAttr(), int)
    sharpness = read(mesh.GetCreaseSharpnessesAttr(), float)
    vertices = read(mesh.GetCornerIndicesAttr(), int)
    at_vertices = read(mesh.GetCornerSharpnessesAttr(), float)
    every = np.concatenate([chain, vertices])
    sizes = lengths.sum() == len(chain) and (lengths > 1).all()
    sizes &= len(sharpness) in (len(lengths), (lengths - 1).sum())
    if not (sizes and len(vertices) == len(at_vertices) and np.isin(every, np.arange(n)).all()):
        got = f"{len(chain)} indices, {len(lengths)} lengths, {len(sharpness)} sharpnesses"
        raise MeshError("creases and corners", got=got, where=where, expected="arrays that fit")
    start = np.delete(np.arange(len(chain)), np.cumsum(lengths) - 1)
    if len(sharpness) == len(lengths):
        sharpness = np.repeat(sharpness, lengths - 1)
    uses, corners = np.bincount(ids, minlength=n), np.zeros(n)
    corners[vertices] = at_vertices
    corners[uses == 0] = INFINITE
    if mesh.GetInterpolateBoundaryAttr().Get() == UsdGeom.Tokens.edgeAndCorner:
        corners[uses == 1] = INFINITE
    return np.stack([chain[start], chain[start + 1]], axis=1), sharpness, corners


@dataclass(frozen=True, eq=False)
class UsdMesh:
    """One mesh of a stage, with its polygons, counter-clockwise seen from outside.

    Args:
        placed: its prim and transforms.
        mesh: the same prim.
        path: the file, for messages.
        shape: its polygons, of the level of subdivision at which they are taken.
        corners: (c,) place of the corners of all polygons of the cage in the arrays of the file.
        least: number of vertices that these polygons need.
    """

    placed: Placed
    mesh: "UsdGeom.Mesh"
    path: str
    shape: Subdivision
    corners: AnyArray
    least: int

    @property
    def n_points(self) -> int:
        """The number of points in the file."""
        return int(self.shape.points.shape[1])

    def positions(self, code: float) -> Positions:
        """Return the world positions (n,3) at a time code, in the stage's units, y up.

        Raises:
            MeshError: points that are missing or not finite, or fewer than the faces need.
        """
        from pxr import UsdGeom

        where = f"{self.path}{self.placed.name}"
        x = _floats(self.mesh.GetPointsAttr().Get(code), (0, 3))
        needed = max(self.least, self.n_points)
        if len(x) != needed:
            got = f"{len(x) or 'none'} at time code {code:g}"
            expected = f"{needed}, as faces and the first time need"
            raise MeshError("points", got=got, where=where, expected=expected)
        M = self.placed.to_world(code)
        with np.errstate(all="ignore"):
            x = x @ M[:3, :3] + M[3, :3]
        check_positions(x, where)
        x = self.shape.points @ x
        up = UsdGeom.GetStageUpAxis(self.placed.prim.GetStage())
        return turn_y_up(x) if up == UsdGeom.Tokens.z else x

    def triangles(self, x: Positions, code: float) -> PolygonTriangles:
        """Return the triangles of the polygons, reversed if the transform mirrors.

        Args:
            x: (n,3) positions.
            code: time code of the transform.
        """
        ids = self.shape.ids.astype(np.int32)
        polygons = np.split(ids, np.cumsum(self.shape.counts)[:-1])
        found = triangulate_polygons(x, polygons, f"{self.path}{self.placed.name}")
        if np.linalg.det(self.placed.to_world(code)[:3, :3]) >= 0:
            return found
        return replace(found, faces=found.faces[:, ::-1], corners=found.corners[:, ::-1])

    def corner_uv(self, triangles: PolygonTriangles, code: float) -> CornerUv | None:
        """Return the texture coordinates (m,3,2) of triangles; None if the mesh has none.

        Raises:
            MeshError: values that are neither one per corner nor one per vertex.
        """
        from pxr import UsdGeom

        primvars = UsdGeom.PrimvarsAPI(self.mesh).GetPrimvars()
        found = {p.GetPrimvarName(): p for p in primvars if str(p.GetTypeName()) in UV_TYPES}
        names = [n for n in UV_NAMES if n in found] or list(found)
        if not names:
            return None
        primvar = found[names[0]]
        uv = _floats(primvar.ComputeFlattened(code), (0, 2))
        kind = primvar.GetInterpolation()
        at_vertices = kind in (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying)
        if at_vertices and len(uv) >= self.n_points:
            return np.asarray((self.shape.points @ uv[: self.n_points])[triangles.faces])
        if kind == UsdGeom.Tokens.faceVarying and len(uv) == len(self.corners):
            return np.asarray((self.shape.values @ uv[self.corners])[triangles.corners])
        raise MeshError(
            f"primvar {names[0]}",
            got=f"{len(uv)} values, {kind}",
            where=self.placed.name,
            expected="one value per corner (faceVarying) or per vertex",
        )

    def subsets(self, triangles: PolygonTriangles) -> tuple[dict[str, Ints], dict[str, Ints]]:
        """Return the vertices of every subset by name, and the triangles of every subset of faces.

        Args:
            triangles: of the polygons.
        """
        from pxr import UsdGeom

        groups: dict[str, Ints] = {}
        regions: dict[str, Ints] = {}
        for subset in UsdGeom.Subset.GetAllGeomSubsets(self.mesh):
            name = subset.GetPrim().GetName()
            ids = np.array(subset.GetIndicesAttr().Get() or [], dtype=np.int64)
            kind = subset.GetElementTypeAttr().Get()
            of_faces = kind == UsdGeom.Tokens.face
            members = np.isin(self.shape.polygon, ids)
            if of_faces:
                regions[name] = triangles.of_polygons(np.flatnonzero(members).tolist())
            valid = len(ids) > 0 and ids.min() >= 0
            if valid and of_faces and ids.max() <= self.shape.polygon[-1]:
                corners = self.shape.ids[np.repeat(members, self.shape.counts)]
                groups[name] = np.unique(corners).astype(np.int32)
            elif valid and kind == UsdGeom.Tokens.point and ids.max() < self.n_points:
                groups[name] = np.unique(ids).astype(np.int32)
        return groups, regions

    def weights(self, code: float) -> dict[str, Floats]:
        """Return the primvars with one number for each vertex, or for each corner (their mean at a
        vertex), by name.

        Colors are three of them: red, green and blue of displayColor, and NAME.red of others. A
        primvar of another length is left out, with a warning.
        """
        from pxr import UsdGeom

        found: dict[str, Floats] = {}
        at_vertices = (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying)
        n = self.shape.points.shape[0]
        for p in UsdGeom.PrimvarsAPI(self.mesh).GetPrimvars():
            kind, name, place = p.GetTypeName(), p.GetPrimvarName(), p.GetInterpolation()
            at_corners = place == UsdGeom.Tokens.faceVarying
            is_color = kind.role == "Color"
            if not (str(kind) in WEIGHT_TYPES or is_color) or not (
                place in at_vertices or at_corners
            ):
                continue
            if p.GetElementSize() != 1:  # weights of joints
                continue
            values = _floats(p.ComputeFlattened(code), (0,))
            count = len(self.corners) if at_corners else self.n_points
            if len(values) != count:
                warnings.warn(
                    f"primvar {name} of {self.path}{self.placed.name} is left out: {len(values)} "
                    f"values ({place}), not {count}",
                    stacklevel=2,
                )
                continue
            if at_corners:
                at = self.shape.values @ values[self.corners]
                values = mean_at_vertices(self.shape.ids, at, n)
            else:
                values = self.shape.points @ values
            first = "" if name == "displayColor" else f"{name}."
            names = [first + color for color in COLORS] if is_color else [name]
            found.update(zip(names, values.reshape(n, -1).T))
        return found


def _floats(values: ArrayLike, none: tuple[int, ...]) -> Floats:
    """Return an array of USD in float64; a missing one is an empty array of shape ``none``."""
    with np.errstate(invalid="ignore"):  # signaling NaN
        return np.array(np.zeros(none) if values is None else values, dtype=np.float64)
