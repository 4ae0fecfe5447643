"""Sheets of the sets of instruments KES-F (Kawabata) and FAST (CSIRO) as characteristic values.

Each number becomes a measurement of its own kind. Points of curves of KES are read by the kinds
tensile, shear and bending.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from weft.base.settings import setting
from weft.plugins.lab.fitting.block import ASSUMED, LEAST, MOST, MeasurementSettings, PlacedBlock
from weft.plugins.lab.fitting.cantilever import CantileverTest
from weft.plugins.lab.fitting.measurement import FixedFields, Measurement
from weft.plugins.lab.fitting.slopes import DIRECTIONS, modulus_ratio
from weft.plugins.lab.fitting.table import DataPoints, check_loading
from weft.plugins.lab.fitting.tensile import LARGEST, NAMES, TensileTest, build_test, preset_curve
from weft.plugins.lab.fitting.value import Value
from weft.plugins.lab.laboratory.shear import GF_PER_CM

Pair = tuple[float, float] | None  # of warp and weft
FORCE = 500 * GF_PER_CM  # [N/m] of EMT
PARTS = np.array([0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0])  # of EMT: points of the power law
LOADS = {"E5": 5.0, "E20": 20.0, "E100": 100.0}  # [gf/cm]
GAUGE = (0.10, 0.05)  # [m] length and width of FAST-3's strip between the jaws


@dataclass(frozen=True, kw_only=True)
class SheetSettings(MeasurementSettings):
    """Fields of both sheets."""

    W: float | None = setting(None, "weight: 163 g/m^2 or 16.3 mg/cm^2", "kg/m^2", above=0)
    uncertainty: float = setting(
        ASSUMED,
        "standard deviation of every number, relative (5 %)",
        "1",
        above=LEAST,
        most=MOST,
    )


@dataclass(frozen=True, kw_only=True)
class KesSettings(SheetSettings):
    """A sheet of Kawabata's set (KES-F) as characteristic values: G, B, 2HG, 2HB, W, T, and EMT
    with LT.
    """

    EMT: Pair = setting(
        None,
        "extension at 500 gf/cm, warp and weft: [5.1 %, 7.4 %]",
        "1",
        above=0,
        most=LARGEST,
    )
    LT: Pair = setting(
        None,
        "linearity of tension, warp and weft: [0.65, 0.62]; with LT, EMT is a curve",
        "1",
        above=0,
        most=1,
    )
    G: Sequence[float] | None = setting(
        None,
        "shear stiffness, one value, or warp and weft: 0.62 gf/(cm*deg)",
        "N/m",
        above=0,
        per_angle=True,
    )
    B: Pair = setting(
        None,
        "bending rigidity, warp and weft: [0.071 gf*cm^2/cm, 0.055 gf*cm^2/cm]",
        "N*m",
        above=0,
    )
    HB: Pair = setting(None, "2HB, warp and weft: [0.03 gf*cm/cm, 0.02 gf*cm/cm]", "N", key="2HB")
    HG: float | None = setting(None, "2HG: 1.2 gf/cm", "N/m", key="2HG")
    T: float | None = setting(None, "thickness: 0.41 mm", "m", above=0)


@dataclass(frozen=True, kw_only=True)
class FastSettings(SheetSettings):
    """A sheet of the FAST set (CSIRO): extension at 5, 20 and 100 gf/cm, on the bias at 5 gf/cm,
    bending length, weight and thickness.
    """

    E5: Pair = setting(
        None, "extension at 5 gf/cm, warp and weft: [0.8 %, 1.1 %]", "1", least=0, most=LARGEST
    )
    E20: Pair = setting(None, "at 20 gf/cm", "1", least=0, most=LARGEST)
    E100: Pair = setting(None, "at 100 gf/cm", "1", least=0, most=LARGEST)
    EB5: float | None = setting(None, "on the bias at 5 gf/cm: 4.1 %", "1", above=0, most=LARGEST)
    C: Pair = setting(None, "bending length, warp and weft: [18.5 mm, 17.0 mm]", "m", above=0)
    T2: float | None = setting(None, "thickness at 2 gf/cm^2: 0.42 mm", "m", above=0)
    form: str = setting(
        "curve",
        "curve (of two or three extensions; the default) or straight",
        choices=("curve", "straight"),
        key="as",
    )


S = TypeVar("S", bound=SheetSettings)


def read_kes(block: PlacedBlock[KesSettings]) -> Sequence[Measurement | FixedFields]:
    """Read the measurements of a block.

    For tension a sheet has the extension EMT at 500 gf/cm and the linearity LT, which is the work
    over that of a straight line. The curve used with both is the power law force = F (strain/EMT)^n
    with n = 2/LT - 1. It is our choice; it reproduces EMT, LT and the work WT.
    """
    given, called = block.given, block.given.name or "KES"
    out: list[Measurement | FixedFields] = []
    if given.LT is not None and given.EMT is None:
        raise block.error("LT", given.LT, "EMT, too")
    at = [block.where("EMT")] * len(PARTS)
    for k, (direction, emt) in enumerate(zip(DIRECTIONS, given.EMT or ())):
        name = f"{called} EMT {direction}"
        if given.LT is not None:
            force = FORCE * PARTS ** (2 / given.LT[k] - 1)
            out.append(preset_curve(name, direction, DataPoints(PARTS * emt, force, at)))
        else:
            one, force = np.array([emt]), np.array([FORCE])
            points = DataPoints(one, force, at[:1])
            out += build_test(name, direction, points, given.uncertainty * force, "straight")
    if given.G is not None:
        mean = float(np.mean(given.G)) / modulus_ratio()
        sigma = float(given.uncertainty * mean / np.sqrt(len(given.G)))
        out.append(Value(f"{called} G", "shear", mean, sigma))
    for direction, b in zip(DIRECTIONS, given.B or ()):
        name = f"{called} B {direction}"
        out.append(Value(name, f"bending_{direction}", b, given.uncertainty * b))
    rubs = dict(zip([f"bending_hysteresis_{d}" for d in DIRECTIONS], given.HB or ()))
    if given.HG is not None:
        rubs["shear_hysteresis"] = given.HG
    if rubs:
        out.append(FixedFields(f"{called} hysteresis", rubs, ""))
    return _with_values(
        block, called, out, "EMT, LT, G, B, 2HB, 2HG, W, T", {"W": "density", "T": "thickness"}
    )


def read_fast(block: PlacedBlock[FastSettings]) -> Sequence[Measurement | FixedFields]:
    """Read the measurements of a block.

    Extensions become a tensile curve (or a stiffness, if there is only one), EB5 a simulated bias
    strip of 10 by 5 cm, bending lengths a cantilever test. FAST's own shear rigidity, 123/EB5
    [N/m], assumes inextensible threads and ignores the jaws.
    """
    given, called = block.given, block.given.name or "FAST"
    out: list[Measurement | FixedFields] = []
    for k, direction in enumerate(DIRECTIONS):
        out += _extensions(block, f"{called} tensile {direction}", k, direction)
    if given.EB5 is not None:
        strain, force = np.array([given.EB5]), np.array([5 * GF_PER_CM])
        sigma = given.uncertainty * force
        out.append(TensileTest(f"{called} EB5", "bias", strain, force, sigma, *GAUGE))
    for direction, c in zip(DIRECTIONS, given.C or ()):
        name = f"{called} C {direction}"
        out.append(CantileverTest(name, direction, c, given.uncertainty * c))
    return _with_values(
        block, called, out, "E5, E20, E100, EB5, C, W, T2", {"W": "density", "T2": "thickness"}
    )


def _extensions(
    block: PlacedBlock[FastSettings], called: str, k: int, direction: str
) -> Sequence[Measurement | FixedFields]:
    """Return the measurements of one direction.

    Extensions of 0 are left out because they are below the resolution of the gauge.
    """
    given, part = block.given, block.given.uncertainty
    loads = {f: load for f, load in LOADS.items() if (getattr(given, f) or (0.0, 0.0))[k] > 0}
    if not loads:
        return []
    strain = np.array([getattr(given, field)[k] for field in loads])
    force = GF_PER_CM * np.array(list(loads.values()))
    points, sigma = DataPoints(strain, force, list(map(block.where, loads))), part * force
    found = check_loading(points, sigma, called, NAMES)
    return build_test(called, direction, found, sigma, given.form if len(loads) > 1 else "straight")


def _with_values(
    block: PlacedBlock[S],
    called: str,
    found: Sequence[Measurement | FixedFields],
    known: str,
    fields: Mapping[str, str],
) -> Sequence[Measurement | FixedFields]:
    """Return measurements of a sheet, and those of its numbers that are fields of a fabric.

    Raises:
        FabricError: the sheet has none of the numbers ``known``.
    """
    given, out = block.given, list(found)
    for name, field in fields.items():
        if (value := getattr(given, name)) is not None:
            out.append(Value(f"{called} {name}", field, value, given.uncertainty * value))
    if not out:
        raise block.error("", None, f"at least one of {known}")
    return out
