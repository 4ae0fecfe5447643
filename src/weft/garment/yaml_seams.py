"""Seams and elastics of weft's pattern files, and the edges that they name: ``front.side``."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from weft.base.errors import WeftError, did_you_mean
from weft.garment.check import Match, corner_pairs
from weft.garment.edge_chains import Corner, EdgeChain, find_gap, orientation
from weft.garment.garment import named_edges
from weft.garment.pattern import Closing, Elastic, Panel, Seam, SeamSide
from weft.garment.tree_field import TreeField
from weft.garment.yaml_values import Values

CLOSINGS = tuple(c.name.lower() for c in Closing)
_FIELDS = (
    "name",
    "join",
    "flip",
    "closing",
    "angle",
    "fold_stiffness",
    "strength",
    "buttons",
    "open_at",
    "close_at",
    "window",
    "notched",
)
_UNITS = {"open_at": "s", "close_at": "s"}
_CHANGING = {"fold_stiffness": "N", "strength": "N/m"}


def named_entries(f: TreeField) -> Iterator[tuple[str | None, TreeField]]:
    """Yield the name (or None) and the field of each entry of a block.

    The block is a list, or a mapping of names.
    """
    if isinstance(f.value, list):
        for entry in f.items():
            name = entry.get("name") if isinstance(entry.value, dict) else None
            yield None if name is None else name.text(), entry
    else:
        yield from f.mapping().items()


def read_seam(name: str | None, f: TreeField, panels: Mapping[str, Panel], values: Values) -> Seam:
    """Return a seam, with its chains in the order of the file.

    Args:
        name: of the seam; None: made from the names of its chains.
        f: the field: a mapping with ``join``, or a list of two chains.
        panels: by name.
        values: reads numbers.

    Raises:
        PatternError: a field that cannot be read, with its line.
    """
    join = f if isinstance(f.value, list) else f.need("join")
    if join is not f:
        f.only(*_FIELDS)
    one, two = join.items(2, 2)
    label = name or f"{_text(one)} + {_text(two)}"
    made = Seam(label, read_chain(one, panels), read_chain(two, panels))
    if join is f:
        return made
    fields = {key: f.get(key) for key in _FIELDS}
    said = {key: value for key, value in fields.items() if value is not None}
    more: dict[str, object] = {k: values.number(said[k], u) for k, u in _UNITS.items() if k in said}
    more |= {k: values.changing(said[k], u) for k, u in _CHANGING.items() if k in said}
    for key in ("flip", "notched"):
        if key in said:
            more[key] = said[key].truth()
    if "angle" in said:
        more["angle"] = values.changing(said["angle"], "rad")
    if "buttons" in said:
        more["buttons"] = said["buttons"].index(1000, "buttons")
    if "window" in said:
        begin, end = (values.plain(v) for v in said["window"].items(2, 2))
        if not 0 <= begin < end <= 1:
            raise said["window"].error("two numbers from 0 to 1, the second one larger")
        more["window"] = (begin, end)
    if "closing" in said:
        kind = said["closing"]
        if kind.value not in CLOSINGS:
            raise kind.error(
                f"one of {', '.join(CLOSINGS)}", hint=did_you_mean(str(kind.value), CLOSINGS)
            )
        more["closing"] = Closing[kind.text().upper()]
    return Seam(label, made.first, made.second, **more)  # type: ignore[arg-type]


def read_elastic(
    name: str | None, f: TreeField, panels: Mapping[str, Panel], values: Values
) -> Elastic:
    """Return an elastic band.

    Args:
        name: of the band; None: made from the name of its chain.
        f: the field.
        panels: by name.
        values: reads numbers.

    Raises:
        PatternError: a field that cannot be read, with its line.
    """
    f.only("name", "edges", "ratio", "stiffness")
    edges = f.need("edges")
    label = name or f"along {_text(edges)}"
    ratio = values.changing(f.need("ratio"), "1")
    stiffness = values.changing(f.need("stiffness"), "N")
    return Elastic(label, read_chain(edges, panels), ratio, stiffness)


def read_chain(f: TreeField, panels: Mapping[str, Panel]) -> tuple[SeamSide, ...]:
    """Return the edges of a chain.

    The field is ``front.side``, ``front.2``, ``-front.side`` (from its end), or a list of these.
    """
    entries = list(f.items(1)) if isinstance(f.value, list) else [f]
    return tuple(s for entry in entries for s in _sides(entry, panels))


def _sides(f: TreeField, panels: Mapping[str, Panel]) -> list[SeamSide]:
    text = f.text()
    back = text.startswith("-")
    panel, dot, edge = text.removeprefix("-").partition(".")
    if not dot or panel not in panels:
        hint = did_you_mean(panel, panels)
        expected = f"a panel and its edge, like {next(iter(panels), 'front')}.hem"
        if dot:
            expected += f"; panels are {', '.join(panels)}"
        raise f.error(expected, hint=hint)
    try:
        edges = named_edges(panels[panel], edge)
    except WeftError as error:
        raise f.error(error.expected or "an edge", hint=error.hint) from error
    return [SeamSide(panel, e, back) for e in (edges[::-1] if back else edges)]


def _text(f: TreeField) -> str:
    """Return the name of a chain in messages."""
    entries = f.value if isinstance(f.value, list) else [f.value]
    return ", ".join(str(e) for e in entries)


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

    def turned(sides: Sequence[SeamSide]) -> tuple[SeamSide, ...]:
        """Return the sides with each run of edges reversed, if only that makes a chain of them."""
        if any(s.backward for s in sides) or _follow(sides):
            return tuple(sides)
        runs = [list(run) for _, run in groupby(sides, lambda s: (s.panel, _called(s)))]
        back = tuple(SeamSide(s.panel, s.edge, True) for run in runs for s in run[::-1])
        return back if _follow(back) else tuple(sides)

    def _called(s: SeamSide) -> str:
        return panels[s.panel].edges[s.edge].name or str(s.edge)

    def _follow(sides: Sequence[SeamSide]) -> bool:
        return find_gap(sides, panels, lambda a, b: root(a) == root(b)) is None

    made = list(seams)
    for _ in range(2):  # in the second pass, the sewn corners of all seams are known
        for i, s in enumerate(made):
            made[i] = Seam(**{**vars(s), "first": turned(s.first), "second": turned(s.second)})
            if not (_follow(made[i].first) and _follow(made[i].second)):
                continue
            first, second = (EdgeChain(tuple(c), panels) for c in (made[i].first, made[i].second))
            o = orientation(made[i], first, second)
            match = Match(made[i], first, second.turned() if o.flip else second, o)
            for a, b in corner_pairs(match) if s.closing is Closing.SEWN else ():
                if root(a) != root(b):
                    parent[root(a)] = root(b)
    return made
