"""Times are normalized by the machine's factor, and nothing else is."""

import pytest

from benchmarks import runner
from benchmarks.measure import BenchSelection, at_least, at_most, info
from benchmarks.reference import REFERENCE, Machine
from tests.refusals import refused
from weft.base.errors import WeftError


@pytest.mark.parametrize(
    "unit, expected",
    [
        ("s", True),
        ("ms", True),
        ("s / s of cloth", True),
        ("x", False),
        ("GiB", False),
        ("of 50 steps", False),
    ],
)
def test_what_is_a_time(unit, expected):
    measure = info("a/b", 3.0, unit)
    assert measure.is_time is expected
    assert measure.on(2.0).normalized == (1.5 if expected else None)
    assert measure.on(2.0).value == 3.0


def test_the_normalized_time_has_to_reach_the_target():
    slow = at_most("a/b", 3.0, "s", 2.0)
    assert slow.ok is False and slow.on(2.0).ok is True and slow.on(1.0).ok is False
    assert at_most("a/b", 1.0, "s", 2.0).on(0.25).ok is False
    ratio = at_least("a/b", 3.0, "x", 2.0)
    assert ratio.on(9.0) == ratio
    assert info("a/b", 1.0, "s").on(2.0).ok is None


def test_the_factor_is_that_of_the_fixed_work():
    assert Machine(2 * REFERENCE, 2.1 * REFERENCE).factor == 2.0
    assert not Machine(1.0, 1.1).is_busy and Machine(1.0, 2.0).is_busy
    assert "others are at work" in str(Machine(1.0, 2.0))


def test_scenes_of_a_benchmark_that_has_none():
    with refused(WeftError, "only", expected="contact-drape"):
        runner.run(["assembly"], selection=BenchSelection(("demo",)))
    with refused(WeftError, "contact-drape scene", got="'layer'", hint="'layers'"):
        runner.run(["contact-drape"], selection=BenchSelection(("layer",)))
