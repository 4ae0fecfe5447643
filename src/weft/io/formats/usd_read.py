"""USD in: cloth and bodies from .usd, .usda, .usdc and .usdz, static, animated or skinned.

Transforms are applied, axes turned to y up, and units are those that the stage says. Subsets of
faces and points become groups; primvars of one number a vertex, painted weights. Skinned meshes
(UsdSkel) are baked to points, by linear blending, before they are read.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import MeshError
from weft.io.extra import optional
from weft.io.formats.usd_mesh import (
    Part,
    corner_uv_of,
    groups_of,
    part_of,
    positions,
    regions_of,
    triangles,
    weights_of,
)
from weft.io.surface import Contents, Moving, check_file, triangulated

FEW = 8  # names in a message


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
    x = [positions(stage, p, start, path) for p in parts]
    first = np.cumsum([0, *(len(a) for a in x)])
    tables = [triangles(stage, p, a, start, path) for a, p in zip(x, parts)]
    uv = [corner_uv_of(p, t[1], start) for p, t in zip(parts, tables)]
    groups: dict[str, Ints] = {}
    weights: dict[str, Floats] = {}
    regions: dict[str, Ints] = {}
    if len(parts) == 1:
        regions = regions_of(parts[0], tables[0][1])
    for p, f, a in zip(parts, first, x):
        groups |= {k: v + f for k, v in groups_of(p, len(a), several=len(parts) > 1).items()}
        for name, values in weights_of(p, len(a), start).items():
            weights.setdefault(name, np.zeros(first[-1]))[f : f + len(a)] = values
    faces = np.concatenate([t[0] + f for t, f in zip(tables, first)]).astype(np.int32)
    known = [u for u in uv if u is not None]
    corner_uv = np.concatenate(known) if len(known) == len(uv) else None
    meters = _meters(stage, path)
    return Contents(np.concatenate(x), faces, corner_uv, groups, weights, meters, regions)


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
    frames = [np.concatenate([positions(stage, p, t, path) for p in parts]) for t in codes]
    first, faces = 0, []
    for p in parts:
        x = positions(stage, p, codes[0], path)
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


def _chosen(stage: Any, path: Path, prim: str | None, one: bool) -> list[Part]:
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
    return [part_of(UsdGeom.Mesh(p), path) for p in meshes]


def _times(stage: Any, parts: Sequence[Part]) -> list[float]:
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
