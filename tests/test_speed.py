"""The tables of docs/speed.md: where they stand, and what is made of measures."""

import re

import pytest

from benchmarks import speed
from benchmarks.measure import at_most, info

DOCUMENT = speed.DOCUMENT.read_text()


@pytest.mark.parametrize("name", ["peers-41", "peers-100", "scenes", "phases", "iteration"])
def test_every_table_has_its_place_and_nothing_else_changes(name):
    new = speed.replaced(DOCUMENT, name, "a | b\\1")
    assert f"<!-- begin {name} -->\na | b\\1\n<!-- end {name} -->" in new
    rest = [re.sub(rf"(?s)(begin {name} -->).*(<!-- end {name})", "", t) for t in (new, DOCUMENT)]
    assert rest[0] == rest[1]


def test_a_place_that_is_not_there():
    with pytest.raises(ValueError, match="0 places for peers-7"):
        speed.replaced(DOCUMENT, "peers-7", "")


def test_the_iteration_before_and_now():
    label = "contact-drape/demo converged, "
    measures = [
        at_most(f"{label}CPU", 4.0, "s / s of cloth", 5.0),
        info(f"{label}iterations", 8.0, "a step"),
        info(f"{label}iteration", 12.0, "ms, CPU"),
        info(f"{label}iteration, solve", 7.0, "ms, CPU"),
        info(f"{label}iteration, new", 5.0, "ms, CPU"),
        info("contact-drape/demo interactive, iteration, solve", 1.0, "ms, CPU"),
    ]
    lines = speed.iteration([m.on(2.0) for m in measures]).splitlines()
    assert "| solve | 12.80 | 3.50 |" in lines and "| new |  | 2.50 |" in lines
    assert "| broad | 6.89 |  |" in lines
    assert f"| **all** | {sum(speed.BEFORE.values()):.2f} | 6.00 |" in lines
    assert lines[-1] == "| iterations a step | 9.3 | 8.0 |"
    table = speed.scenes([m.on(2.0) for m in measures]).splitlines()
    assert "| demo converged, CPU | 4 | 2 | 5 | s / s of cloth |" in table and len(table) == 4
