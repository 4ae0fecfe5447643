"""Arithmetic with units: values, dimensions, refusals."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.refusals import refused
from weft.base.errors import UnitError
from weft.base.units.expression import UnitValue, evaluate, in_unit

LENGTH = (0, 1, 0, 0)
KNOWN = {"waist": UnitValue(0.72, LENGTH), "ratio": UnitValue(1.5), "größe": UnitValue(2.0)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("25 cm", 0.25),
        ("waist/4 + 1 cm", 0.19),
        ("2 cm*3 - -1cm", 0.07),
        ("(waist + 8 cm)/(2*pi)", 0.8 / (2 * math.pi)),
        ("ratio * 2 in", 1.5 * 0.0508),
        ("größe * 1 m", 2.0),
        ("hypot(3 cm, 4 cm)", 0.05),
        ("4 cm^2 / 1 cm", 0.04),
        ("(4 cm)^2 / 1 cm", 0.16),
        ("2 cm^-1 * 1 cm^2", 0.02),
        ("sqrt(9 cm * 4 cm)", 0.06),
        ("max(1 cm, waist, 2 m) - min(1 cm, 2 cm)", 1.99),
        ("1 m * sin(30 deg)", 0.5),
        ("1 m * cos(60°) * tan(atan2(3 cm, 4 cm))", 0.375),
        ("abs(-3 cm)", 0.03),
        ("waist * 25 %", 0.18),
        ("2^3 * 1 mm^1", 0.008),
        ("1e2 mm + .5 m", 0.6),
    ],
)
def test_values(text, value):
    assert in_unit(text, "m", KNOWN) == pytest.approx(value, rel=1e-14)


def test_dimensions():
    assert evaluate("waist*waist", KNOWN).dimension == (0, 2, 0, 0)
    assert evaluate("40 N / 2 m", KNOWN) == UnitValue(20.0, (1, 0, -2, 0))
    assert in_unit("90 deg / 2", "rad", KNOWN) == pytest.approx(math.pi / 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("waist/4 + 1", ("expression", "'+'", "a length and a plain number")),
        ("waits/4", ("expression", "'waits'", "'waist'")),
        ("(2 cm", ("expression", "parentheses closed")),
        ("2 cmm", ("expression", "'cmm'", "'mm'")),
        ("1 cm / 0", ("expression", "zero")),
        ("1/waist", ("expression", "a length")),
        ("2", ("expression", "unit")),
        ("sqrt(-1 m*1 m)", ("expression", "root")),
        ("sin(waist)", ("expression", "an angle")),
        ("min()", ("expression", "a number")),
        ("sqrt(1, 2)", ("expression", "arguments")),
        ("__import__('os')", ("expression", "known measure")),
        ("9^9^9 * 1 m", ("expression", "finite")),
        ("waist^0.5", ("expression", "whole")),
        ("(" * 300 + "1 m" + ")" * 300, ("expression", "parentheses")),
        ("1 m + " * 300 + "1 m", ("expression", "1803 characters", "1000")),
        ("(-8)^0.5 * 1 m", ("expression", "root")),
    ],
)
def test_refusals(text, message):
    with refused(UnitError, message):
        in_unit(text, "m", KNOWN)


@given(st.text(max_size=40))
def test_anything_is_a_number_or_a_named_error(text):
    with contextlib.suppress(UnitError):
        assert math.isfinite(evaluate(text, KNOWN).value)


@given(st.lists(st.tuples(st.sampled_from("+-*"), st.integers(1, 99)), max_size=12))
def test_precedence_is_that_of_python(parts):
    text = "7" + "".join(f" {op} {n}" for op, n in parts)
    assert evaluate(text, {}).value == eval(text)
