"""Export of one frame as a mesh file, and fields that are computed from a frame on demand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.base.arrays import Faces, Floats, Positions
from weft.base.errors import RunError, SceneError
from weft.cloth.fields import Physics, field_of
from weft.discretization.mesh import TriangleMesh
from weft.io import CARRY, format_to_write, write_mesh
from weft.run.animation import as_fields

if TYPE_CHECKING:
    from weft.run.animation import RunFrames


def save_frame(
    run: Any,
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
    format_to_write(path)
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
        x, faces = _welded(run, x, faces, density)
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
    if path.suffix.lower() in CARRY and not (net or weld):
        names = fields or run.recorded(frame)
        how = {"density": density, "physics": physics}
        carried = as_fields({n: run.field(n, frame, **how) for n in names})
    write_mesh(path, x, faces, corner_uv, carried)
    return path


def compute_frame_field(
    run: "RunFrames",
    name: str,
    frame: int,
    density: int | None,
    physics: Physics | None,
    arrays: Mapping[str, Any],
) -> Floats:
    """Compute a field of a frame from its arrays; arguments as of ``Run.field``.

    Raises:
        RunError: there is no such field, or the run alone does not suffice to compute it.
    """
    faces, corner_uv = run.tessellation(density)
    x, v = run.positions(frame, density), run.velocities(frame, density)
    mesh = TriangleMesh(x, faces, corner_uv, source=str(run.path))
    physics = (physics or Physics()).at(float(arrays["t"]))
    parts = run.parts(density)
    if physics.laws is not None and len(physics.laws) == len(parts):
        laws = [law for law, _ in physics.laws]
        joined = [(a, n) for a, (_, n) in zip(laws, parts)]
        physics = Physics(joined, physics.wind, physics.carried)
    pressure = arrays.get("pressure") if density is None else None
    try:
        return field_of(name, mesh, x, v, float(arrays["t"]), physics, pressure)
    except SceneError as error:
        raise RunError(
            f"field {name}",
            got=str(error),
            expected="one that this run can give",
            where=str(run.path),
            hint="`record` in the scene keeps it; `weft export --fields` takes laws and wind from "
            "the run's scene file, Python as physics=scene.physics()",
        ) from None


def _welded(run: Any, x: Positions, faces: Faces, density: int | None) -> tuple[Positions, Faces]:
    """Return positions and faces with sewn vertices merged into one vertex, at their mean."""
    from weft.garment.garment import merged

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
    x, new = merged(sewn, x)
    return x, new[faces]
