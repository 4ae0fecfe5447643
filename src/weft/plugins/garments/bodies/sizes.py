"""Sizes of clothes: the girths of the body that a size is for, from the table ``sizes.yaml``.

A size is written as its number, with the figure before it if that is no woman: ``40``, ``man 50``,
``child 104``.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from weft.base.errors import MannequinError, UnitError
from weft.base.trees import Json, Yaml
from weft.base.units import to_si
from weft.base.yaml_lines import read_yaml
from weft.plugins.garments.bodies.body_measures import measures_by_name

TABLE = Path(__file__).with_name("sizes.yaml")
LEAST = 1.0  # smallest number of a size; lengths of edges, in meters, are below it
NEAR = 0.75, 1.33  # of the table's smallest and largest value: measures beyond are the garment's


@dataclass(frozen=True)
class ClothesSize:
    """A size of clothes in the table.

    Args:
        figure: ``woman``, ``man`` or ``child``.
        number: of the size.
        body: [m] height, chest, waist and hips by name.
    """

    figure: str
    number: int
    body: Mapping[str, float]

    def __str__(self) -> str:
        return f"{self.number}" if self.figure == "woman" else f"{self.figure} {self.number}"


@cache
def size_table() -> dict[str, dict[int, ClothesSize]]:
    """Return the sizes by figure and number."""
    return {
        figure: {
            number: ClothesSize(figure, number, _body(block, number)) for number in _numbers(block)
        }
        for figure, block in read_yaml(TABLE, "table of sizes", MannequinError).value.items()
    }


def _numbers(block: Json) -> range:
    sizes = block["sizes"]
    return range(sizes["first"], sizes["last"] + 1, sizes["step"])


def _body(block: Json, number: int) -> dict[str, float]:
    """Return the measures of a body [m]: the first size's, and so many intervals of both kinds."""
    sizes = block["sizes"]
    usual = (min(number, sizes["larger"]) - sizes["first"]) // sizes["step"]
    wide = max(number - sizes["larger"], 0) // sizes["step"]
    rows = {name: [to_si(v, "m") for v in row] for name, row in block.items() if name != "sizes"}
    return {n: round(first + usual * a + wide * b, 6) for n, (first, a, b) in rows.items()}


def size_of(text: str | float, figure: str = "woman") -> ClothesSize:
    """Return the size that a number or a text such as ``man 50`` names.

    Args:
        text: the size.
        figure: of a size that names none.

    Raises:
        MannequinError: the table has no such size.
    """
    *words, last = str(text).split() or [""]
    table = size_table()
    try:
        number = float(last)
        return table[" ".join(words) or figure][int(number) if number.is_integer() else -1]
    except (KeyError, ValueError, OverflowError):
        listed = [f"of a {f} {', '.join(map(str, [*t][:2]))} to {max(t)}" for f, t in table.items()]
        raise MannequinError(
            "size",
            got=repr(text),
            expected="; ".join(listed),
            hint="a body of other measures: `mannequin: {chest: 98 cm, ...}`",
        ) from None


def sizes_between(text: str, figure: str = "woman") -> list[ClothesSize]:
    """Return the sizes of a text ``36:46`` (all between them), ``36:46:4`` or ``36,40``.

    Raises:
        MannequinError: a size that the table does not have, or a range from more to less.
    """
    found: list[ClothesSize] = []
    for part in text.split(","):
        ends, step = part.split(":")[:2], part.split(":")[2:]
        first, last = (size_of(end.strip(), figure) for end in (ends[0], ends[-1]))
        if not (first.figure == last.figure and first.number <= last.number):
            expected = "the smaller size first: 36:46"
            raise MannequinError("sizes", got=repr(part.strip()), expected=expected)
        if len(step) > 1 or not all(s.isdecimal() and int(s) > 0 for s in step):
            raise MannequinError("sizes", got=repr(part.strip()), expected="36:46, or 36:46:4")
        numbers = range(first.number, last.number + 1, int(step[0]) if step else 1)
        table = size_table()[first.figure]
        found += [table[n] for n in numbers if n in table and table[n] not in found]
    return found


def measures_in_size(given: Mapping[str, Yaml], size: ClothesSize) -> dict[str, float]:
    """Return the measures [m] of a pattern that a size of clothes changes.

    These have the name of a measure of a body, and are written as a length that a body may have:
    neither ``hip: inseam + 8 cm`` nor ``height: 10 cm`` is one.

    Args:
        given: measures as the pattern's file writes them.
        size: the size.
    """
    found, known = {}, measures_by_name()
    for name, body in ((n, known[n].name) for n in given if n in known):
        if body not in size.body:
            continue
        values = [s.body[body] for s in size_table()[size.figure].values()]
        with suppress(UnitError):
            if NEAR[0] * min(values) < to_si(given[name], "m") < NEAR[1] * max(values):
                found[name] = size.body[body]
    return found
