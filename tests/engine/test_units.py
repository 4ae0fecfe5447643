"""Units: conversions by hand, dimensions, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.refusals import refused
from weft.base.errors import UnitError
from weft.base.units import to_si

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    "text, unit, expected",
    [
        ("120 g/m²", "kg/m^2", 0.12),
        ("0.05 gf·cm²/cm", "N*m", 0.05 * 9.80665e-5),
        ("1.5e3 mm", "m", 1.5),
        ("-3 in", "m", -0.0762),
        ("30 deg", "rad", 0.5235987755982988),
        ("5 %", "1", 0.05),
        ("120 gsm", "kg/m^2", 0.12),
        ("4 oz/yd^2", "kg/m^2", 4 * 0.028349523125 / 0.83612736),
        ("2 lbf/in", "N/m", 2 * 0.45359237 * 9.80665 / 0.0254),
        ("12 momme", "kg/m^2", 12 * 0.45359237 / (1.143 * 91.44)),
        ("0.05 gf cm^2/cm", "N*m", 0.05 * 9.80665e-5),
        ("2 (kg*m)/(s^2*m)", "N/m", 2.0),
        ("2 m*s⁻²", "m/s^2", 2.0),
        ("2 m**2", "m^2", 2.0),
        ("1 N per m", "N/m", 1.0),
        ("1 μm", "m", 1e-6),
        ("45 °", "rad", 0.7853981633974483),
    ],
)
def test_conversions(text, unit, expected):
    assert to_si(text, unit) == pytest.approx(expected, rel=1e-14)


def test_bare_numbers_are_si():
    assert to_si(3, "m") == 3.0
    assert to_si(np.float32(0.5), "m") == 0.5 and to_si(np.int64(2), "m") == 2.0


@pytest.mark.parametrize("text", ["0.6 gf/(cm*deg)", "0.6 gf/cm per deg", "0.6 gf/cm/deg"])
def test_shear_is_per_angle(text):
    """Kawabata's shear stiffness: 0.6 gf/(cm deg) is 33.7 N/m per radian."""
    expected = 0.6 * 0.980665 * 180 / math.pi
    assert to_si(text, "N/m", per_angle=True) == pytest.approx(expected, rel=1e-12)
    with refused(UnitError, "unit", hint="angle"):
        to_si(text, "N/m")


def test_shear_without_an_angle_is_per_radian():
    assert to_si("33.7 N/m", "N/m", per_angle=True) == 33.7
    assert to_si("33.7 N/m per rad", "N/m", per_angle=True) == pytest.approx(33.7)
    with refused(UnitError, "unit", expected="per angle"):
        to_si("33.7 N*rad/m", "N/m", per_angle=True)


@pytest.mark.parametrize("text", ["0.6 gf/cm*deg", "1 N/m·s", "1 kg/m^2 s"])
def test_a_product_after_a_slash_is_refused(text):
    """Who writes a/b*c means a/(b*c) as often as (a/b)*c: weft does not guess."""
    with refused(UnitError, "unit", expected="one meaning", hint="("):
        to_si(text, "N/m", "fabric.shear", per_angle=True)


@pytest.mark.parametrize(
    "text, unit, expected",
    [
        ("7800 kg/m^3*0.2 mm", "kg/m^2", 1.56),
        ("7800 kg/m^3 × (0.2 mm)", "kg/m^2", 1.56),
        ("0.2 mm*7.8 g/cm^3", "kg/m^2", 1.56),
        ("7800 kg/m^3*0.2 mm/2", "kg/m^2", 0.78),
        ("3*50 g/m^2", "kg/m^2", 0.15),
        ("25 g/0.1 m^2", "kg/m^2", 0.25),
        ("800 N per 50mm", "N/m", 16e3),
        ("3 GPa*(0.1 mm)^3/12", "N*m", 2.5e-4),
        ("-(1/2) m", "m", -0.5),
        ("1/(2 m)", "1/m", 0.5),
    ],
)
def test_products_and_quotients_of_quantities(text, unit, expected):
    """Each number begins a factor with a unit of its own."""
    assert to_si(text, unit) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("text", ["1/2 m", "6 m/2 s*3 s"])
def test_a_quotient_of_quantities_with_two_meanings_is_refused(text):
    with refused(UnitError, "unit", expected="one meaning", hint="write"):
        to_si(text, "m")


@given(st.text(max_size=40))
def test_any_text_is_a_number_or_a_unit_error(text):
    for value in (text, f"1 {text}"):
        try:
            assert math.isfinite(to_si(value, "m"))
        except UnitError as error:
            assert str(error)


def test_numbers_that_yaml_reads_as_text():
    """1e-5 without a dot is text in YAML 1.1; who writes it means the number."""
    assert to_si("1e-5", "J") == 1e-5
    assert to_si("-2E3", "m") == -2000.0


@pytest.mark.parametrize(
    "value, unit, match",
    [
        ("1e999 m", "m", ("", "too large")),
        ("1e-400 m", "m", ("quantity", "too small")),
        ("1 m^999999", "m", ("unit", "-9 to 9")),
        ("1 " + "(" * 5000, "m", ("quantity", "characters")),
        ("1 " + "GPa^9*" * 30 + "m", "m", ("", "too large")),
        ("1\0 m", "m", ("unit", "character")),
        ("１ m", "m", ("quantity", "a number and a unit")),
        ("1,5 m", "m", ("quantity", "'1.5 m'")),
        ("1 (m", "m", ("unit", "closing")),
        ("1 m^(1/2)", "m", ("unit", "whole number")),
        ("1 m**", "m", ("unit", "power")),
        ("3", "m", ("quantity", "'3'")),
        ("3 mmm", "m", ("unit", "'mmm'", "'mm'")),
        ("3 kg", "m", ("unit", "a mass", "'3 m'")),
        (None, "m", ("quantity", "a number")),
        (float("nan"), "m", ("quantity", "finite")),
        (10**400, "m", ("quantity", "finite")),
        ("3 N/m", "N*m", ("unit", "moment per width and curvature")),
        ("0.5 %", "rad", "unit"),
        ("7800 0.2 mm", "m", ("quantity", "'7800 * 0.2 mm'")),
        ("7800 kg/m^3 0.2 mm", "kg/m^2", ("unit", "before '0.2'")),
        ("7800 kg/m^3*0.2", "kg/m^2", ("unit", "a mass per volume")),
        ("3**2 m", "m", ""),
    ],
)
def test_refused(value, unit, match):
    with refused(UnitError, match):
        to_si(value, unit, "cloth.width")
