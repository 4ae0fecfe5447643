"""Units: conversions by hand, dimensions, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import UnitError
from weft.units import to_si


@pytest.mark.parametrize(
    "text, unit, expected",
    [
        ("120 g/m^2", "kg/m^2", 0.12),
        ("120 g/m²", "kg/m^2", 0.12),
        ("0.05 gf*cm^2/cm", "N*m", 0.05 * 9.80665e-3 * 1e-2),
        ("0.05 gf·cm²/cm", "N*m", 0.05 * 9.80665e-5),
        ("14 oz/yd^2", "kg/m^2", 14 * 0.028349523125 / 0.83612736),
        ("1 gf/cm", "N/m", 0.980665),
        ("25 cm", "m", 0.25),
        ("1.5e3 mm", "m", 1.5),
        ("-3 in", "m", -0.0762),
        ("1 kPa*mm", "N/m", 1.0),
        ("30 deg", "rad", 0.5235987755982988),
        ("5 %", "1", 0.05),
        ("1 J/m^2", "N/m", 1.0),
        ("1 m/s/s", "m/s^2", 1.0),
    ],
)
def test_conversions(text, unit, expected):
    assert to_si(text, unit) == pytest.approx(expected, rel=1e-14)


@given(st.floats(-1e9, 1e9), st.sampled_from(["mm", "cm", "m", "ft"]))
def test_roundtrip(value, unit):
    assert to_si(f"{value!r} {unit}", "m") == pytest.approx(
        value * to_si(f"1 {unit}", "m"), rel=1e-12
    )


def test_bare_numbers_are_si():
    assert to_si(3, "m") == 3.0


@pytest.mark.parametrize(
    "value, match",
    [
        ("3", "a unit after the number"),
        ("3 furlong", "names such as"),
        ("3 kg", "quantity in m"),
        ("three m", "number and a unit"),
        ("", "number and a unit"),
        (None, "a number in m"),
        (True, "a number in m"),
        ("3 m^", "names such as"),
    ],
)
def test_refused(value, match):
    with pytest.raises(UnitError, match=match):
        to_si(value, "m", "cloth.width")


def test_numbers_that_yaml_reads_as_text():
    """1e-5 without a dot is text in YAML 1.1; who writes it means the number."""
    assert to_si("1e-5", "J") == 1e-5
    assert to_si("-2E3", "m") == -2000.0
