"""Drapes on Cusick's disk as measurements: the drape coefficient as a number, and outlines of one
or several drapings of a fabric, from photographs or polygons.

Drapes from the flat state have many equilibria, and the coefficient jumps by points from one to the
next if a number of the fabric changes by a percent (``docs/explanations/laboratory.md``). So a fit
drapes a few specimens of one fabric (``near``) and follows these equilibria from there, which is
smooth and has exact derivatives (``drape_equilibrium``). Then the specimens are draped again with
the fitted fabric.

Three numbers of an outline are compared: drape coefficient, depth of the folds and number of folds;
if the picture gives the warp direction, also the elongation of the outline along the warp
(``outline``). Both sides are means, over the outlines that were seen and over simulated drapes. One
drape differs from the next, in a laboratory as in simulations, by 1 to 3 points of the coefficient
and by a tenth of depth and number (``SCATTER``: of eight simulated drapes of cotton, wool, silk and
denim each). This scatter is far larger than the error of a picture. So the standard deviations are
computed from it, divided by the numbers of seen and of simulated drapes; the standards ask for six
drapings.

Only the ratio of weight and rigidity affects the drape, and an outline depends mostly on the mean
of warp and weft. So the fabric has to be weighed, and the ratio of the bending rigidities of warp
and weft has to be given or measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.settings import REQUIRED, setting
from weft.base.trees import Yaml
from weft.fabric.fabric import Fabric
from weft.plugins.lab.fitting.block import UNCERTAINTY, MeasurementSettings, PlacedBlock
from weft.plugins.lab.fitting.drape_equilibrium import FIELDS as FABRIC_FIELDS
from weft.plugins.lab.fitting.drape_equilibrium import (
    DrapeContinuation,
    DrapedSpecimen,
    DrapeTester,
    Eye,
    View,
)
from weft.plugins.lab.fitting.measurement import Comparison, Measurement
from weft.plugins.lab.fitting.outline import RadialOutline
from weft.plugins.lab.fitting.photograph import PhotographSettings, read_photographs, read_polygon
from weft.plugins.lab.fitting.picture import ClothPicture
from weft.plugins.lab.laboratory.cusick import DISK, SPECIMEN, drape_coefficient
from weft.plugins.lab.laboratory.shadow import area

SCATTER = (0.02, 0.12, 0.12)  # standard deviations: coefficient; relative depth, number of folds
ALONG = 0.12  # of the depth: standard deviation of the elongation along warp
KNOWN = 2.0  # weight of the prior SCATTER, in drapes
CUSICK_SIZE, CUSICK_DRAPINGS = 7e-3, 3  # [m] edges of specimens for the coefficient as a number
SIZES = (4e-3, 15e-3)  # [m]
SIZE = 5e-3  # [m]: wool of 8 mm drapes 2.5 points stiffer, silk with its eleven folds 15
DRAPINGS = (4, 8)  # fewest and most simulated drapes if the block gives no number
MOST = 50  # pictures of a block
LEAST_DEPTH = 1e-3  # [m] lower bound of the depth in standard deviations
ROUND = 2 * np.pi  # [rad] bound of the size of an angle
SHOWN = 6  # plots show every sixth ray


@dataclass(frozen=True, kw_only=True)
class DrapeSettings(PhotographSettings):
    """Drapes on Cusick's disk: outlines of one or several drapings of a fabric, from photographs or
    polygons.
    """

    outline: Sequence[str] | None = setting(
        None,
        "CSV of the outline's corners in order, `x [mm],y [mm]`: a shadow in parallel light; or "
        "a list",
    )
    warp: Sequence[float] | None = setting(
        None,
        "angle of the warp, counter-clockwise from the right of the picture (or x): 30 deg; or a "
        "list",
        "rad",
        above=-ROUND,
        most=ROUND,
    )
    scatter: float = setting(
        SCATTER[0],
        "standard deviation of the drape coefficient between drapings; 2 % (points)",
        "1",
        above=1e-3,
        most=0.5,
    )
    size: float = setting(
        SIZE,
        "edge length of the simulated specimen; 5 mm; longer edges are faster, but the "
        "coefficient is some points higher",
        "m",
        above=SIZES[0],
        most=SIZES[1],
    )
    drapings: int | None = setting(
        None,
        "number of simulated drapes, whose mean is compared; default: the number of measured "
        "drapes, 4 to 8",
        least=1,
        most=20,
    )
    seed: int = setting(0, "seed of the bumps that let them buckle (0)", least=0, most=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class CusickSettings(MeasurementSettings):
    """Cusick's drape coefficient as a number (BS 5058, ISO 9073-9), against the simulated test."""

    drape_coefficient: Sequence[float] = setting(
        REQUIRED, "of the standard, such as 62 %; readings: a list", "1", above=0, most=1
    )
    size: float = setting(
        CUSICK_SIZE,
        "edge length of the simulated specimen: longer edges are faster, but the coefficient is "
        "up to some points higher (7 mm)",
        "m",
        least=1e-3,
        most=15e-3,
    )
    drapings: int = setting(
        CUSICK_DRAPINGS,
        "number of simulated specimens, whose mean is compared (3)",
        least=1,
        most=20,
    )
    seed: int = setting(0, "seed of the waves that let them buckle (0)", least=0, most=2**31 - 1)
    uncertainty: Yaml = setting(None, f"relative: {UNCERTAINTY}")


