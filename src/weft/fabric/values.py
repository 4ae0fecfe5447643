"""Readers of the values of a fabric's fields in files: text with a unit, curves."""

from collections.abc import Mapping

from weft.base.curve import Curve
from weft.base.errors import FabricError, UnitError
from weft.base.settings import Setting
from weft.base.trees import Yaml
from weft.base.units import to_si


def quantity(value: Yaml, about: Setting, where: str) -> tuple[float, str]:
    """Return a field's value in SI, and its source."""
    value, source = sourced(value, where)
    unit = about.unit
    if unit != "1" and not isinstance(value, str):
        raise UnitError(
            where, got=repr(value), expected=f"a quantity with its unit, like '{value} {unit}'"
        )
    return to_si(value, unit, where, per_angle=about.per_angle), source


def optional(value: Yaml, about: Setting, where: str) -> tuple[float | None, str]:
    """Return the value of an optional field in SI, and its source; None overrides a preset's
    value.
    """
    value, source = sourced(value, where)
    if value is None:
        return None, source
    unit = about.unit
    if unit != "1" and not isinstance(value, str):
        like = (
            "an angle with its unit, like '30 deg'"
            if unit == "rad"
            else (f"a quantity with its unit, like '{value} {unit}'")
        )
        raise UnitError(where, got=repr(value), expected=like)
    return to_si(value, unit, where), source


def curve(value: Yaml, where: str) -> tuple[Curve | None, str]:
    """Return a curve from pairs of strain and force per width with its unit, and its source."""
    value, source = sourced(value, where)
    if value is None:
        return None, source
    pairs = value if isinstance(value, list | tuple) else []
    if not pairs or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise FabricError(
            where,
            got=value,
            expected="pairs [strain, force per width]",
            hint="such as [[1 %, 20 N/m], [3 %, 90 N/m]]",
        )
    points = []
    for strain, force in pairs:
        if not isinstance(force, str) and force != 0:
            raise UnitError(where, got=repr(force), expected=f"with its unit, like '{force} N/m'")
        points.append((to_si(strain, "1", where), to_si(force, "N/m", where)))
    try:
        return Curve(points), source
    except FabricError as error:
        error.what = f"{where}: {error.what}"
        raise


def sourced(value: Yaml, where: str) -> tuple[Yaml, str]:
    """Return a value, possibly written ``{value: ..., source: ..., uncertainty: ...}``, and its
    source.

    The uncertainty, text or a number, is for people and other programs; weft does not use it.
    """
    if not isinstance(value, Mapping):
        return value, ""
    if set(value) - {"value", "source", "uncertainty"} or "value" not in value:
        raise FabricError(where, got=dict(value), expected="value, source and uncertainty")
    return value["value"], str(value.get("source", ""))
