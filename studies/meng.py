"""The three tests of Meng et al. (2025): hanging, drape and shear, of splines and of triangles.

The paper gives the material, the step, and how corners and edges move. It does not say how large
the sheets of the other two are, whether weight acts on the sheared one, or how the symmetry of a
flat sheet is broken: here all are 0.8 m a side, the sheared one has no weight (its wrinkles are
those of shear alone), and all start with the same smooth ripple of 0.1 mm.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import check_known
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.cloth.create import sheet, spline_sheet
from weft.contact.settings import SelfContact
from weft.fabric.fabric import Fabric
from weft.scene.scene import Scene

SIDE, STEP, SPEED, MOVED = 0.8, 0.01, 0.5, 0.1  # [m], [s], [m/s], [s] for which edges move
STRETCH, BEND, POISSON = 5e5, 10.0, 0.243  # [Pa], [Pa], [1]
THICKNESS, DENSITY, SHEAR = 5.18e-3, 472.6, 0.005  # [m], [kg/m^3], of mu_stretch
RIPPLE = 1e-4  # [m] that breaks the symmetry of a flat start
TESTS = ("hanging", "drape", "shear")  # FBW1, FBW2, FBW3


def fabric(shear: float = SHEAR) -> Fabric:
    """The paper's material, in weft's convention: its psi has no 1/2, so stiffness is doubled."""
    mu = STRETCH / (2 * (1 + POISSON))
    stretch = 2 * mu * THICKNESS
    bend = BEND * THICKNESS**3 / (12 * (1 - POISSON**2))
    return Fabric(
        DENSITY * THICKNESS,
        stretch,
        stretch,
        shear * stretch,
        bend,
        bend,
        THICKNESS,
        name="meng2025",
        title="Meng et al. 2025",
    )


@dataclass(frozen=True)
class SplineGrid:
    """A discretization and its points a side."""

    kind: str  # spline or triangles
    n: int
    rule: str = "reduced"
    net: str = "greville"
    bending: str = "mean"

    def cloth(self, made_of: Fabric) -> Cloth:
        """A flat sheet on y = 0."""
        if self.kind == "spline":
            return spline_sheet(
                self.n,
                self.n,
                SIDE,
                SIDE,
                made_of,
                rule=self.rule,
                net=self.net,
                bending=self.bending,
            )
        return sheet(self.n, self.n, SIDE, SIDE, fabric=made_of)


def scene(test: str, grid: SplineGrid, contact: SelfContact | None = None) -> Scene:
    """One of the tests on a grid.

    Raises:
        WeftError: an unknown test.
    """
    check_known(test, TESTS, "test")
    made: Mapping[str, Callable[[SplineGrid], Scene]] = {
        "hanging": _hanging,
        "drape": _drape,
        "shear": _shear,
    }
    return made[test](grid).with_(contact=contact, step=STEP, damping=0.0)


def _hanging(grid: SplineGrid) -> Scene:
    """FBW1: upright, top corners brought together at 0.5 m/s each for 0.1 s."""
    cloth = rippled(grid.cloth(fabric())).move((0, 0, 0), (90, 0, 0))
    pins = [
        Pin(cloth.corners("top-left"), path=_straight((SPEED, 0.0, 0.0)), name="left"),
        Pin(cloth.corners("top-right"), path=_straight((-SPEED, 0.0, 0.0)), name="right"),
    ]
    return Scene(cloth, pins)


def _drape(grid: SplineGrid) -> Scene:
    """FBW2: level, two adjacent edges held."""
    cloth = rippled(grid.cloth(fabric()))
    return Scene(cloth, [Pin(np.union1d(cloth.border("top"), cloth.border("left")))])


def _shear(grid: SplineGrid) -> Scene:
    """FBW3: two opposite edges move along themselves, each at half of 0.5 m/s, for 0.1 s."""
    cloth = rippled(grid.cloth(fabric(shear=1.0)))
    pins = [
        Pin(cloth.border("top"), path=_straight((SPEED / 2, 0.0, 0.0)), name="top"),
        Pin(cloth.border("bottom"), path=_straight((-SPEED / 2, 0.0, 0.0)), name="bottom"),
    ]
    return Scene(cloth, pins, gravity=(0.0, 0.0, 0.0))


def _straight(velocity: tuple[float, float, float]) -> Path:
    end = tuple(MOVED * v for v in velocity)
    return Path([Keyframe(0.0), Keyframe(MOVED, end)], "linear", hold=True)  # type: ignore[arg-type]


def rippled(cloth: Cloth) -> Cloth:
    """A level sheet with the same ripple whatever its points are."""
    x = np.array(cloth.points)
    a, b = x[:, 0] / SIDE, x[:, 2] / SIDE
    x[:, 1] += RIPPLE * _ripple(a, b)
    return cloth.with_points(x)


def _ripple(a: Floats, b: Floats) -> Floats:
    """A few waves without a symmetry of the square, zero at its sides, of order one."""
    within = np.cos(np.pi * a) * np.cos(np.pi * b)
    waves = np.sin(7.1 * a + 1.0) + np.sin(11.3 * a - 5.7 * b + 2.0) + np.sin(17.9 * b + 3.0 * a)
    return np.asarray(within * waves)
