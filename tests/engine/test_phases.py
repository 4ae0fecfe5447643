"""Seconds by name: they add up, what is inside another phase counts for itself alone."""

import itertools

import pytest

from weft.base.timing import Phases


def test_phases_count_for_themselves_by_the_clock_that_is_given():
    ticks = itertools.count()
    phases = Phases(lambda: float(next(ticks)))  # a second more at every look
    for _ in range(2):
        with phases("outer"), phases("inner"):
            pass
    with phases("inner"):
        pass
    assert phases == {"outer": pytest.approx(4.0), "inner": pytest.approx(3.0)}
