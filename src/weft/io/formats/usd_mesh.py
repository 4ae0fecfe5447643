"""One mesh of a USD stage: polygons, world positions, texture coordinates, subsets, primvars."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import CornerUv, Faces, Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.io.formats.usd_stage import Placed
from weft.io.surface import triangles_in, triangulated

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom

UV_NAMES = ("st", "UVMap", "map1", "uv")  # primvars of texture coordinates; the first one is used


@dataclass(frozen=True, eq=False)
class UsdMesh:
    """One drawn mesh of a stage, with its polygons."""

    placed: Placed
    mesh: "UsdGeom.Mesh"
    polygons: Sequence[Ints]
    top: int  # the largest vertex index

    @property
    def name(self) -> str:
        """Return its path; that of an instance is ``/instancer/3/mesh``."""
        return self.placed.name


def part_of(placed: Placed, path: Path) -> UsdMesh:
    """Return a mesh with its polygons.

    Raises:
        MeshError: invalid faces, or faces that change in time.
    """
    from pxr import Usd, UsdGeom

    mesh, where = UsdGeom.Mesh(placed.prim), f"{path}{placed.name}"
    for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()):
        codes = attribute.GetTimeSamples()  # many programs write the same faces at every frame
        same = [np.array_equal(attribute.Get(codes[0]), attribute.Get(c)) for c in codes[1:]]
        if not all(same):
            raise MeshError(
                "faces",
                got="some that change in time",
                where=where,
                expected="the same at all times",
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
    top = int(ids.max())
    polygons = np.split(ids.astype(np.int32), np.cumsum(counts)[:-1])
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        polygons = [p[::-1] for p in polygons]
    return UsdMesh(placed, mesh, polygons, top)


def positions(stage: "Usd.Stage", part: UsdMesh, code: float, path: Path) -> Positions:
    """Return the world positions (n,3) at a time code, in the stage's units, y up.

    Raises:
        MeshError: points that are missing or not finite, or fewer than the faces need.
    """
    from pxr import UsdGeom

    where = f"{path}{part.name}"
    x = _floats(part.mesh.GetPointsAttr().Get(code), (0, 3))
    if len(x) == 0:
        raise MeshError("points", got=f"none at time code {code:g}", where=where, expected="some")
    if part.top >= len(x):
        raise MeshError(
            "points",
            got=f"{len(x)} at time code {code:g}",
            where=where,
            expected=f"{part.top + 1} or more, as faces need",
        )
    M = part.placed.to_world(code)
    with np.errstate(all="ignore"):
        x = x @ M[:3, :3] + M[3, :3]
    if not np.isfinite(x).all():
        bad = int(np.flatnonzero(~np.isfinite(x).all(1))[0])
        raise MeshError(
            f"position of vertex {bad}", got=x[bad], where=where, expected="finite numbers"
        )
    up = UsdGeom.GetStageUpAxis(stage)
    return x if up != UsdGeom.Tokens.z else np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1)


def triangles(part: UsdMesh, x: Positions, code: float, path: Path) -> tuple[Faces, Ints]:
    """Return the triangles and corners of a mesh, reversed if its transform mirrors.

    Args:
        part: the mesh.
        x: (n,3) its positions.
        code: time code of the transform.
        path: the file, for messages.

    Returns:
        The two arrays (m,3) of ``surface.triangulated``.
    """
    faces, corners = triangulated(x, part.polygons, f"{path}{part.name}")
    mirrored = np.linalg.det(part.placed.to_world(code)[:3, :3]) < 0
    return (faces[:, ::-1], corners[:, ::-1]) if mirrored else (faces, corners)


def _floats(values: ArrayLike, none: tuple[int, ...]) -> Floats:
    """Return an array of USD in float64; a missing one is an empty array of shape ``none``."""
    with np.errstate(invalid="ignore"):  # signaling NaN
        return np.array(np.zeros(none) if values is None else values, dtype=np.float64)


def corner_uv_of(part: UsdMesh, corners: Ints, code: float) -> CornerUv | None:
    """Return the texture coordinates (m,3,2) of triangles; None if the mesh has none.

    Args:
        part: the mesh.
        corners: (m,3) corners of the triangles, among the corners of all polygons.
        code: time code.

    Raises:
        MeshError: values that are neither one per corner nor one per vertex.
    """
    from pxr import UsdGeom

    found = {
        p.GetPrimvarName(): p
        for p in UsdGeom.PrimvarsAPI(part.mesh).GetPrimvars()
        if str(p.GetTypeName()) in ("texCoord2f[]", "float2[]", "texCoord2d[]")
    }
    names = [n for n in UV_NAMES if n in found] or list(found)
    if not names:
        return None
    primvar = found[names[0]]
    uv = _floats(primvar.ComputeFlattened(code), (0, 2))
    kind = primvar.GetInterpolation()
    ids = np.concatenate(part.polygons)
    if kind in (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying) and len(uv) > ids.max():
        return np.asarray(uv[ids[corners]])
    if kind == UsdGeom.Tokens.faceVarying and len(uv) == len(ids):
        if part.mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
            ends = np.cumsum([len(p) for p in part.polygons])[:-1]
            uv = np.concatenate([u[::-1] for u in np.split(uv, ends)])
        return np.asarray(uv[corners])
    raise MeshError(
        f"primvar {names[0]}",
        got=f"{len(uv)} values, {kind}",
        where=part.name,
        expected="one a corner (faceVarying) or a vertex",
    )


def groups_of(part: UsdMesh, n: int, *, several: bool) -> dict[str, Ints]:
    """Return the vertices of every subset by name.

    Args:
        part: the mesh.
        n: number of its vertices.
        several: the file has several meshes; all vertices are then a group with the mesh's name.
    """
    from pxr import UsdGeom

    found: dict[str, Ints] = {}
    if several:
        found[part.mesh.GetPrim().GetName()] = np.arange(n, dtype=np.int32)
    for subset in UsdGeom.Subset.GetAllGeomSubsets(part.mesh):
        ids = np.array(subset.GetIndicesAttr().Get() or [], dtype=np.int64)
        kind = subset.GetElementTypeAttr().Get()
        most = len(part.polygons) if kind == UsdGeom.Tokens.face else n
        if len(ids) == 0 or ids.min() < 0 or ids.max() >= most:
            continue
        if kind == UsdGeom.Tokens.face:
            ids = np.concatenate([part.polygons[k] for k in ids])
        elif kind != UsdGeom.Tokens.point:
            continue
        found[subset.GetPrim().GetName()] = np.unique(ids).astype(np.int32)
    return found


def regions_of(part: UsdMesh, corners: Ints) -> dict[str, Ints]:
    """Return the triangles of every subset of faces by name.

    Args:
        part: the mesh.
        corners: (m,3) corners of the triangles, among the corners of all polygons.
    """
    from pxr import UsdGeom

    ends = np.cumsum([len(p) for p in part.polygons])
    polygon = np.searchsorted(ends, corners[:, 0], side="right").astype(np.int32)
    found: dict[str, Ints] = {}
    for subset in UsdGeom.Subset.GetAllGeomSubsets(part.mesh):
        if subset.GetElementTypeAttr().Get() == UsdGeom.Tokens.face:
            members = list(subset.GetIndicesAttr().Get() or [])
            found[subset.GetPrim().GetName()] = triangles_in(members, polygon)
    return found


def weights_of(part: UsdMesh, n: int, code: float) -> dict[str, Floats]:
    """Return the primvars with one number per vertex, by name.

    Args:
        part: the mesh.
        n: number of its vertices.
        code: time code.
    """
    from pxr import UsdGeom

    found: dict[str, Floats] = {}
    for p in UsdGeom.PrimvarsAPI(part.mesh).GetPrimvars():
        if str(p.GetTypeName()) not in ("float[]", "double[]", "half[]", "int[]"):
            continue
        if p.GetInterpolation() not in (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying):
            continue
        values = _floats(p.ComputeFlattened(code), (0,))
        if len(values) == n:
            found[p.GetPrimvarName()] = values
    return found
