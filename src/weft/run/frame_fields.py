"""Fields that are computed from a frame of a run on demand."""

from weft.base.arrays import Arrays, Floats
from weft.base.errors import RunError, SceneError
from weft.cloth.fields import Physics, compute_field
from weft.discretization.mesh import TriangleMesh
from weft.run.run import Run


def compute_frame_field(
    run: Run,
    name: str,
    frame: int,
    density: int | None,
    physics: Physics | None,
    arrays: Arrays,
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
        return compute_field(name, mesh, x, v, float(arrays["t"]), physics, pressure)
    except SceneError as error:
        raise RunError(
            f"field {name}",
            got=str(error),
            expected="one that this run can give",
            where=str(run.path),
            hint="`record` in the scene keeps it; `weft export --fields` takes laws and wind from "
            "the run's scene file, Python as physics=scene.physics()",
        ) from None
