"""Reader of weft's own pattern files: panels, seams and elastics in YAML, drafted from measures.

docs/garments.md describes every field. All errors of a file are reported at once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from weft.base.errors import PatternProblems, WeftError
from weft.base.schema.document import DocumentBlock, YamlDocument, parse_document, read_document
from weft.garment.measures import Measures, read_measures
from weft.garment.pattern import Elastic, Panel, Pattern, Seam
from weft.garment.pattern_schema import JoinsBlock, PatternBlock, PatternDocument
from weft.garment.yaml_panels import PanelReader
from weft.garment.yaml_seams import JoinReader, named_entries, orient_chains

_SOME_FIELDS = "`panels:`"
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
    hint = "docs/garments.md describes the format"
    document = read_document(PatternDocument, path, hint, _SOME_FIELDS)
    return _read(document, measures or {}, path.stem, str(path))


def parse_yaml_pattern(text: str, source: str = "pattern.yaml") -> Pattern:
    """Return the pattern in a text of weft's own format; ``source`` is its name in messages."""
    document = parse_document(PatternDocument, text, source, _SOME_FIELDS)
    return _read(document, {}, source, source)


def _read(
    document: PatternDocument, measures: Mapping[str, str | float], stem: str, source: str
) -> Pattern:
    """Return the pattern of a file.

    Args:
        document: the file.
        measures: values in place of the file's measures.
        stem: name of the pattern if the file gives none.
        source: the file, for the pattern.

    Raises:
        PatternProblems: all errors of the file; seams are read only if no panel has an error.
    """
    given, problems = document.validate(PatternBlock, document.tree)
    if given is None:
        raise PatternProblems(problems)
    parts = PartReader(document)
    block = DocumentBlock(document, ("measures",), given.measures or {})
    known = parts.attempt(lambda: read_measures(block, measures))
    if known is None:
        raise PatternProblems(parts.problems)  # every number may depend on the measures
    panels, closed = parts.panels(given.panels, known)
    seams, elastics = parts.joins(given, panels, known, closed)
    if parts.problems:
        raise PatternProblems(parts.problems)
    fabric = Pattern.fabric if given.fabric is None else given.fabric
    name = given.name or stem
    return Pattern(name, list(panels.values()), seams, elastics, fabric, source, parts.places)


class PartReader:
    """Reader of the panels, seams and elastics of a file, which collects their errors.

    Attributes:
        problems: errors so far.
        places: file and line of each part, as ``Pattern.places`` has them.
    """

    def __init__(self, document: YamlDocument) -> None:
        self.document = document
        self.problems: list[WeftError] = []
        self.places: dict[str, str] = {}

    def attempt(self, make: Callable[[], T]) -> T | None:
        """Return the result of ``make``, or None after its errors are noted."""
        try:
            return make()
        except PatternProblems as several:
            self.problems += several.problems
        except WeftError as error:
            self.problems.append(error)
        return None

    def panels(
        self, trees: Mapping[str, object], measures: Measures
    ) -> tuple[dict[str, Panel], list[Seam]]:
        """Return all panels by name, and the seams of their darts and pleats."""
        panels, closed = dict[str, Panel](), list[Seam]()
        reader = PanelReader(self.document, trees, measures)
        for name in trees:
            where = self.document.where(("panels", name))
            self.places[f"panel {name}"] = where
            made = self.attempt(partial(reader.read, name))
            if made is not None:
                panels[name] = made[0]
                closed += made[1]
                self.places |= {f"seam {s.name}": where for s in made[1]}
        return panels, closed

    def joins(
        self,
        given: JoinsBlock,
        panels: Mapping[str, Panel],
        measures: Measures,
        closed: Sequence[Seam] = (),
    ) -> tuple[list[Seam], list[Elastic]]:
        """Return the seams, ``closed`` first, and the elastics; none if any part has an error."""
        if self.problems:
            return [], []
        reader = JoinReader(self.document, panels, measures)
        seams = self._entries("seam", given.seams, reader.seam)
        elastics = self._entries("elastic", given.elastics, reader.elastic)
        return ([], []) if self.problems else (orient_chains([*closed, *seams], panels), elastics)

    def _entries(self, kind: str, tree: object, read: Callable[..., J]) -> list[J]:
        """Return the seams or elastics of a block, without entries that have errors."""
        found: list[J] = []
        listed = self.attempt(lambda: list(named_entries(self.document, tree, (f"{kind}s",))))
        for name, entry, loc in listed or ():
            made = self.attempt(partial(read, name, entry, loc))
            if made is not None:
                found.append(made)
                self.places[f"{kind} {made.name}"] = self.document.where(loc)
        return found
