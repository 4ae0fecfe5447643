"""Reader of weft's own pattern files: panels, seams and elastics in YAML, drafted from measures.

docs/garments.md describes every field. All errors of a file are reported at once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from weft.base.errors import PatternError, PatternProblems, WeftError
from weft.base.yaml_lines import parse_yaml, read_yaml
from weft.garment.pattern import Elastic, Panel, Pattern, Seam
from weft.garment.tree_field import TreeField
from weft.garment.yaml_panels import PanelReader
from weft.garment.yaml_seams import named_entries, orient_chains, read_elastic, read_seam
from weft.garment.yaml_values import Values, read_measures

FIELDS = ("name", "measures", "fabric", "panels", "seams", "elastics")
T = TypeVar("T")
J = TypeVar("J", Seam, Elastic)


def read_yaml_pattern(
    path: str | Path, measures: Mapping[str, str | float] | None = None
) -> Pattern:
    """Return the pattern in a file of weft's own format.

    Args:
        path: the file.
        measures: values in place of the file's measures: ``{"waist": "80 cm"}``.

    Raises:
        PatternError: a file that cannot be read.
        PatternProblems: all errors of its contents.
    """
    path = Path(path)
    tree = read_yaml(path, "pattern file", PatternError, "docs/garments.md describes the format")
    root = TreeField(tree.value, path.name, (), tree.lines)
    if not isinstance(tree.value, dict):
        raise root.error("fields such as `panels:`")
    return _Reader(root, measures or {}).pattern(path.stem, str(path))


def parse_yaml_pattern(text: str, source: str = "pattern.yaml") -> Pattern:
    """Return the pattern in a text of weft's own format; ``source`` is its name in messages."""
    tree = parse_yaml(text, source, PatternError)
    root = TreeField(tree.value, source, (), tree.lines)
    if not isinstance(tree.value, dict):
        raise root.error("fields such as `panels:`")
    return _Reader(root, {}).pattern(source, source)


class _Reader:
    """A reader of the parts of a file that collects their errors."""

    def __init__(self, root: TreeField, measures: Mapping[str, str | float]) -> None:
        self.root, self.given = root, measures
        self.problems: list[WeftError] = []
        self.places: dict[str, str] = {}

    def attempt(self, make: Callable[[], T]) -> T | None:
        """Return the result of ``make``, or None after its error is noted."""
        try:
            return make()
        except WeftError as error:
            self.problems.append(error)
            return None

    def pattern(self, stem: str, source: str) -> Pattern:
        """Return the pattern; raise ``PatternProblems`` if any part has an error."""
        root = self.root
        self.attempt(lambda: root.only(*FIELDS))
        name, fabric = root.get("name"), root.get("fabric")
        measures = self.attempt(lambda: read_measures(root.get("measures"), self.given))
        if measures is None:
            raise PatternProblems(self.problems)  # every number may depend on the measures
        values = Values(measures)
        panels, closed = self.panels(values)
        seams, elastics = list[Seam](), list[Elastic]()
        if not self.problems:
            seams, elastics = self.joins(values, panels, closed)
        if self.problems:
            raise PatternProblems(self.problems)
        return Pattern(
            stem if name is None else name.text(),
            list(panels.values()),
            seams,
            elastics,
            Pattern.fabric if fabric is None else fabric.value,
            source,
            self.places,
        )

    def panels(self, values: Values) -> tuple[dict[str, Panel], list[Seam]]:
        """Return all panels by name, and the seams of their darts and pleats."""
        panels, closed = dict[str, Panel](), list[Seam]()
        block = self.attempt(lambda: self.root.need("panels"))
        reader = None if block is None else self.attempt(lambda: PanelReader(block, values))
        if reader is None:
            return panels, closed
        for name, f in reader.fields.items():
            self.places[f"panel {name}"] = f.where
            made = self.attempt(partial(reader.read, name))
            if made is not None:
                panels[name] = made[0]
                closed += made[1]
                self.places |= {f"seam {s.name}": f.where for s in made[1]}
        return panels, closed

    def joins(
        self, values: Values, panels: Mapping[str, Panel], closed: Sequence[Seam]
    ) -> tuple[list[Seam], list[Elastic]]:
        """Return the seams, ``closed`` first, and the elastics."""
        seams = self.entries("seams", read_seam, panels, values)
        elastics = self.entries("elastics", read_elastic, panels, values)
        if self.problems:
            return [], []
        return orient_chains([*closed, *seams], panels), elastics

    def entries(
        self,
        key: str,
        read: Callable[[str | None, TreeField, Mapping[str, Panel], Values], J],
        panels: Mapping[str, Panel],
        values: Values,
    ) -> list[J]:
        """Return the seams or elastics of the block ``key``, without entries that have errors."""
        found: list[J] = []
        block = self.root.get(key)
        listed = None if block is None else self.attempt(lambda: list(named_entries(block)))
        for name, f in listed or []:
            made = self.attempt(partial(read, name, f, panels, values))
            if made is not None:
                found.append(made)
                self.places[f"{key[:-1]} {made.name}"] = f.where
        return found
