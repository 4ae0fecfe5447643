"""Which samples are good: filters over what was measured of a finished run."""

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
    """Bounds on a sample's measures; None: not looked at.

    Args:
        converged: whether all steps have to converge as they are, undivided.
        static: [m/s] most speed of any point at the end.
        intersections: most pairs of faces that intersect, in any frame that was looked at.
        strain: greatest principal strain of a face at the end.
        slipped_off: whether the cloth may have left the highest body.
    """

    converged: bool | None = None
    static: float | None = None
    intersections: int | None = None
    strain: float | None = None
    slipped_off: bool | None = None

    def flags(self, measures: Json) -> dict[str, bool]:
        """Whether each filter is passed, by its name; ``good``: all are.

        Measures that a scene does not have (nothing to slip off) pass.
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
        """The filters that are set."""
        return {name: getattr(self, name) for name in MEANINGS if getattr(self, name) is not None}


def filters_of(said: Mapping[str, Any], where: str) -> Filters:
    """Filters as a sweep file says them.

    Raises:
        SweepError: an unknown one, or a bound that is none.
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
