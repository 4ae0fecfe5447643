"""The silhouette of a hanging sample as a measurement: a strip or square held at an edge, a corner
or two, as described by the scene file beside the picture.

The height of the silhouette is compared and, at equally spaced heights, its width and the position
of its middle. The position of the camera across and up has no influence. The view must be level and
from far away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import PictureError
from weft.base.settings import REQUIRED, setting
from weft.fabric.fabric import Fabric
from weft.fitting.block import PlacedBlock
from weft.fitting.drape_equilibrium import MOVED
from weft.fitting.edges import trace_outline
from weft.fitting.measurement import Comparison, Measurement
from weft.fitting.picture import ClothPicture, segment_cloth
from weft.fitting.scene_run import VAGUE, RecordedSettings, SceneRun, build_scene_run

HEIGHTS = 30  # number of heights at which a silhouette is measured
MARGIN = 0.03  # of the drop, left out above and below, because corners cut the rows there
LARGER = 2.0  # times the length of the cloth: a larger silhouette means a wrong scale


@dataclass(frozen=True, kw_only=True)
class SilhouetteSettings(RecordedSettings):
    """A photograph of a hanging sample."""

    picture: str = setting(
        REQUIRED, "the hanging sample, level and from far away, before a background of one color"
    )
    mask: str | None = setting(
        None,
        "a picture that is white where the cloth is; none: by color, before the background",
    )
    pixel: float = setting(REQUIRED, "size of a pixel where the sample hangs: 0.5 mm", "m", above=0)
    azimuth: float = setting(
        0.0, "from where it is seen, to the right of the front (+z): 30 deg; 0", "rad"
    )
    time: float | None = setting(None, "when; the end of the scene", "s", above=0)
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
class HangingSample:
    """A photographed silhouette of a hanging sample."""

    name: str
    run: SceneRun
    frame: int
    azimuth: float  # [rad]
    seen: Silhouette
    sigma: float  # [m]
    pictures: Sequence[ClothPicture] = ()  # source of the silhouette, for plots
    slow: ClassVar[bool] = True
    advice: ClassVar[str] = "is the sample of the scene as large, and held, as that of the picture?"

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return the fields on which a run of the scene depends."""
        return self.run.depends_on

    def residuals(self, fabric: Fabric) -> Floats:
        """Return the residuals, (1+2 HEIGHTS,)."""
        there = self.of(self.run.positions(fabric)[self.frame])
        return np.asarray((there.numbers - self.seen.numbers) / self.sigma)

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return the Jacobian, (1+2 HEIGHTS, len(fields)).

        It is computed by differences of the silhouette of the cloth, moved along the tangents of
        the run.
        """
        x = self.run.positions(fabric)[self.frame]
        columns = []
        for rate in self.run.rates(fabric, fields)[:, self.frame]:
            size = float(np.abs(rate).max())
            h = MOVED / size if size > 0 else 1.0
            up, down = self.of(x + h * rate).numbers, self.of(x - h * rate).numbers
            columns.append((up - down) / (2 * h * self.sigma))
        return np.stack(columns, axis=1) if columns else np.zeros((1 + 2 * HEIGHTS, 0))

    def comparison(self, fabric: Fabric) -> Comparison:
        """Return the width over the height, of data and model, for plots."""
        there, n = self.of(self.run.positions(fabric)[self.frame]), len(self.seen.left)
        down = 1e3 * self.seen.drop * row_fractions(n)
        seen, model = 1e3 * self.seen.numbers[1 : n + 1], 1e3 * there.numbers[1 : n + 1]
        labels = "below the top [mm]", "width [mm]"
        return Comparison(*labels, down, seen, np.full(n, 1e3 * self.sigma), model)

    def of(self, x: Positions) -> Silhouette:
        """Return the silhouette of a cloth at x (n,3) [m], seen from ``azimuth``."""
        across = np.cos(self.azimuth) * x[:, 0] - np.sin(self.azimuth) * x[:, 2]
        flat, edges = np.stack([across, x[:, 1]], axis=1), self.run.scene.cloth.mesh.edges
        return measure_silhouette(flat[edges[:, 0]], flat[edges[:, 1]])


def row_fractions(n: int = HEIGHTS) -> Floats:
    """Return the n fractions of the drop at which rows are measured."""
    return np.linspace(MARGIN, 1 - MARGIN, n)


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


def read(block: PlacedBlock[SilhouetteSettings]) -> Sequence[Measurement]:
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
            hint="`pixel` is the size of one pixel where the sample hangs",
        )
    sigma = float(np.hypot(given.error, cloth.doubt * (seen.right - seen.left).mean()))
    called = given.name or "silhouette"
    return [HangingSample(called, run, run.frames, given.azimuth, seen, sigma, [cloth])]
