"""Alembic (.abc), read and written by a Blender on the machine.

Written are texture coordinates and every body as a mesh of its own; read are cloth or bodies.
Alembic is y up by convention.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import MeshError, RunError
from weft.base.trees import Json
from weft.io.animation import Animation, Convention, distinct, turn_y_up
from weft.io.files import atomic_path
from weft.io.formats.blender import BlenderJob, in_blender
from weft.io.formats.point_cache import PC2, PC2_MAGIC
from weft.io.surface import (
    Contents,
    MovingMesh,
    check_file,
    check_selection,
    join_contents,
    join_moving,
    triangulate_polygons,
)
from weft.plugins.film.assets.asset_cloth import AssetCloth

WHAT = "Alembic file"
FINEST = 1001  # largest denominator of frame rates, as in 24000/1001
Z_UP = Convention("z")  # of Blender
RATE = 24.0  # [1/s] default rate of sampling a file, which has times but no frame rate


def write_alembic(path: Path, animation: Animation) -> Sequence[str]:
    """Write all frames to an Alembic file.

    Raises:
        RunError: no Blender, one that fails, or z up.
    """
    if animation.convention.up != "y":
        raise RunError("up", got="z", expected="y: Alembic files are y up by convention")
    first = animation.moment(0)
    names = distinct([s.name for s in animation.shapes])
    with in_blender(WHAT, RunError) as job, atomic_path(path) as new:
        shapes: list[Json] = []
        for k, (shape, name, x) in enumerate(zip(animation.shapes, names, first.positions)):
            uv = "" if shape.corner_uv is None else job.put(f"uv{k}", shape.corner_uv, "<f4")
            place, faces = job.put(f"x{k}", Z_UP.of(x), "<f4"), job.put(f"f{k}", shape.faces, "<i4")
            shapes.append({"name": name, "uv": uv, "x": place, "faces": faces, "cache": ""})
        if animation.count > 1:
            for entry, cache in zip(shapes, _caches(job, animation)):
                entry["cache"] = cache
        task = {"out": str(new.absolute()), "shapes": shapes, **_rate(animation.fps)}
        job.run("write_alembic", {**task, "first": animation.first, "last": animation.last})
        if not new.exists():
            raise RunError(WHAT, got="nothing written by Blender", where=path)
    return ()


def write_alembic_over(
    path: Path,
    asset: Path,
    animation: Animation,
    cloths: Sequence[AssetCloth],
    first: float | None,
) -> Sequence[str]:
    """Write the Alembic file of an asset anew, with meshes that the cloth moves.

    Blender reads and writes it: hierarchy, polygons, texture coordinates and face sets stay.

    Args:
        path: the new file.
        asset: the file of the asset.
        animation: the run, in meters, y up.
        cloths: the meshes that move, by their names in Blender.
        first: not used: times are those of the run.

    Raises:
        RunError: no Blender, one that fails, or a mesh that the file does not have.
    """
    with in_blender(WHAT, RunError) as job, atomic_path(path) as new:
        meshes = [
            {"name": cloth.prim, "x": job.put(f"x{k}", [], "<f4")} for k, cloth in enumerate(cloths)
        ]
        for moment in animation:
            for mesh, cloth in zip(meshes, cloths):
                _append(Path(str(mesh["x"])), cloth.positions(moment.positions[0]))
        times = {"first": animation.first, "last": animation.last, **_rate(animation.fps)}
        task = {"file": str(asset.absolute()), "out": str(new.absolute()), "meshes": meshes}
        job.run("write_alembic_over", {**task, **times})
    return ()


def _rate(fps: float) -> Json:
    """Return a frame rate as Blender has it, a ratio of whole numbers."""
    rate = Fraction(fps).limit_denominator(FINEST)
    return {"fps": rate.numerator, "fps_base": rate.denominator}


def _caches(job: BlenderJob, animation: Animation) -> list[str]:
    """Write a PC2 file of every shape, in Blender's axes, and return their paths."""
    paths = [job.folder / f"cache{k}.pc2" for k in range(len(animation.shapes))]
    for path, x in zip(paths, animation.moment(0).positions):
        path.write_bytes(PC2.pack(PC2_MAGIC, 1, len(x), 0.0, 1.0, animation.count))
    for moment in animation:
        for path, x in zip(paths, moment.positions):
            _append(path, x)
    return [str(path) for path in paths]