class DrapeMeasurement(Measurement):
    """Base of measurements of draped specimens, which simulated drapes follow."""

    following: DrapeContinuation
    slow: ClassVar[bool] = True
    tells_ratio: ClassVar[bool] = False
    depends_on: ClassVar[tuple[str, ...]] = FABRIC_FIELDS

    @property
    def views(self) -> Sequence[View]:
        """Return how drapes are seen, in turn."""
        raise NotImplementedError

    def model(self, fabric: Fabric) -> Floats:
        """Return the means of the numbers of the drapes of a fabric."""
        return self.following.numbers(fabric, self.views)[: np.size(self.data)]

    def slopes(self, fabric: Fabric, fields: Sequence[str]) -> Mapping[str, Floats]:
        """Return the derivatives, by the implicit function theorem at the equilibria."""
        rates = self.following.rates(fabric, self.views, fields)
        return {f: rate[: np.size(self.data)] for f, rate in rates.items()}


@dataclass(frozen=True, eq=False)
class CusickTest(DrapeMeasurement):
    """A measured mean drape coefficient."""

    name: str
    data: float  # 0 to 1
    sigma: float  # of the data, and of the mean of the simulated drapes
    following: DrapeContinuation
    scatter: float = 0.0  # standard deviation of the mean of the simulated drapes
    advice: ClassVar[str] = (
        "elastic bending may not describe the drape of this cloth: see "
        "docs/explanations/laboratory.md"
    )

    def near(self, fabric: Fabric) -> "CusickTest":
        """Return this test, prepared to follow drapes of ``fabric`` that start from the flat
        state.
        """
        following = self.following.near(fabric)
        each = np.array([drape_coefficient_of(d) for d in following.drapes(fabric)])
        variance = SCATTER[0] ** 2 * KNOWN + ((each - each.mean()) ** 2).sum()
        scatter = float(np.sqrt(variance / (KNOWN + len(each) - 1) / len(each)))
        sigma = float(np.hypot(self.sigma, scatter))
        return replace(self, following=following, scatter=scatter, sigma=sigma)

    @property
    def views(self) -> Sequence[View]:
        """Return the drape coefficient, in parallel light."""
        return (drape_coefficient_of,)


