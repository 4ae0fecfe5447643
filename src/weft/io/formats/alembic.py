"""Alembic (.abc), read and written by a Blender on the machine.

Written are texture coordinates and every body as a mesh of its own; read are cloth or bodies.
Alembic is y up by convention.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from weft.base.arrays import CornerUv, Floats, Ints, Positions
from weft.base.errors import MeshError, RunError
from weft.base.trees import Json
from weft.io.animation import Animation, distinct
from weft.io.files import atomic_path
from weft.io.formats.blender import Job, in_blender, run
from weft.io.formats.point_cache import PC2, PC2_MAGIC
from weft.io.surface import Contents, MovingMesh, check_file, triangulated

WHAT = "Alembic file"
FINEST = 1001  # largest denominator of frame rates, as in 24000/1001
RATE = 24.0  # [1/s] default rate of sampling a file, which has times but no frame rate
FEW = 8  # largest number of names in a message


def write_alembic(path: Path, animation: Animation) -> Sequence[str]:
    """Write all frames to an Alembic file.

    Raises:
        RunError: no Blender, one that fails, or z up.
    """
    if animation.convention.up != "y":
        raise RunError("--up", got="z", expected="y: Alembic files are y up by convention")
    rate = Fraction(animation.fps).limit_denominator(FINEST)
    with in_blender(WHAT, RunError) as job, atomic_path(path) as new:
        first = animation.moment(0)
        names = distinct([s.name for s in animation.shapes])
        shapes: list[Json] = []
        for k, (shape, name, x) in enumerate(zip(animation.shapes, names, first.positions)):
            uv = "" if shape.corner_uv is None else job.put(f"uv{k}", shape.corner_uv, "<f4")
            shapes.append(
                {
                    "name": name,
                    "uv": uv,
                    "x": job.put(f"x{k}", _z_up(x), "<f4"),
                    "faces": job.put(f"faces{k}", shape.faces, "<i4"),
                    "cache": "",
                }
            )
        if animation.count > 1:
            for told, cache in zip(shapes, _caches(job, animation)):
                told["cache"] = cache
        run(
            job,
            {
                "task": "write_alembic",
                "out": str(new.absolute()),
                "shapes": shapes,
                "fps": rate.numerator,
                "fps_base": rate.denominator,
                "first": animation.first,
                "last": animation.last,
            },
            WHAT,
            RunError,
        )
        if not new.exists():
            raise RunError(WHAT, got="nothing written by Blender", where=str(path))
    return ()


def _caches(job: Job, animation: Animation) -> list[str]:
    """Write a PC2 file of every shape, in Blender's axes, and return their paths."""
    paths = [job.folder / f"cache{k}.pc2" for k in range(len(animation.shapes))]
    for path, x in zip(paths, animation.moment(0).positions):
        path.write_bytes(PC2.pack(PC2_MAGIC, 1, len(x), 0.0, 1.0, animation.count))
    for moment in animation:
        for path, x in zip(paths, moment.positions):
            with path.open("ab") as file:
                file.write(np.ascontiguousarray(_z_up(x), dtype="<f4").tobytes())
    return [str(path) for path in paths]


def _z_up(x: Positions) -> Positions:
    return np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)


def alembic_contents(path: Path, prim: str | None, *, one: bool) -> Contents:
    """Return the meshes of a file at its first frame.

    Args:
        path: the file.
        prim: name of one of them; None: all.
        one: refuse several meshes, because the result becomes one cloth.

    Raises:
        MeshError: no Blender, one that cannot read the file, no such mesh, or several.
    """
    found, uv = _read(path, prim, RATE, one=one)
    return Contents(found.positions[0], found.faces, uv)


def alembic_moving(path: Path, fps: float | None, prim: str | None) -> MovingMesh:
    """Return the meshes of a file at all its frames.

    Args:
        path: the file.
        fps: frames per second at which it is sampled, linearly between its samples; None: 24.
        prim: name of one of them; None: all.

    Raises:
        MeshError: for the reasons of ``alembic_contents``.
    """
    return _read(path, prim, RATE if fps is None else fps, one=False)[0]


def _read(
    path: Path, prim: str | None, fps: float, *, one: bool
) -> tuple[MovingMesh, Floats | None]:
    check_file(path)
    rate = Fraction(fps).limit_denominator(FINEST)
    with in_blender(WHAT, MeshError) as job:
        run(
            job,
            {
                "task": "read_alembic",
                "file": str(path.absolute()),
                "fps": rate.numerator,
                "fps_base": rate.denominator,
            },
            WHAT,
            MeshError,
        )
        told = job.describe()
        known = [m["name"] for m in told["meshes"]]
        shown = ", ".join(known[:FEW]) or "none"
        chosen = [k for k, name in enumerate(known) if prim in (None, name)]
        if not chosen:
            what = WHAT if prim is None else "prim"
            raise MeshError(what, got=prim or "no mesh", where=str(path), expected=f"of {shown}")
        if one and len(chosen) > 1:
            raise MeshError(
                WHAT,
                got=f"{len(chosen)} meshes",
                where=str(path),
                expected="one, as cloth",
                hint=f"say which with prim: {shown}",
            )
        parts = [_mesh(job, k, told["meshes"][k], told["frames"], path) for k in chosen]
    first = np.cumsum([0, *(p[0].shape[1] for p in parts)])
    faces = np.concatenate([f + s for (_, f, _), s in zip(parts, first)]).astype(np.int32)
    uv = [u for _, _, u in parts if u is not None]
    x = np.concatenate([p[0] for p in parts], axis=1)
    if (x == x[0]).all():
        x = x[:1]
    times = np.arange(len(x)) / float(rate)
    return MovingMesh(times, x, faces), np.concatenate(uv) if len(uv) == len(parts) else None


def _mesh(
    job: Job, k: int, told: Json, frames: int, path: Path
) -> tuple[Positions, Ints, CornerUv | None]:
    """Return positions (frames,n,3), triangles and texture coordinates of mesh k."""
    flat = job.get(f"x{k}", "<f4").astype(np.float64)
    n = int(told["vertices"])
    if n == 0 or len(flat) != 3 * n * frames:
        raise MeshError(
            WHAT,
            got=f"{told['name']}: vertices that come and go",
            where=str(path),
            expected="the same ones in all frames",
        )
    y = flat.reshape(frames, n, 3)
    x = np.stack([y[..., 0], y[..., 2], -y[..., 1]], axis=-1)
    counts, ids = job.get(f"counts{k}", "<i4"), job.get(f"ids{k}", "<i4")
    polygons = np.split(ids, np.cumsum(counts)[:-1])
    faces, corners = triangulated(x[0], polygons, f"{path}/{told['name']}")
    uv = job.get(f"uv{k}", "<f4").astype(np.float64).reshape(-1, 2)[corners] if told["uv"] else None
    return x, faces, uv
