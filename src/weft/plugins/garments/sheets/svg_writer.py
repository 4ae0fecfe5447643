"""A pattern, or a nest of sizes, as SVG to scale, for printing, cutting or further drawing;
``read_svg`` reads it back.

Seams, elastics and placement are written into the side-car file. Edges keep their numbers, because
every outline is drawn counter-clockwise from corner 0.
"""

import dataclasses
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import yaml

from weft.base.arrays import Floats
from weft.base.keyframes import Keys
from weft.base.settings import settings_by_field
from weft.base.trees import Json, Yaml
from weft.fabric.appearance import Appearance
from weft.io.files import write_file
from weft.plugins.garments.patterns.curves import edge_curve
from weft.plugins.garments.patterns.pattern import (
    BorderCurve,
    Closing,
    Panel,
    Pattern,
    Placement,
    Seam,
    SeamSide,
    Wrap,
)
from weft.plugins.garments.sheets.nest import Nest, NestPiece

MARGIN = 0.02  # [m] around the sheet
_STYLE = (
    ".outline{fill:#f6f3ec;stroke:#2d3038;stroke-width:.5}.hole{fill:#fff;stroke:#2d3038;"
    "stroke-width:.3}.internal{fill:none;stroke:#7d8088;stroke-width:.3;stroke-dasharray:3 1.5}"
    ".grain,.origin,.note{fill:none;stroke:#7d8088;stroke-width:.3}"
    "text{font:5px sans-serif;fill:#2d3038;text-anchor:middle}"
)

# fields that side-car files have of each part, with their units in SI
FIELDS: Mapping[type, Mapping[str, str]] = {
    Panel: {"fabric": "", "thickness": "m", "surface": "", "layer": "", "placement": ""},
    Appearance: {name: about.unit for name, about in settings_by_field(Appearance).items()},
    Placement: {"translation": "m", "rotation": "", "wrap": ""},
    Wrap: {"center": "m", "radius": "m", "direction": "", "facing": "", "taper": "rad"},
    Seam: {"angle": "rad", "topstitch": "m"}
    | dict.fromkeys(("flip", "fold_stiffness", "strength", "buttons", "open_at", "close_at"), "")
    | dict.fromkeys(("notched", "window", "closing"), ""),
}


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
    return write_nest_svg(path, Nest({"": pattern}, 0.0))


def write_nest_svg(path: str | Path, nest: Nest) -> list[Path]:
    """Write a nest as ``NAME.svg``, and seams and placement as ``NAME.seams.yaml``.

    The reader takes the size that ``size`` of the side-car file names. A single size without a name
    is drawn without lines that are cut.

    Returns:
        The paths of both files.

    Raises:
        RunError: a file cannot be written.
    """
    page, several = _Page(nest), nest.sample != ""
    size = f'width="{_n(page.width)}mm" height="{_n(page.height)}mm"'
    colors = {size: nest.color(size) for size in nest.sizes if several}
    style = _STYLE + "".join(
        f".size{k} .sew,.size{k} .cut,.size{k} .notch{{fill:none;stroke:{color};stroke-width:.4}}"
        for k, color in enumerate(colors.values())
    )
    style += ".sew{stroke-dasharray:4 2}" if several else ""
    texts = nest.texts if several else nest.texts[:1]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" {size} '
        f'viewBox="0 0 {_n(page.width)} {_n(page.height)}">',
        f"<title>{escape(nest.name)}</title>",
        f"<style>{style}</style>",
        f'<path class="note" d="{page.path(nest.square, True)}"/>',
        *(line for piece in nest.pieces for line in _group(piece, page, nest)),
        *(_text(page, at, text, colors.get(size or "")) for at, text, size in texts),
        "</svg>",
    ]
    drawn = write_file(path, "\n".join([*lines, ""]))
    return [drawn, write_notes(path, nest)]


def _group(piece: NestPiece, page: "_Page", nest: Nest) -> list[str]:
    """Return a panel in one size as an SVG group, by lines."""
    name, place = piece.panel.name, piece.place
    if not piece.size:
        middle = place + (piece.outline.min(0) + piece.outline.max(0)) / 2
        shapes = _shapes(piece, page, "outline")
        return [f"<g id={quoteattr(name)}>", *shapes, _text(page, middle, name), "</g>"]
    return [
        f"<g id={quoteattr(f'{name}-{piece.size}')} inkscape:label={quoteattr(name)} "
        f'data-size={quoteattr(piece.size)} class="size{nest.sizes.index(piece.size)}">',
        *_shapes(piece, page, "sew"),
        f'<path class="cut" d="{page.path(piece.cut + place, True)}"/>',
        *(f'<path class="notch note" d="{page.path(n + place)}"/>' for n in piece.notches),
        "</g>",
    ]


