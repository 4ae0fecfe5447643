"""Measures of a person: one table of names, and the heights of landmarks that follow from them.

A measure has the name that the mannequin's ``Measurements`` and ``landmarks`` use, the term of ISO
8559-1:2017, and the names in GarmentCode's body files and in patterns (``body_measures.yaml``). A
file with GarmentCode's names has bare numbers, in centimeters and degrees.

Ratios are those of ANSUR II (Gordon et al., 2012 Anthropometric Survey of U.S. Army Personnel,
NATICK/TR-15/007, 2014; public domain): means of all over 1714.41 mm.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from weft.base.errors import PatternError, UnitError, did_you_mean
from weft.base.trees import Yaml
from weft.base.units import to_si
from weft.base.yaml_lines import read_yaml

TABLE = Path(__file__).with_suffix(".yaml")
# Heights over the stature; hip is the joint (Drillis & Contini 1966), throat the thinnest place.
HEIGHTS: Mapping[str, float] = {
    "ankle": 69.58 / 1714.41,  # lateral malleolus
    "knee": 483.24 / 1714.41,  # lateral femoral epicondyle
    "crotch": 825.11 / 1714.41,
    "hips": 870.15 / 1714.41,  # buttock height
    "hip": 0.525,
    "crest": 1040.06 / 1714.41,  # iliocristale
    "waist": 0.5 * (1040.06 + 1099.59) / 1714.41,  # between crest and tenth rib, as in ISO 8559-1
    "chest": 1252.00 / 1714.41,
    "shoulder": 1406.16 / 1714.41,  # acromion
    "neck": 1477.49 / 1714.41,  # cervicale
    "throat": 0.8625,
}
# Height from the nape to the bust over its length along the body, of GarmentCode's mean body.
ALONG_BUST = 0.82


@dataclass(frozen=True)
class BodyMeasure:
    """A measure of a person.

    Args:
        name: in weft.
        unit: SI unit.
    """

    name: str
    unit: str


@cache
def measures_by_name() -> dict[str, BodyMeasure]:
    """Return the measures of the table ``body_measures.yaml`` by all of their names."""
    found = {}
    for name, row in read_yaml(TABLE, "table of measures", PatternError).value.items():
        for other in (name, *row.get("names", ())):
            found[other] = BodyMeasure(name, row.get("unit", "m"))
    return found


def read_body(given: Yaml, folder: Path, where: str = "") -> dict[str, float]:
    """Return measures of a person in SI by weft's names, from a block or from a file.

    Args:
        given: a block of measures with units by any of their names; or the path of a YAML file with
            such a block, or with GarmentCode's fields, in centimeters and degrees.
        folder: of the file.
        where: the place of ``given``, for messages.

    Raises:
        PatternError: a file that cannot be read, a name that is not in the table, or a number
            without unit.
    """
    bare = isinstance(given, str)
    if isinstance(given, str):
        where = given
        given = read_yaml(folder / given, "body file", PatternError).value
    if isinstance(given, dict) and isinstance(given.get("body"), dict):
        given = given["body"]
    if not isinstance(given, dict):
        raise PatternError("body", got=repr(given), where=where, expected="measures, or a file")
    found, known = {}, measures_by_name()
    for name, value in given.items():
        measure, plain = known.get(name), isinstance(value, int | float)
        if measure is None and bare and plain:
            continue  # GarmentCode's files have fields that weft does not use
        if measure is None:
            expected, hint = "a measure of a person", did_you_mean(name, known)
            raise PatternError("body", got=repr(name), where=where, expected=expected, hint=hint)
        unit = "cm" if measure.unit == "m" else "deg"
        if plain and not (bare or value == 0):
            hint = f"`{name}: {value} {unit}`"
            raise PatternError(f"body.{name}", got=value, where=where, expected="a unit", hint=hint)
        try:
            found[measure.name] = to_si(f"{value} {unit}" if plain else value, measure.unit)
        except UnitError as error:
            what = f"body.{name}"
            raise PatternError(what, got=error.got, where=where, expected=error.expected) from None
    return found


def levels_of(body: Mapping[str, float]) -> dict[str, float]:
    """Return heights [m] of a body's landmarks above the floor.

    Those that its measures do not say are at the mean ratios of its height. Names are those of
    ``Landmarks.points``, without side: ``top, neck_back, shoulder, bust, waist, hip, crotch, knee``
    and ``ankle``.

    Args:
        body: measures in SI by weft's names; empty if it has no height.
    """
    if "height" not in body:
        return {}
    height, missing = body["height"], math.nan

    def level(name: str, other: float) -> float:
        above = body.get(f"{name}_height", other)
        return HEIGHTS[name] * height if math.isnan(above) else above

    neck = level("neck", height - body.get("neck_to_top", missing))
    waist = level("waist", neck - body.get("back_waist_length", missing))
    hips = level("hips", waist - body.get("waist_to_hips", missing))
    bust = body.get("neck_to_bust", ALONG_BUST * body.get("bust_depth", missing))
    half = 0.5 * (body.get("shoulder_breadth", missing) - body.get("neck_breadth", missing))
    return {
        "top": height,
        "neck_back": neck,
        "shoulder": level("shoulder", neck - half * math.tan(body.get("shoulder_slope", missing))),
        "bust": level("chest", neck - bust),
        "waist": waist,
        "hip": hips,
        "crotch": level("crotch", hips - body.get("hips_to_crotch", missing)),
        "knee": level("knee", missing),
        "ankle": level("ankle", missing),
    }
