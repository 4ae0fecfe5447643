"""Wind grid: a velocity field on a grid in space and time, linear in each direction and in time."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import ArrayOf, Arrays, Floats, Positions, Velocities
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.io.archive import read_npz
from weft.kernel import Scalar, Vec3Array, WarpArray, vec3

_module = wp.get_module("weft_air.wind_grid")


@wp.kernel(module=_module)
def linear(
    o: int,
    x: Vec3Array,
    velocity: wp.array4d(dtype=vec3),
    origin: vec3,
    spacing: vec3,
    frame: int,
    part: Scalar,
    out: Vec3Array,
):
    """Compute the field between two frames, trilinear in the cell of x or the nearest cell."""
    i = o + wp.tid()
    p = wp.cw_div(x[i] - origin, spacing)
    last = velocity.shape[0] - 1
    sum = vec3(Scalar(0.0))
    base = wp.vec3i(0, 0, 0)
    f = vec3(Scalar(0.0))
    for a in range(3):
        cells = velocity.shape[a + 1] - 1
        at = wp.clamp(p[a], Scalar(0.0), Scalar(cells))
        base[a] = wp.min(int(wp.floor(at)), wp.max(cells - 1, 0))
        f[a] = at - Scalar(base[a])
    for corner in range(16):
        t = corner & 1
        dx = (corner >> 1) & 1
        dy = (corner >> 2) & 1
        dz = (corner >> 3) & 1
        w = (f[0] if dx == 1 else Scalar(1.0) - f[0]) * (f[1] if dy == 1 else Scalar(1.0) - f[1])
        w = w * (f[2] if dz == 1 else Scalar(1.0) - f[2])
        w = w * (part if t == 1 else Scalar(1.0) - part)
        if w > Scalar(0.0):
            sum += w * velocity[wp.min(frame + t, last), base[0] + dx, base[1] + dy, base[2] + dz]
    out[i] = sum


@checked(SceneError, "wind_grid", unchecked=("between",))
@dataclass(frozen=True, eq=False)
class WindGrid:
    """Velocities of the air at the nodes of a grid.

    A place outside the grid has the velocity of the nearest place inside. Before the first and
    after the last frame, the velocities are those of that frame.

    Raises:
        SceneError: shapes that do not fit, spacing that is not > 0, times that do not rise, numbers
            that are not finite.
    """

    velocity: Annotated[
        Floats, ArrayOf("numbers", ((None, None, None, None, 3),), "m/s")
    ]  # (f,nx,ny,nz,3) [m/s]
    origin: Annotated[Floats, ArrayOf("numbers", ((3,),), "m")]  # (3,) [m] of the first node
    # (3,) [m] between nodes along x, y and z
    spacing: Annotated[Floats, ArrayOf("numbers", ((3,),), "m")]
    times: Annotated[Floats, ArrayOf("numbers", ((None,),), "s")]  # (f,) [s] of the frames

    def __post_init__(self) -> None:
        v, t = self.velocity, self.times
        if 0 in v.shape:
            raise SceneError(
                "wind_grid velocity", got=f"shape {v.shape}", expected="(frames, nx, ny, nz, 3)"
            )
        if t.shape != (len(v),) or not (np.diff(t) > 0).all():
            raise SceneError(
                "wind_grid times",
                got=f"shape {t.shape}",
                expected=f"{len(v)} times that rise, one for each frame",
            )
        if not (self.spacing > 0).all():
            raise SceneError(
                "wind_grid spacing", got=self.spacing.tolist(), expected="must be > 0 [m]"
            )

    @staticmethod
    def load(path: str | Path) -> "WindGrid":
        """Read a grid from an .npz file.

        The file has ``velocity`` (frames,nx,ny,nz,3) or (nx,ny,nz,3) [m/s], ``origin`` and
        ``spacing`` (3,) [m], and ``times`` (frames,) [s] if there are several frames.

        Raises:
            SceneError: no such file, one that is no .npz, or without these arrays.
        """
        what, expected = "wind_grid.file", "an .npz of arrays velocity, origin, spacing and times"
        arrays = read_npz(Path(path), what=what, expected=expected, error=SceneError)
        return _of_arrays(arrays, str(path))

    @cached_property
    def _device(self) -> tuple[WarpArray, ...]:
        origin, spacing = vec3(*self.origin.tolist()), vec3(*self.spacing.tolist())
        return kernel.array(self.velocity, vec3), origin, spacing

    def between(self, t: float) -> tuple[int, float]:
        """Return the frame before time t [s], and the part of the way to the next one."""
        t = float(np.clip(t, self.times[0], self.times[-1]))
        frame = int(np.clip(np.searchsorted(self.times, t, "right") - 1, 0, len(self.times) - 1))
        if frame == len(self.times) - 1:
            return frame, 0.0
        return frame, float((t - self.times[frame]) / (self.times[frame + 1] - self.times[frame]))

    def __call__(self, x: Positions, t: float) -> Velocities:
        """Return the velocities (m,3) [m/s] at places x (m,3) [m] and the time t [s]."""
        frame, part = self.between(t)
        at, out = kernel.points(x), kernel.empty(len(x), vec3)
        kernel.launch(linear, len(x), at, *self._device, frame, Scalar(part), out)
        return np.array(kernel.numpy(out))


def _of_arrays(arrays: Arrays, where: str) -> WindGrid:
    """Build a grid from named arrays; errors name the file ``where``."""
    missing = [name for name in ("velocity", "origin", "spacing") if name not in arrays]
    if missing:
        raise SceneError(
            "wind_grid.file",
            got=f"no {', '.join(missing)}",
            where=where,
            expected="arrays velocity, origin and spacing",
        )
    velocity = arrays["velocity"]
    velocity = velocity[None] if velocity.ndim == 4 else velocity
    if "times" not in arrays and len(velocity) > 1:
        raise SceneError(
            "wind_grid times",
            got="none",
            where=where,
            expected=f"one for each of {len(velocity)} frames",
        )
    times = arrays.get("times", np.zeros(1))
    try:
        return WindGrid(velocity, arrays["origin"], arrays["spacing"], times)
    except SceneError as error:
        error.where = where
        raise
