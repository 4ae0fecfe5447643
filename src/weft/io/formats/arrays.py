"""npz and HDF5: arrays in float64 for machine learning and analysis.

``positions`` (k,n,3), ``velocities`` (k,n,3) of the cloth, ``times`` (k,) [s], ``faces`` (m,3),
``corner_uv`` (m,3,2), ``region`` (m,) and ``region_names``; ``body_b_positions``,
``body_b_velocities`` and ``body_b_faces`` of each body b, with ``body_names``; numbers at vertices
``point_NAME`` (k,n,...) and on faces ``cell_NAME`` (k,m,...); ``about``, JSON: scene, versions,
units, axes. A run's .npz can be read as a body (``bodies: - mesh: {file: run.npz}``).
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from weft.base.arrays import AnyArray
from weft.io.animation import Animation, AnimationFrame
from weft.io.archive import write_npz
from weft.io.files import atomic_write
from weft.io.formats.hdf5_file import hdf5_file


def write_arrays(path: Path, animation: Animation) -> Sequence[str]:
    """Write an .npz file; all frames are in memory meanwhile.

    Raises:
        RunError: the file cannot be written.
    """
    frames = [dict(_of_frame(moment)) for moment in animation]
    moving = {name: np.stack([f[name] for f in frames]) for name in frames[0]}
    with atomic_write(path) as file:
        write_npz(file, {**moving, **dict(_still(animation))})
    return ()


def write_hdf5(path: Path, animation: Animation) -> Sequence[str]:
    """Write an .h5 file, one frame at a time.

    Raises:
        RunError: ``h5py`` is missing, or the file cannot be written.
    """
    with hdf5_file(path, "HDF5 files") as (file, check):
        for name, value in _still(animation):
            file[name] = value.tolist() if value.dtype.kind == "U" else value
        for k, moment in enumerate(animation):
            for name, value in _of_frame(moment):
                a = np.asarray(value, dtype=np.float64)
                if k == 0:
                    chunk = (1, *a.shape) if a.size else None
                    file.create_dataset(name, (animation.count, *a.shape), a.dtype, chunks=chunk)
                file[name][k] = a
            check()
    return ()


def _still(animation: Animation) -> Iterator[tuple[str, AnyArray]]:
    """Yield the arrays that are the same in all frames, by name."""
    cloth, c = animation.cloth, animation.convention
    yield "faces", cloth.faces
    if cloth.corner_uv is not None:
        yield "corner_uv", cloth.corner_uv
    yield "region", cloth.region_numbers
    yield "region_names", np.array([name for name, _ in cloth.regions] or [cloth.name])
    if len(animation.shapes) > 1:
        yield "body_names", np.array([s.name for s in animation.shapes[1:]])
    for b, shape in enumerate(animation.shapes[1:]):
        yield f"body_{b}_faces", shape.faces
    told = {"up": c.up, "meters_per_unit": c.meters, "fps": animation.fps, "first": animation.first}
    yield "about", np.array(json.dumps({**told, **animation.about}))


def _of_frame(moment: AnimationFrame) -> Iterator[tuple[str, AnyArray]]:
    """Yield the arrays of one frame, by name."""
    yield "times", np.asarray(moment.t)
    yield "positions", moment.positions[0]
    yield "velocities", moment.velocities
    for b, x in enumerate(moment.positions[1:]):
        yield f"body_{b}_positions", x
    for b, v in enumerate(moment.body_velocities()):
        yield f"body_{b}_velocities", v
    fields = moment.fields
    for name, values in fields.points.items():
        yield f"point_{name}", values
    for name, values in fields.cells.items():
        yield f"cell_{name}", values
