"""Times are normalized by the machine's factor, and nothing else is."""

import numpy as np
import pytest

from benchmarks import reference, runner
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
        ("ms, wall", True),
        ("s, 97 pts", True),
        ("s a step", True),
        ("x", False),
        ("", False),
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


def test_the_fixed_work_is_fixed(monkeypatch):
    """Its sum, against the Laplacian's eigenvectors and an integral, on smaller arrays."""
    monkeypatch.setattr(reference, "SIDE", 20)
    monkeypatch.setattr(reference, "LENGTH", 100_001)
    k = np.arange(1, 21)
    waves = np.sin(np.pi * np.outer(k, k) / 21) * np.sqrt(2 / 21)
    lam = 4 * np.sin(np.pi * k / 42) ** 2
    part = waves.sum(1)
    solved = (np.outer(part, part) ** 2 / (lam[:, None] + lam + 0.01)).sum()
    integral = (2**1.5 - 1) / 3 - 1 / 3  # of (sqrt(x^2 + 1) - x) x over [0, 1]
    passes = reference.PASSES * 1e5 * integral
    assert reference.work() == pytest.approx(solved + passes, abs=1.0, rel=1e-6)


def test_the_machine_comes_first_and_normalizes(monkeypatch):
    monkeypatch.setattr(runner, "machine", lambda: Machine(4 * REFERENCE, 4 * REFERENCE))
    monkeypatch.setattr("benchmarks.startup.import_time", lambda: iter([at_most("i/w", 2, "s", 1)]))
    shown, machines = [], []
    measures = runner.run(["import"], shown.append, on_machine=machines.append)
    assert shown == measures and machines[0].factor == 4.0
    assert (measures[0].name, measures[0].value) == ("machine/factor", 4.0)
    assert (measures[1].normalized, measures[1].ok) == (0.5, True)


def test_scenes_of_a_benchmark_that_has_none():
    with refused(WeftError, "only", expected="contact-drape"):
        runner.run(["assembly"], selection=BenchSelection(("demo",)))
    with refused(WeftError, "contact-drape scene", got="'layer'", hint="'layers'"):
        runner.run(["contact-drape"], selection=BenchSelection(("layer",)))
