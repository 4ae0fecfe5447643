"""Studies of wrinkles and of the edges that folds need, smaller than they are published."""

import pytest

from studies import resolution, wrinkles


def quiet(_):
    pass


def test_a_stretched_sheet_is_short_of_the_formula_and_the_length_of_its_wrinkles_says_why():
    study = wrinkles.study(quiet, sheets={"coarse": {"points": (24, 30)}}, held=())
    ((_, wavelength, formula, off, narrow, own),) = study.table.rows
    assert -20 < off < -5 < 0 < own < 20 and 0.5 < narrow < 0.7
    assert wavelength / formula == pytest.approx(1 + off / 100)


def test_few_edges_make_long_folds():
    study = resolution.study(quiet, strips={"spline": (17, 33, 49)}, sizes=())
    off = [float(row[3]) for row in study.table.rows]
    assert off[0] > 50 > off[1] > 10 and off[2] == 0
    edges = [float(row[1]) for row in study.table.rows]
    assert edges == pytest.approx([2, 4, 6], rel=0.05)
