"""Numbers of weft's pattern files: with a unit, or arithmetic on the measures of the file.

Lengths need a unit, because 28 may be centimeters or inches; 0 needs none.

``Expression`` is the validator of such a field. The measures of the file reach it in the context of
the validation.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    create_model,
)
from pydantic_core import core_schema

from weft.base.errors import SceneError, UnitError
from weft.base.keyframes import Between, Keys
from weft.base.schema.block import Block
from weft.base.schema.document import DocumentBlock
from weft.base.schema.quantities import QuantityIn
from weft.base.trees import Json, Yaml
from weft.base.units import in_si, to_si
from weft.base.units.expression import CONSTANTS, FUNCTIONS, UnitValue, evaluate, in_unit
from weft.base.units.grammar import parse_unit

_NAME = re.compile(r"[^\W\d]\w*$")
FARTHEST = 1e4  # [m] largest length
Measures = Mapping[str, UnitValue]


@dataclass(frozen=True)
class Expression:
    """Validator of a number in SI: text with a unit, an expression on measures, or bare.

    Args:
        unit: SI unit. Bare numbers are in it; bare angles (``rad``) are in degrees, and no bare
            length but 0 is accepted.
    """

    unit: str

    def __call__(self, value: Yaml, info: ValidationInfo) -> float:
        """Return the number in SI."""
        if not isinstance(value, str):
            if self.unit == "m" and value and isinstance(value, int | float):
                raise ValueError(f"a unit: '{value} cm', '{value} in' or '{value} m'")
            number = QuantityIn(self.unit)(value)
            return math.radians(number) if self.unit == "rad" else number
        measures: Measures = info.context or {}
        try:
            found = in_unit(value, self.unit, measures)
        except UnitError as problem:
            try:
                found = to_si(value, self.unit)  # N/m and other units of several words
            except UnitError:
                hint = f"; {problem.hint}" if problem.hint else ""
                raise ValueError(f"{problem.expected or 'a number'}{hint}") from None
        if self.unit == "m" and not abs(found) <= FARTHEST:
            raise ValueError(f"at most {FARTHEST:g} m")
        return found


Number = Annotated[float, BeforeValidator(Expression("1"))]
Length = Annotated[float, BeforeValidator(Expression("m"))]
Time = Annotated[float, BeforeValidator(Expression("s"))]
Angle = Annotated[float, BeforeValidator(Expression("rad"))]  # [rad]
FoldStiffness = Annotated[float, BeforeValidator(Expression("N"))]  # [N m/rad per m]


@dataclass(frozen=True)
class Keyframed:
    """Mark of a field that is a number in SI, or keyframes of one.

    Args:
        unit: SI unit, as of an ``Expression``.
    """

    unit: str

    def __get_pydantic_core_schema__(
        self, kind: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        number = Annotated[float, BeforeValidator(Expression(self.unit))]
        pairs = Annotated[list[tuple[Time, number]], Field(min_length=1)]
        fields: Any = {"keys": (pairs, ...), "between": (Between, "linear")}
        block = create_model("Keyframes", __base__=Block, **fields)
        schema = handler.generate_schema(block)
        return core_schema.with_info_wrap_validator_function(self._read, schema)

    def _read(
        self, value: Yaml, handler: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> float | Keys:
        if not Keys.is_keyframes(value):
            return Expression(self.unit)(value, info)
        block = handler(value)
        try:
            return Keys(block.keys, block.between)
        except SceneError as error:
            raise ValueError(f"{error.expected}, not {error.got}") from None


def read_measures(
    block: DocumentBlock[Json], given: Mapping[str, str | float]
) -> dict[str, UnitValue]:
    """Return the named numbers of a file; each one may use those above it.

    Args:
        block: the field ``measures``.
        given: values in place of the file's.

    Raises:
        PatternError: an invalid name, a value that cannot be read, or a measure in ``given`` that
            the file does not have.
    """
    known: dict[str, UnitValue] = {}
    for name in given:
        if name not in block.given:
            listed = ", ".join(block.given) or "none"
            raise block.error("", name, f"a measure of the file: {listed}")
    for name, value in block.given.items():
        if not _NAME.match(name) or name in FUNCTIONS or name in CONSTANTS:
            raise block.error(
                name, name, "a name of letters, digits and _, but not the name of a function"
            )
        said = given.get(name, value)
        if isinstance(said, bool) or not isinstance(said, str | int | float):
            expected = "a number with its unit, or an expression, like waist/4 + 1 cm"
            raise block.error(name, repr(said), expected)
        try:
            known[name] = _measure(said, known)
        except UnitError as problem:
            expected = problem.expected or "a number"
            raise block.error(name, repr(said), expected, problem.hint) from problem
    return known


def _measure(said: str | float, known: Measures) -> UnitValue:
    if not isinstance(said, str):
        return UnitValue(float(in_si(said, "1")))
    try:
        return evaluate(said, known)
    except UnitError:
        _, _, unit = said.strip().partition(" ")
        try:
            return UnitValue(to_si(said, unit), parse_unit(unit)[1])  # "30 N/m"
        except UnitError:
            pass
        raise
