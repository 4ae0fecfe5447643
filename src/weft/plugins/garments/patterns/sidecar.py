"""Side-car files: ``name.seams.yaml`` beside ``name.json``, ``name.svg`` or ``name.dxf``.

A GarmentCode file has panels and seams; its side-car file changes some of them. Drawings have no
seams and no placement. Their side-car file has both; all of its fields are optional:

    fabric: denim              # of all panels
    fabrics: {SHELL: denim}    # for the names of fabrics in a DXF file
    size: M                    # the size to read from a DXF file that holds several
    units: cm                  # length of a unit of the drawing, if the file is wrong or silent
    notches: corners           # notches of a DXF file divide edges
    panels:                    # without this field, names and shapes of pieces decide
      back: {place: back}        # or left front, right sleeve, ...: in place of a placement
      front: {placement: {translation: [0 cm, 100 cm, 20 cm]}}
      sleeve left: {piece: sleeve, layer: 1}
      sleeve right: {piece: sleeve, mirrored: true}
    seams:                     # and elastics, surface, hems: as in weft's own pattern files
      side: [front.2, back.0]
      cap: {join: [[front.3, back.1], sleeve left.cap], flip: false}
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import yaml

from weft.base.errors import PatternError, did_you_mean
from weft.base.schema.document import DocumentBlock
from weft.base.yaml_lines import read_yaml
from weft.plugins.garments.patterns.bands import align_bands, cut_band
from weft.plugins.garments.patterns.drawing_units import UNITS, fit_unit
from weft.plugins.garments.patterns.guess import Guess, guess_garment, place_panel
from weft.plugins.garments.patterns.pattern import Panel, Pattern, Placement, Seam, SeamSide
from weft.plugins.garments.patterns.pattern_schema import (
    AnyPanelBlock,
    JoinsBlock,
    PieceBlock,
    SidecarBlock,
    SidecarDocument,
)
from weft.plugins.garments.patterns.piece_names import read_place
from weft.plugins.garments.patterns.pieces import DrawnPiece, index_pieces
from weft.plugins.garments.patterns.repair import repair_piece
from weft.plugins.garments.patterns.yaml_panels import add_lines, set_common_fields
from weft.plugins.garments.patterns.yaml_pattern import PartReader

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Sidecar(DocumentBlock[SidecarBlock]):
    """The contents of a side-car file."""

    document: SidecarDocument

    @property
    def unit(self) -> float | None:
        """Return the length [m] of a unit of the drawing; None: as the drawing says."""
        return None if self.given.units is None else UNITS[self.given.units]


def read_sidecar(path: Path) -> Sidecar:
    """Return the side-car file of a drawing; an empty one if there is none.

    Raises:
        PatternError: it cannot be read.
    """
    document = _find_document(path)
    if document is None:
        return Sidecar(SidecarDocument(path, {}), (), SidecarBlock())
    return Sidecar(document, (), document.read(SidecarBlock, document.tree).given)


def _find_document(path: Path) -> SidecarDocument | None:
    """Return the side-car file beside a pattern file; None if there is none."""
    for suffix in (".seams.yaml", ".seams.yml"):
        beside = path.with_name(path.stem + suffix)
        if beside.exists():
            tree = read_yaml(beside, "side-car file", PatternError)
            return SidecarDocument(beside, {} if tree.value is None else tree.value, tree.lines)
    return None


def apply_sidecar(pattern: Pattern, path: Path) -> Pattern:
    """Return a pattern that has panels and seams, with the changes of its side-car file.

    Args:
        pattern: the pattern.
        path: its file.

    Raises:
        PatternError: an invalid field, or a panel that does not exist.
        PatternProblems: several errors of seams or elastics.
    """
    document = _find_document(path)
    if document is None:
        return pattern
    given = document.read(JoinsBlock, document.tree).given
    panels = pattern.by_name
    for name, tree in (given.panels or {}).items():
        loc = ("panels", name)
        if name not in panels:
            expected = f"one of the panels {', '.join(panels)}"
            raise document.field_error(loc, repr(name), expected, did_you_mean(name, panels))
        block = document.read(AnyPanelBlock, {} if tree is None else tree, loc).given
        panel = set_common_fields(panels[name], block)
        if block.placement is not None:
            panel = replace(panel, placement=replace(panel.placement, fixed=True))
        panels[name] = panel
    return PartReader(document, panels.values(), pattern.seams).complete(pattern, given)


def select_size(
    path: Path, things: Sequence[T], names: Sequence[tuple[str, str]], sample: str, car: Sidecar
) -> list[T]:
    """Return the pieces of one size: that of the side-car file, or the file's sample size.

    Args:
        path: the drawing.
        things: its pieces.
        names: the size ("": all) and the name of each piece.
        sample: the drawing's sample size; "": none.
        car: the side-car file.

    Raises:
        PatternError: a size that the drawing does not have, or several of which none is chosen.
    """
    sizes = list(dict.fromkeys(size for size, _ in names if size))
    size = car.given.size
    if size is not None and size not in sizes:
        expected = f"one of the sizes {', '.join(sizes) or '(the file names none)'}"
        raise car.error("size", repr(size), expected, did_you_mean(size, sizes))
    if size is None:
        if len(sizes) < 2 or len({name for _, name in names}) == len(names):
            return list(things)
        if sample not in sizes:
            raise PatternError(
                "size",
                got=f"pieces of the sizes {', '.join(sizes)}",
                where=path.name,
                expected=f"`size: {sizes[0]}` or similar in {path.stem}.seams.yaml",
            )
        warnings.warn(
            f"{path.name} holds the sizes {', '.join(sizes)}: weft takes the sample size {sample}",
            stacklevel=4,
        )
    return [t for t, (own, _) in zip(things, names) if own in ("", size or sample)]


def assemble_pattern(
    path: Path, name: str, pieces: Sequence[DrawnPiece], unit: float, car: Sidecar
) -> Pattern:
    """Return the pattern of a drawing's pieces, with the contents of its side-car file.

    Args:
        path: the drawing.
        name: of the pattern.
        pieces: each with the middle of its bounding box at its origin.
        unit: [m] of the drawing.
        car: the side-car file.

    Raises:
        PatternError: an invalid field; panels, edges or pieces that do not exist.
    """
    units = ""
    if car.unit is None:
        pieces, units = fit_unit(path, pieces, unit, name)
    pieces = [repair_piece(p) for p in pieces]
    known = index_pieces(pieces)
    guess = _find_guess(path, car, pieces, name)
    fields = dict[str, Any]() if guess is None else guess.as_sidecar()
    if guess is not None:
        car = replace(car, given=car.given.model_copy(update=fields))
        fields = {"units": units, **fields} if units else fields
    used, panels = _select_panels(car, known, whole=guess is None)
    panels, bands, placed = _place_panels(car, known, panels)
    panels = _assign_fabrics(car, used, panels)
    places = {f"panel {n}": p.where for n, p in used.items()}
    drawn = Pattern(name, (), source=str(path), places=places, flat_start=placed)
    pattern = PartReader(car.document, panels).complete(drawn, car.given)
    guessed = "" if guess is None else guess.header + _yaml(fields)
    seams = [*_match_seam_words(used), *pattern.seams]
    return align_bands(replace(pattern, seams=seams, guessed=guessed), bands)


def _yaml(fields: dict[str, Any]) -> str:
    return yaml.safe_dump(
        fields, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
    )


def _find_guess(path: Path, car: Sidecar, pieces: Sequence[DrawnPiece], name: str) -> Guess | None:
    """Return panels and seams that the pieces suggest, with a warning, if neither the side-car file
    nor the drawing says them.
    """
    said = car.given.panels is not None or car.given.seams is not None
    if said or any(c.seam for p in pieces for c in p.outline):
        return None
    guess = guess_garment(pieces, name)
    beside, left = f"{path.stem}.seams.yaml", ""
    if guess is None or not (guess.seams or guess.lies_on_shoulders):
        if len(pieces) > 1:
            lines = f"`panels: {{{pieces[0].name}: {{place: front}}, ...}}` and `seams`"
            warnings.warn(
                f"{path.name}: no names of pieces say which ones are front and back: weft sews and "
                f"places nothing; write {lines} in {beside}",
                stacklevel=4,
            )
        return None
    if guess.left_out:
        first = next(iter(guess.left_out))
        left = (
            f"; left out: {guess.left_out_text}; to use one, write `{first}: {{place: front}}` "
            "below `panels`, and its seams"
        )
    for text in guess.unsewn:
        warnings.warn(f"{path.name}: {text} below `seams` in {beside}", stacklevel=4)
    change = f"`weft check {path.name}` writes {beside}" if car.document.path == path else ""
    change = change or f"write `panels` and `seams` in {beside} to change them"
    warnings.warn(
        f"{path.name}: {len(guess.panels)} panels and {len(guess.seams)} seams are guessed from "
        f"names and shapes of pieces: {change}{left}",
        stacklevel=4,
    )
    return guess


def _place_panels(
    car: Sidecar, known: dict[str, DrawnPiece], panels: list[Panel]
) -> tuple[list[Panel], list[str], bool]:
    """Return the panels where their places say, or their names if no panel has a placement; the
    names of the bands among them; and whether all panels start there.

    Args:
        car: the side-car file.
        known: the pieces by name.
        panels: its panels.
    """
    placed, result, bands = list[bool](), list[Panel](), list[str]()
    by_name = all(p.placement == Placement() for p in panels)
    for panel in panels:
        tree = (car.given.panels or {}).get(panel.name) or {}
        loc = ("panels", panel.name)
        block = car.document.read(PieceBlock, tree, loc)
        given = block.given
        place, start = read_place(given.place or panel.name), None
        if given.place is not None and place.part in ("", "other"):
            expected = (
                "front, back, sleeve or cuff, with left or right: left front, front waistband"
            )
            raise car.error((*loc, "place"), repr(given.place), expected)
        if given.place is not None and given.placement is not None:
            raise car.error((*loc, "place"), "a placement, too", "one of both")
        if given.place is not None or by_name:
            piece = _cut_piece(known[given.piece or panel.name], block)
            bands += [panel.name] if place.is_band else []
            start = place_panel(piece, place, mirrored=bool(given.mirrored))
        placed.append(start is not None)
        result.append(panel if start is None else replace(panel, placement=start))
    return result, bands, bool(placed) and all(placed)


def _select_panels(
    car: Sidecar, known: dict[str, DrawnPiece], *, whole: bool
) -> tuple[dict[str, DrawnPiece], list[Panel]]:
    """Return the pieces by the names of their panels, and the panels.

    Args:
        car: the side-car file.
        known: the pieces by name.
        whole: whether to warn of pieces that no panel uses.
    """
    listed = car.given.panels
    if listed is None:
        for piece in known.values():
            if piece.copies not in (None, 1):
                warnings.warn(
                    f"piece {piece.name!r} has {piece.copies} copies but becomes one panel: add "
                    "the other panels with `panels` of a side-car file",
                    stacklevel=4,
                )
        return dict(known), [p.panel(n) for n, p in known.items()]
    used, panels = {}, []
    for name, tree in listed.items():
        loc = ("panels", name)
        block = car.document.read(PieceBlock, {} if tree is None else tree, loc)
        given = block.given
        wanted = given.piece or name
        if wanted not in known:
            place = () if given.piece is None else ("piece",)
            expected = f"one of the pieces {', '.join(known)}"
            raise block.error(place, repr(wanted), expected, did_you_mean(wanted, known))
        piece = _cut_piece(known[wanted], block)
        used[name] = piece.mirror() if given.mirrored else piece
        panel = add_lines(used[name].panel(name), given.lines or ())
        panels.append(set_common_fields(panel, given))
    if not panels:
        raise car.error("panels", "none", "at least one panel")
    left = [n for n in known if n not in {p.name for p in used.values()}]
    if left and whole:
        where = car.where("panels")
        warnings.warn(f"{where}: pieces without a panel: {', '.join(left)}", stacklevel=4)
    return used, panels


def _cut_piece(piece: DrawnPiece, block: DocumentBlock[PieceBlock]) -> DrawnPiece:
    """Return the part of a piece that a panel has: of a band, a share of it, or half its width.

    Raises:
        PatternError: a part of a piece that is no rectangle.
    """
    given = block.given
    if given.share is None and not given.folded:
        return piece
    part = cut_band(piece, given.share or 1.0, folded=bool(given.folded))
    if part is None:
        field = "share" if given.share is not None else "folded"
        expected = "a rectangle"
        raise block.error(field, f"piece {piece.name!r} of another shape", expected)
    return part


def _assign_fabrics(car: Sidecar, used: dict[str, DrawnPiece], panels: list[Panel]) -> list[Panel]:
    """Return the panels with the fabrics that ``fabrics`` assigns to the names in the drawing."""
    said = sorted({p.fabric for p in used.values() if p.fabric})
    known = car.given.fabrics or {}
    for name in known:
        if name not in said:
            expected = f"one of the drawing's fabrics: {', '.join(said) or 'it names none'}"
            raise car.error(("fabrics", name), repr(name), expected, did_you_mean(name, said))
    return [
        replace(p, fabric=known[used[p.name].fabric])
        if p.fabric is None and used[p.name].fabric in known
        else p
        for p in panels
    ]


def _find_runs(marked: Sequence[bool]) -> list[list[int]]:
    """Return the runs of neighboring marked entries around a loop."""
    n = len(marked)
    first = 0 if all(marked) else list(marked).index(False)
    order = [(first + i) % n for i in range(n)]
    return [list(run) for is_run, run in groupby(order, lambda i: marked[i]) if is_run]


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