def drape_coefficient_of(drape: DrapedSpecimen, shift: Positions | float = 0.0) -> Floats:
    """Return the drape coefficient (1,) of a specimen that is shifted by ``shift`` (n,3) [m]."""
    flat = Eye().flat(drape.x + shift)
    return np.array([drape_coefficient(area(flat, drape.mesh.faces, DISK))])


def read_cusick(block: PlacedBlock[CusickSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    given = block.given
    following = DrapeContinuation(DrapeTester.of(given.size), given.drapings, given.seed)
    mean, sigma = block.noise("1").mean(np.array(given.drape_coefficient))
    return [CusickTest(given.name or "drape coefficient", mean, sigma, following)]


@dataclass(frozen=True, eq=False)
class DrapeOutline(DrapeMeasurement):
    """Outlines of a draped specimen; the warp is at the angle 0 if its direction is known."""

    name: str
    seen: Sequence[RadialOutline]
    eyes: Sequence[Eye]
    sigma: Floats  # (3,) of mean coefficient, depth [m], waves; (4,) with that along warp [m]
    following: DrapeContinuation
    pictures: Sequence[ClothPicture] = ()
    advice: ClassVar[str] = "a drape gives only rigidity over weight: weigh the fabric"

    def near(self, fabric: Fabric) -> "DrapeOutline":
        """Return this measurement prepared to follow drapes of ``fabric`` from scratch."""
        return replace(self, following=self.following.near(fabric))

    @property
    def views(self) -> Sequence[View]:
        """Return the numbers of outlines that the cameras see, in turn."""
        return [partial(_numbers_seen, eye) for eye in self.eyes]

    @property
    def numbers(self) -> Floats:
        """Return the means of the numbers of the seen outlines, (4,)."""
        return np.asarray(np.mean([o.numbers for o in self.seen], axis=0))

    @property
    def data(self) -> Floats:
        """Return the numbers that are compared, (3,), or (4,) if the warp direction is known."""
        return self.numbers[: len(self.sigma)]

    def comparison(self, fabric: Fabric) -> Comparison:
        """Return radius over angle of the first outline and of the simulated drape that fits it
        best.

        Simulated outlines are rotated to the best fit, because the phase of folds is random.
        """
        seen = self.seen[0].radius
        best = min(
            (_align_rotation(o.radius, seen) for o in self.following.outlines(fabric, self.eyes)),
            key=lambda r: float(((r - seen) ** 2).sum()),
        )
        shown = slice(None, None, SHOWN)
        angle, data, model = np.degrees(self.seen[0].angle)[shown], 1e3 * seen[shown], best[shown]
        sigma = np.full(len(data), 1e3 * SCATTER[1] * max(self.seen[0].depth, LEAST_DEPTH))
        return Comparison("angle [deg]", "radius [mm]", angle, data, sigma, 1e3 * model)

    def remarks(self, fabric: Fabric) -> Sequence[str]:
        """Return sentences that compare the seen numbers with those of the fabric.

        Further sentences tell the coefficient in parallel light and whether folds snapped.
        """
        drapes = self.following.outlines(fabric, self.eyes)
        numbers, seen = np.mean([o.numbers for o in drapes], axis=0), self.numbers
        folds, there = (", ".join(str(o.nodes) for o in of) for of in (drapes, self.seen))
        of = f"{len(self.seen)} drapings, " if len(self.seen) > 1 else ""
        said = [
            f"{self.name}: {of}coefficient as seen {seen[0]:.1%}, fitted {numbers[0]:.1%}; "
            f"folds {1e3 * seen[1]:.1f} mm deep, fitted {1e3 * numbers[1]:.1f}; "
            f"{there} folds, fitted {folds}"
        ]
        if len(self.sigma) > 3:
            said.append(
                f"{self.name}: longer along the warp than the mean by {1e3 * seen[3]:.1f} mm, "
                f"fitted {1e3 * numbers[3]:.1f}"
            )
        if len(self.seen) == 1:
            said.append(
                f"{self.name}: drapings differ; with six drapings the rigidity is more than "
                "twice as certain"
            )
        if self.eyes[0].height is not None:
            true = np.mean([o.coefficient for o in self.following.outlines(fabric, [Eye()])])
            said.append(f"{self.name}: in parallel light the coefficient is {true:.1%}")
        if self.following.changed:
            said.append(
                f"{self.name}: the number of folds changed {self.following.changed} times during "
                "the fit: there the residuals jump, and derivatives hold on one side only"
            )
        return said


def _numbers_seen(eye: Eye, drape: DrapedSpecimen, shift: Positions | float) -> Floats:
    """Return the numbers (4,) of the outline of a shifted drape."""
    return drape.outline(eye, shift).numbers


def _align_rotation(radius: Floats, like: Floats) -> Floats:
    """Return a radius, rotated to where its correlation with ``like`` is largest."""
    product = np.fft.rfft(like) * np.conj(np.fft.rfft(radius))
    shift = int(np.argmax(np.fft.irfft(product, len(radius))))
    return np.roll(radius, shift)


def build_drape(
    settings: DrapeSettings,
    seen: Sequence[RadialOutline],
    eyes: Sequence[Eye],
    pictures: Sequence[ClothPicture] = (),
) -> DrapeOutline:
    """Return the measurement of outlines.

    Args:
        settings: of the block; with ``warp`` the angle 0 of the outlines is the warp direction.
        seen: at least one outline.
        eyes: the camera position of each outline.
        pictures: the sources of the outlines. Their doubtful area widens all standard deviations,
            and this part is not reduced by more pictures in the same light.
    """
    count = settings.drapings or int(np.clip(len(seen), *DRAPINGS))
    each = np.array([o.numbers for o in seen])[:, : 3 if settings.warp is None else 4]
    _, depth, waves, _ = np.mean([o.numbers for o in seen], axis=0)
    depth = max(depth, LEAST_DEPTH)
    usual = [settings.scatter, SCATTER[1] * depth, SCATTER[2] * max(waves, 1.0), ALONG * depth]
    scattered = ((each - each.mean(0)) ** 2).sum(0)
    known = KNOWN * np.array(usual[: each.shape[1]]) ** 2
    variance = (known + scattered) / (KNOWN + len(each) - 1)
    variance = variance * (1 / len(each) + 1 / count)
    if pictures:
        part = float(np.mean([p.doubt for p in pictures]))
        radius = float(np.mean([o.radius for o in seen]))
        more = part * float(np.mean([o.area for o in seen])) / (np.pi * (SPECIMEN**2 - DISK**2))
        doubt = [more, part * radius, part * waves, part * radius]
        variance = variance + np.square(doubt[: each.shape[1]])
    following = DrapeContinuation(DrapeTester.of(settings.size), count, settings.seed)
    name = settings.name or "drape"
    return DrapeOutline(name, seen, eyes, np.sqrt(variance), following, pictures)


def read_drape(block: PlacedBlock[DrapeSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    given, pictures = block.given, list[ClothPicture]()
    if block.one_of("picture", "outline") == "picture":
        photographs = read_photographs(block, MOST)
        found = [(outline, eye) for outline, eye, _ in photographs]
        pictures = [cloth for _, _, cloth in photographs]
    else:
        found = [(read_polygon(path), Eye()) for path in block.files("outline", MOST)]
    if given.warp is not None:
        angle = np.array(given.warp)
        if len(angle) not in (1, len(found)):
            raise block.error(
                "warp",
                f"{len(angle)} angles",
                f"one value, or {len(found)} values: one for each draping",
            )
        every = np.broadcast_to(angle, len(found))
        found = [(o.rotate(-a), eye.rotate(-a)) for (o, eye), a in zip(found, every)]
    seen, eyes = [o for o, _ in found], [eye for _, eye in found]
    return [build_drape(given, seen, eyes, pictures)]
