"""A nest of sizes as PDF: pages of a printer's paper that are glued together, to scale.

Every page shows a tile of the sheet. Tiles overlap by ``OVERLAP``: the dashed lines of a page lie
on the frame of its neighbors. Pages are numbered by row (from the top) and column: B3.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import RunError, check_known
from weft.discretization.polygon import close_polygon
from weft.io.extra import optional
from weft.io.files import atomic_write
from weft.plugins.garments.sheets.nest import TEXT, Nest

PAPERS: Mapping[str, tuple[float, float]] = {"A4": (0.210, 0.297), "A3": (0.297, 0.420)}  # [m]
MARGIN, OVERLAP = 0.010, 0.010  # [m] around a page, which printers leave white; of two pages
INCH, POINT = 0.0254, 0.0254 / 72  # [m]
INK, QUIET = "#2d3038", "#7d8088"
Line = tuple[Floats, str, str]  # points (n,2) [m] on the sheet, color, style


def write_nest_pdf(path: str | Path, nest: Nest, paper: str = "A4") -> int:
    """Write a nest as pages to be printed at 100 %, and return their number.

    Args:
        path: of the file.
        nest: what is printed.
        paper: ``A4`` or ``A3``.

    Raises:
        RunError: an unknown paper, Matplotlib is not installed, or the file cannot be written.
    """
    check_known(paper, PAPERS, "paper", RunError)
    backend = optional("matplotlib.backends.backend_pdf", "plots", "pattern as .pdf", RunError)
    page, lines = np.array(PAPERS[paper]), list(_lines(nest))
    tile, low = page - 2 * MARGIN, nest.square[0] - MARGIN
    step = tile - OVERLAP
    columns, rows = np.ceil((nest.extent - low) / step).astype(int).tolist()
    count = 0
    with atomic_write(path) as file, backend.PdfPages(file, metadata={"Title": nest.name}) as pdf:
        for row in range(rows):
            for column in range(columns):
                corner = low + step * [column, rows - 1 - row]
                inside = [
                    line
                    for line in lines
                    if (line[0].max(0) >= corner).all() and (line[0].min(0) <= corner + tile).all()
                ]
                if inside:
                    name = f"{chr(ord('A') + row)}{column + 1}"
                    pdf.savefig(_page(nest, inside, page, corner, name))
                    count += 1
    return count


def _lines(nest: Nest) -> Iterator[Line]:
    """Yield all lines of a nest."""
    yield close_polygon(nest.square), INK, "-"
    for piece in nest.pieces:
        color, place = nest.color(piece.size), piece.place
        yield close_polygon(piece.cut) + place, color, "-"
        yield close_polygon(piece.outline) + place, color, "--"
        for notch in piece.notches:
            yield notch + place, color, "-"
        for hole in piece.panel.holes:
            yield close_polygon(hole) + place, color, "-"
        for line in piece.panel.inner:
            yield line + place, color, ":"
        yield piece.grain + place, QUIET, "-"


def _page(nest: Nest, lines: list[Line], page: Floats, corner: Floats, name: str) -> object:
    """Return a page: its tile begins at ``corner`` (2,) [m] of the sheet."""
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    tile = page - 2 * MARGIN
    figure = Figure(figsize=tuple(page / INCH))
    axes = figure.add_axes((*(MARGIN / page), *(tile / page)))
    axes.set(xlim=corner[[0]] + [0, tile[0]], ylim=corner[[1]] + [0, tile[1]], xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(color=QUIET, linewidth=0.4)
    points, colors, styles = map(list, zip(*lines))
    axes.add_collection(
        LineCollection(points, colors=colors, linestyles=styles, linewidths=0.8), autolim=False
    )
    for at in (corner + OVERLAP, corner + tile - OVERLAP):
        axes.axvline(at[0], color=QUIET, linewidth=0.3, linestyle=(0, (2, 6)))
        axes.axhline(at[1], color=QUIET, linewidth=0.3, linestyle=(0, (2, 6)))
    foot = corner + [tile[0] / 2, TEXT]
    for (x, y), text, size in [*nest.texts, (foot, f"{nest.name}  {name}", None)]:
        color = INK if size is None else nest.color(size)
        label = axes.text(x, y, text, fontsize=0.7 * TEXT / POINT, color=color, clip_on=True)
        label.set(horizontalalignment="center", verticalalignment="center")
    return figure
