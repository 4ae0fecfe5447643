"""Side-car files of drawings: ``name.seams.yaml`` beside ``name.svg`` or ``name.dxf``.

Drawings have no seams and no placement. The side-car file has both; all of its fields are optional:

    fabric: denim              # of all panels
    fabrics: {SHELL: denim}    # for the names of fabrics in a DXF file
    size: M                    # the size to read from a DXF file that holds several
    notches: corners           # notches of a DXF file divide edges
    panels:                    # without this field, each piece is one panel under its own name
      front: {placement: {translation: [0 cm, 100 cm, 20 cm]}}
      sleeve left: {piece: sleeve, layer: 1}
      sleeve right: {piece: sleeve, mirrored: true}
    seams:                     # and elastics: as in weft's own pattern files
      side: [front.2, back.0]
      cap: {join: [[front.3, back.1], sleeve left.cap], flip: false}
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from weft.base.errors import PatternError, PatternProblems, WeftError, did_you_mean
from weft.base.yaml_lines import read_yaml
from weft.garment.pattern import Elastic, Panel, Pattern, Seam, SeamSide
from weft.garment.pieces import DrawnPiece, index_pieces
from weft.garment.tree_field import TreeField
from weft.garment.yaml_panels import OWN, PanelReader
from weft.garment.yaml_seams import named_entries, orient_chains, read_elastic, read_seam
from weft.garment.yaml_values import Values

FIELDS = ("fabric", "fabrics", "size", "notches", "panels", "seams", "elastics")


def read_sidecar(path: Path) -> TreeField | None:
    """Return the side-car file of a drawing; None if there is none.

    Raises:
        PatternError: it cannot be read.
    """
    for suffix in (".seams.yaml", ".seams.yml"):
        beside = path.with_name(path.stem + suffix)
        if beside.exists():
            tree = read_yaml(beside, "side-car file", PatternError)
            root = TreeField({} if tree.value is None else tree.value, beside.name, (), tree.lines)
            root.only(*FIELDS)
            return root
    return None


def assemble_pattern(
    path: Path, name: str, pieces: Sequence[DrawnPiece], car: TreeField | None = None
) -> Pattern:
    """Return the pattern of a drawing's pieces, with the contents of its side-car file.

    Args:
        path: the drawing.
        name: of the pattern.
        pieces: each with the middle of its bounding box at its origin.
        car: the side-car file; None: the file beside the drawing, if there is one.

    Raises:
        PatternError: an invalid field; panels, edges or pieces that do not exist.
    """
    car = car or read_sidecar(path)
    known = index_pieces(pieces)
    used, panels = _select_panels(car, known)
    panels = _assign_fabrics(car, used, panels)
    seams, elastics, fabric = _match_seam_words(used), list[Elastic](), Pattern.fabric
    places = {f"panel {n}": p.where for n, p in used.items()}
    if car is not None:
        sewn, elastics = _read_joins(car, {p.name: p for p in panels}, places)
        seams += sewn
        given = car.get("fabric")
        fabric = fabric if given is None else given.value
    return Pattern(name, panels, seams, elastics, fabric, str(path), places)


def _read_joins(
    car: TreeField, panels: dict[str, Panel], places: dict[str, str]
) -> tuple[list[Seam], list[Elastic]]:
    """Return the side-car's seams and elastics, and add their lines to ``places``."""
    problems: list[WeftError] = []
    seams, elastics = list[Seam](), list[Elastic]()
    for kind in ("seam", "elastic"):
        block = car.get(f"{kind}s")
        for name, f in [] if block is None else named_entries(block):
            try:
                if kind == "seam":
                    seams.append(read_seam(name, f, panels, Values()))
                else:
                    elastics.append(read_elastic(name, f, panels, Values()))
                places[f"{kind} {(seams if kind == 'seam' else elastics)[-1].name}"] = f.where
            except WeftError as problem:
                problems.append(problem)
    if problems:
        raise PatternProblems(problems)
    return orient_chains(seams, panels), elastics


def _select_panels(
    car: TreeField | None, known: dict[str, DrawnPiece]
) -> tuple[dict[str, DrawnPiece], list[Panel]]:
    """Return the pieces by the names of their panels, and the panels."""
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
    reader = PanelReader(listed, Values())
    for name, f in listed.mapping().items():
        values = TreeField({}, f.file, f.path, f.lines) if f.value is None else f
        values.only("piece", "mirrored", *OWN)
        said = values.get("piece")
        wanted = name if said is None else said.text()
        if wanted not in known:
            place = f if said is None else said
            raise place.error(
                f"one of the pieces {', '.join(known)}",
                got=repr(wanted),
                hint=did_you_mean(wanted, known),
            )
        flipped = values.get("mirrored")
        piece = known[wanted]
        used[name] = piece.mirrored() if flipped is not None and flipped.truth() else piece
        panels.append(reader.own(used[name].panel(name), values))
    if not panels:
        raise listed.error("at least one panel")
    left = [n for n in known if n not in {p.name for p in used.values()}]
    if left:
        warnings.warn(
            f"{listed.where}: pieces that no panel takes: {', '.join(left)}", stacklevel=4
        )
    return used, panels


def _assign_fabrics(
    car: TreeField | None, used: dict[str, DrawnPiece], panels: list[Panel]
) -> list[Panel]:
    """Return the panels with the fabrics that ``fabrics`` assigns to the names in the drawing."""
    said = sorted({p.fabric for p in used.values() if p.fabric})
    table = None if car is None else car.get("fabrics")
    known = {} if table is None else table.mapping()
    for name, f in known.items():
        if name not in said:
            raise f.error(
                f"one of the drawing's fabrics: {', '.join(said) or 'it names none'}",
                got=repr(name),
                hint=did_you_mean(name, said),
            )
    return [
        replace(p, fabric=known[used[p.name].fabric].value)
        if p.fabric is None and used[p.name].fabric in known
        else p
        for p in panels
    ]


def _find_runs(marked: Sequence[bool]) -> list[list[int]]:
    """Return the runs of neighboring marked entries around a loop."""
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


def _match_seam_words(pieces: dict[str, DrawnPiece]) -> list[Seam]:
    """Return the seams between parts of outlines that have the same word, right sides together."""
    words: dict[str, list[list[SeamSide]]] = {}
    for name, piece in pieces.items():
        for word in dict.fromkeys(s.seam for s in piece.outline if s.seam):
            runs = _find_runs([s.seam == word for s in piece.outline])
            words.setdefault(word, []).extend([[SeamSide(name, i) for i in run] for run in runs])
    seams = []
    for word, chains in words.items():
        if len(chains) != 2:
            places = ", ".join(f"{c[0].panel}.{c[0].edge}" for c in chains)
            raise PatternError(
                f"seam {word!r} of data-seams",
                got=f"{len(chains)} sides: {places}",
                expected="two parts of outlines with this word",
            )
        seams.append(Seam(word, chains[0], chains[1], flip=True))
    return seams