def _append(path: Path, x: Positions) -> None:
    """Add positions (n,3) to a file, in single precision and Blender's axes."""
    with path.open("ab") as file:
        file.write(np.ascontiguousarray(Z_UP.of(x), dtype="<f4").tobytes())


def alembic_contents(path: Path, prim: str | None, *, one: bool) -> Contents:
    """Return the meshes of a file at its first frame.

    Args:
        path: the file.
        prim: name of one of them; None: all.
        one: refuse several meshes, because the result becomes one cloth.

    Raises:
        MeshError: no Blender, one that cannot read the file, no such mesh, or several.
    """
    _, meshes = _read(path, prim, RATE, one=one)
    return join_contents([mesh for _, mesh in meshes])


def alembic_moving(path: Path, fps: float | None, prim: str | None) -> MovingMesh:
    """Return the meshes of a file at all its frames.

    Args:
        path: the file.
        fps: frames per second at which it is sampled, linearly between its samples; None: 24.
        prim: name of one of them; None: all.

    Raises:
        MeshError: for the reasons of ``alembic_contents``.
    """
    times, meshes = _read(path, prim, RATE if fps is None else fps, one=False)
    joined = join_moving(times - times[0], [x for x, _ in meshes], [m.faces for _, m in meshes])
    return replace(joined, left_out=join_contents([mesh for _, mesh in meshes]).left_out)


def _read(
    path: Path, prim: str | None, fps: float, *, one: bool
) -> tuple[Floats, list[tuple[Floats, Contents]]]:
    """Return times (k,) [s], and positions (k,n,3) and contents of meshes."""
    check_file(path)
    rate = _rate(fps)
    with in_blender(WHAT, MeshError) as job:
        found = job.run("read_alembic", {"file": str(path.absolute()), **rate})
        known = [m["name"] for m in found["meshes"]]
        chosen = [k for k, name in enumerate(known) if prim in (None, name)]
        names = [known[k] for k in chosen]
        check_selection(names, known, prim, one=one, what=WHAT, path=path)
        count = found["frames"]
        meshes = [_mesh(job, k, found["meshes"][k], count, path) for k in chosen]
    return np.arange(count) / (rate["fps"] / rate["fps_base"]), meshes


def _mesh(job: BlenderJob, k: int, about: Json, frames: int, path: Path) -> tuple[Floats, Contents]:
    """Return positions (frames,n,3) of mesh k, and its contents at the first frame."""
    flat = job.get(f"x{k}", "<f4").astype(np.float64)
    n = int(about["vertices"])
    if n == 0 or len(flat) != 3 * n * frames:
        raise MeshError(
            WHAT,
            got=f"{about['name']}: vertices that come and go",
            where=path,
            expected="the same ones in all frames",
        )
    x = turn_y_up(flat.reshape(frames, n, 3))
    counts, ids = job.get(f"counts{k}", "<i4"), job.get(f"ids{k}", "<i4")
    polygons = np.split(ids, np.cumsum(counts)[:-1])
    triangles = triangulate_polygons(x[0], polygons, f"{path}/{about['name']}")
    uv = None
    if about["uv"]:
        every = job.get(f"uv{k}", "<f4").astype(np.float64).reshape(-1, 2)
        uv = every[triangles.corners]
    left_out, flaw = triangles.left_out, triangles.flaw
    return x, Contents(x[0], triangles.faces, uv, left_out=left_out, flaw=flaw)
