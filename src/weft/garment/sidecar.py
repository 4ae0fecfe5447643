"""From pieces of a drawing to a pattern: ``name.seams.yaml`` beside ``name.svg`` or ``name.dxf``.

Drawings have no seams and no placement. The side-car file has both; all of its fields are optional:

    fabric: denim              # of all panels
    fabrics: {SHELL: denim}    # for the names of fabrics in a DXF file
    size: M                    # of a DXF file that holds several
    notches: corners           # of a DXF file: its notches divide edges
    panels:                    # without it: every piece once, under its own name
      front: {translation: [0 cm, 100 cm, 20 cm]}
      sleeve left: {piece: sleeve, layer: 1}
      sleeve right: {piece: sleeve, mirrored: true}
    seams:
      - {name: side, first: front.2, second: back.0}
      - {first: [front.3, front.4], second: sleeve left.cap, flip: false}
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from weft.errors import PatternError, UnitError, did_you_mean
from weft.garment.fields import Field
from weft.garment.pattern import Panel, Pattern, Placement, Seam, Side, Wrap
from weft.garment.pieces import Piece, by_name
from weft.plain_yaml import read_yaml
from weft.units import to_si

DEFAULT_FABRIC = Pattern("", ()).fabric
FIELDS = ("fabric", "fabrics", "size", "notches", "panels", "seams")


def sidecar(path: Path) -> Field | None:
    """The side-car file of a drawing; None: there is none.

    Raises:
        PatternError: it cannot be read.
    """
    for suffix in (".seams.yaml", ".seams.yml"):
        beside = path.with_name(path.stem + suffix)
        if beside.exists():
            tree = read_yaml(beside, "side-car file", PatternError)
            root = Field({} if tree.value is None else tree.value, beside.name, (), tree.lines)
            root.only(*FIELDS)
            return root
    return None


def assembled(path: Path, name: str, pieces: Sequence[Piece], car: Field | None = None) -> Pattern:
    """The pattern that pieces of a drawing make, with what its side-car file says.

    Args:
        path: the drawing.
        name: of the pattern.
        pieces: each with the middle of its bounding box at its origin.
        car: the side-car file; None: it is looked for.

    Raises:
        PatternError: a field that cannot be right; panels, edges or pieces that do not exist.
    """
    car = car or sidecar(path)
    known = by_name(pieces)
    used, panels = _panels(car, known)
    panels = _with_fabrics(car, used, panels)
    seams = _drawn_seams(used)
    fabric = DEFAULT_FABRIC
    if car is not None:
        listed = car.get("seams")
        by_panel = {p.name: p for p in panels}
        for i, f in enumerate([] if listed is None else listed.items()):
            seams.append(_seam(i, f, by_panel))
        given = car.get("fabric")
        fabric = fabric if given is None else given.value
    names = [s.name for s in seams]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise PatternError(f"seam {twice[0]!r}", got="twice", where=path.name,
                           expected="every name once")  # fmt: skip
    return Pattern(name, panels, seams, fabric=fabric, source=str(path))


def _panels(car: Field | None, known: dict[str, Piece]) -> tuple[dict[str, Piece], list[Panel]]:
    """Pieces by the names of their panels, and the panels."""
    listed = None if car is None else car.get("panels")
    if listed is None:
        for piece in known.values():
            if piece.copies not in (None, 1):
                warnings.warn(
                    f"piece {piece.name!r} is to be cut {piece.copies} times and becomes one panel:"
                    " `panels` of a side-car file makes the others",
                    stacklevel=4,
                )
        return dict(known), [p.panel(n) for n, p in known.items()]
    used, panels = {}, []
    for name, f in listed.mapping().items():
        values = Field({}, f.file, f.path, f.lines) if f.value is None else f
        values.only("piece", "mirrored", "fabric", "thickness", "layer",
                    "translation", "rotation", "wrap")  # fmt: skip
        named = values.get("piece")
        wanted = name if named is None else named.text()
        if wanted not in known:
            place = f if named is None else named
            raise place.error(f"one of the pieces {', '.join(known)}", got=repr(wanted),
                              hint=did_you_mean(wanted, known))  # fmt: skip
        flipped = values.get("mirrored")
        piece = known[wanted]
        used[name] = piece.mirrored() if flipped is not None and flipped.truth() else piece
        panels.append(_panel(name, used[name], values))
    left = [n for n in known if n not in {p.name for p in used.values()}]
    if left:
        warnings.warn(
            f"{listed.where}: pieces that no panel takes: {', '.join(left)}", stacklevel=4
        )
    if not panels:
        raise listed.error("at least one panel")
    return used, panels


def _panel(name: str, piece: Piece, f: Field) -> Panel:
    panel = piece.panel(name, _placement(f))
    fabric, thickness, layer = f.get("fabric"), f.get("thickness"), f.get("layer")
    return Panel(
        name, panel.corners, panel.edges, grain=panel.grain, holes=panel.holes, lines=panel.lines,
        placement=panel.placement,
        fabric=None if fabric is None else fabric.value,
        thickness=None if thickness is None else _meters(thickness),
        layer=0 if layer is None else layer.index(100, "layers"),
    )  # fmt: skip


def _with_fabrics(car: Field | None, used: dict[str, Piece], panels: list[Panel]) -> list[Panel]:
    """Panels with the fabrics that ``fabrics`` gives for the names in the drawing."""
    named = sorted({p.fabric for p in used.values() if p.fabric})
    table = None if car is None else car.get("fabrics")
    known = {} if table is None else table.mapping()
    for name, f in known.items():
        if name not in named:
            raise f.error(f"one of the drawing's fabrics: {', '.join(named) or 'it names none'}",
                          got=repr(name), hint=did_you_mean(name, named))  # fmt: skip
    return [
        replace(p, fabric=known[used[p.name].fabric].value)
        if p.fabric is None and used[p.name].fabric in known
        else p
        for p in panels
    ]


def _placement(f: Field) -> Placement:
    wrap = f.get("wrap")
    return Placement(_three(f.get("translation")), _three(f.get("rotation"), "deg"),
                     None if wrap is None else _wrap(wrap))  # fmt: skip


def _wrap(f: Field) -> Wrap:
    f.only("center", "radius", "direction", "facing")
    direction, facing = f.get("direction"), f.get("facing")
    return Wrap(
        _three(f.need("center")),
        _meters(f.need("radius")),
        Wrap.direction if direction is None else _three(direction, ""),
        Wrap.facing if facing is None else _three(facing, ""),
    )


def _three(f: Field | None, unit: str = "m") -> tuple[float, float, float]:
    """Three lengths [m], angles [degrees] or plain numbers; None: zeros."""
    if f is None:
        return (0.0, 0.0, 0.0)
    x, y, z = (_meters(v) if unit == "m" else v.number() for v in f.items(3, 3))
    return x, y, z


def _meters(f: Field) -> float:
    """A length: a number in meters, or text with its unit."""
    if not isinstance(f.value, str):
        return f.number()
    try:
        return to_si(f.value, "m", f.name)
    except UnitError as problem:
        raise f.error(problem.expected or "a length", hint=problem.hint) from problem


def _seam(number: int, f: Field, panels: dict[str, Panel]) -> Seam:
    """One entry of ``seams``; without ``flip``, right sides lie together."""
    f.only("name", "first", "second", "flip")
    name, flip = f.get("name"), f.get("flip")
    chains = [_chain(f.need(key), panels) for key in ("first", "second")]
    return Seam(
        f"seam {number}" if name is None else name.text(),
        chains[0],
        chains[1],
        flip=True if flip is None else flip.truth(),
    )


def _chain(f: Field, panels: dict[str, Panel]) -> list[Side]:
    """``front.2``, ``front.waist``, ``-front.2`` (from its end), or a list of them."""
    entries = f.items(1) if isinstance(f.value, list) else iter([f])
    return [s for e in entries for s in _sides(e, panels)]


def _sides(f: Field, panels: dict[str, Panel]) -> list[Side]:
    text = f.text()
    backward = text.startswith("-")
    name, dot, edge = text.removeprefix("-").rpartition(".")
    if not dot:
        raise f.error("a panel and an edge, like front.2 or front.waist")
    if name not in panels:
        hint = did_you_mean(name, panels)
        raise f.error(f"one of the panels {', '.join(panels)} before the dot", hint=hint)
    edges = panels[name].edges
    if edge.isascii() and edge.isdigit() and len(edge) < 6:
        if int(edge) >= len(edges):
            raise f.error(f"an edge from 0 to {len(edges) - 1}: panel {name!r} has {len(edges)}")
        return [Side(name, int(edge), backward)]
    found = _run([e.name == edge for e in edges])
    if not found:
        named = sorted({e.name for e in edges if e.name})
        raise f.error(f"an edge of panel {name!r} by number, or one of {', '.join(named) or '-'}",
                      hint=did_you_mean(edge, named))  # fmt: skip
    if len(found) > 1:
        raise f.error(f"an edge by number: {len(found)} parts of the outline have this name")
    chain = [Side(name, i, backward) for i in found[0]]
    return chain[::-1] if backward else chain


def _run(marked: Sequence[bool]) -> list[list[int]]:
    """Runs of neighbors around a loop that are marked."""
    n = len(marked)
    if all(marked):
        return [list(range(n))]
    first = list(marked).index(False)
    runs: list[list[int]] = []
    for i in range(first, first + n):
        if marked[i % n]:
            if not marked[(i - 1) % n]:
                runs.append([])
            runs[-1].append(i % n)
    return runs


def _drawn_seams(pieces: dict[str, Piece]) -> list[Seam]:
    """Seams between parts of outlines that have the same word, right sides together."""
    words: dict[str, list[list[Side]]] = {}
    for name, piece in pieces.items():
        for word in dict.fromkeys(s.seam for s in piece.outline if s.seam):
            runs = _run([s.seam == word for s in piece.outline])
            words.setdefault(word, []).extend([[Side(name, i) for i in run] for run in runs])
    seams = []
    for word, chains in words.items():
        if len(chains) != 2:
            places = ", ".join(f"{c[0].panel}.{c[0].edge}" for c in chains)
            raise PatternError(f"seam {word!r} of data-seams", got=f"{len(chains)} sides: {places}",
                               expected="two parts of outlines with this word")  # fmt: skip
        seams.append(Seam(word, chains[0], chains[1], flip=True))
    return seams
