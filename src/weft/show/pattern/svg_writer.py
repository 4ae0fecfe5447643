"""A pattern as SVG to scale, for printing, cutting or further drawing; ``read_svg`` reads it back.

Seams, elastics and placement are written into the side-car file. Edges keep their numbers, because
every outline is drawn counter-clockwise from corner 0.
"""

import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import yaml

from weft.base.arrays import Floats
from weft.base.keyframes import Keys
from weft.base.trees import Json, Yaml
from weft.garment.curves import edge_curve, outline_polygon
from weft.garment.pattern import (
    BorderCurve,
    Closing,
    Panel,
    Pattern,
    Placement,
    Seam,
    SeamSide,
    Wrap,
)
from weft.io.files import atomic_write
from weft.show.pattern.layout import arrange

MARGIN, GAP = 0.02, 0.03  # [m] around the sheet, and between panels
SQUARE = 0.05  # [m] of the square that shows whether a print is to scale
GRAIN = 0.1  # [m] of the grain line, at most half of the panel
_STYLE = (
    ".outline{fill:#f6f3ec;stroke:#2d3038;stroke-width:.5}.hole{fill:#fff;stroke:#2d3038;"
    "stroke-width:.3}.internal{fill:none;stroke:#7d8088;stroke-width:.3;stroke-dasharray:3 1.5}"
    ".grain,.origin,.note{fill:none;stroke:#7d8088;stroke-width:.3}"
    "text{font:5px sans-serif;fill:#2d3038;text-anchor:middle}"
)


def write_svg(path: str | Path, pattern: Pattern) -> list[Path]:
    """Write a pattern as ``NAME.svg``, and what a drawing cannot hold as ``NAME.seams.yaml``.

    Args:
        path: of the drawing.
        pattern: with panels that can be drawn.

    Returns:
        The paths of both files.

    Raises:
        RunError: a file cannot be written.
    """
    path = Path(path)
    beside = path.with_name(path.stem + ".seams.yaml")
    outlines = {p.name: outline_polygon(p)[0] for p in pattern.panels}
    places, extent = arrange(outlines, GAP)
    low = min((-MARGIN, -MARGIN - SQUARE - GAP)) * np.ones(2)
    width, height = 1e3 * (extent + [2 * MARGIN, 2 * MARGIN + SQUARE + GAP])
    page = _Page(np.array([-MARGIN, low[1]]), float(height))
    body = [_square(page)]
    for panel in pattern.panels:
        body += _group(panel, page, places[panel.name], outlines[panel.name])
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}mm" height="{_n(height)}mm" '
        f'viewBox="0 0 {_n(width)} {_n(height)}">\n<title>{escape(pattern.name)}</title>\n'
        f"<style>{_STYLE}</style>\n" + "\n".join(body) + "\n</svg>\n"
    )
    folded = [p.name for p in pattern.panels if p.folds]
    if folded:
        warnings.warn(
            f"folds of {', '.join(folded)} become internal lines: SVG has no angles", stacklevel=2
        )
    notes = yaml.dump(_notes(pattern), Dumper=_Notes, sort_keys=False, allow_unicode=True, width=99)
    for file, content in ((path, text), (beside, notes)):
        with atomic_write(file) as out:
            out.write(content.encode())
    return [path, beside]


class _Notes(yaml.SafeDumper):
    """YAML writer that puts each list on one line."""


_Notes.add_representer(
    list, lambda dump, v: dump.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=True)
)


class _Page:
    """Map from meters, y up, to millimeters on the page, y down."""

    def __init__(self, low: Floats, height: float) -> None:
        self.low, self.height = low, height

    def __call__(self, p: Floats) -> str:
        """Return ``x,y`` of a point (2,) [m]."""
        x, y = 1e3 * (np.asarray(p) - self.low)
        return f"{_n(x)},{_n(self.height - y)}"

    def path(self, points: Iterable[Floats], close: bool = False) -> str:
        """Return the SVG path of straight lines through points."""
        return "M" + " L".join(self(p) for p in points) + (" Z" if close else "")


