"""Quality filters of samples: bounds on the measures of a finished run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.base.arrays import Json
from weft.base.errors import SweepError, WeftError, check_known
from weft.base.units import to_si

MEANINGS = {
    "converged": "true: no step was divided because it did not converge",
    "static": "[m/s] most that any point moves at the end: 5 cm/s",
    "intersections": "most pairs of faces that intersect, in any frame: 0",
    "strain": "greatest principal strain at the end: 10 % is 0.1",
    "slipped_off": "false: it still reaches over the highest body",
}


@dataclass(frozen=True)
class Filters:
    """Bounds on a sample's measures; a filter that is None is not applied.

    Args:
        converged: whether all steps must converge without being divided.
        static: [m/s] largest speed of any point at the end.
        intersections: largest number of intersecting pairs of faces, in any frame that was checked.
        strain: largest principal strain of a face at the end.
        slipped_off: required value: whether the cloth has left the highest body.
    """

    converged: bool | None = None
    static: float | None = None
    intersections: int | None = None
    strain: float | None = None
    slipped_off: bool | None = None

    def flags(self, measures: Json) -> dict[str, bool]:
        """Return the result of each filter that is set, by its name, and ``good``: all are passed.

        A filter is passed if the scene does not have its measure (for example no body).
        """
        bounds = {
            "static": ("speed_end", self.static),
            "intersections": ("intersections", self.intersections),
            "strain": ("strain_end", self.strain),
        }
        passed = {}
        for name, (measure, most) in bounds.items():
            if most is not None:
                value = measures.get(measure)
                passed[name] = value is None or value <= most
        for name in ("converged", "slipped_off"):
            wanted = getattr(self, name)
            if wanted is not None:
                passed[name] = measures.get(name) in (None, wanted)
        return {**passed, "good": all(passed.values())}

    def said(self) -> dict[str, Any]:
        """Return the filters that are set."""
        return {name: getattr(self, name) for name in MEANINGS if getattr(self, name) is not None}


def filters_of(said: Mapping[str, Any], where: str) -> Filters:
    """Return the filters of a sweep file.

    Raises:
        SweepError: a filter is unknown, or its bound is invalid.
    """
    made: dict[str, Any] = {}
    for name, value in said.items():
        check_known(name, MEANINGS, f"keep.{name}", SweepError)
        try:
            made[name] = _bound(name, value)
        except (WeftError, ValueError, TypeError) as error:
            raise SweepError(
                f"keep.{name}", got=repr(value), where=where, expected=MEANINGS[name]
            ) from error
    return Filters(**made)


def _bound(name: str, value: Any) -> Any:
    """Return the bound of a filter; strains may be in percent, speeds have a unit."""
    if name in ("converged", "slipped_off"):
        if not isinstance(value, bool):
            raise ValueError
        return value
    if isinstance(value, bool):
        raise ValueError
    if name == "intersections":
        if not isinstance(value, int) or value < 0:
            raise ValueError
        return value
    if name == "strain" and isinstance(value, str):
        number, percent, rest = value.partition("%")
        if not percent or rest.strip():
            raise ValueError
        bound = float(number) / 100
    else:
        bound = to_si(value, "m/s") if name == "static" else float(value)
    if not 0 <= bound < math.inf:
        raise ValueError
    return bound
