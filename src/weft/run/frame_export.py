"""Export of one frame as a mesh file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.base.arrays import Faces, Positions
from weft.base.errors import RunError
from weft.cloth.fields import Physics
from weft.io import format_to_write, write_mesh
from weft.run.animation import as_fields
from weft.run.run import Run


def save_frame(
    run: Run,
    path: Path,
    frame: int,
    *,
    density: int | None,
    net: bool,
    weld: bool,
    fields: Sequence[str],
    physics: Physics | None,
) -> Path:
    """Write a frame of a run as a mesh file; arguments and errors as of ``Run.save``."""
    chosen = format_to_write(path)
    if net and run.surfaces.embedding is None:
        got, wanted = "a run of triangles", "a run of splines"
        raise RunError("control net", got=got, expected=wanted, where=str(run.path))
    if net:
        faces, corner_uv = run.surfaces.net()
        x = run.points(frame)
    else:
        faces, corner_uv = run.tessellation(density)
        x = run.positions(frame, density)
    if weld:
        x, faces = _weld(run, x, faces, density)
    if not np.isfinite(x).all():
        bad = int((~np.isfinite(x).all(1)).sum())
        raise RunError(
            f"frame {frame}",
            got=f"{bad} positions that are not finite",
            where=str(run.path),
            expected="numbers",
            hint="export an earlier frame",
        )
    carried = None
    if chosen.carries_fields and not (net or weld):
        names = fields or run.recorded(frame)
        values = {n: run.field(n, frame, density=density, physics=physics) for n in names}
        carried = as_fields(values)
    write_mesh(path, x, faces, corner_uv, carried)
    return path


def _weld(run: Run, x: Positions, faces: Faces, density: int | None) -> tuple[Positions, Faces]:
    """Return positions and faces with sewn vertices merged into one vertex, at their mean."""
    from weft.garment.garment import merge_vertices

    if density is not None and run.surfaces.embedding is not None:
        raise RunError(
            "weld",
            got=f"density {density}",
            where=str(run.path),
            expected="no density: seams join the vertices of the run's own mesh",
        )
    sewn = run.folder.mesh().get("sewn")
    if sewn is None:
        got, wanted = "a run without seams", "a garment's"
        raise RunError("weld", got=got, expected=wanted, where=str(run.path))
    x, new = merge_vertices(sewn, x)
    return x, new[faces]
