"""A nest of sizes as DXF-AAMA (ASTM D6673): a block for every panel and size, layers as numbers.

Layers: 1 the line that is cut, 14 the seam line, 2 turn points, 4 notches, 7 grain, 8 inner lines,
11 cutouts. Blocks are drawn around the origin of their panels and inserted where the nest has them.
"""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.io.extra import optional
from weft.io.files import write_file
from weft.plugins.garments.patterns.curves import EdgeCurve, edge_curve
from weft.plugins.garments.patterns.dxf import (
    BOUNDARY,
    CUTOUTS,
    GRAIN,
    INTERNAL,
    NOTCHES,
    ORIGIN,
    SEW,
    TURNS,
)
from weft.plugins.garments.patterns.dxf_file import without_log
from weft.plugins.garments.sheets.nest import TEXT, Nest, NestPiece
from weft.plugins.garments.sheets.svg_writer import write_notes

if TYPE_CHECKING:
    from ezdxf.layouts import BlockLayout

MILLIMETERS = 1e3  # of the file, in a meter
CLOSE = 5e-7  # [m] largest distance of a Bézier curve from the lines that replace it


def write_nest_dxf(path: str | Path, nest: Nest) -> list[Path]:
    """Write a nest as ``NAME.dxf``, and seams and placement as ``NAME.seams.yaml``.

    Arcs stay arcs; other curves become lines that are off by ``CLOSE`` at most.

    Returns:
        The paths of both files.

    Raises:
        PatternError: ``ezdxf`` is not installed.
        RunError: a file cannot be written.
    """
    package = optional("ezdxf", "garments", "pattern as .dxf", PatternError)
    with without_log():  # R12, which programs for clothes read, has no units in its header
        drawing = package.new("R12")
    for layer in (BOUNDARY, TURNS, NOTCHES[0], GRAIN, INTERNAL, CUTOUTS, SEW):
        drawing.layers.add(layer)
    sheet = drawing.modelspace()
    about = ["Units: METRIC", f"Style Name: {nest.name}", f"Sample Size: {nest.sample}"]
    for k, line in enumerate(about):
        place = MILLIMETERS * (nest.square[0] - [0.0, (k + 2) * TEXT])
        sheet.add_text(line, height=MILLIMETERS * TEXT, dxfattribs={"insert": tuple(place)})
    for piece in nest.pieces:
        name = f"{piece.panel.name}-{piece.size}".replace(" ", "_")
        _draw_piece(drawing.blocks.new(name), piece, nest)
        sheet.add_blockref(name, tuple(MILLIMETERS * piece.place), {"layer": BOUNDARY})
    text = io.StringIO()
    drawing.write(text)
    return [write_file(path, text.getvalue()), write_notes(path, nest)]


def _draw_piece(block: "BlockLayout", piece: NestPiece, nest: Nest) -> None:
    """Draw a panel in one size."""
    panel, fabric = piece.panel, nest.patterns[piece.size].fabric_of(piece.panel)
    texts = [f"Piece Name: {panel.name}", f"Size: {piece.size}", "Quantity: 1", f"Origin: {ORIGIN}"]
    if isinstance(fabric, str):
        texts.append(f"Material: {fabric}")
    for k, line in enumerate(texts):
        place = MILLIMETERS * (piece.grain[0] - [0.0, 1.5 * (k + 1) * TEXT])
        look = {"layer": BOUNDARY, "insert": tuple(place)}
        block.add_text(line, height=MILLIMETERS * TEXT, dxfattribs=look)

    def polyline(points: Iterable[Iterable[float]], layer: str, close: bool) -> None:
        rows = [tuple(map(float, p)) for p in points]
        block.add_polyline2d(rows, format="xyb", close=close, dxfattribs={"layer": layer})

    curves = [edge_curve(panel, i) for i in range(len(panel.edges))]
    polyline(np.concatenate([_vertices(curve) for curve in curves]), SEW, True)
    polyline(MILLIMETERS * piece.cut, BOUNDARY, True)
    for hole in panel.holes:
        polyline(MILLIMETERS * hole, CUTOUTS, True)
    for inner in panel.inner:
        polyline(MILLIMETERS * inner, INTERNAL, False)
    grain = MILLIMETERS * piece.grain
    block.add_line(tuple(grain[0]), tuple(grain[1]), {"layer": GRAIN})
    for points, layer in ((panel.corners, TURNS), (piece.notches[:, 1], NOTCHES[0])):
        for point in MILLIMETERS * points:
            block.add_point(tuple(point), {"layer": layer})


def _vertices(curve: EdgeCurve) -> Floats:
    """Return (n,3) vertices [mm] of an edge, without its end, each with the bulge of the line that
    begins there: tan(sweep / 4) of an arc, 0 of a straight line.
    """
    points, bulge = curve.controls[:-1], 0.0
    if curve.arc is not None:
        points, bulge = curve.controls[:1], np.tan(curve.arc[3] / 4)
    elif curve.polyline is None and not curve.is_straight:
        n = len(curve.controls) - 1
        bend = n * (n - 1) * np.linalg.norm(np.diff(curve.controls, 2, axis=0), axis=1).max()
        count = int(np.ceil(np.sqrt(bend / (8 * CLOSE)))) + 1  # a chord is off by |B''| dt^2 / 8
        points = curve.at(np.arange(count) / count)
    return np.column_stack([MILLIMETERS * points, np.full(len(points), bulge)])
