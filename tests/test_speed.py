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


def test_the_phases_of_every_scene():
    def of(scene, count, **parts):
        label = f"contact-drape/{scene}, "
        yield at_most(f"{label}wall", 4.0, "s / s of cloth", 5.0)
        yield info(f"{label}iterations", count, "a step")
        yield info(f"{label}iteration", sum(parts.values()), "ms, wall")
        for name, ms in parts.items():
            yield info(f"{label}iteration, {name.replace('_', ' ')}", ms, "ms, wall")

    measures = [
        *of("demo converged", 8.0, solve=6.0, broad=1.0, all_else=3.0),
        *of("layers interactive", 7.0, broad=20.0, solve=10.0, contact_matrix=10.0, all_else=0.0),
        info("contact-drape/broad phase", 5.0, "ms"),
    ]
    assert speed.phases([m.on(2.0) for m in measures]).splitlines() == [
        "| ms of an iteration, normalized | demo converged | layers interactive |",
        "|---|---|---|",
        "| solve | 3 | 5 |",
        "| broad | 0.5 | 10 |",
        "| contact matrix |  | 5 |",
        "| all else | 1.5 | 0 |",
        "| **all** | 5 | 20 |",
        "| iterations a step | 8 | 7 |",
    ]
