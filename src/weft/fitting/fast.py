"""A sheet of the FAST set (CSIRO): extension at 5, 20 and 100 gf/cm, on the bias at 5 gf/cm,
bending length, weight and thickness.

Each number becomes a measurement of its own kind: extensions become a tensile curve (or a
stiffness, if there is only one), EB5 a simulated bias strip of 10 by 5 cm, bending lengths a
cantilever test. FAST's own shear rigidity, 123/EB5 [N/m], assumes inextensible threads and ignores
the jaws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.settings import setting
from weft.fitting.block import MeasurementSettings, PlacedBlock
from weft.fitting.cantilever import CantileverTest
from weft.fitting.measurement import FixedFields, Measurement
from weft.fitting.noise import ASSUMED, LEAST, MOST
from weft.fitting.points import DataPoints, check_loading
from weft.fitting.tensile import LARGEST, NAMES, TensileTest, build_test
from weft.fitting.value import Value
from weft.laboratory.shear import GF_PER_CM

LOADS = {"E5": 5.0, "E20": 20.0, "E100": 100.0}  # [gf/cm]
GAUGE = (0.10, 0.05)  # [m] length and width of FAST-3's strip between the jaws


@dataclass(frozen=True, kw_only=True)
class FastSettings(MeasurementSettings):
    """The characteristic values of a FAST sheet."""

    E5: tuple[float, float] | None = setting(
        None, "extension at 5 gf/cm, warp and weft: [0.8 %, 1.1 %]", "1", least=0, most=LARGEST
    )
    E20: tuple[float, float] | None = setting(None, "at 20 gf/cm", "1", least=0, most=LARGEST)
    E100: tuple[float, float] | None = setting(None, "at 100 gf/cm", "1", least=0, most=LARGEST)
    EB5: float | None = setting(None, "on the bias at 5 gf/cm: 4.1 %", "1", above=0, most=LARGEST)
    C: tuple[float, float] | None = setting(
        None, "bending length, warp and weft: [18.5 mm, 17.0 mm]", "m", above=0
    )
    W: float | None = setting(None, "weight: 150 g/m^2", "kg/m^2", above=0)
    T2: float | None = setting(None, "thickness at 2 gf/cm^2: 0.42 mm", "m", above=0)
    form: str = setting(
        "curve",
        "curve (of two or three extensions; the default) or straight",
        choices=("curve", "straight"),
        key="as",
    )
    uncertainty: float = setting(
        ASSUMED,
        "standard deviation of every number, relative (5 %)",
        "1",
        above=LEAST,
        most=MOST,
    )


def read(block: PlacedBlock[FastSettings]) -> Sequence[Measurement | FixedFields]:
    """Read the measurements of a FAST sheet from a block."""
    given = block.given
    called, part = given.name or "FAST", given.uncertainty
    out: list[Measurement | FixedFields] = []
    for k, direction in enumerate(("warp", "weft")):
        out += _extensions(block, f"{called} tensile {direction}", k, direction)
    if given.EB5 is not None:
        strain, force = np.array([given.EB5]), np.array([5 * GF_PER_CM])
        out.append(TensileTest(f"{called} EB5", "bias", strain, force, part * force, *GAUGE))
    for direction, c in zip(("warp", "weft"), given.C or ()):
        out.append(CantileverTest(f"{called} C {direction}", direction, c, part * c))
    for name, of, value in (("W", "density", given.W), ("T2", "thickness", given.T2)):
        if value is not None:
            out.append(Value(f"{called} {name}", of, value, part * value))
    if not out:
        raise block.error("", None, "some of E5, E20, E100, EB5, C, W, T2")
    return out


def _extensions(
    block: PlacedBlock[FastSettings], called: str, k: int, direction: str
) -> Sequence[Measurement | FixedFields]:
    """Return the measurements of one direction.

    Extensions of 0 are left out because they are below the resolution of the gauge.
    """
    form, part = block.given.form, block.given.uncertainty
    pairs = []
    for field, load in LOADS.items():
        strains = getattr(block.given, field)
        if strains is not None:
            pairs.append((float(strains[k]), load * GF_PER_CM, block.where(field)))
    pairs = [p for p in pairs if p[0] > 0]
    if not pairs:
        return []
    strain, force = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    sigma = part * force
    found = check_loading(DataPoints(strain, force, [p[2] for p in pairs]), sigma, called, NAMES)
    return build_test(called, direction, found, sigma, form if len(pairs) > 1 else "straight")
