"""The fields of a fabric: their units, which are optional, and which may change in time."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from weft.base.units import Quantity

UNITS: Mapping[str, str] = {
    "density": "kg/m^2",
    "stretch_warp": "N/m",
    "stretch_weft": "N/m",
    "shear": "N/m",
    "bending_warp": "N*m",
    "bending_weft": "N*m",
    "thickness": "m",
    "damping": "s",
    "rest_stretch_warp": "1",
    "rest_stretch_weft": "1",
}
LIMITS: Mapping[str, str] = {"limit_warp": "1", "limit_weft": "1", "limit_shear": "rad"}
MEMORY: Mapping[str, str] = {
    "crease_yield": "1/m",
    "crease_hardening": "1",
    "crease_recovery": "s",
    "crease_lasting": "1",
    "yield_warp": "1",
    "yield_weft": "1",
    "yield_hardening": "1",
}
MEANINGS: Mapping[str, str] = {
    "crease_yield": "elastic curvature beyond which bending leaves a crease",
    "crease_hardening": "of the moment after yield: 1/(1 + it) of what is bent further is left",
    "crease_recovery": "time constant in which creases recover, as they else do not",
    "crease_lasting": "part of a crease that never recovers, 0 to 1",
    "yield_warp": "strain from which on the warp is drawn out for good",
    "yield_weft": "strain from which on the weft is drawn out for good",
    "yield_hardening": "of the force after yield: 1/(1 + it) of what is pulled further is left",
}
NEEDED = {  # fields that have a meaning only together with one of the listed fields
    "crease_hardening": ("crease_yield",),
    "crease_recovery": ("crease_yield",),
    "crease_lasting": ("crease_recovery",),
    "yield_hardening": ("yield_warp", "yield_weft"),
}
PER_ANGLE = ("shear",)  # fields that may be given per angle; per radian if no angle is given
OPTIONAL: Mapping[str, str] = {**LIMITS, **MEMORY}  # fields that may be None
CURVES = ("curve_warp", "curve_weft")
CHANGING = (*UNITS, *LIMITS, *MEMORY)  # fields that may have keyframes


class Sourced(TypedDict, total=False):
    """A quantity and its source."""

    value: Quantity
    source: str


Field = str | Sourced  # "120 g/m^2", or with its source
Pair = Field | Sequence[Field]  # one field for warp and weft, or two


class FabricFields(TypedDict, total=False):
    """A fabric as a mapping, as in YAML: quantities are text with a unit."""

    preset: str  # gives the fields that are left out
    name: str
    title: str
    density: Field
    stretch: Pair
    stretch_warp: Field
    stretch_weft: Field
    shear: Field
    bending: Pair
    bending_warp: Field
    bending_weft: Field
    thickness: Field
    damping: Field
    rest_stretch: float | Sequence[float]
    rest_stretch_warp: float
    rest_stretch_weft: float
    limit: Pair
    limit_warp: Field
    limit_weft: Field
    limit_shear: Field
    crease_yield: Field
    crease_hardening: Field
    crease_recovery: Field
    crease_lasting: Field
    yield_warp: Field
    yield_weft: Field
    yield_hardening: Field
    curve: Any
    curve_warp: Any
    curve_weft: Any
