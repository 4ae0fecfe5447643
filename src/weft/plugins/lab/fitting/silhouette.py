"""The silhouette of a hanging sample as a measurement.

The height of the silhouette is compared and, at equally spaced heights, its width and the position
of its middle. The position of the camera across and up has no influence. The view must be level and
from far away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PictureError
from weft.base.settings import REQUIRED, setting
from weft.fabric.fabric import Fabric
from weft.plugins.lab.fitting.block import PlacedBlock
from weft.plugins.lab.fitting.edges import trace_outline
from weft.plugins.lab.fitting.measurement import Comparison, Measurement
from weft.plugins.lab.fitting.picture import ClothPicture, segment_cloth
from weft.plugins.lab.fitting.scene_run import (
    VAGUE,
    RecordedSettings,
    SceneMeasurement,
    SceneRun,
    build_scene_run,
)

HEIGHTS = 30  # number of heights at which a silhouette is measured
MARGIN = 0.03  # of the drop, left out above and below, because corners cut the rows there
LARGER = 2.0  # times the length of the cloth: a larger silhouette means a wrong scale


@dataclass(frozen=True, kw_only=True)
class SilhouetteSettings(RecordedSettings):
    """The silhouette of a hanging sample: a strip or square held at an edge, a corner or two, as
    described by the scene file beside the picture.
    """

    picture: str = setting(
        REQUIRED,
        "the hanging sample, level and from far away, in front of a background of one color",
    )
    mask: str | None = setting(
        None,
        "a picture that is white where the cloth is; none: by color, before the background",
    )
    pixel: float = setting(REQUIRED, "size of a pixel at the sample: 0.5 mm", "m", above=0)
    azimuth: float = setting(
        0.0, "direction of view, to the right of the front (+z): 30 deg; 0", "rad"
    )
    time: float | None = setting(
        None, "time of the picture; default: the end of the scene", "s", above=0
    )
    error: float = setting(
        2e-3, "standard deviation of widths and places; 2 mm", "m", above=0, most=VAGUE
    )


@dataclass(frozen=True, eq=False)
class Silhouette:
    """Left and right ends of horizontal rows from the top to the bottom."""

    drop: float  # [m]
    left: Floats  # (HEIGHTS,) [m] at equal parts of the drop, from the top
    right: Floats  # (HEIGHTS,) [m]

    @property
    def numbers(self) -> Floats:
        """Return drop, widths, and middles relative to their mean, (1+2 HEIGHTS,) [m]."""
        middle = 0.5 * (self.left + self.right)
        return np.concatenate([[self.drop], self.right - self.left, middle - middle.mean()])


@dataclass(frozen=True, eq=False)
class HangingSample(SceneMeasurement):
    """A photographed silhouette of a hanging sample."""

    name: str
    run: SceneRun
    azimuth: float  # [rad]
    seen: Silhouette
    sigma: float  # [m]
    pictures: Sequence[ClothPicture] = ()
    advice: ClassVar[str] = (
        "check that the sample in the scene has the size and the pins of the sample in the picture"
    )

    @property
    def data(self) -> Floats:
        """Return the numbers of the photographed silhouette, (1+2 HEIGHTS,) [m]."""
        return self.seen.numbers

    def numbers(self, frames: Floats) -> Floats:
        """Return the numbers of the silhouette in the last frame, seen from ``azimuth``."""
        x = frames[-1]
        across = np.cos(self.azimuth) * x[:, 0] - np.sin(self.azimuth) * x[:, 2]
        flat, edges = np.stack([across, x[:, 1]], axis=1), self.run.scene.cloth.mesh.edges
        return measure_silhouette(flat[edges[:, 0]], flat[edges[:, 1]]).numbers

    def comparison(self, fabric: Fabric) -> Comparison:
        """Return the width over the height, of data and model, for plots."""
        down = 1e3 * self.seen.drop * row_fractions()
        seen, model = (1e3 * n[1 : HEIGHTS + 1] for n in (self.data, self.model(fabric)))
        sigma = np.full(HEIGHTS, 1e3 * self.sigma)
        return Comparison("below the top [mm]", "width [mm]", down, seen, sigma, model)


def row_fractions() -> Floats:
    """Return the fractions of the drop at which rows are measured."""
    return np.linspace(MARGIN, 1 - MARGIN, HEIGHTS)


def measure_silhouette(p: Floats, q: Floats) -> Silhouette:
    """Return the silhouette of edges from p (m,2) to q (m,2) [m], given as across and up."""
    top, low = float(max(p[:, 1].max(), q[:, 1].max())), float(min(p[:, 1].min(), q[:, 1].min()))
    rise = q[:, 1] - p[:, 1]
    left, right = [], []
    for height in top - (top - low) * row_fractions():
        cut = (p[:, 1] <= height) != (q[:, 1] <= height)
        part = (height - p[cut, 1]) / rise[cut]
        at = p[cut, 0] + part * (q[cut, 0] - p[cut, 0])
        left.append(at.min())
        right.append(at.max())
    return Silhouette(top - low, np.array(left), np.array(right))


def read_silhouette(block: PlacedBlock[SilhouetteSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    given, path = block.given, block.file("picture")
    cloth = segment_cloth(path, block.file("mask") if given.mask is not None else None)
    corners = given.pixel * cloth.reduced * trace_outline(cloth.edge, cloth.mask) * [1, -1]
    seen = measure_silhouette(corners, np.roll(corners, -1, axis=0))
    run = build_scene_run(block, given.time)
    size = float(np.linalg.norm(np.ptp(run.scene.cloth.corner_uv.reshape(-1, 2), axis=0)))
    largest = max(seen.drop, float((seen.right - seen.left).max()))
    if largest > LARGER * size or largest < size / (10 * LARGER):
        raise PictureError(
            "hanging sample",
            got=f"{largest:.3g} m large",
            where=path.name,
            expected=f"a cloth of {size:.3g} m, as in the scene",
            hint="`pixel` must be the size of one pixel at the sample",
        )
    sigma = float(np.hypot(given.error, cloth.doubt * (seen.right - seen.left).mean()))
    called = given.name or "silhouette"
    return [HangingSample(called, run, given.azimuth, seen, sigma, [cloth])]