def write_notes(path: str | Path, nest: Nest) -> Path:
    """Write the side-car file of a drawing, and return its path.

    Args:
        path: of the drawing.
        nest: seams, elastics and placement of its sample size are written.
    """
    pattern = nest.patterns[nest.sample]
    folded = [p.name for p in pattern.panels if p.folds]
    if folded:
        warnings.warn(
            f"folds of {', '.join(folded)} become internal lines: drawings have no angles",
            stacklevel=3,
        )
    notes = ({"size": nest.sample} if nest.sample else {}) | _notes(pattern)
    text = yaml.dump(notes, Dumper=_Notes, sort_keys=False, allow_unicode=True, width=99)
    return write_file(Path(path).with_suffix(".seams.yaml"), text)


class _Notes(yaml.SafeDumper):
    """YAML writer that puts each list on one line."""


_Notes.add_representer(
    list, lambda dump, v: dump.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=True)
)


class _Page:
    """Map from meters on a nest's sheet, y up, to millimeters on the page, y down."""

    def __init__(self, nest: Nest) -> None:
        self.low = nest.square[0] - MARGIN
        self.width, self.height = (1e3 * (nest.extent + MARGIN - self.low)).tolist()

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


def _text(page: _Page, at: Floats, text: str, color: str | None = None) -> str:
    """Return a text around a point (2,) [m]."""
    x, y = page(at).split(",")
    fill = f' style="fill:{color}"' if color else ""
    return f'<text x="{x}" y="{y}"{fill}>{escape(text)}</text>'


def _shapes(piece: NestPiece, page: _Page, border: str) -> list[str]:
    """Return the paths of a panel: its border (a class), holes, lines, grain and origin."""
    panel, moved = piece.panel, piece.place
    names, commands = [], [f"M{page(panel.corners[0] + moved)}"]
    for i, edge in enumerate(panel.edges):
        drawn = _commands(panel, i, page, moved)
        commands += drawn
        names += [_word(edge.name) or "-"] + ["+"] * (len(drawn) - 1)
    lines = zip(panel.edge_names[len(panel.edges) :], panel.inner)
    return [
        f'<path class="{border}" data-edges={quoteattr(" ".join(names))} '
        f'd="{" ".join(commands)} Z"/>',
        *(f'<path class="hole" d="{page.path(h + moved, True)}"/>' for h in panel.holes),
        *(_internal(name, page.path(p + moved)) for name, p in lines),
        f'<path class="grain" d="{page.path(piece.grain + moved)}"/>',
        f'<path class="origin" d="{page.path(moved + [d, 0.0] for d in (-2e-3, 2e-3))}"/>',
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
    if pattern.surface is not None:
        notes["surface"] = _fields(pattern.surface)
    if pattern.hems:
        notes["hems"] = {edge: _value(width, "m") for edge, width in pattern.hems.items()}
    notes["panels"] = {p.name: _fields(p) for p in pattern.panels}
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


def _fields(part: object) -> Json:
    """Return the fields of a part of a pattern that are not as usual, as files have them."""
    usual = {f.name: f.default for f in dataclasses.fields(part)}  # type: ignore[arg-type]
    given = {name: (getattr(part, name), unit) for name, unit in FIELDS[type(part)].items()}
    return {name: _value(*v) for name, v in given.items() if v[0] != usual[name]}


def _value(value: object, unit: str = "") -> Yaml:
    """Return a value as files have it; numbers in SI have the name of their unit."""
    if type(value) in FIELDS:
        return _fields(value)
    if isinstance(value, tuple):
        return [_value(v, unit) for v in value]
    if isinstance(value, Closing):
        return value.name.lower()
    if isinstance(value, float):
        value = float(value) + 0.0  # no NumPy, and no -0.0
    return f"{value!r} {unit}" if unit else value


def _seam(seam: Seam) -> Json | list[Yaml]:
    """Return a seam with its fields that are not as usual; only its two sides if all are."""
    sides = [_chain(seam.first), _chain(seam.second)]
    return {"join": sides, **fields} if (fields := _fields(seam)) else sides


def _chain(sides: Sequence[SeamSide]) -> list[str] | str:
    names = [f"{'-' * s.backward}{s.panel}.{s.edge}" for s in sides]
    return names if len(names) > 1 else names[0]


def format_number(number: float | Keys) -> Yaml:
    """Return a number, or keyframes of one, in the form that files have."""
    if not isinstance(number, Keys):
        return number
    return {"keys": [list(point) for point in number.points], "between": number.between}
