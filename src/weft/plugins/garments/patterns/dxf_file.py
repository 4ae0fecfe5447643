"""Contents of DXF pattern files by block: lines, points and texts by layer, in meters."""

import io
import logging
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.base.input_file import strip_byte_order_mark
from weft.io.extra import optional
from weft.plugins.garments.patterns.curves import EdgeCurve
from weft.plugins.garments.patterns.dxf_chains import drop_repeated
from weft.plugins.garments.patterns.pattern import BorderCurve
from weft.plugins.garments.patterns.pattern_file import read_bytes

if TYPE_CHECKING:
    from ezdxf.document import Drawing
    from ezdxf.entities import DXFGraphic
    from ezdxf.layouts import BaseLayout
    from ezdxf.math import Vec3

METERS = {"METRIC": 1e-3, "ENGLISH": 0.0254, "IMPERIAL": 0.0254}  # AAMA: millimeters, inches
INSUNITS = {1: 0.0254, 2: 0.3048, 4: 1e-3, 5: 1e-2, 6: 1.0}  # codes of AutoCAD's header
SMOOTH = 1e-5  # [m] largest deviation of the lines that replace splines and ellipses
LARGEST = 1e4  # [m] largest coordinate
MOST_POINTS = 1_000_000
_TEXT = re.compile(r"\s*([A-Za-z][A-Za-z0-9 /]*?)\s*:\s*(.*?)\s*$")
_OTHER_CHARACTERS = re.compile("[\u0080-\uffff]")
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
        left_out: number of entities that are not read, by their type.
    """

    name: str
    file: str
    chains: dict[str, list[list[EdgeCurve]]] = field(default_factory=dict)
    points: dict[str, list[Floats]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
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


def read_blocks(path: Path) -> tuple[list[DxfBlock], dict[str, str]]:
    """Return the blocks of a file that draw something, and the file's own texts.

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
        meters = _unit_size(drawing, {**every, **own}, path.name)
        found = [_read_block(b, meters, path.name) for b in blocks]
    except PatternError:
        raise
    except Exception as problem:  # ezdxf raises errors of many kinds for damaged files
        raise _file_error(path, problem) from problem
    return [b for b in found if b.chains], own


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


def _unit_size(drawing: "Drawing", texts: dict[str, str], file: str) -> float:
    """Return the size [m] of a unit, from the text ``Units: METRIC`` or the header."""
    given = texts.get("units")
    if given is not None:
        if given.upper() not in METERS:
            raise PatternError("Units", got=repr(given), expected="METRIC or ENGLISH", where=file)
        return METERS[given.upper()]
    code = drawing.header.get("$INSUNITS") if "$INSUNITS" in drawing.header else None
    if code in INSUNITS:
        return INSUNITS[code]
    warnings.warn(
        f"{file} has no text 'Units: METRIC' or 'Units: ENGLISH': taken in millimeters",
        stacklevel=4,
    )
    return METERS["METRIC"]


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
