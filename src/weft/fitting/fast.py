"""A sheet of the FAST set (CSIRO): extension at 5, 20 and 100 gf/cm, on the bias at 5 gf/cm,
bending length, weight and thickness.

Each number becomes a measurement of its own kind: extensions become a tensile curve (or a
stiffness, if there is only one), EB5 a simulated bias strip of 10 by 5 cm, bending lengths a
cantilever test. FAST's own shear rigidity, 123/EB5 [N/m], assumes inextensible threads and ignores
the jaws.
"""

from collections.abc import Sequence

import numpy as np

from weft.fitting.block import DataBlock
from weft.fitting.cantilever import CantileverTest
from weft.fitting.measurement import Given, Measurement
from weft.fitting.noise import ASSUMED, LEAST, MOST
from weft.fitting.points import DataPoints, rising
from weft.fitting.tensile import LARGEST, NAMES, TensileTest, made
from weft.fitting.value import Value
from weft.laboratory.shear import GF_PER_CM

LOADS = {"E5": 5.0, "E20": 20.0, "E100": 100.0}  # [gf/cm]
GAUGE = (0.10, 0.05)  # [m] length and width of FAST-3's strip between the jaws
FIELDS = {
    "E5": "extension at 5 gf/cm, warp and weft: [0.8 %, 1.1 %]",
    "E20": "at 20 gf/cm",
    "E100": "at 100 gf/cm",
    "EB5": "on the bias at 5 gf/cm: 4.1 %",
    "C": "bending length, warp and weft: [18.5 mm, 17.0 mm]",
    "W": "weight: 150 g/m^2",
    "T2": "thickness at 2 gf/cm^2: 0.42 mm",
    "as": "curve (of two or three extensions; the default) or straight",
    "uncertainty": "standard deviation of every number, relative (5 %)",
}


def read(block: DataBlock) -> Sequence[Measurement | Given]:
    """Read the measurements of a FAST sheet from a block."""
    called = block.text("name", "FAST")
    form = block.word("as", ("curve", "straight"), "curve")
    part = block.number("uncertainty", "1", ASSUMED, above=LEAST, most=MOST)
    out: list[Measurement | Given] = []
    for k, direction in enumerate(("warp", "weft")):
        out += _extensions(block, f"{called} tensile {direction}", k, direction, form, part)
    if block.has("EB5"):
        strain = block.numbers("EB5", "1", 1, above=0, most=LARGEST)
        force = np.array([5 * GF_PER_CM])
        out.append(TensileTest(f"{called} EB5", "bias", strain, force, part * force, *GAUGE))
    if block.has("C"):
        for direction, c in zip(("warp", "weft"), block.numbers("C", "m", 2, above=0)):
            name = f"{called} C {direction}"
            out.append(CantileverTest(name, direction, float(c), part * float(c)))
    for field, of, unit in (("W", "density", "kg/m^2"), ("T2", "thickness", "m")):
        if block.has(field):
            value = block.number(field, unit, above=0)
            out.append(Value(f"{called} {field}", of, value, part * value))
    if not out:
        raise block.error("", None, f"some of {', '.join(list(FIELDS)[:7])}")
    return out


def _extensions(
    block: DataBlock, called: str, k: int, direction: str, form: str, part: float
) -> Sequence[Measurement | Given]:
    """Return the measurements of one direction.

    Extensions of 0 are left out because they are below the resolution of the gauge.
    """
    pairs = []
    for field, load in LOADS.items():
        if block.has(field):
            strain_of = block.numbers(field, "1", 2, above=-1e-12, most=LARGEST)
            pairs.append((float(strain_of[k]), load * GF_PER_CM, block.where(field)))
    pairs = [p for p in pairs if p[0] > 0]
    if not pairs:
        return []
    strain, force = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    sigma = part * force
    found = rising(DataPoints(strain, force, [p[2] for p in pairs]), sigma, called, NAMES)
    return made(called, direction, found, sigma, form if len(pairs) > 1 else "straight")
