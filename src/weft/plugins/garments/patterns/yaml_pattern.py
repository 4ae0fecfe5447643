"""Reader of weft's own pattern files: panels, seams and elastics in YAML, drafted from measures.

docs/guides/garment-files.md describes the format. Seams and elastics name edges of panels:
``front.side``. All errors of a file are reported at once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError, PatternProblems, WeftError, did_you_mean
from weft.base.schema.document import DocumentBlock, parse_document, read_document
from weft.base.trees import Json, Yaml, YamlMapping
from weft.base.yaml_lines import Loc
from weft.fabric.appearance import Appearance
from weft.plugins.garments.bodies.sizes import ClothesSize, measures_in_size, size_of, size_table
from weft.plugins.garments.patterns.edge_chains import (
    Match,
    SewnCorners,
    find_gap,
)
from weft.plugins.garments.patterns.garment import named_edges
from weft.plugins.garments.patterns.measures import read_measures
from weft.plugins.garments.patterns.pattern import Elastic, Panel, Pattern, Seam, SeamSide
from weft.plugins.garments.patterns.pattern_schema import (
    BareSeam,
    ElasticBlock,
    GradingBlock,
    JoinsBlock,
    PatternBlock,
    PatternDocument,
    SeamBlock,
    Sides,
    given_fields,
)
from weft.plugins.garments.patterns.yaml_panels import Moves, PanelReader

_SOME_FIELDS = "`panels:`"
SIZE = "size"  # the measure that is a size of clothes
T = TypeVar("T")
J = TypeVar("J", Seam, Elastic)


def read_yaml_pattern(
    path: str | Path, measures: Mapping[str, str | float] | None = None
) -> Pattern:
    """Return the pattern in a file of weft's own format.

    Args:
        path: the file.
        measures: values in place of the file's measures: ``{"waist": "80 cm"}``. A ``size`` that is
            no measure of the file is a size of clothes (``weft.plugins.garments.bodies.sizes``).

    Raises:
        PatternError: a file that cannot be read.
        PatternProblems: all errors of its contents.
    """
    path = Path(path)
    hint = "docs/guides/garment-files.md describes the format"
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
    size, own = None, dict(measures)
    if SIZE in own and SIZE not in block.given:
        text = own.pop(SIZE)
        size = parts.attempt(lambda: size_of(text))
    sized = parts.attempt(lambda: _measures_of_size(block, size, given.grading))
    known = parts.attempt(lambda: read_measures(block, {**(sized or {}), **own}))
    if known is None or parts.problems:
        raise PatternProblems(parts.problems)  # every number may depend on the measures
    parts.document = replace(document, measures=known)
    moves = parts.attempt(lambda: _moves_of_size(document, given, size))
    parts.read_panels(given.panels, moves or {})
    pattern = parts.complete(Pattern(given.name or stem, (), source=source), given)
    if size is None or not pattern.body:
        return pattern
    # Heights stay: the panels are placed at them.
    girths = {name: girth for name, girth in size.body.items() if name != "height"}
    return replace(pattern, body={**pattern.body, **girths})


def _measures_of_size(
    block: DocumentBlock[Json], size: ClothesSize | None, grading: GradingBlock | None
) -> dict[str, str]:
    """Return the measures of the file that are those of a size's body.

    Raises:
        PatternError: the pattern cannot be graded.
    """
    if size is None:
        return {}
    body = {n: f"{v} m" for n, v in measures_in_size(block.given, size).items()}
    if not body and grading is None:
        raise PatternError(
            "size",
            got=str(size),
            where=block.document.path.name,
            expected="bust, waist, hips or height among its measures, or `grading`",
            hint="draft the panel from `measures`, or give rules for its corners "
            "(docs/guides/sizes.md)",
        )
    return body


def _moves_of_size(
    document: PatternDocument, given: PatternBlock, size: ClothesSize | None
) -> Moves:
    """Return (2,) [m] by which corners move for a size, by panel and corner.

    Raises:
        PatternError: a rule for a panel that is not drawn in the file, or a base that is no size.
    """
    moves: dict[str, dict[str, Floats]] = {}
    if given.grading is None:
        return moves
    rules = document.read(GradingBlock, document.tree["grading"], ("grading",)).given
    figures = {f: s for f, s in size_table().items() if size is None or f == size.figure}
    if not any(rules.base in sizes for sizes in figures.values()):
        listed = "; ".join(f"{f} {', '.join(map(str, sizes))}" for f, sizes in figures.items())
        expected = f"a size of the table: {listed}"
        raise document.field_error(("grading", "base"), f"{rules.base:g}", expected)
    if size is None:
        return moves
    steps = (size.number - rules.base) / rules.step
    drawn = [n for n, tree in given.panels.items() if "outline" in (tree or {})]
    for key, move in rules.corners.items():
        panel, _, corner = key.rpartition(".")
        if panel not in drawn:
            expected = f"PANEL.CORNER of a panel with an outline: {', '.join(drawn)}"
            raise document.field_error(
                ("grading", "corners", key), repr(key), expected, did_you_mean(panel, drawn)
            )
        moves.setdefault(panel, {})[corner] = steps * np.array([move.dx, move.dy])
    return moves


class PartReader:
    """Reader of the panels, seams and elastics of a file, which collects their errors.

    Args:
        document: the file.
        panels: panels that are read already.
        seams: seams that are read already; an entry of their name changes them.

    Attributes:
        panels: by name.
        seams: those that are read already, by name.
        closed: seams of their darts and pleats.
        problems: errors so far.
        places: file and line of each part, as ``Pattern.places`` has them.
    """

    def __init__(
        self, document: PatternDocument, panels: Iterable[Panel] = (), seams: Iterable[Seam] = ()
    ) -> None:
        self.document, self.panels = document, {p.name: p for p in panels}
        self.seams = {s.name: s for s in seams}
        self.closed: list[Seam] = []
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

    def read_panels(self, trees: YamlMapping, moves: Moves) -> None:
        """Read all panels, and the seams of their darts and pleats.

        Args:
            trees: the block ``panels``.
            moves: of corners, as of ``PanelReader``.
        """
        reader = PanelReader(self.document, trees, moves)
        for name in trees:
            where = self.document.where(("panels", name))
            self.places[f"panel {name}"] = where
            made = self.attempt(partial(reader.read, name))
            if made is not None:
                self.panels[name], closed = made
                self.closed += closed
                self.places |= {f"seam {s.name}": where for s in closed}

    def complete(self, base: Pattern, given: JoinsBlock) -> Pattern:
        """Return a pattern with the panels that are read, and with all that a block says.

        Args:
            base: the pattern; its seams are among those that are read already.
            given: seams, elastics, fabric, appearance, hems and body.

        Raises:
            PatternProblems: all errors so far.
        """
        surface = self.read_surfaces(given)
        seams, elastics = self.read_joins(given)
        return replace(
            base,
            panels=list(self.panels.values()),
            seams=seams,
            elastics=[*base.elastics, *elastics],
            fabric=base.fabric if given.fabric is None else given.fabric,
            places={**base.places, **self.places},
            body=self.document.read_body(given) or base.body,
            surface=surface or base.surface,
            hems=given.hems or {},
        )

    def read_surfaces(self, given: JoinsBlock) -> Appearance | None:
        """Return the appearance of all panels, and find the images of single panels."""
        for name, panel in self.panels.items():
            found = self._find_image(panel.surface, ("panels", name, "surface"))
            self.panels[name] = replace(panel, surface=found)
        for edge in () if self.problems else given.hems or ():
            block = DocumentBlock(self.document, ("hems", edge), given)
            self.attempt(partial(self._edges, block, (), edge))
        return self._find_image(given.surface, ("surface",))

    def _find_image(self, surface: Appearance | None, loc: Loc) -> Appearance | None:
        if surface is None:
            return None
        try:
            return surface.beside(self.document.path.parent)
        except WeftError as error:
            self.problems.append(self.document.add_line(error, loc))
            return None

    def read_joins(self, given: JoinsBlock) -> tuple[list[Seam], list[Elastic]]:
        """Return the seams, those of darts and pleats first, and the elastics.

        Raises:
            PatternProblems: all errors so far; seams are read only if no panel has an error.
        """
        seams, elastics = list[Seam](), list[Elastic]()
        if not self.problems:
            seams = self._entries("seam", given.seams, self._seam)
            elastics = self._entries("elastic", given.elastics, self._elastic)
        if self.problems:
            raise PatternProblems(self.problems)
        known = {**self.seams, **{s.name: s for s in seams if s.name in self.seams}}
        new = [s for s in seams if s.name not in self.seams]
        return orient_chains([*known.values(), *self.closed, *new], self.panels), elastics

    def _entries(self, kind: str, tree: object, read: Callable[..., J]) -> list[J]:
        """Return the seams or elastics of a block, without entries that have errors."""
        found: list[J] = []
        listed = self.attempt(lambda: list(self._named_entries(tree, (f"{kind}s",))))
        for name, entry, loc in listed or ():
            made = self.attempt(partial(read, name, entry, loc))
            if made is not None:
                found.append(made)
                self.places[f"{kind} {made.name}"] = self.document.where(loc)
        return found

    def _named_entries(self, tree: Yaml, loc: Loc) -> Iterator[tuple[str | None, Yaml, Loc]]:
        """Yield name (or None), content and path of each entry of a list or of named fields."""
        if isinstance(tree, list):
            for k, entry in enumerate(tree):
                yield None, entry, (*loc, k)
        elif isinstance(tree, Mapping):
            for name, entry in tree.items():
                yield name, entry, (*loc, name)
        elif tree is not None:
            raise self.document.field_error(loc, repr(tree), "a list, or named fields")

    def _seam(self, name: str | None, tree: Yaml, loc: Loc) -> Seam:
        """Return a seam, with its chains in the order of the file.

        Args:
            name: of the seam; None: its own, or one made from the names of its chains.
            tree: a block with ``join``, or a list of two chains.
            loc: its path in the file.

        Raises:
            PatternError: a field that cannot be read, with its line.
        """
        if isinstance(tree, list):
            bare = self.document.read(BareSeam, tree, loc)
            first, second = self._sides(bare, (), bare.given.root)
            return Seam(name or _label(bare.given.root), first, second)
        block = self.document.read(SeamBlock, tree, loc)
        fields = given_fields(block.given)
        window, join = block.given.window, fields.pop("join", None)
        if window is not None and not 0 <= window[0] < window[1] <= 1:
            expected = "two numbers from 0 to 1, the second larger than the first"
            raise block.error("window", list(window), expected)
        if join is None:
            if name not in self.seams:
                expected = "the two sides of a new seam: join: [PANEL.EDGE, PANEL.EDGE]"
                hint = did_you_mean(name or "", self.seams)
                raise block.error("join", "no such field", expected, hint)
            return replace(self.seams[name], **fields)
        fields["first"], fields["second"] = self._sides(block, ("join",), join)
        return Seam(**{"name": _label(join), **fields, **({"name": name} if name else {})})

    def _elastic(self, name: str | None, tree: Yaml, loc: Loc) -> Elastic:
        """Return an elastic band; arguments and errors as for ``_seam``."""
        block = self.document.read(ElasticBlock, tree, loc)
        given = block.given
        chain = self._chain(block, ("edges",), given.edges)
        label = name or given.name or f"along {', '.join(given.edges)}"
        return Elastic(label, chain, given.ratio, given.stiffness)

    def _sides(
        self, block: DocumentBlock[Any], loc: Loc, chains: Sides
    ) -> list[tuple[SeamSide, ...]]:
        """Return the two chains of a seam, which stand at the path ``loc`` of its block."""
        return [self._chain(block, (*loc, k), chain) for k, chain in enumerate(chains)]

    def _chain(
        self, block: DocumentBlock[Any], loc: Loc, chain: Sequence[str]
    ) -> tuple[SeamSide, ...]:
        """Return the edges of a chain.

        Each entry is ``front.side``, ``front.2``, or ``-front.side`` (from its end).
        """
        single = len(chain) == 1
        places = [loc if single else (*loc, k) for k in range(len(chain))]
        return tuple(s for at, text in zip(places, chain) for s in self._edges(block, at, text))

    def _edges(self, block: DocumentBlock[Any], loc: Loc, text: str) -> list[SeamSide]:
        panels, back = self.panels, text.startswith("-")
        panel, dot, edge = text.removeprefix("-").partition(".")
        if not dot or panel not in panels:
            expected = f"a panel and its edge, like {next(iter(panels), 'front')}.hem"
            if dot:
                expected += f"; panels are {', '.join(panels)}"
            raise block.error(loc, repr(text), expected, did_you_mean(panel, panels))
        try:
            edges = named_edges(panels[panel], edge)
        except WeftError as error:
            expected = error.expected or "an edge"
            raise block.error(loc, repr(text), expected, error.hint) from error
        return [SeamSide(panel, e, back) for e in (edges[::-1] if back else edges)]


def _label(chains: Sides) -> str:
    """Return the name of a seam without one."""
    return " + ".join(", ".join(chain) for chain in chains)


def orient_chains(seams: Sequence[Seam], panels: Mapping[str, Panel]) -> list[Seam]:
    """Return the seams with their chains in the direction in which edges follow one another.

    In the file, chains are listed edge after edge, without saying whether an edge runs along or
    against the panel's outline. Corners that other seams sew together count as one.
    """
    corners = SewnCorners()

    def follow(sides: Sequence[SeamSide]) -> bool:
        return find_gap(sides, panels, corners.coincide) is None

    def orient_sides(sides: Sequence[SeamSide]) -> tuple[SeamSide, ...]:
        """Return the sides with each run of edges reversed, if only that makes a chain of them."""
        if any(s.backward for s in sides) or follow(sides):
            return tuple(sides)
        runs = [
            list(run)
            for _, run in groupby(sides, lambda s: (s.panel, panels[s.panel].edge_name(s.edge)))
        ]
        back = tuple(SeamSide(s.panel, s.edge, True) for run in runs for s in run[::-1])
        return back if follow(back) else tuple(sides)

    made = list(seams)
    for _ in range(2):  # in the second pass, the sewn corners of all seams are known
        for i, s in enumerate(made):
            made[i] = replace(s, first=orient_sides(s.first), second=orient_sides(s.second))
            if follow(made[i].first) and follow(made[i].second):
                corners.sew(Match.of(made[i], panels))
    return made
