"""The tables of docs/reference/speed.md: where they stand, and what is made of measures."""

import re

import pytest

from benchmarks import speed

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


def test_the_table_of_the_readme_is_that_of_the_document():
    text = speed.README.read_text()
    table = speed.comparison(DOCUMENT)
    assert len(table.splitlines()) == 5
    assert speed.replaced(text, "compare", table) == text
