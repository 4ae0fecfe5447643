"""A pattern drawn flat, as a picture (with matplotlib).

Panels have names and grain; edges have numbers, names and lengths; both sides of a seam have one
color and its number, and arrows that meet. Darts, folds, elastics and a scale bar are drawn, too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import RunError
from weft.base.keyframes import first_of
from weft.discretization.polygon import close_polygon
from weft.io.extra import optional
from weft.io.files import atomic_write
from weft.plugins.garments.patterns.check import Report
from weft.plugins.garments.patterns.check_panel import is_drawable, panel_problems
from weft.plugins.garments.patterns.curves import edge_curve, outline_polygon
from weft.plugins.garments.patterns.edge_chains import EdgeChain, Match
from weft.plugins.garments.patterns.pattern import Closing, Elastic, Panel, SeamSide
from weft.plugins.garments.sheets.layout import arrange, seam_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FABRIC, INK, QUIET, WRONG = "#f6f3ec", "#2d3038", "#7d8088", "#cd2d2d"
STYLES = {
    Closing.SEWN: "-",
    Closing.ZIP: ":",
    Closing.BUTTONS: "--",
    Closing.HOOKS: "--",
}  # of lines of seams
GAP = 0.07  # [m] between panels
INSIDE = 0.006  # [m] from the outline to the line of a seam
LETTER = 0.005  # [m] of edge that a letter of its label takes
SMOOTH = np.radians(1.5)  # [rad] largest turn between two points of a drawn curve
BAR = 0.1  # [m] of the scale bar
INCHES = 14.0  # width of the picture, or its height where it is tall
_FINE = np.linspace(0, 1, 97)


def save_pattern(path: str | Path, report: Report) -> None:
    """Write a PNG of a pattern.

    Args:
        path: of the picture.
        report: result of the check of the pattern; panels with errors are drawn in red, as far as
            they can be drawn.

    Raises:
        RunError: matplotlib is not installed, or the file cannot be written.
    """
    figure = draw_pattern(report)
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=130, bbox_inches="tight")


def draw_pattern(report: Report) -> "Figure":
    """Return the figure of a pattern, in meters on the paper.

    Raises:
        RunError: matplotlib is not installed.
    """
    matplotlib = optional("matplotlib.figure", "plots", "drawing of a pattern", RunError)
    panels = {p.name: p for p in report.pattern.panels if is_drawable(p)}
    outlines = {n: outline_polygon(p, SMOOTH)[0] for n, p in panels.items()}
    origins, extent = arrange(outlines, GAP)
    size = np.maximum(extent, BAR)
    figure: Figure = matplotlib.Figure(figsize=INCHES * size / size.max())
    axes = figure.add_axes((0, 0, 1, 1), aspect="equal")
    axes.set_axis_off()
    axes.set_title(report.pattern.name if panels else "no panel that weft can draw")
    for name, panel in panels.items():
        _draw_panel(axes, report, panel, outlines[name], origins[name])
    for number, match in enumerate(report.seams, start=1):
        _draw_seam(axes, number, match, origins)
    for elastic, chain in report.elastics:
        _draw_elastic(axes, elastic, chain, origins)
    if report.seams or report.elastics:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    axes.plot([0, BAR], [-GAP, -GAP], color=INK, lw=2)
    note = f"{100 * BAR:g} cm; right sides up; edges: number, name, length in cm"
    axes.text(0, -GAP - 0.01, note, color=QUIET, va="top")
    return figure


def _draw_panel(
    axes: "Axes", report: Report, panel: Panel, outline: Floats, origin: Floats
) -> None:
    """Draw fabric, outline, holes, inner lines, folds, grain and labels of a panel."""
    wrong = bool(panel_problems(panel))
    axes.fill(*(outline + origin).T, color="#fce8e6" if wrong else FABRIC)
    axes.plot(*(close_polygon(outline) + origin).T, color=WRONG if wrong else INK, lw=1.5)
    for hole in panel.holes:
        axes.fill(*(np.asarray(hole) + origin).T, facecolor="w", edgecolor=INK)
    for line in panel.lines:
        axes.plot(*(np.asarray(line) + origin).T, color=QUIET, lw=1)
    for fold in panel.folds:
        axes.plot(*(fold.points + origin).T, color=INK, lw=1, ls="--" if fold.angle > 0 else ":")
    axes.plot(*(panel.corners + origin).T, ".", color=INK, ms=4)
    middle, reach = (outline.min(0) + outline.max(0)) / 2 + origin, np.ptp(outline, axis=0).min()
    along = 0.2 * reach * np.array([np.cos(panel.grain), np.sin(panel.grain)])
    ends = {"arrowstyle": "<->", "color": QUIET}
    axes.annotate("", middle + along, middle - along, arrowprops=ends)
    fabric = report.pattern.fabric_of(panel)
    said = fabric if isinstance(fabric, str) else _fabric_name(fabric)
    layer = f", layer {panel.layer}" if panel.layer else ""
    back = {"facecolor": FABRIC, "edgecolor": "none", "alpha": 0.8}
    _write(axes, middle, f"{panel.name}\n{said}{layer}", color=INK, bbox=back)
    for i, named in enumerate(panel.edge_names):
        if i < len(panel.corners) or named:
            _label_edge(axes, panel, i, origin)


def _label_edge(axes: "Axes", panel: Panel, i: int, origin: Floats) -> None:
    """Draw number, name and length along an edge or inner line, as far as there is room."""
    curve = edge_curve(panel, i)
    before, middle, after = curve.points(np.array([0.45, 0.5, 0.55])) + origin
    d = after - before
    named = panel.edge_names[i]
    name = str(i) if named in ("", str(i)) else f"{i} {named}"
    texts = (f"{name}  {100 * curve.length:.1f}", name, str(i))
    fitting = [text for text in texts if LETTER * len(text) < curve.length]
    if not fitting or not np.hypot(*d) > 0:
        return
    angle = (np.degrees(np.arctan2(d[1], d[0])) + 90) % 180 - 90  # not upside down
    place = middle + 2.5 * INSIDE * np.array([-d[1], d[0]]) / np.hypot(*d)
    turned = {"rotation": angle, "rotation_mode": "anchor"}
    _write(axes, place, fitting[0], color=QUIET, fontsize=7, **turned)


def _draw_seam(axes: "Axes", number: int, match: Match, origins: dict[str, Floats]) -> None:
    """Draw both sides of a seam, with arrows in the direction in which they are joined, and its
    number.
    """
    color, ease = seam_color(number - 1), 100 * (match.ratio - 1)
    one, two = 100 * match.first.length, 100 * match.second.length
    label = f"{number}  {match.seam.name[:24]}  {one:.1f} | {two:.1f} cm"
    label += f"  {ease:+.1f} %" if abs(ease) >= 0.05 else ""
    for chain in match.chains:
        for side in chain.sides:
            points = _beside_edge(side, chain, origins)
            axes.plot(*points.T, STYLES[match.seam.closing], color=color, lw=2.5, label=label)
            label = "_"  # one line of the list for a seam
            arrow = {"arrowstyle": "-|>", "color": color}
            axes.annotate("", points[64], points[60], arrowprops=arrow)
        tag = {"facecolor": color, "edgecolor": "none", "boxstyle": "circle,pad=0.15"}
        _write(axes, points[34], str(number), color="w", fontsize=6, bbox=tag)


def _draw_elastic(
    axes: "Axes", elastic: Elastic, chain: EdgeChain, origins: dict[str, Floats]
) -> None:
    """Draw a line of crosses along the chain of an elastic."""
    rest = 100 * chain.length * first_of(elastic.ratio)
    label = f"elastic {elastic.name[:16]}  {100 * chain.length:.1f} to {rest:.1f} cm"
    for side in chain.sides:
        points = _beside_edge(side, chain, origins)[::4]
        axes.plot(*points.T, "x", color=INK, ms=4, label=label)
        label = "_"


def _beside_edge(side: SeamSide, chain: EdgeChain, origins: dict[str, Floats]) -> Floats:
    """Return (97,2) [m] points on the paper beside an edge, inside its panel, in the order of the
    chain.
    """
    curve = edge_curve(chain.panels[side.panel], side.edge)
    points = curve.points(_FINE)
    d = np.gradient(points, axis=0)
    d /= np.maximum(np.linalg.norm(d, axis=1), 1e-9)[:, None]
    inward = np.stack([-d[:, 1], d[:, 0]], axis=1)  # outlines are counter-clockwise
    moved = points + INSIDE * inward + origins[side.panel]
    return np.asarray(moved[:: -1 if side.backward else 1])


def _write(axes: "Axes", at: Floats, text: str, **how: Any) -> None:
    """Write a text around a point (2,) [m]."""
    x, y = at.tolist()
    axes.text(x, y, text, ha="center", va="center", **how)


def _fabric_name(fabric: object) -> str:
    """Return the name of a fabric that is given as fields."""
    fields = fabric if isinstance(fabric, dict) else {}
    return str(fields.get("name") or fields.get("preset") or "own fabric")


def names_of(sides: Sequence[SeamSide], panels: dict[str, Panel]) -> str:
    """Return edges as text: ``front.side, back.2``."""
    found = []
    for s in sides:
        found.append(f"{s.panel}.{panels[s.panel].edge_name(s.edge)}")
    return ", ".join(dict.fromkeys(found))
