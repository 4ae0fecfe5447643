"""Tracked points as a measurement: positions of marked points of the cloth at several times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import PictureError
from weft.base.settings import REQUIRED, setting
from weft.plugins.lab.fitting.block import PlacedBlock
from weft.plugins.lab.fitting.measurement import Measurement
from weft.plugins.lab.fitting.scene_run import (
    VAGUE,
    RecordedSettings,
    SceneMeasurement,
    SceneRun,
    build_scene_run,
)
from weft.plugins.lab.fitting.table import read_table

OUTSIDE = 1e-3  # barycentric tolerance for marks outside of the cloth
MOST_ROWS = 200_000
STRETCHED, CRUMPLED = 4.0, 100.0  # largest factors by which marks move apart, or together


@dataclass(frozen=True, kw_only=True)
class TrackSettings(RecordedSettings):
    """Tracked points: positions of marked points of the cloth at several times."""

    points: str = setting(
        REQUIRED,
        "CSV `time [s],u [cm],v [cm],x [m],y [m],z [m]`: one row for every point and time; u, v: "
        "material coordinates of the mark",
    )
    error: float = setting(
        2e-3, "standard deviation of a coordinate; 2 mm", "m", above=0, most=VAGUE
    )


@dataclass(frozen=True, eq=False)
class Track(SceneMeasurement):
    """Marked points in time.

    Attributes:
        time: (k,) [s] of each observation.
        corners: (k,3) vertices of the triangle that contains the mark.
        weight: (k,3) barycentric coordinates of the mark.
        seen: (k,3) [m] observed positions.
        sigma: [m] standard deviation of a coordinate.
    """

    name: str
    run: SceneRun
    time: Floats
    corners: Ints
    weight: Floats
    seen: Floats
    sigma: float
    advice: ClassVar[str] = "check that axes, start and pins of the scene agree with the recording"

    @property
    def data(self) -> Floats:
        """Return the observed coordinates, (3k,) [m]."""
        return self.seen.ravel()

    def numbers(self, frames: Floats) -> Floats:
        """Return the coordinates of the marks at their times, (3k,) [m]."""
        times, row = np.unique(self.time, return_inverse=True)
        corners = self.run.at(frames, times)[row[:, None], self.corners]
        return np.asarray(np.einsum("ka,kai->ki", self.weight, corners).ravel())


def locate_points(corner_uv: Floats, uv: Floats, where: str) -> tuple[Ints, Floats]:
    """Return the faces that contain material points, and the barycentric coordinates.

    Args:
        corner_uv: (m,3,2) [m] corners of the triangles.
        uv: (k,2) [m] material points.
        where: the file, for messages.

    Returns:
        (k,) faces and (k,3) barycentric coordinates.

    Raises:
        PictureError: a point is outside of all triangles.
    """
    first = corner_uv[:, 0]
    edges = np.stack([corner_uv[:, 1] - first, corner_uv[:, 2] - first], axis=2)
    inverse = np.linalg.inv(edges)
    found = np.zeros(len(uv), np.int32)
    weight = np.zeros((len(uv), 3))
    for i, place in enumerate(uv):
        local = np.einsum("mij,mj->mi", inverse, place - first)
        every = np.column_stack([1 - local.sum(1), local])
        least = every.min(1)
        best = int(np.argmax(least))
        if least[best] < -OUTSIDE:
            low, high = corner_uv.min((0, 1)), corner_uv.max((0, 1))
            raise PictureError(
                "marked point",
                got=f"u = {place[0]:.4g} m, v = {place[1]:.4g} m",
                where=where,
                expected=f"on the cloth, u {low[0]:.4g} to {high[0]:.4g} m, v {low[1]:.4g} to "
                f"{high[1]:.4g} m",
                hint="check the unit",
            )
        found[i], weight[i] = best, every[best]
    return found, weight


def _check_size(seen: Floats, time: Floats, uv: Floats, where: str) -> None:
    """Check that the distances of marks (k,3), seen at times (k,), are possible for cloth.

    Raises:
        PictureError: marks are too far apart, or all in one place, so the unit of the positions or
            of u and v is wrong.
    """
    for t in np.unique(time):
        now = time == t
        apart = float(np.linalg.norm(np.ptp(seen[now], axis=0)))
        along = float(np.linalg.norm(np.ptp(uv[now], axis=0)))
        if along > 0 and not along / CRUMPLED < apart < STRETCHED * along:
            raise PictureError(
                "tracked points",
                got=f"{apart:.3g} m apart at {t:g} s",
                where=where,
                expected=f"about {along:.3g} m, the distance in u and v",
                hint="check the unit",
            )


def read_track(block: PlacedBlock[TrackSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    path = block.file("points")
    table = read_table(path, PictureError)
    time = table.column("time", "s")
    uv, seen = (np.stack([table.column(c, "m") for c in names], axis=1) for names in ("uv", "xyz"))
    if len(time) > MOST_ROWS or time.min() < 0:
        got = f"{len(time)} rows" if len(time) > MOST_ROWS else f"a time of {time.min():g} s"
        raise PictureError(
            "tracked points",
            got=got,
            where=path.name,
            expected=f"at most {MOST_ROWS} rows from 0 s on",
        )
    run = build_scene_run(block, float(time.max()))
    if len(run.scene.cloth.parts) != 1:
        raise block.error("scene", f"{len(run.scene.cloth.parts)} cloths", "one cloth: u and v")
    marks, which = np.unique(np.round(uv, 9), axis=0, return_inverse=True)
    face, weight = locate_points(run.scene.cloth.corner_uv, marks, path.name)
    corners = run.faces[face][which.ravel()]
    _check_size(seen, time, uv, path.name)
    sigma, called = block.given.error, block.given.name or "track"
    return [Track(called, run, time, corners, weight[which.ravel()], seen, sigma)]
