"""Numbers in weft's pattern files: quantities with units, and arithmetic on the file's measures."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SceneError, UnitError
from weft.base.keyframes import FIELDS, Keys
from weft.base.units import in_si, to_si
from weft.base.units.expression import CONSTANTS, FUNCTIONS, UnitValue, evaluated, in_unit
from weft.base.units.grammar import parse_unit
from weft.garment.tree_field import TreeField

_NAME = re.compile(r"[^\W\d]\w*$")
FARTHEST = 1e4  # [m] largest length


@dataclass(frozen=True)
class Values:
    """Reader of the numbers of a file.

    Args:
        measures: the file's named numbers.
    """

    measures: Mapping[str, UnitValue] = field(default_factory=dict)

    def number(self, f: TreeField, unit: str) -> float:
        """Return a number in SI.

        Args:
            f: a bare number, which is in ``unit``, or text: a quantity or an expression.
            unit: that gives the dimension.

        Raises:
            PatternError: neither of these; another dimension; no finite number.
        """
        if not isinstance(f.value, str):
            return f.number()
        try:
            found = in_unit(f.value, unit, self.measures)
        except UnitError as problem:
            try:
                found = to_si(f.value, unit)  # N/m and other units of several words
            except UnitError:
                raise f.error(problem.expected or "a number", hint=problem.hint) from problem
        if not abs(found) <= FARTHEST and unit == "m":
            raise f.error(f"at most {FARTHEST:g} m")
        return found

    def length(self, f: TreeField) -> float:
        """Return a length [m]."""
        return self.number(f, "m")

    def plain(self, f: TreeField) -> float:
        """Return a number without unit."""
        return self.number(f, "1")

    def changing(self, f: TreeField, unit: str) -> "float | Keys":
        """Return a number in SI, or keyframes of one; bare angles (``rad``) are in degrees."""
        read = self.angle if unit == "rad" else partial(self.number, unit=unit)
        if not Keys.is_keyframes(f.value):
            return read(f)
        f.only(*FIELDS)
        keys = [list(pair.items(2, 2)) for pair in f.at("keys").items(1)]
        points = [(self.number(t, "s"), read(v)) for t, v in keys]
        between = f.get("between")
        try:
            return Keys(points, "linear" if between is None else between.text())  # type: ignore[arg-type]
        except SceneError as problem:
            expected = problem.expected or "keyframes"
            raise f.error(expected, got=problem.got, hint=problem.hint) from problem

    def angle(self, f: TreeField) -> float:
        """Return an angle [rad]; a bare number is in degrees."""
        return self.number(f, "rad") if isinstance(f.value, str) else math.radians(f.number())

    def point(self, f: TreeField) -> Floats:
        """Return a point (2,) [m]."""
        return np.array([self.length(v) for v in f.items(2, 2)])

    def points(self, f: TreeField, least: int, most: int | None = None) -> Floats:
        """Return points (n,2) [m]."""
        return np.array([self.point(v) for v in f.items(least, most)]).reshape(-1, 2)

    def three(self, f: TreeField, unit: str) -> tuple[float, float, float]:
        """Return three numbers in SI."""
        x, y, z = (self.number(v, unit) for v in f.items(3, 3))
        return x, y, z


def read_measures(f: TreeField | None, given: Mapping[str, str | float]) -> dict[str, UnitValue]:
    """Return the named numbers of a file; each one may use those above it.

    Args:
        f: the field ``measures``; None: there are none.
        given: values in place of the file's.

    Raises:
        PatternError: an invalid name, a value that cannot be read, or a measure in ``given`` that
            the file does not have.
    """
    known: dict[str, UnitValue] = {}
    fields = {} if f is None else f.mapping()
    for name in given:
        if name not in fields:
            place = f or TreeField({}, "measures")
            raise place.error(f"one of the file's: {', '.join(fields) or 'none'}", got=name)
    for name, value in fields.items():
        if not _NAME.match(name) or name in FUNCTIONS or name in CONSTANTS:
            raise value.error("a name of letters, digits and _, not that of a function", got=name)
        said = given.get(name, value.value)
        if isinstance(said, bool) or not isinstance(said, str | int | float):
            raise value.error("a number with its unit, or an expression, like waist/4 + 1 cm")
        try:
            known[name] = _measure(said, known)
        except UnitError as problem:
            raise value.error(problem.expected or "a number", hint=problem.hint) from problem
    return known


def _measure(said: str | float, known: Mapping[str, UnitValue]) -> UnitValue:
    if not isinstance(said, str):
        return UnitValue(float(in_si(said, "1")))
    try:
        return evaluated(said, known)
    except UnitError:
        _, _, unit = said.strip().partition(" ")
        try:
            return UnitValue(to_si(said, unit), parse_unit(unit)[1])  # "30 N/m"
        except UnitError:
            pass
        raise
