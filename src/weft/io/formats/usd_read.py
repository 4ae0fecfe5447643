"""USD in: cloth and bodies from .usd, .usda, .usdc and .usdz, static, animated or skinned.

Transforms are applied, axes turned to y up, and units are those that the stage says. Subsets of
faces and points become groups; primvars of one number a vertex, painted weights. Skinned meshes
(UsdSkel) are baked to points, by linear blending, before they are read.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weft.arrays import CornerUv, Faces, Floats, Ints, Positions
from weft.errors import MeshError
from weft.io.extra import optional
from weft.io.surface import Contents, Moving, check_file, triangulated

UV_NAMES = ("st", "UVMap", "map1", "uv")  # of texture coordinates, the first that is there
FEW = 8  # names in a message


@dataclass(frozen=True, eq=False)
class _Part:
    """One mesh of a stage."""

    name: str
    mesh: Any
    polygons: Sequence[Ints]
    top: int  # the greatest index


def usd_contents(path: Path, prim: str | None, *, one: bool) -> Contents:
    """The meshes of a stage where it begins.

    Args:
        path: the file.
        prim: which of them, by path or name; None: all.
        one: refuse several: what is read becomes a cloth.

    Raises:
        MeshError: ``usd-core`` is missing, a damaged file, no such mesh, or several.
    """
    with _damage_named(path):
        return _contents(path, prim, one)


def _contents(path: Path, prim: str | None, one: bool) -> Contents:
    stage = _open(path)
    parts = _chosen(stage, path, prim, one)
    start = _times(stage, parts)[0]
    x = [_positions(stage, p, start, path) for p in parts]
    first = np.cumsum([0, *(len(a) for a in x)])
    tables = [_triangles(stage, p, a, start, path) for a, p in zip(x, parts)]
    uv = [_corner_uv(p, t[1], start) for p, t in zip(parts, tables)]
    groups: dict[str, Ints] = {}
    weights: dict[str, Floats] = {}
    for p, f, a in zip(parts, first, x):
        groups |= {k: v + f for k, v in _groups(p, len(a), several=len(parts) > 1).items()}
        for name, values in _weights(p, len(a), start).items():
            weights.setdefault(name, np.zeros(first[-1]))[f : f + len(a)] = values
    faces = np.concatenate([t[0] + f for t, f in zip(tables, first)]).astype(np.int32)
    known = [u for u in uv if u is not None]
    corner_uv = np.concatenate(known) if len(known) == len(uv) else None
    return Contents(np.concatenate(x), faces, corner_uv, groups, weights, _meters(stage, path))


def usd_moving(path: Path, fps: float | None, prim: str | None) -> Moving:
    """The meshes of a stage at all times at which one of them is said.

    Args:
        path: the file.
        fps: time codes a second, in place of the stage's; None: the stage's.
        prim: which of them, by path or name; None: all.

    Raises:
        MeshError: as of ``usd_contents``, or triangles that change.
    """
    with _damage_named(path):
        return _moving(path, fps, prim)


def _moving(path: Path, fps: float | None, prim: str | None) -> Moving:
    stage = _open(path)
    parts = _chosen(stage, path, prim, one=False)
    codes = _times(stage, parts)
    frames = [np.concatenate([_positions(stage, p, t, path) for p in parts]) for t in codes]
    first, faces = 0, []
    for p in parts:
        x = _positions(stage, p, codes[0], path)
        faces.append(triangulated(x, p.polygons, f"{path}{p.name}")[0] + first)
        first += len(x)
    rate = fps or stage.GetTimeCodesPerSecond()
    if not rate > 0:
        raise MeshError("timeCodesPerSecond", got=rate, expected="must be > 0", where=str(path))
    times = (np.array(codes) - codes[0]) / rate if len(codes) > 1 else np.zeros(1)
    return Moving(times, np.array(frames), np.concatenate(faces), _meters(stage, path))


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """What USD and NumPy raise on damaged files as a MeshError."""
    optional("pxr.Usd", "usd", "USD files", MeshError)
    from pxr import Tf

    check_file(path)
    try:
        yield
    except (Tf.ErrorException, RuntimeError, ValueError, TypeError, OverflowError,
            MemoryError) as error:  # fmt: skip
        try:
            said = str(error).strip().splitlines()[-1].partition(" : ")
            got = said[2] or said[0]
        except (UnicodeDecodeError, IndexError):  # names of any bytes
            got = type(error).__name__
        raise MeshError("USD file", got=got, where=str(path), expected="a whole one") from error


def _open(path: Path) -> Any:
    """The stage; skinned meshes baked, in a layer of the session."""
    from pxr import Usd, UsdSkel

    stage = Usd.Stage.Open(str(path))
    if any(p.IsA(UsdSkel.Root) for p in stage.Traverse()):
        stage.SetEditTarget(stage.GetSessionLayer())
        UsdSkel.BakeSkinning(stage.Traverse())
    return stage


def _meters(stage: Any, path: Path) -> float:
    from pxr import UsdGeom

    meters = float(UsdGeom.GetStageMetersPerUnit(stage))
    if not (np.isfinite(meters) and meters > 0):
        raise MeshError("metersPerUnit", got=meters, expected="must be > 0", where=str(path))
    return meters


def _chosen(stage: Any, path: Path, prim: str | None, one: bool) -> list[_Part]:
    """The meshes that a name stands for: its own path or name, or all below it."""
    from pxr import Usd, UsdGeom

    everything = Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies())
    meshes = [p for p in everything if p.IsA(UsdGeom.Mesh)]
    known = [str(p.GetPath()) for p in meshes]
    shown = ", ".join(known[:FEW]) + (", ..." if len(known) > FEW else "")
    if prim is not None:
        below = [p for p, at in zip(meshes, known) if prim in (at, p.GetName())
                 or at.startswith(prim.rstrip("/") + "/")]  # fmt: skip
        if not below:
            raise MeshError("prim", got=repr(prim), where=str(path),
                            expected=f"a mesh: {shown or 'there is none'}")  # fmt: skip
        meshes = below
    if not meshes:
        raise MeshError("USD file", got="no mesh", expected="one", where=str(path))
    if one and len(meshes) > 1:
        raise MeshError(
            "USD file", got=f"{len(meshes)} meshes", where=str(path), expected="one, as cloth",
            hint=f"say which: prim: {known[0]} (there are {shown})",
        )  # fmt: skip
    return [_part(UsdGeom.Mesh(p), path) for p in meshes]


def _part(mesh: Any, path: Path) -> _Part:
    """Its polygons, which must be the same at all times."""
    where = f"{path}{mesh.GetPath()}"
    for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()):
        if len(attribute.GetTimeSamples()) > 1:
            raise MeshError("faces", got="some that change in time", where=where,
                            expected="the same at all times")  # fmt: skip
    from pxr import Usd, UsdGeom

    first = Usd.TimeCode.EarliestTime()
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(first) or [], dtype=np.int64)
    ids = np.array(mesh.GetFaceVertexIndicesAttr().Get(first) or [], dtype=np.int64)
    if len(counts) == 0 or counts.min() < 3 or counts.sum() != len(ids):
        raise MeshError(
            "faces", got=f"{len(counts)} of {counts.sum()} corners, and {len(ids)} indices",
            where=where, expected="faces of three or more corners, and an index for each",
        )  # fmt: skip
    top = int(ids.max())
    polygons = np.split(ids.astype(np.int32), np.cumsum(counts)[:-1])
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        polygons = [p[::-1] for p in polygons]
    return _Part(str(mesh.GetPath()), mesh, polygons, top)


def _times(stage: Any, parts: Sequence[_Part]) -> list[float]:
    """Time codes at which points or transforms are said; one where nothing moves."""
    from pxr import UsdGeom

    codes: set[float] = set()
    for part in parts:
        codes |= set(part.mesh.GetPointsAttr().GetTimeSamples())
        prim = part.mesh.GetPrim()
        while prim and not prim.IsPseudoRoot():
            if prim.IsA(UsdGeom.Xformable):
                codes |= set(UsdGeom.Xformable(prim).GetTimeSamples())
            prim = prim.GetParent()
    return sorted(codes) or [float(stage.GetStartTimeCode())]


def _positions(stage: Any, part: _Part, code: float, path: Path) -> Positions:
    """(n,3) of the world at a time code, y up."""
    from pxr import UsdGeom

    where = f"{path}{part.name}"
    x = _floats(part.mesh.GetPointsAttr().Get(code), (0, 3))
    if len(x) == 0:
        raise MeshError("points", got=f"none at time code {code:g}", where=where, expected="some")
    if part.top >= len(x):
        raise MeshError("points", got=f"{len(x)} at time code {code:g}", where=where,
                        expected=f"{part.top + 1} or more, as faces need")  # fmt: skip
    M = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(part.mesh.GetPrim()))
    with np.errstate(all="ignore"):
        x = x @ M[:3, :3] + M[3, :3]
    if not np.isfinite(x).all():
        bad = int(np.flatnonzero(~np.isfinite(x).all(1))[0])
        raise MeshError(f"position of vertex {bad}", got=x[bad], where=where,
                        expected="finite numbers")  # fmt: skip
    up = UsdGeom.GetStageUpAxis(stage)
    return x if up != UsdGeom.Tokens.z else np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1)


def _triangles(
    stage: Any, part: _Part, x: Positions, code: float, path: Path
) -> tuple[Faces, Ints]:
    """As of ``triangulated``; the other way round where a transform mirrors."""
    from pxr import UsdGeom

    faces, corners = triangulated(x, part.polygons, f"{path}{part.name}")
    M = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(part.mesh.GetPrim()))
    mirrored = np.linalg.det(M[:3, :3]) < 0
    return (faces[:, ::-1], corners[:, ::-1]) if mirrored else (faces, corners)


def _floats(values: Any, none: tuple[int, ...]) -> Floats:
    """An array of USD in float64; where there is none, an empty one of that shape."""
    with np.errstate(invalid="ignore"):  # signaling NaN
        return np.array(np.zeros(none) if values is None else values, dtype=np.float64)


def _corner_uv(part: _Part, corners: Ints, code: float) -> CornerUv | None:
    """(m,3,2) of triangles whose corners (m,3) are these corners of the polygons."""
    from pxr import UsdGeom

    found = {p.GetPrimvarName(): p for p in UsdGeom.PrimvarsAPI(part.mesh).GetPrimvars()
             if str(p.GetTypeName()) in ("texCoord2f[]", "float2[]", "texCoord2d[]")}  # fmt: skip
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


def _groups(part: _Part, n: int, *, several: bool) -> dict[str, Ints]:
    """Vertices of every subset, and where there are several meshes of the mesh, by name."""
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


def _weights(part: _Part, n: int, code: float) -> dict[str, Floats]:
    """Primvars of one number a vertex."""
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
