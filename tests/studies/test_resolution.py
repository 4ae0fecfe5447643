"""The study of wrinkles, smaller than it is published."""

import pytest

from studies import wrinkles
from tests.studies.builders import quiet


def test_a_stretched_sheet_is_short_of_the_formula_and_the_length_of_its_wrinkles_says_why():
    study = wrinkles.study(quiet, sheets={"coarse": {"points": (24, 30)}}, held=())
    ((_, wavelength, formula, off, narrow, own),) = study.table.rows
    assert -20 < off < -5 < 0 < own < 20 and 0.5 < narrow < 0.7
    assert wavelength / formula == pytest.approx(1 + off / 100)
