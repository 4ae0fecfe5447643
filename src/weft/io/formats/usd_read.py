"""USD reader: cloth and bodies from .usd, .usda, .usdc and .usdz, static, animated or skinned.

Meshes that are drawn are read (``usd_stage``). Transforms are applied, axes are turned to y up, and
units are those of the stage. Subsets of faces and points become groups; primvars of one number per
vertex become painted weights. Skinned meshes (UsdSkel) are baked to points, by linear blending,
before they are read.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import MeshError
from weft.base.input_file import MEMORY, SECONDS, USD_MESHES
from weft.base.machine import LIBRARY_THREADS, gib
from weft.io.extra import optional
from weft.io.formats import usd_probe
from weft.io.formats.usd_mesh import (
    UsdMesh,
    corner_uv_of,
    groups_of,
    part_of,
    positions,
    regions_of,
    triangles,
    weights_of,
)
from weft.io.formats.usd_stage import Placed, all_meshes, list_drawn_meshes
from weft.io.surface import SPACE, Contents, MovingMesh, check_file, join_contents

if TYPE_CHECKING:
    from pxr import Usd

FEW = 8  # largest number of names in a message
SPEED = 5e6  # [bytes/s] least speed of the trial reading
WAIT = 10  # largest ratio of elapsed to processor time of the trial, on a busy machine


def usd_contents(path: Path, prim: str | None, *, one: bool) -> Contents:
    """Return the meshes of a stage at its first time.

    Args:
        path: the file.
        prim: path or name of one of them; None: all.
        one: refuse several meshes, because the result becomes one cloth.

    Raises:
        MeshError: ``usd-core`` is missing, a damaged file, no such mesh, or several.
    """
    with _damage_named(path):
        return _contents(path, prim, one)


def _contents(path: Path, prim: str | None, one: bool) -> Contents:
    stage = _open(path)
    parts = _select_meshes(stage, path, prim, one)
    start = _times(stage, parts)[0]
    x = [positions(stage, p, start, path) for p in parts]
    meters = _meters(stage, path)

    def contents(p: UsdMesh, a: Floats) -> Contents:
        faces, corners = triangles(p, a, start, path)
        return Contents(
            a,
            faces,
            corner_uv_of(p, corners, start),
            groups_of(p, len(a), several=len(parts) > 1),
            weights_of(p, len(a), start),
            meters,
            regions_of(p, corners) if len(parts) == 1 else {},
        )

    return join_contents([contents(p, a) for p, a in zip(parts, x)])


def usd_moving(path: Path, fps: float | None, prim: str | None) -> MovingMesh:
    """Return the meshes of a stage at all times at which one of them has a sample.

    Args:
        path: the file.
        fps: time codes per second; None: those of the stage.
        prim: path or name of one of them; None: all.

    Raises:
        MeshError: for the reasons of ``usd_contents``, or triangles that change.
    """
    with _damage_named(path):
        return _moving(path, fps, prim)


def _moving(path: Path, fps: float | None, prim: str | None) -> MovingMesh:
    stage = _open(path)
    parts = _select_meshes(stage, path, prim, one=False)
    codes = _times(stage, parts)
    frames = [np.concatenate([positions(stage, p, t, path) for p in parts]) for t in codes]
    first, faces = 0, []
    for p in parts:
        x = positions(stage, p, codes[0], path)
        faces.append(triangles(p, x, codes[0], path)[0] + first)
        first += len(x)
    rate = fps or stage.GetTimeCodesPerSecond()
    if not rate > 0:
        raise MeshError("timeCodesPerSecond", got=rate, expected="must be > 0", where=str(path))
    times = (np.array(codes) - codes[0]) / rate if len(codes) > 1 else np.zeros(1)
    return MovingMesh(times, np.array(frames), np.concatenate(faces), _meters(stage, path))


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Raise errors of USD and NumPy for damaged files as a MeshError."""
    optional("pxr.Usd", "usd", "USD files", MeshError)
    from pxr import Tf

    check_file(path)
    _try(path)
    try:
        yield
    except (
        Tf.ErrorException,
        RuntimeError,
        ValueError,
        TypeError,
        OverflowError,
        MemoryError,
    ) as error:
        try:
            said = str(error).strip().splitlines()[-1].partition(" : ")
            got = said[2] or said[0]
        except (UnicodeDecodeError, IndexError):  # names in damaged files may be arbitrary bytes
            got = type(error).__name__
        raise MeshError("USD file", got=got, where=str(path), expected="a whole one") from error