def _n(value: float) -> str:
    """Return millimeters as text, to 1e-6."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _square(page: _Page) -> str:
    low = np.array([0.0, -SQUARE - GAP])
    corners = low + SQUARE * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    x, y = page(low + SQUARE / 2).split(",")
    return (
        f'<path class="note" d="{page.path(corners, True)}"/>'
        f'<text x="{x}" y="{y}">{_n(100 * SQUARE)} cm</text>'
    )


def _group(panel: Panel, page: _Page, moved: Floats, outline: Floats) -> list[str]:
    """Return a panel as an SVG group, by lines."""
    names, commands = [], [f"M{page(panel.corners[0] + moved)}"]
    for i, edge in enumerate(panel.edges):
        drawn = _commands(panel, i, page, moved)
        commands += drawn
        names += [_word(edge.name) or "-"] + ["+"] * (len(drawn) - 1)
    x, y = page((outline.min(0) + outline.max(0)) / 2 + moved).split(",")
    along = np.array([np.cos(panel.grain), np.sin(panel.grain)])
    reach = min(GRAIN, float(np.ptp(outline, axis=0).min()) / 2) / 2
    middle = (outline.min(0) + outline.max(0)) / 2 + [0.0, reach]
    warp = [middle + moved - reach * along, middle + moved + reach * along]
    lines = zip(panel.edge_names[len(panel.edges) :], panel.inner)
    return [
        f"<g id={quoteattr(panel.name)}>",
        f'<path class="outline" data-edges={quoteattr(" ".join(names))} '
        f'd="{" ".join(commands)} Z"/>',
        *(f'<path class="hole" d="{page.path(h + moved, True)}"/>' for h in panel.holes),
        *(_internal(name, page.path(p + moved)) for name, p in lines),
        f'<path class="grain" d="{page.path(warp)}"/>',
        f'<path class="origin" d="{page.path(moved + [d, 0.0] for d in (-2e-3, 2e-3))}"/>',
        f'<text x="{x}" y="{y}">{escape(panel.name)}</text>',
        "</g>",
    ]


def _word(name: str) -> str:
    """Return a name without spaces."""
    return re.sub(r"\s+", "_", name)


def _internal(name: str, path: str) -> str:
    named = f" data-edges={quoteattr(_word(name))}" if name else ""
    return f'<path class="internal"{named} d="{path}"/>'


def _commands(panel: Panel, i: int, page: _Page, moved: Floats) -> list[str]:
    """Return an edge as path commands."""
    curve = edge_curve(panel, i)
    points = [page(p + moved) for p in curve.controls[1:]]
    if curve.kind is BorderCurve.POLYLINE or curve.is_straight:
        return [f"L{p}" for p in points]
    if curve.arc is not None:
        _, radius, _, sweep = curve.arc
        # Counter-clockwise with y up is counter-clockwise on the page, too: sweep flag 0.
        r = _n(1e3 * radius)
        return [f"A{r},{r} 0 {int(abs(sweep) > np.pi)} {int(sweep < 0)} {points[-1]}"]
    return [("Q" if curve.kind is BorderCurve.QUADRATIC else "C") + " ".join(points)]


def _notes(pattern: Pattern) -> Json:
    """Return the contents of the side-car file."""
    notes: Json = {"fabric": pattern.fabric}
    notes["panels"] = {p.name: _about(p) for p in pattern.panels}
    if pattern.seams:
        notes["seams"] = {s.name: _seam(s) for s in pattern.seams}
    if pattern.elastics:
        notes["elastics"] = {
            e.name: {
                "edges": _chain(e.chain),
                "ratio": format_number(e.ratio),
                "stiffness": format_number(e.stiffness),
            }
            for e in pattern.elastics
        }
    return notes


def _about(panel: Panel) -> Json:
    """Return the properties of a panel besides its shape."""
    about: Json = {}
    if panel.fabric is not None:
        about["fabric"] = panel.fabric
    if panel.thickness is not None:
        about["thickness"] = panel.thickness
    if panel.layer:
        about["layer"] = panel.layer
    if panel.placement != Placement():
        p = panel.placement
        about["placement"] = {"translation": _list(p.translation), "rotation": _list(p.rotation)}
        if p.wrap is not None:
            about["placement"]["wrap"] = _wrap(p.wrap)
    return about


def _wrap(wrap: Wrap) -> Json:
    return {
        "center": _list(wrap.center),
        "radius": wrap.radius,
        "direction": _list(wrap.direction),
        "facing": _list(wrap.facing),
    }


def _list(values: Sequence[float]) -> list[float]:
    return [float(v) + 0.0 for v in values]  # adding 0.0 turns -0.0 into 0.0


def _seam(seam: Seam) -> Json | list[Yaml]:
    """Return a seam with the settings that are not the default; only its two sides if there are
    none.
    """
    entry: Json = {"join": [_chain(seam.first), _chain(seam.second)]}
    usual = Seam("", (), ())
    numbers = ("angle", "fold_stiffness", "strength", "buttons", "open_at", "close_at")
    for key in ("flip", *numbers, "notched"):
        value = getattr(seam, key)
        if value != getattr(usual, key):
            entry[key] = float(np.degrees(value)) if key == "angle" else value
    if seam.window != usual.window:
        entry["window"] = list(seam.window)
    if seam.closing is not Closing.SEWN:
        entry["closing"] = seam.closing.name.lower()
    return entry if len(entry) > 1 else list(entry["join"])


def _chain(sides: Sequence[SeamSide]) -> list[str] | str:
    names = [f"{'-' * s.backward}{s.panel}.{s.edge}" for s in sides]
    return names if len(names) > 1 else names[0]


def format_number(number: float | Keys) -> Yaml:
    """Return a number, or keyframes of one, in the form that files have."""
    if not isinstance(number, Keys):
        return number
    return {"keys": [list(point) for point in number.points], "between": number.between}
