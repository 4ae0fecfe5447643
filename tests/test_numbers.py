"""The tables of speed, accuracy and size: where they stand, and what is made of measures."""

import re

import pytest

from benchmarks import numbers
from weft.plugins.lab.validate.check import RowBasis, compare

DOCUMENT = numbers.SPEED.read_text()


@pytest.mark.parametrize("name", numbers.PLACES)
def test_every_table_has_its_place_and_nothing_else_changes(name):
    document = numbers.PLACES[name].read_text()
    new = numbers.replaced(document, name, "a | b\\1")
    assert f"<!-- begin {name} -->\na | b\\1\n<!-- end {name} -->" in new
    rest = [re.sub(rf"(?s)(begin {name} -->).*(<!-- end {name})", "", t) for t in (new, document)]
    assert rest[0] == rest[1]
    assert numbers.between_markers(name).search(document)[2].startswith("Measured 20")


def test_a_place_that_is_not_there():
    with pytest.raises(ValueError, match="0 places for peers-7"):
        numbers.replaced(DOCUMENT, "peers-7", "")


def test_the_table_of_the_readme_is_that_of_the_document():
    text = numbers.README.read_text()
    table = numbers.comparison(DOCUMENT)
    assert len(table.splitlines()) == 7
    assert numbers.replaced(text, "compare", table) == text


def test_the_nearest_row_of_each_experiment(monkeypatch):
    rows = [
        compare("sag/10", 1.0, 1.001, 1e-2),
        compare("sag/20", 1.0, 1.005, 1e-2),
        compare("sag/30", 1.0, 1.5, 1e-2, RowBasis.INDICATIVE),
        compare("drum", 2.0, 2.0, 0.0),
    ]
    monkeypatch.setattr(numbers, "validate", lambda *_, **__: rows)
    _, _, *found = numbers.accuracy().splitlines()
    assert found == ["| sag/20 | 1 | 1.005 | 0.005 | 0.01 |", "| drum | 2 | 2 | 0 | 0 |"]


def test_code_tokens_are_neither_comments_nor_docstrings():
    text = '"""What it is."""\n\n\ndef f(a):  # why\n    """Return."""\n    return a + "text"\n'
    assert numbers.code_tokens(text) == 10  # def f ( a ) : return a + "text"


def test_every_part_is_counted_once():
    _, _, *rows = numbers.size().splitlines()
    counts = {r.split(" | ")[0].strip("| "): r.split(" | ")[1] for r in rows}
    assert set(counts) == set(numbers.PARTS) and all(
        int(n.replace(" ", "")) > 5 for n in counts.values()
    )
