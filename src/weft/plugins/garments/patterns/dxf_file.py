"""Contents of DXF pattern files by block: lines, points and texts by layer, in meters."""

import io
import logging
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.base.input_file import strip_byte_order_mark
from weft.discretization.polygon import contains
from weft.io.extra import optional
from weft.plugins.garments.patterns.curves import EdgeCurve
from weft.plugins.garments.patterns.dxf_chains import drop_repeated, is_closed, join_chains
from weft.plugins.garments.patterns.pattern import BorderCurve
from weft.plugins.garments.patterns.pattern_file import read_bytes
from weft.plugins.garments.patterns.pieces import chain_polygon

if TYPE_CHECKING:
    from ezdxf.document import Drawing
    from ezdxf.entities import DXFGraphic
    from ezdxf.layouts import BaseLayout
    from ezdxf.math import Vec3

BOUNDARY, INTERNAL, SEW = "1", "8", "14"  # layers
MILLIMETER = 1e-3  # [m]
USUAL = 0.7  # [m] extent of the largest piece of most garments, where a file does not say its unit
METERS = {"METRIC": 1e-3, "ENGLISH": 0.0254, "IMPERIAL": 0.0254}  # AAMA: millimeters, inches
INSUNITS = {1: 0.0254, 2: 0.3048, 4: 1e-3, 5: 1e-2, 6: 1.0}  # codes of AutoCAD's header
SMOOTH = 1e-5  # [m] largest deviation of the lines that replace splines and ellipses
LARGEST = 1e4  # [m] largest coordinate
MOST_POINTS = 1_000_000
_TEXT = re.compile(r"\s*([A-Za-z][A-Za-z0-9 /]*?)\s*:\s*(.*?)\s*$")
_OTHER_CHARACTERS = re.compile("[\u0080-\uffff]")
HALF = np.array([0.5])
TEXTS = ("TEXT", "MTEXT", "ATTDEF", "ATTRIB")
LINES = ("LINE", "POLYLINE", "LWPOLYLINE", "ARC", "CIRCLE", "ELLIPSE", "SPLINE")


