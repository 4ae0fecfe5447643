"""The type of a fabric that is written as a mapping."""

from collections.abc import Sequence
from typing import TypedDict

from weft.base.trees import Yaml
from weft.base.units import Quantity


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
    curve: Yaml
    curve_warp: Yaml
    curve_weft: Yaml
