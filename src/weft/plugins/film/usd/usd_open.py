"""Opening of USD stages: a trial reading of files, variants, payloads, skins and the pre-roll.

What is chosen or computed is written into the session layer of the stage.
"""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import MeshError
from weft.base.input_file import MEMORY, SECONDS, USD_MESHES
from weft.base.machine import LIBRARY_THREADS, gib
from weft.io.extra import optional
from weft.io.surface import SPACE, StageOptions, check_file
from weft.plugins.film.usd import usd_probe
from weft.plugins.film.usd.usd_preroll import add_preroll
from weft.plugins.film.usd.usd_stage import everything

if TYPE_CHECKING:
    from pxr import Usd

SPEED = 5e6  # [bytes/s] least speed of the trial reading
WAIT = 10  # largest ratio of elapsed to processor time of the trial, on a busy machine


def read_shot(path: Path) -> tuple[float, float, float]:
    """Return time codes (frames) per second of a stage, and the first and the last one.

    Raises:
        MeshError: no USD file, or one that says no time codes.
    """
    _check(path)
    from pxr import Sdf

    layer = Sdf.Layer.FindOrOpen(str(path))
    rate, first, last = layer.timeCodesPerSecond, layer.startTimeCode, layer.endTimeCode
    if not (layer.HasStartTimeCode() and last > first and rate > 0):
        got = f"time codes {first:g} to {last:g}, {rate:g} a second"
        raise MeshError("shot", got=got, where=path, expected="startTimeCode, a later endTimeCode")
    return rate, first, last


@contextmanager
def open_stage(path: Path, prim: str | None, options: StageOptions) -> "Iterator[Usd.Stage]":
    """Open a stage, with variants chosen and skinned meshes baked in its session layer.

    Raises:
        MeshError: errors of USD and NumPy for damaged files, here and in the block; no such
            variant; a payload or reference that is missing where meshes are read.
    """
    _check(path)
    from pxr import Tf, Usd, UsdGeom, UsdSkel

    try:
        stage = Usd.Stage.Open(str(path))
        session = stage.GetSessionLayer()
        # Time samples of a layer with another rate, such as the default of 24, are rescaled.
        session.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
        stage.SetEditTarget(session)
        _choose_variants(stage, path, options.variants or {})
        _check_composition(stage, path, prim)
        while skins := [p for p in everything(stage) if p.IsA(UsdSkel.Root)]:
            if not any(p.IsInstance() or p.IsInstanceProxy() for p in skins):
                break
            for instance in [p for p in stage.Traverse() if p.IsInstance()]:
                instance.SetInstanceable(False)  # instances share their skin: it cannot be baked
        if options.preroll and options.origin is not None:
            add_preroll(stage, path, options.origin, options.preroll)
        for mesh in everything(stage):
            if mesh.IsA(UsdGeom.Mesh) and (prim is None or _is_named(mesh, prim)):
                _warn_of_skin(mesh, path)
        if skins:
            UsdSkel.BakeSkinning(stage.Traverse())
        yield stage
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
        raise MeshError("USD file", got=got, where=path, expected="a complete file") from error


def _warn_of_skin(prim: "Usd.Prim", path: Path) -> None:
    """Warn if a mesh has weights of joints that do not move it."""
    from pxr import UsdSkel

    binding = UsdSkel.BindingAPI(prim)
    if not binding.GetJointIndicesAttr().HasAuthoredValue():
        return
    reason = "no prim of type SkelRoot is above it"
    if UsdSkel.Root.Find(prim):
        reason = "it is not bound to a skeleton (skel:skeleton)"
        if binding.GetInheritedSkeleton():
            return
    warnings.warn(
        f"{path}{prim.GetPath()}: the mesh has weights of joints, but no skeleton moves it: "
        f"{reason}; weft reads its points without the skeleton",
        stacklevel=2,
    )


def _is_named(mesh: "Usd.Prim", said: str) -> bool:
    """Return whether ``said`` is the path or name of a mesh, or the path of a prim above it."""
    return said == mesh.GetName() or is_below(str(mesh.GetPath()), said)


def _choose_variants(
    stage: "Usd.Stage", path: Path, variants: Mapping[str, Mapping[str, str]]
) -> None:
    """Choose variants, in their order: one may bring prims that the next one names."""
    for at, chosen in variants.items():
        prim = stage.GetPrimAtPath(at if at.startswith("/") else "/")
        for name, value in chosen.items():
            names = prim.GetVariantSets().GetNames() if prim else []
            known = prim.GetVariantSet(name).GetVariantNames() if name in names else []
            if value not in known:
                raise MeshError(
                    "variants",
                    got=f"{name}: {value}",
                    where=f"{path} {at}",
                    expected=f"a set and a variant of a prim: {', '.join(known or names) or '-'}",
                )
            prim.GetVariantSet(name).SetVariantSelection(value)


def _check_composition(stage: "Usd.Stage", path: Path, prim: str | None) -> None:
    """Check that no payload or reference is missing where meshes are read."""
    for error in stage.GetCompositionErrors():
        at = str(error.rootSite.path)
        if prim is None or is_below(at, prim) or is_below(prim, at):
            got = str(error).splitlines()[0]
            raise MeshError("USD stage", got=got, where=f"{path}{at}", expected="all of its layers")


def _check(path: Path) -> None:
    """Check that a file is one that USD can read."""
    optional("pxr.Usd", "usd", "USD files", MeshError)
    check_file(path)
    _try(path)


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
        raise MeshError("USD file", got=said, where=path, expected="a complete file")


def is_below(name: str, other: str) -> bool:
    """Return whether a path is that of a prim, or of one below it."""
    return f"{name}/".startswith(other.rstrip("/") + "/")
