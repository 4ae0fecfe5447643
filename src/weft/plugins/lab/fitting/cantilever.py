"""The cantilever test of a strip.

The overhang is that of the exact heavy elastica, L = 2.00035 (D/(rho g))^(1/3), and the bending
length of the standards is half of it (``laboratory.cantilever``). The test measures rigidity D over
density only, so the density must come from a balance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.settings import REQUIRED, setting
from weft.base.trees import Yaml
from weft.fabric.fabric import Fabric
from weft.plugins.lab.fitting.block import UNCERTAINTY, MeasurementSettings, PlacedBlock
from weft.plugins.lab.fitting.measurement import Measurement
from weft.plugins.lab.fitting.slopes import DIRECTIONS
from weft.plugins.lab.laboratory.elastica import elastica_of_chord
from weft.plugins.lab.laboratory.specimen import GRAVITY


@dataclass(frozen=True, kw_only=True)
class CantileverSettings(MeasurementSettings):
    """Bending length or overhang of a strip at 41.5 degrees (ASTM D1388 option A, ISO 9073-7,
    FAST-2).
    """

    direction: str = setting(REQUIRED, "warp or weft: the strip's length", choices=DIRECTIONS)
    bending_length: Sequence[float] | None = setting(
        None,
        "c of the standard, half of the overhang: 19 mm; readings: a list",
        "m",
        above=0,
    )
    overhang: Sequence[float] | None = setting(
        None, "L at 41.5 degrees, in place of c: 38 mm; readings: a list", "m", above=0
    )
    uncertainty: Yaml = setting(None, f"{UNCERTAINTY}; for several readings their scatter")


@dataclass(frozen=True)
class CantileverTest(Measurement):
    """A measured mean bending length."""

    name: str
    direction: str
    data: float  # [m] c, half of the overhang
    sigma: float  # [m]

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return the bending rigidity of the direction, and the density."""
        return (f"bending_{self.direction}", "density")

    def model(self, fabric: Fabric) -> float:
        """Return the bending length c [m] of the standard for a fabric."""
        rigidity = getattr(fabric, f"bending_{self.direction}")
        return float(
            0.5 * elastica_of_chord().length * np.cbrt(rigidity / (fabric.density * GRAVITY))
        )

    def implies(self, fabric: Fabric) -> Mapping[str, float]:
        """Return the rigidity [N m] that the length implies for the density of ``fabric``."""
        c = 2 * self.data / elastica_of_chord().length
        return {f"bending_{self.direction}": fabric.density * GRAVITY * c**3}

    def slopes(self, fabric: Fabric, fields: Sequence[str]) -> Mapping[str, float]:
        """Return one third and minus one third of the length, which is a cube root of rigidity over
        density.
        """
        third = self.model(fabric) / 3
        return {f"bending_{self.direction}": third, "density": -third}


def read_cantilever(block: PlacedBlock[CantileverSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    direction = block.given.direction
    said = block.one_of("bending_length", "overhang")
    half = 0.5 if said == "overhang" else 1.0
    mean, sigma = block.noise("m").mean(np.array(getattr(block.given, said)))
    called = block.given.name or f"cantilever {direction}"
    return [CantileverTest(called, direction, half * mean, half * sigma)]
