"""Seams and elastics of weft's pattern files, and the edges that they name: ``front.side``."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from weft.base.errors import WeftError, did_you_mean
from weft.base.schema.document import DocumentBlock, YamlDocument
from weft.base.trees import Yaml
from weft.base.yaml_lines import Loc
from weft.garment.check import Match, corner_pairs
from weft.garment.edge_chains import Corner, EdgeChain, find_gap, orientation
from weft.garment.garment import named_edges
from weft.garment.measures import Measures
from weft.garment.pattern import Closing, Elastic, Panel, Seam, SeamSide
from weft.garment.pattern_schema import BareSeam, ElasticBlock, SeamBlock, Sides
from weft.garment.yaml_panels import read_block

_OPTIONS = (  # fields of a seam's block that are those of a seam
    "flip",
    "angle",
    "fold_stiffness",
    "strength",
    "buttons",
    "open_at",
    "close_at",
    "window",
    "notched",
)


def named_entries(
    document: YamlDocument, tree: Yaml, loc: Loc
) -> Iterator[tuple[str | None, Yaml, Loc]]:
    """Yield name (or None), content and path of each entry of a block.

    The block is a list, or a mapping of names.
    """
    if isinstance(tree, list):
        for k, entry in enumerate(tree):
            yield None, entry, (*loc, k)
    elif isinstance(tree, Mapping):
        for name, entry in tree.items():
            yield name, entry, (*loc, name)
    elif tree is not None:
        raise document.field_error(loc, repr(tree), "a list, or named fields")


class JoinReader:
    """Reader of the seams and the elastics of a file.

    Args:
        document: the file.
        panels: by name.
        measures: of the file.
    """

    def __init__(
        self, document: YamlDocument, panels: Mapping[str, Panel], measures: Measures
    ) -> None:
        self.document, self.panels, self.measures = document, panels, measures

    def seam(self, name: str | None, tree: Yaml, loc: Loc) -> Seam:
        """Return a seam, with its chains in the order of the file.

        Args:
            name: of the seam; None: its own, or one made from the names of its chains.
            tree: a block with ``join``, or a list of two chains.
            loc: its path in the file.

        Raises:
            PatternError: a field that cannot be read, with its line.
        """
        if isinstance(tree, list):
            bare = read_block(self.document, BareSeam, tree, loc, self.measures)
            first, second = self._sides(bare, (), bare.given.root)
            return Seam(name or _label(bare.given.root), first, second)
        block = read_block(self.document, SeamBlock, tree, loc, self.measures)
        given = block.given
        more = {key: getattr(given, key) for key in _OPTIONS if getattr(given, key) is not None}
        if given.window is not None and not 0 <= given.window[0] < given.window[1] <= 1:
            expected = "two numbers from 0 to 1, the second one larger"
            raise block.error("window", list(given.window), expected)
        if given.closing is not None:
            more["closing"] = Closing[given.closing.upper()]
        first, second = self._sides(block, ("join",), given.join)
        return Seam(name or given.name or _label(given.join), first, second, **more)

    def elastic(self, name: str | None, tree: Yaml, loc: Loc) -> Elastic:
        """Return an elastic band.

        Args:
            name: of the band; None: its own, or one made from the name of its chain.
            tree: its block.
            loc: its path in the file.

        Raises:
            PatternError: a field that cannot be read, with its line.
        """
        block = read_block(self.document, ElasticBlock, tree, loc, self.measures)
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
    parent: dict[Corner, Corner] = {}

    def root(c: Corner) -> Corner:
        while c in parent:
            c = parent[c]
        return c

    def orient_sides(sides: Sequence[SeamSide]) -> tuple[SeamSide, ...]:
        """Return the sides with each run of edges reversed, if only that makes a chain of them."""
        if any(s.backward for s in sides) or _follow(sides):
            return tuple(sides)
        runs = [list(run) for _, run in groupby(sides, lambda s: (s.panel, _seam_name(s)))]
        back = tuple(SeamSide(s.panel, s.edge, True) for run in runs for s in run[::-1])
        return back if _follow(back) else tuple(sides)

    def _seam_name(s: SeamSide) -> str:
        return panels[s.panel].edges[s.edge].name or str(s.edge)

    def _follow(sides: Sequence[SeamSide]) -> bool:
        return find_gap(sides, panels, lambda a, b: root(a) == root(b)) is None

    made = list(seams)
    for _ in range(2):  # in the second pass, the sewn corners of all seams are known
        for i, s in enumerate(made):
            made[i] = Seam(
                **{**vars(s), "first": orient_sides(s.first), "second": orient_sides(s.second)}
            )
            if not (_follow(made[i].first) and _follow(made[i].second)):
                continue
            first, second = (EdgeChain(tuple(c), panels) for c in (made[i].first, made[i].second))
            o = orientation(made[i], first, second)
            match = Match(made[i], first, second.reverse() if o.flip else second, o)
            for a, b in corner_pairs(match) if s.closing is Closing.SEWN else ():
                if root(a) != root(b):
                    parent[root(a)] = root(b)
    return made