def _try(path: Path) -> None:
    """Read a file in a process with bounded memory and time, before it is read in this process.

    Raises:
        MeshError: it takes more memory or time than its size justifies, or USD cannot read it.
    """
    size = path.stat().st_size
    seconds = int(SECONDS + size / SPEED)
    words = [usd_probe.__file__, path, MEMORY + SPACE * size, seconds, USD_MESHES]
    quick = {"PXR_WORK_THREAD_LIMIT": "1", **dict.fromkeys(LIBRARY_THREADS, "1")}
    try:
        done = subprocess.run(
            [sys.executable, *map(str, words)],
            env={**os.environ, **quick},
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WAIT * seconds,
        )
    except subprocess.TimeoutExpired:
        said, status = f"more than {WAIT * seconds} s to read", 1
    else:
        status = done.returncode
        said = (done.stderr.decode(errors="replace").strip().splitlines() or [""])[-1]
    if status < 0:
        said = f"more than {seconds} s or {gib(MEMORY + SPACE * size)} to read, or USD crashes"
    if status:
        raise MeshError("USD file", got=said, where=str(path), expected="a whole one")


def _open(path: Path) -> "Usd.Stage":
    """Return the stage, with skinned meshes baked in its session layer."""
    from pxr import Usd, UsdSkel

    stage = Usd.Stage.Open(str(path))
    if any(p.IsA(UsdSkel.Root) for p in stage.Traverse()):
        stage.SetEditTarget(stage.GetSessionLayer())
        UsdSkel.BakeSkinning(stage.Traverse())
    return stage


def _meters(stage: "Usd.Stage", path: Path) -> float:
    from pxr import UsdGeom

    meters = float(UsdGeom.GetStageMetersPerUnit(stage))
    if not (np.isfinite(meters) and meters > 0):
        raise MeshError("metersPerUnit", got=meters, expected="must be > 0", where=str(path))
    return meters


def _select_meshes(stage: "Usd.Stage", path: Path, prim: str | None, one: bool) -> list[UsdMesh]:
    """Return the drawn meshes with a name: a mesh's own path or name, or the path of a prim above
    it.

    A mesh that is named by its own path or name is returned whether it is drawn or not.
    """
    drawn = list_drawn_meshes(stage, path)
    meshes = drawn if prim is None else [p for p in drawn if _is_named(p.prim, p.name, prim)]
    if not meshes:
        every = [(p, str(p.GetPath())) for p in all_meshes(stage)]
        own = [Placed(p, at) for p, at in every if prim in (at, p.GetName())]
        hidden = [at for p, at in every if prim is None or _is_named(p, at, prim)]
        if hidden and not own:
            raise MeshError(
                "USD file",
                got=f"no mesh that is drawn{f' below {prim}' if prim else ''}",
                where=str(path),
                expected="one that is visible, of purpose default or render",
                hint=f"a mesh that is not drawn can be said by its path: prim: {hidden[0]}",
            )
        meshes = own
    known = [p.name for p in meshes or drawn]
    shown = ", ".join(known[:FEW]) + (", ..." if len(known) > FEW else "")
    if not meshes:
        if prim is None:
            raise MeshError("USD file", got="no mesh", where=str(path), expected="one")
        raise MeshError(
            "prim", got=repr(prim), where=str(path), expected=f"a mesh: {shown or 'there is none'}"
        )
    if one and len(meshes) > 1:
        raise MeshError(
            "USD file",
            got=f"{len(meshes)} meshes",
            where=str(path),
            expected="one, as cloth",
            hint=f"say which: prim: {known[0]} (there are {shown})",
        )
    made: dict[str, UsdMesh] = {}  # meshes that several instances share are read once
    for p in meshes:
        at = str(p.prim.GetPath())
        if at not in made:
            made[at] = part_of(p, path)
    return [replace(made[str(p.prim.GetPath())], placed=p) for p in meshes]


def _is_named(prim: "Usd.Prim", name: str, said: str) -> bool:
    """Return whether ``said`` is a mesh's path or name, or the path of a prim above it."""
    return said in (name, prim.GetName()) or name.startswith(said.rstrip("/") + "/")


def _times(stage: "Usd.Stage", parts: Sequence[UsdMesh]) -> list[float]:
    """Return the time codes at which points or transforms have samples; one code if nothing
    moves.
    """
    codes = set[float]().union(*(p.placed.times() for p in parts))
    return sorted(codes) or [float(stage.GetStartTimeCode())]
