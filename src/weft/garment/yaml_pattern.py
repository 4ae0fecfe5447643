"""weft's own pattern files: a garment's panels, seams and elastics in YAML, drafted from measures.

docs/garments.md describes every field. All problems of a file are found at once.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from weft.errors import PatternError, PatternProblems, WeftError
from weft.garment.fields import Field
from weft.garment.pattern import Elastic, Panel, Pattern, Seam
from weft.garment.yaml_panels import PanelReader
from weft.garment.yaml_seams import directed, elastic, named, seam
from weft.garment.yaml_values import Values, read_measures
from weft.plain_yaml import parse_yaml, read_yaml

FIELDS = ("name", "measures", "fabric", "panels", "seams", "elastics")
T = TypeVar("T")


def read_yaml_pattern(
    path: str | Path, measures: Mapping[str, str | float] | None = None
) -> Pattern:
    """A pattern from weft's own format.

    Args:
        path: the file.
        measures: values in place of the file's measures: ``{"waist": "80 cm"}``.

    Raises:
        PatternError: a file that cannot be read. PatternProblems: everything that is wrong with it.
    """
    path = Path(path)
    tree = read_yaml(path, "pattern file", PatternError, "docs/garments.md describes the format")
    root = Field(tree.value, path.name, (), tree.lines)
    if not isinstance(tree.value, dict):
        raise root.error("fields such as `panels:`")
    return _Reader(root, measures or {}).pattern(path.stem, str(path))


def parse_yaml_pattern(text: str, source: str = "pattern.yaml") -> Pattern:
    """The same from a text."""
    tree = parse_yaml(text, source, PatternError)
    root = Field(tree.value, source, (), tree.lines)
    if not isinstance(tree.value, dict):
        raise root.error("fields such as `panels:`")
    return _Reader(root, {}).pattern(source, source)


class _Reader:
    """Reads the parts of a file, and notes their problems."""

    def __init__(self, root: Field, measures: Mapping[str, str | float]) -> None:
        self.root, self.given = root, measures
        self.problems: list[WeftError] = []
        self.places: dict[str, str] = {}

    def attempt(self, make: Callable[[], T]) -> T | None:
        """What is made, or None with its problem noted."""
        try:
            return make()
        except WeftError as error:
            self.problems.append(error)
            return None

    def pattern(self, stem: str, source: str) -> Pattern:
        """The pattern."""
        root = self.root
        self.attempt(lambda: root.only(*FIELDS))
        name, fabric = root.get("name"), root.get("fabric")
        measures = self.attempt(lambda: read_measures(root.get("measures"), self.given))
        if measures is None:
            raise PatternProblems(self.problems)  # all numbers would be wrong
        values = Values(measures)
        panels, closed = self.panels(values)
        seams, elastics = list[Seam](), list[Elastic]()
        if not self.problems:
            seams, elastics = self.joins(values, panels)
        if self.problems:
            raise PatternProblems(self.problems)
        return Pattern(
            stem if name is None else name.text(),
            list(panels.values()),
            [*closed, *seams],
            elastics,
            Pattern.fabric if fabric is None else fabric.value,
            source,
            self.places,
        )

    def panels(self, values: Values) -> tuple[dict[str, Panel], list[Seam]]:
        """All panels, and the seams of their darts and pleats."""
        block = self.attempt(lambda: self.root.need("panels"))
        reader = None if block is None else self.attempt(lambda: PanelReader(block, values))
        panels, closed = dict[str, Panel](), list[Seam]()
        for name, f in {} if reader is None else reader.fields.items():
            self.places[f"panel {name}"] = f.where
            made = self.attempt(lambda name=name: reader.read(name))  # type: ignore[misc]
            if made is not None:
                panels[name] = made[0]
                closed += made[1]
                self.places |= {f"seam {s.name}": f.where for s in made[1]}
        return panels, closed

    def joins(
        self, values: Values, panels: Mapping[str, Panel]
    ) -> tuple[list[Seam], list[Elastic]]:
        """Seams and elastics."""
        seams, elastics = list[Seam](), list[Elastic]()
        for key in ("seams", "elastics"):
            block = self.root.get(key)
            entries = [] if block is None else self.attempt(lambda block=block: list(named(block)))
            for name, f in entries or []:
                if key == "seams":
                    one = self.attempt(lambda n=name, f=f: seam(n, f, panels, values))
                    if one is not None:
                        seams.append(one)
                        self.places[f"seam {one.name}"] = f.where
                else:
                    band = self.attempt(lambda n=name, f=f: elastic(n, f, panels, values))
                    if band is not None:
                        elastics.append(band)
                        self.places[f"elastic {band.name}"] = f.where
        return directed(seams, panels) if not self.problems else seams, elastics
