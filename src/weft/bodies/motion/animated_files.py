"""Bodies from animated files: USD and glTF scenes, and point caches of a mesh."""

import dataclasses
from pathlib import Path

import numpy as np

from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Rate, Size, Time
from weft.bodies.body import Body
from weft.bodies.motion.point_sequence import BodyFrames, check_frames
from weft.bodies.shapes.primitives import load_body
from weft.discretization.correspondence import find_mismatch
from weft.io import read_cache, read_motion
from weft.io.surface import PLAIN, StageOptions


@checked(SceneError)
def load_animated(
    path: str | Path,
    fps: Rate | None = None,
    *,
    scale: Size | None = None,
    start: Time = 0.0,
    hold: bool = False,
    prim: str | None = None,
    name: str = "body",
    options: StageOptions = PLAIN,
) -> Body:
    """Load a body from an animated file; without animation in the file the body is at rest.

    Args:
        path: a USD or glTF file.
        fps: frames per second, instead of the rate in the file.
        scale: meters per unit; None: as the file says.
        start: [s] time of the first frame.
        hold: keep the last frame until the run ends.
        prim: path or name of the mesh in a file of several meshes; None: all.
        name: name for messages.
        options: how the stage of a USD file is read.

    Raises:
        MeshError: the file cannot be read.
    """
    unit = None if scale is None else float(scale)
    found = read_motion(Path(path), fps, unit, prim, options)
    frames = BodyFrames(float(start) + found.times, found.positions, hold)
    moves = frames if len(found.times) > 1 else None
    return Body(frames.at(0.0), found.faces, None, name, None, moves, parts=tuple(found.parts))


@checked(SceneError)
def load_cached(
    path: str | Path,
    motion: str | Path,
    fps: Rate | None = None,
    *,
    scale: Size | None = None,
    start: Time = 0.0,
    hold: bool = False,
    prim: str | None = None,
    name: str = "body",
) -> Body:
    """Load a body from a mesh file, and its motion from a point cache of the same vertices.

    Both files must have the same units and axes.

    Args:
        path: the mesh file.
        motion: a .pc2 file.
        fps: frames per second; needed, because .pc2 files do not store times.
        scale: meters per unit of both files; None: 1.
        start: [s] time of the first frame.
        hold: keep the last frame until the run ends.
        prim: path or name of the mesh in a file of several meshes.
        name: name for messages.

    Raises:
        SceneError: the cache has another number of vertices, or its first frame shows another
            order of them, another unit or other axes than the mesh.
        MeshError: a file cannot be read.
    """
    body = load_body(path, 1.0, name, prim)
    unit = 1.0 if scale is None else float(scale)
    times, positions = read_cache(Path(motion), fps)
    n = positions.shape[1]
    if n != len(body.vertices):
        raise SceneError(
            f"{name}.motion",
            got=f"{n} vertices",
            where=motion,
            expected=f"{len(body.vertices)}, as in {Path(path).name}",
            hint="export mesh and cache from the same object, without changing its topology",
        )
    mismatch = find_mismatch(body.vertices, positions[0], body.faces)
    if mismatch is not None:
        raise SceneError(
            f"{name}.motion",
            got=f"{mismatch.text}, in the first frame relative to the mesh",
            where=motion,
            expected=f"order of vertices, unit and axes of {Path(path).name}",
            hint="export mesh and cache with the same settings; the mesh may be that of the first "
            "frame",
        )
    check_frames(positions, body.faces, name, motion)
    frames = BodyFrames(float(start) + times, unit * positions, hold) if len(times) > 1 else None
    vertices = np.array(unit * positions[0])
    return dataclasses.replace(body, vertices=vertices, frames=frames)
