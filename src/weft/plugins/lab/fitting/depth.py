"""Depth maps in time as a measurement: recordings of cloth by a depth camera.

Each pixel with a depth is a point of the surface. Its residual is the distance of that point from
the simulated surface along the normal there (as in registration of scans: Chen & Medioni 1992,
"Object modelling by registration of multiple range images"). So pixels need not be matched, and
sliding of the cloth within its own surface has no influence. Pixels at an edge of the surface count
by their distance to it along that same normal, and pixels farther away than ``reach`` are ignored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import PictureError
from weft.base.input_file import open_input
from weft.base.settings import REQUIRED, setting
from weft.bodies.nearest_points import NearestPoints
from weft.discretization.polygon import triangle_sides
from weft.io.archive import Broken, arrays_of
from weft.plugins.lab.fitting.block import PlacedBlock
from weft.plugins.lab.fitting.measurement import Measurement
from weft.plugins.lab.fitting.scene_run import (
    VAGUE,
    RecordedSettings,
    SceneMeasurement,
    SceneRun,
    build_scene_run,
)
from weft.show.picture.camera import Camera, is_rotation

SHAPES = {  # of arrays; None: any size
    "time": (None,),
    "focal": (2,),
    "center": (2,),
    "eye": (3,),
    "axes": (3, 3),
    "depth": (None, None, None),
}
FARTHEST = 100.0  # [m] largest median depth; a larger one is in millimeters


@dataclass(frozen=True, kw_only=True)
class DepthSettings(RecordedSettings):
    """Depth maps in time: recordings of cloth by a depth camera."""

    depth: str = setting(
        REQUIRED,
        "npz of `depth` (frames,h,w) [m] along the camera's axis, 0 or nan where there is none; "
        "`time` (frames) [s]; `focal` (2) and `center` (2) [pixels]; `eye` (3) [m]; `axes` (3,3): "
        "rows right, up and back of the camera",
    )
    error: float = setting(3e-3, "standard deviation of a depth; 3 mm", "m", above=0, most=VAGUE)
    reach: float = setting(
        0.1,
        "largest distance from the surface: weft ignores points that are farther away; 10 cm",
        "m",
        above=0,
    )
    pixels: int = setting(
        400, "largest number of points per frame, spread evenly; 400", least=10, most=100_000
    )


@dataclass(frozen=True, eq=False)
class DepthMaps(SceneMeasurement):
    """Points of a recorded surface at several times."""

    name: str
    run: SceneRun
    time: Floats  # (f,) [s]
    points: Sequence[Positions]  # (k,3) [m] at each time
    sigma: float  # [m]
    reach: float  # [m]
    advice: ClassVar[str] = (
        "check that camera, start and pins of the scene agree with the recording"
    )

    @property
    def data(self) -> Floats:
        """Return zero distances, (m,): points are on the surface."""
        return np.zeros(sum(map(len, self.points)))

    def numbers(self, frames: Floats) -> Floats:
        """Return the signed distances of all points from the surface, (m,) [m]."""
        pairs = zip(self.run.at(frames, self.time), self.points)
        return np.concatenate([self._nearest(x, p)[0] for x, p in pairs])

    def slope(self, frames: Floats, rate: Floats) -> Floats:
        """Return the velocity of the surface along its normals at the nearest points, (m,)."""
        at = zip(self.run.at(frames, self.time), self.run.at(rate, self.time), self.points)
        out = []
        for x, velocity, p in at:
            _, normal, places = self._nearest(x, p)
            out.append((normal * places.on(velocity, self.run.faces)).sum(1))
        return np.concatenate(out)

    def _nearest(self, x: Positions, points: Positions) -> tuple[Floats, Floats, NearestPoints]:
        """Return signed distances (k,) [m] from points to the surface, normals (k,3) and nearest
        points.
        """
        faces = self.run.faces
        places = NearestPoints.of(points, x, faces)
        corner = x[faces[np.maximum(places.face, 0)]]
        normal = np.cross(*triangle_sides(corner))
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
        used = (places.face >= 0) & (places.distance < self.reach)
        normal = np.where(used[:, None], normal, 0.0)
        return ((places.on(x, faces) - points) * normal).sum(1), normal, places


def read_depth(block: PlacedBlock[DepthSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    given = block.given
    arrays = _read_arrays(block.file("depth"))
    run = build_scene_run(block, float(arrays["time"].max()))
    height, width = arrays["depth"].shape[1:]
    camera = Camera(arrays["eye"], arrays["axes"])
    camera = camera.calibrate(arrays["focal"], arrays["center"], width, height)
    points = [seen_points(depth, camera, given.pixels) for depth in arrays["depth"]]
    called = given.name or "depth"
    return [DepthMaps(called, run, arrays["time"], points, given.error, given.reach)]


def seen_points(depth: Floats, camera: Camera, most: int) -> Positions:
    """Return the points of all pixels (h,w) with a depth, evenly thinned to ``most``, (k,3) [m].

    Args:
        depth: (h,w) [m] along the camera's axis.
        camera: that took them.
        most: largest number of points.
    """
    points: Positions = camera.unproject(depth)[np.isfinite(depth) & (depth > 0)]
    return np.asarray(points[np.linspace(0, len(points) - 1, min(most, len(points))).astype(int)])


def _read_arrays(path: Path) -> dict[str, Floats]:
    """Return the arrays of a recording, with their shapes and ranges checked."""

    def error(what: str, got: object, expected: str, hint: str | None = None) -> PictureError:
        return PictureError(what, got=got, where=path.name, expected=expected, hint=hint)

    try:
        with open_input(path) as file:
            arrays = arrays_of(file)
        found = {k: np.asarray(arrays[k], dtype=np.float64) for k in SHAPES if k in arrays}
    except Broken as problem:
        raise error("depth maps", str(problem), "an npz of arrays") from problem
    for key, shape in SHAPES.items():
        if key not in found:
            raise error("depth maps", f"{', '.join(found) or 'nothing'}", f"an array {key!r}")
        size = found[key].shape
        if len(size) != len(shape) or any(n not in (m, None) for n, m in zip(shape, size)):
            sizes = ", ".join("any" if n is None else str(n) for n in shape)
            raise error(key, f"shape {size}", f"{len(shape)} axes: {sizes}")
        if key != "depth" and not np.isfinite(found[key]).all():
            raise error(key, "numbers that are not finite", "finite numbers")
    time, depth, axes = found["time"], found["depth"], found["axes"]
    if len(time) != len(depth) or len(time) == 0 or time.min() < 0:
        raise error(
            "time", f"{len(time)} times, {len(depth)} frames", "one time >= 0 for each frame"
        )
    if not (found["focal"] > 0).all():
        raise error("focal", found["focal"].tolist(), "must be > 0")
    if not is_rotation(axes):
        raise error("axes", "rows that are not perpendicular unit vectors", "right, up and back")
    seen = depth[np.isfinite(depth) & (depth > 0)]
    if not len(seen):
        raise error("depth maps", "no pixel with a depth", "cloth")
    if (middle := float(np.median(seen))) > FARTHEST:
        got = f"{middle:.4g} m in the middle"
        hint = "depths must be in meters; many cameras give millimeters"
        raise error("depth", got, f"below {FARTHEST} m", hint)
    return found
