"""A drape on Cusick's disk as a measurement: the outline of one specimen, from a photograph or a
polygon.

Three numbers of the outline are compared with the mean of some simulated drapes (``outline``):
drape coefficient, depth and number of folds. One drape of a specimen differs from the next, in a
laboratory as in simulations, by 1 to 3 points of the coefficient and by a tenth of depth and number
(``SCATTER``: of eight simulated drapes of cotton, wool, silk and denim each). That is by far more
than a picture's own error, and it is what the standard deviations say.

Weight and rigidity count by their ratio alone, and what a picture shows is the mean of warp and
weft: so the fabric has to be weighed, and the bending of warp over that of weft given, or measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from weft.arrays import Floats
from weft.fabric import Fabric
from weft.fitting.block import Block
from weft.fitting.draped import FIELDS as FABRIC_FIELDS
from weft.fitting.draped import Eye, Tester
from weft.fitting.following import Following
from weft.fitting.measurement import Comparison, Measurement
from weft.fitting.outline import Outline
from weft.fitting.photograph import FIELDS as PICTURE_FIELDS
from weft.fitting.photograph import photographed
from weft.fitting.polygon import polygon_of
from weft.laboratory.cusick import SPECIMEN

FIELDS = {
    "picture": "a photograph of the draped specimen from straight above, in place of `outline`",
    **PICTURE_FIELDS,
    "outline": "CSV of the outline's corners in turn, `x [mm],y [mm]`: a shadow in parallel light",
    "scatter": "standard deviation of the drape coefficient from drape to drape; 2 % (points)",
    "size": "of the simulated specimen's edges; 20 for each fold that is seen, 5 to 8 mm",
    "drapings": "simulated drapes whose mean is compared; 3",
}
SCATTER = (0.02, 0.12, 0.12)  # of the coefficient; relative, of depth and number of folds
SIZES = (4e-3, 15e-3)  # [m]
EDGES, USUAL = 20, (5e-3, 8e-3)  # for each fold; [m]
SHOWN = 6  # every sixth ray, in pictures


@dataclass(frozen=True, eq=False)
class DrapeOutline:
    """An outline that was seen."""

    name: str
    seen: Outline
    eye: Eye
    sigma: Floats  # (3,) of coefficient, depth [m], waves
    following: Following
    slow: ClassVar[bool] = True
    advice: ClassVar[str] = "a drape says rigidity over weight: weigh the fabric"

    def near(self, fabric: Fabric) -> "DrapeOutline":
        """The same, which follows drapes for which the shelf went down with this fabric.

        Raises:
            SimulationError: no equilibrium was found.
        """
        old = self.following
        following = Following(old.tester, old.radius, old.count, far=np.inf, changed=old.changed)
        following.drapes(fabric)
        return replace(self, following=following)

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Weight and all stiffness."""
        return FABRIC_FIELDS

    def residuals(self, fabric: Fabric) -> Floats:
        """(3,)."""
        numbers = self.following.numbers(fabric, self.eye)
        return np.asarray((numbers - self.seen.numbers) / self.sigma)

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """(3, len(fields)), of the equilibria by the implicit function theorem."""
        rates = self.following.rates(fabric, self.eye, fields)
        return np.asarray(rates / self.sigma[:, None])

    def compared(self, fabric: Fabric) -> Comparison:
        """For pictures: the radius over the angle, turned to where it fits best."""
        seen = self.seen.radius
        best = min(
            (_turned(o.radius, seen) for o in self.following.outlines(fabric, self.eye)),
            key=lambda r: float(((r - seen) ** 2).sum()),
        )
        shown = slice(None, None, SHOWN)
        angle, data, model = np.degrees(self.seen.angle)[shown], 1e3 * seen[shown], best[shown]
        sigma = np.full(len(data), 1e3 * self.sigma[1])
        return Comparison("angle [deg]", "radius [mm]", angle, data, sigma, 1e3 * model)

    def remarks(self, fabric: Fabric) -> Sequence[str]:
        """What was seen and what the fabric gives, a sentence each; whether folds snapped."""
        drapes = self.following.outlines(fabric, self.eye)
        numbers, seen = self.following.numbers(fabric, self.eye), self.seen
        folds = ", ".join(str(o.nodes) for o in drapes)
        said = [
            f"{self.name}: coefficient as seen {seen.coefficient:.1%}, fitted {numbers[0]:.1%}; "
            f"folds {1e3 * seen.depth:.1f} mm deep, fitted {1e3 * numbers[1]:.1f}; "
            f"{seen.nodes} folds, fitted {folds}"
        ]
        if self.eye.height is not None:
            true = np.mean([o.coefficient for o in self.following.outlines(fabric, Eye())])
            said.append(f"{self.name}: in parallel light the coefficient is {true:.1%}")
        if self.following.changed:
            said.append(
                f"{self.name}: folds changed in number {self.following.changed} times while the "
                "fit went along: there the residuals jump, and derivatives hold on one side"
            )
        return said


def _turned(radius: Floats, like: Floats) -> Floats:
    """The radius, turned to where its correlation with another is largest."""
    product = np.fft.rfft(like) * np.conj(np.fft.rfft(radius))
    shift = int(np.argmax(np.fft.irfft(product, len(radius))))
    return np.roll(radius, shift)


def size_for(folds: int) -> float:
    """[m] of edges that so many folds want, in halves of a millimeter.

    With edges of 8 mm the eleven folds of silk drape 15 points too stiff, the six of wool 2.
    """
    wanted = 2 * np.pi * SPECIMEN / (EDGES * max(folds, 1))
    return float(np.clip(5e-4 * round(wanted / 5e-4), *USUAL))


def drape_of(
    name: str, seen: Outline, eye: Eye, *, scatter: float = SCATTER[0], size: float = 8e-3,
    drapings: int = 3,
) -> DrapeOutline:  # fmt: skip
    """The measurement of an outline."""
    waves = max(seen.waves, 1.0)
    sigma = np.array([scatter, SCATTER[1] * max(seen.depth, 1e-3), SCATTER[2] * waves])
    return DrapeOutline(name, seen, eye, sigma, Following(Tester.of(size), seen.radius, drapings))


def read(block: Block) -> Sequence[Measurement]:
    """The measurement that a block says."""
    if block.one_of("picture", "outline") == "picture":
        seen, eye = photographed(block)
    else:
        seen, eye = polygon_of(block.file("outline")), Eye()
    size = block.number("size", "m", size_for(seen.nodes), above=SIZES[0], most=SIZES[1])
    scatter = block.number("scatter", "1", SCATTER[0], above=1e-3, most=0.5)
    drapings = block.whole("drapings", 3, 1, 20)
    called = block.text("name", "drape")
    return [drape_of(called, seen, eye, scatter=scatter, size=size, drapings=drapings)]