@dataclass(eq=False)
class DxfBlock:
    """The block of a piece.

    Args:
        name: of the block, or of the piece.
        file: its name.
        chains: lines and arcs by layer.
        points: (2,) [m] by layer.
        texts: values by key; keys are in lower case: ``piece name``.
        labels: texts without a key, with their places (2,) [m].
        left_out: number of entities that are not read, by their type.
    """

    name: str
    file: str
    chains: dict[str, list[list[EdgeCurve]]] = field(default_factory=dict)
    points: dict[str, list[Floats]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    labels: list[tuple[str, Floats]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def error(self, what: str, got: str, expected: str) -> PatternError:
        """Return an error of the block."""
        what = f"{what} {self.name!r}"
        return PatternError(what, got=got, expected=expected, where=self.file)

    def chains_on(self, layer: str) -> list[list[EdgeCurve]]:
        """Return the chains on a layer, as they are drawn."""
        return self.chains.get(layer, [])

    def points_on(self, *layers: str) -> Floats:
        """Return the points (n,2) [m] on layers."""
        return np.array([p for k in layers for p in self.points.get(k, [])]).reshape(-1, 2)


def read_blocks(
    path: Path, unit: float | None = None
) -> tuple[list[DxfBlock], dict[str, str], float]:
    """Return the blocks of a file that draw a piece, the file's own texts, and the unit [m].

    Args:
        path: the file.
        unit: [m] of a unit of the drawing; None: as the file says, or as the pieces suggest.

    Raises:
        PatternError: no DXF file, or a damaged one; ``ezdxf`` is not installed.
    """
    drawing = _drawing(path)
    try:
        own = dict(_read_texts(drawing.modelspace()))
        blocks = [b for b in drawing.blocks if not b.name.startswith("*")]
        every: dict[str, str] = {}
        for block in blocks:
            every.update(_read_texts(block))
        meters = unit or _unit_size(drawing, {**every, **own}, path.name)
        found = _read_pieces(drawing, blocks, meters or MILLIMETER, path.name)
        if meters is None:
            meters = _guess_unit(found, path)
            if meters != MILLIMETER:
                found = _read_pieces(drawing, blocks, meters, path.name)
    except PatternError:
        raise
    except Exception as problem:  # ezdxf raises errors of many kinds for damaged files
        raise _file_error(path, problem) from problem
    return found, own, meters


def _drawing(path: Path) -> "Drawing":
    data = _escape_utf_8(strip_byte_order_mark(read_bytes(path)))
    package = optional("ezdxf.recover", "garments", "ezdxf, which reads .dxf", PatternError)
    if not data.strip():
        raise PatternError("DXF", got="an empty file", expected="a drawing", where=path.name)
    try:
        with without_log():  # messages about repairs of the file are of no use to its reader
            drawing: Drawing = package.read(io.BytesIO(data))[0]
    except Exception as problem:  # ezdxf raises errors of many kinds for damaged files
        raise _file_error(path, problem) from problem
    return drawing


def _escape_utf_8(data: bytes) -> bytes:
    """Return a text of UTF-8 as DXF writes it in every version: ``\\U+00FC`` for other characters.

    A text that is not UTF-8 is in the code page of its header, which ezdxf reads.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    return _OTHER_CHARACTERS.sub(lambda found: f"\\U+{ord(found[0]):04X}", text).encode()


@contextmanager
def without_log() -> Iterator[None]:
    """Silence the messages of ezdxf."""

    def refuse(_record: logging.LogRecord) -> bool:
        return False

    log = logging.getLogger("ezdxf")
    log.addFilter(refuse)
    try:
        yield
    finally:
        log.removeFilter(refuse)


def _file_error(path: Path, problem: Exception) -> PatternError:
    got = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    return PatternError(
        "DXF",
        got=got,
        expected="a valid DXF file",
        where=path.name,
        hint="export it again, as ASCII DXF (AAMA or ASTM)",
    )


def _read_texts(layout: "BaseLayout") -> Iterator[tuple[str, str]]:
    """Yield the keys, in lower case, and values of all texts of the form ``Key: value``."""
    for entity in layout:
        kind = entity.dxftype()
        if kind not in ("TEXT", "MTEXT"):
            continue
        text = entity.dxf.get("text", "") if kind == "TEXT" else entity.plain_text()
        for line in text.splitlines():
            match = _TEXT.match(line[:300])
            if match:
                yield " ".join(match[1].lower().split()), match[2]


def _unit_size(drawing: "Drawing", texts: dict[str, str], file: str) -> float | None:
    """Return the size [m] of a unit, from the text ``Units: METRIC`` or the header; None: neither
    says it.
    """
    given = texts.get("units")
    if given is not None:
        if given.upper() not in METERS:
            raise PatternError("Units", got=repr(given), expected="METRIC or ENGLISH", where=file)
        return METERS[given.upper()]
    code = drawing.header.get("$INSUNITS") if "$INSUNITS" in drawing.header else None
    return None if code is None else INSUNITS.get(code)


def _guess_unit(blocks: Sequence[DxfBlock], path: Path) -> float:
    """Return the unit [m] in which the largest piece, read in millimeters, has the most usual size.

    Warns of the unit and of that size.
    """
    sizes = [np.ptp(_block_points(b), axis=0) for b in blocks]
    width, height = max(sizes, key=max) if sizes else (USUAL, USUAL)
    drawn = max(width, height) / MILLIMETER
    name, meters = min(
        (("millimeters", MILLIMETER), ("centimeters", 0.01), ("inches", 0.0254)),
        key=lambda unit: abs(np.log(drawn * unit[1] / USUAL)),
    )
    size = f"{100 * width * meters / MILLIMETER:.3g} x {100 * height * meters / MILLIMETER:.3g} cm"
    warnings.warn(
        f"{path.name} has no text 'Units: METRIC' or 'Units: ENGLISH': taken in {name}, so that "
        f"the largest piece is {size}; if it is not, write `units: mm` (or cm, m, in) in "
        f"{path.stem}.seams.yaml",
        stacklevel=4,
    )
    return meters


def _block_points(block: DxfBlock) -> Floats:
    """Return the points (n,2) [m] of the outlines of a block."""
    chains = [*block.chains_on(BOUNDARY), *block.chains_on(SEW)]
    return np.concatenate([c.control_points for chain in chains for c in chain])


def _read_pieces(
    drawing: "Drawing", layouts: "Sequence[BaseLayout]", meters: float, file: str
) -> list[DxfBlock]:
    """Return the blocks with an outline, or else the outlines that are drawn without blocks."""
    blocks = [_read_block(layout, meters, file) for layout in layouts]
    blocks = [b for b in blocks if {BOUNDARY, SEW} & set(b.chains)]
    return blocks or split_flat_drawing(_read_block(drawing.modelspace(), meters, file))


def _read_block(layout: "BaseLayout", meters: float, file: str) -> DxfBlock:
    """Return a block in meters."""
    block = DxfBlock(layout.name, file, texts=dict(_read_texts(layout)))
    count = 0
    for entity in layout:
        layer, kind = str(entity.dxf.get("layer", "0")).strip(), entity.dxftype()
        if kind == "POINT":
            where = entity.dxf.location
            block.points.setdefault(layer, []).append(np.array([where.x, where.y]) * meters)
        elif kind in LINES:
            chain = _read_chain(entity, kind, meters)
            count += len(chain)
            if count > MOST_POINTS:
                raise block.error("block", f"{count} lines", f"at most {MOST_POINTS}")
            if chain:
                block.chains.setdefault(layer, []).append(chain)
        elif kind in ("TEXT", "MTEXT"):
            words = entity.dxf.get("text", "") if kind == "TEXT" else entity.plain_text()
            where = entity.dxf.insert
            if words.strip() and not _TEXT.match(words):
                block.labels.append((words.strip(), np.array([where.x, where.y]) * meters))
        elif kind not in TEXTS:
            block.left_out[kind] += 1
    repeated = 0
    for layer, chains in block.chains.items():
        block.chains[layer], again = drop_repeated(chains)
        repeated += again
    if repeated:
        warnings.warn(
            f"{file}, piece {block.name!r}: lines that are drawn twice are read once: {repeated}",
            stacklevel=4,
        )
    numbers = [
        c.control_points for layer in block.chains.values() for chain in layer for c in chain
    ]
    numbers += [p[None] for points in block.points.values() for p in points]
    for p in numbers:
        if not (np.isfinite(p).all() and np.abs(p).max() < LARGEST):
            got = f"a point at {(p / meters).tolist()}"
            raise block.error("block", got, "finite coordinates")
    return block


def split_flat_drawing(drawing: DxfBlock) -> list[DxfBlock]:
    """Return the pieces of a drawing without blocks: its outermost closed lines.

    What is drawn inside is on its own layer if that is a layer of pieces, else on that of internal
    lines. The first text inside is the name.
    """
    every = {layer: join_chains(chains) for layer, chains in drawing.chains.items()}
    source = {BOUNDARY: every[BOUNDARY]} if BOUNDARY in every else every
    closed = [(k, c, chain_polygon(c)) for k, own in source.items() for c in own if is_closed(c)]
    outer = [
        (layer, chain, loop)
        for layer, chain, loop in closed
        if not any(o is not loop and contains([o], loop[:1])[0] for _, _, o in closed)
    ]
    pieces = []
    outer.sort(key=lambda found: float(found[2][:, 0].min()))  # from left to right
    for i, (_, outline, loop) in enumerate(outer, start=1):
        piece = DxfBlock(f"piece {i}", drawing.file, {BOUNDARY: [outline]})
        for layer, chains in every.items():
            inside = [
                c for c in chains if c is not outline and contains([loop], c[0].at(HALF)).any()
            ]
            own = layer if layer.isdigit() and layer not in ("0", BOUNDARY) else INTERNAL
            if inside:
                piece.chains.setdefault(own, []).extend(inside)
        for layer, points in drawing.points.items():
            piece.points[layer] = [p for p in points if _is_at(loop, p)]
        names = [text for text, place in drawing.labels if contains([loop], place[None])[0]]
        piece.texts["piece name"] = names[0] if names else piece.name
        pieces.append(piece)
    if pieces:
        warnings.warn(
            f"{drawing.file} has no blocks of pieces: its {len(pieces)} outermost closed lines are "
            "the pieces, and the texts inside are their names",
            stacklevel=5,
        )
    return pieces


def _is_at(loop: Floats, point: Floats) -> bool:
    """Return whether a point lies inside of a loop, or is one of its points."""
    near = np.abs(loop - point).max(axis=1).min() < 1e-6
    return bool(near or contains([loop], point[None])[0])


def _read_chain(entity: "DXFGraphic", kind: str, meters: float) -> list[EdgeCurve]:
    """Return an entity as lines and arcs, without those of no length."""
    closed = False
    if kind == "LINE":
        rows = [(p.x, p.y, 0.0) for p in (entity.dxf.start, entity.dxf.end)]
    elif kind == "LWPOLYLINE":
        rows, closed = list(entity.get_points("xyb")), bool(entity.closed)
    elif kind == "POLYLINE":
        rows = [
            (v.dxf.location.x, v.dxf.location.y, float(v.dxf.get("bulge", 0.0)))
            for v in entity.vertices
        ]
        closed = bool(entity.is_closed)
    else:
        rows = [(p.x, p.y, 0.0) for p in _flatten_curve(entity, SMOOTH / meters)]
    points = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return _curves(points[:, :2] * meters, points[:, 2], closed)


def _flatten_curve(entity: "DXFGraphic", distance: float) -> "list[Vec3]":
    """Return points along a curve that deviate from it by ``distance`` at most."""
    points = []
    for point in entity.flattening(distance):
        points.append(point)
        if len(points) > MOST_POINTS:
            raise ValueError("a curve of too many points")
    return points


def _curves(points: Floats, bulges: Floats, closed: bool) -> list[EdgeCurve]:
    """Return lines between points, or arcs where the bulge, tan(angle/4), is not zero."""
    n = len(points)
    result = []
    for i in range(n if closed and n > 1 else n - 1):
        a, b, bulge = points[i], points[(i + 1) % n], float(bulges[i])
        if np.array_equal(a, b):
            continue
        if not abs(bulge) > 1e-9:
            result.append(EdgeCurve(BorderCurve.LINE, np.array([a, b])))
            continue
        chord = b - a  # a counter-clockwise arc has a positive bulge, to the right of its chord
        middle = (a + b) / 2 + bulge / 2 * np.array([chord[1], -chord[0]])
        result.append(EdgeCurve(BorderCurve.ARC, np.array([a, middle, b])))
    return result
