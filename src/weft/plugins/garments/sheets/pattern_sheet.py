"""A pattern drawn flat for cutting, as PNG.

Panels have names and grain, edges have lengths, and seams have matching colors with arrows. Darts,
folds, elastics and a scale bar are drawn as well.
"""

import colorsys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.keyframes import first_of
from weft.discretization.polygon import arc_lengths, close_polygon, interpolate_points
from weft.plugins.garments.patterns.check import Report
from weft.plugins.garments.patterns.check_panel import is_drawable, panel_problems
from weft.plugins.garments.patterns.curves import edge_curve, outline_polygon
from weft.plugins.garments.patterns.edge_chains import EdgeChain, Match
from weft.plugins.garments.patterns.pattern import Closing, Elastic, Panel, SeamSide
from weft.plugins.garments.sheets.layout import arrange, roomiest
from weft.show.picture.pen import Color, Pen
from weft.show.picture.renderer import Image, save_png

PAPER, FABRIC, INK, QUIET = (255, 255, 255), (246, 243, 236), (45, 48, 56), (125, 128, 136)
WRONG = (205, 45, 45)
GOLDEN = 0.61803398875  # turns of hue from one seam to the next
WIDTH = 1800  # [px] width of the part with the panels
MARGIN, GAP = 60, 0.07  # [px]; [m] between panels
NARROW = 42  # [px] of room below which names and labels stand outside
SMOOTH = np.radians(1.5)  # [rad] largest turn between two points of a drawn curve
INSIDE = 7  # [px] from the outline to a seam's line
_FINE = np.linspace(0, 1, 97)


def save_pattern(path: str | Path, report: Report) -> None:
    """Write a PNG of a pattern.

    Args:
        path: of the picture.
        report: result of the check of the pattern; panels with errors are drawn in red, as far as
            they can be drawn.

    Raises:
        RunError: the file cannot be written.
    """
    save_png(path, PatternSheet(report).image())


def seam_color(i: int) -> Color:
    """Return the color of the i-th seam; neighbors in the list differ most."""
    hue = (0.58 + i * GOLDEN) % 1.0
    light = (0.44, 0.36, 0.50)[i % 3]
    r, g, b = colorsys.hls_to_rgb(hue, light, 0.72)
    return round(255 * r), round(255 * g), round(255 * b)


class PatternSheet:
    """A sheet of paper with all panels of a pattern."""

    def __init__(self, report: Report) -> None:
        self.report = report
        drawable = [p for p in report.pattern.panels if is_drawable(p)]
        self.panels = {p.name: p for p in drawable}
        self.outlines = {n: outline_polygon(p, SMOOTH)[0] for n, p in self.panels.items()}
        self.rooms = {n: roomiest([self.outlines[n], *p.holes]) for n, p in self.panels.items()}
        self.origins, extent = arrange(self.outlines, GAP)
        self.rows = [(m, seam_color(i)) for i, m in enumerate(report.seams)]
        self.legs = {s.edge_id for m in report.seams if m.is_dart for s in m.sides}
        width, height = np.maximum(extent, 0.1)
        self.scale = min(WIDTH / width, 1600 / height)
        listed = len(self.rows) + len(report.elastics)
        self.list_width = 500 if listed else 0
        w = int(width * self.scale) + 2 * MARGIN + self.list_width
        h = int(max(height * self.scale + 150, 24.0 * listed + 110)) + MARGIN
        self.pen = Pen(max(w, 500), h, PAPER)
        self.top = h - 110  # [px] row of y = 0

    def image(self) -> Image:
        """Draw everything and return the picture (h,w,3) uint8."""
        if not self.panels:
            self.pen.text((MARGIN, MARGIN), "no panel that can be drawn", WRONG, 22, "l")
        for name in self.panels:
            self.draw_panel(name)
        for i, (match, color) in enumerate(self.rows):
            self.draw_seam(i, match, color)
        for elastic, chain in self.report.elastics:
            self.draw_elastic(elastic, chain)
        for name in self.panels:
            self.draw_labels(name)
        self.draw_list()
        self.draw_scale_bar()
        return self.pen.image()

    def at(self, panel: str, points: Floats) -> Floats:
        """Return (n,2) [px] of points (n,2) [m] of a panel's plane."""
        p = (np.asarray(points).reshape(-1, 2) + self.origins[panel]) * self.scale
        return np.stack([p[:, 0] + MARGIN, self.top - p[:, 1]], axis=1)

    def draw_panel(self, name: str) -> None:
        """Draw a panel's fabric, outline, holes and inner lines."""
        panel, pen = self.panels[name], self.pen
        wrong = bool(panel_problems(panel))
        outline = self.at(name, self.outlines[name])
        pen.fill(outline, (252, 232, 230) if wrong else FABRIC)
        for hole in panel.holes:
            pen.fill(self.at(name, hole), PAPER)
            pen.line(self.at(name, close_polygon(hole)), INK, 2)
        pen.line(close_polygon(outline), WRONG if wrong else INK, 2.5)
        for line in panel.lines:
            pen.line(self.at(name, line), QUIET, 1.5)
        for fold in panel.folds:
            pen.line(self.at(name, fold.points), INK, 1.5, 14 if fold.angle > 0 else 6)
        for corner in self.at(name, panel.corners):
            pen.disc(corner, 3.2, INK)

    def draw_labels(self, name: str) -> None:
        """Draw a panel's name, its grain, and the labels of its edges."""
        panel, pen = self.panels[name], self.pen
        center, room = self.rooms[name]
        middle, room = self.at(name, center)[0], room * self.scale
        for i in range(len(panel.edge_names)):
            labeled = i < len(panel.corners) or panel.edge_names[i]
            if labeled and (name, i) not in self.legs:
                self.draw_edge_label(panel, i, room < NARROW)
        size = float(np.clip(room * 0.42, 15, 30))
        self.draw_grain(
            panel, middle, room, 0.0 if room < NARROW else pen.width(name, size) / 2 + 16
        )
        if room < NARROW:
            box = self.at(name, self.outlines[name])
            place = (box[:, 0].min() + 2, box[:, 1].min() - 14)
            pen.text(place, name, INK, 17, "l")
            return
        pen.text((middle[0], middle[1] - 0.62 * size), name, INK, size, "m", True)
        fabric = self.report.pattern.fabric_of(panel)
        said = fabric if isinstance(fabric, str) else _fabric_name(fabric)
        small = f"{said}, layer {panel.layer}" if panel.layer else f"{said}"
        below = (middle[0], middle[1] + 0.5 * size)
        pen.text(below, small, QUIET, max(12, 0.55 * size), "m", True)

    def draw_edge_label(self, panel: Panel, i: int, outside: bool) -> None:
        """Draw number, name and length along an edge or inner line."""
        curve = edge_curve(panel, i)
        points = self.at(panel.name, curve.points(np.array([0.0, 0.47, 0.5, 0.53, 1.0])))
        d = points[3] - points[1]
        length = curve.length * self.scale
        if length < (70 if outside else 14) or not np.hypot(*d) > 0:
            return
        d = d / np.hypot(*d)
        inward = np.array([d[1], -d[0]])  # y is down: the panel is to the left of the edge
        named = panel.edge_names[i]
        name = str(i) if named in ("", str(i)) else f"{i} {named}"
        text = f"{name}  {100 * curve.length:.1f}"
        while text and self.pen.width(text, 13) > length - 8:
            text = name if text != name else ""
        if text:
            place = points[2] + (-13 if outside else INSIDE + 13) * inward
            self.pen.text_along(place, d, text, QUIET, 13)

    def draw_grain(self, panel: Panel, middle: Floats, room: float, text: float) -> None:
        """Draw an arrow along the warp, beside the name (``text`` [px] is half its width) or
        below.
        """
        d = np.array([np.cos(panel.grain), -np.sin(panel.grain)])
        half = float(np.clip(room * 0.6, 12, 90))
        aside = abs(d[1]) > 0.5 and text < 0.8 * room
        down = 34 + half * abs(d[1])
        place = middle + (np.array([-max(0.62 * room, text), 0]) if aside else np.array([0, down]))
        place = middle if room < NARROW else place
        ends = place - half * d, place + half * d
        self.pen.line(np.array(ends), QUIET, 1.6)
        for end, sign in zip(ends, (-1, 1)):
            self.pen.arrow(end, sign * d, QUIET, 8)

    def draw_seam(self, i: int, match: Match, color: Color) -> None:
        """Draw both sides of a seam, with arrows in the direction in which they are joined, and its
        number.
        """
        for chain in match.chains:
            whole = sum(c.length for c in chain.curves)
            twin = chain is match.second and match.is_dart  # one number for both legs
            for side, curve in zip(chain.sides, chain.curves):
                points, inward = self.offset_edge(side, chain)
                closing = match.seam.closing
                if closing is Closing.ZIP:
                    self.pen.line(points, color, 4.5, 6)
                else:
                    self.pen.line(points, color, 4)
                if closing is Closing.BUTTONS:
                    for k in np.linspace(0, len(points) - 1, match.seam.buttons).astype(int):
                        self.pen.disc(points[k], 6, color)
                pixels = curve.length * self.scale
                if pixels > 18:
                    k = round(0.62 * (len(points) - 1))
                    d = points[k + 1] - points[k - 1]
                    self.pen.arrow(points[k] + 7 * d / np.hypot(*d), d, color, min(15, pixels / 3))
                if (curve.length > 0.25 * whole or len(chain.sides) == 1) and not twin:
                    dart = match.is_dart
                    k = round((0.12 if dart else 0.36) * (len(points) - 1))
                    out = points[k] - (INSIDE + (5 if dart else 15)) * inward[k]
                    self.pen.tag(out, str(i + 1), color)

    def offset_edge(self, side: SeamSide, chain: EdgeChain) -> tuple[Floats, Floats]:
        """Return (n,2) [px] points beside an edge, inside its panel, and (n,2) directions into the
        panel.

        The points are in the order of the chain.
        """
        points = self.at(side.panel, edge_curve(chain.panels[side.panel], side.edge).points(_FINE))
        d = np.gradient(points, axis=0)
        d /= np.maximum(np.linalg.norm(d, axis=1), 1e-9)[:, None]
        inward = np.stack([d[:, 1], -d[:, 0]], axis=1)
        step = -1 if side.backward else 1
        return (points + INSIDE * inward)[::step], inward[::step]

    def draw_elastic(self, elastic: Elastic, chain: EdgeChain) -> None:
        """Draw a zigzag along the chain of an elastic."""
        for side in chain.sides:
            points, inward = self.offset_edge(side, chain)
            n = max(2, int(arc_lengths(points)[-1] / 7))
            s = np.linspace(0, len(points) - 1, n)
            k = np.arange(len(points))
            base, into = (interpolate_points(s, k, p) for p in (points, inward))
            sign = np.where(np.arange(n) % 2, 2.0, 10.0)[:, None]
            self.pen.line(base + sign * into, INK, 1.5)

    def draw_list(self) -> None:
        """Draw the list that explains the numbers of the seams, and the elastics."""
        if not self.list_width:
            return
        pen, x, y = self.pen, self.pen.size[0] - self.list_width + 10, MARGIN - 6
        pen.text((x, y), self.report.pattern.name, INK, 26, "l")
        y += 42
        for i, (match, color) in enumerate(self.rows):
            one, two = 100 * match.first.length, 100 * match.second.length
            ease = 100 * (match.ratio - 1)
            pen.tag(np.array([x + 12.0, y]), str(i + 1), color)
            pen.text((x + 34, y), _shorten(match.seam.name, 24), INK, 15, "l")
            text = f"{one:.1f} | {two:.1f} cm"
            pen.text((x + 370, y), text, QUIET, 15, "r")
            pen.text((x + 450, y), f"{ease:+.1f} %" if abs(ease) >= 0.05 else "", QUIET, 15, "r")
            y += 24
        for elastic, chain in self.report.elastics:
            zig = np.array([[x + 2 + 3 * k, y + (4 if k % 2 else -4)] for k in range(8)])
            pen.line(zig, INK, 1.5)
            pen.text((x + 34, y), f"elastic {_shorten(elastic.name, 16)}", INK, 15, "l")
            rest = chain.length * first_of(elastic.ratio)
            text = f"{100 * chain.length:.1f} to {100 * rest:.1f} cm"
            pen.text((x + 370, y), text, QUIET, 15, "r")
            y += 24

    def draw_scale_bar(self) -> None:
        """Draw a scale bar of 10 cm, or of another length that suits the size."""
        unit = next(
            (u for u in (0.1, 0.2, 0.5, 1.0, 0.05, 0.02, 0.01) if 60 < u * self.scale < 420), 0.1
        )
        y, x, w = self.pen.size[1] - 48, MARGIN, unit * self.scale
        self.pen.line(np.array([[x, y], [x + w, y]]), INK, 3)
        for end in (x, x + w):
            self.pen.line(np.array([[end, y - 7], [end, y + 7]]), INK, 2)
        self.pen.text((x + w / 2, y + 19), f"{100 * unit:g} cm", INK, 15, "m")
        note = "right sides up; edges: number, name, length in cm; arrows meet along a seam"
        self.pen.text((x + w + 30, y + 2), note, QUIET, 14, "l")


def _fabric_name(fabric: object) -> str:
    """Return the name of a fabric that is given as fields."""
    fields = fabric if isinstance(fabric, dict) else {}
    return str(fields.get("name") or fields.get("preset") or "own fabric")


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 2]} .."


def names_of(sides: Sequence[SeamSide], panels: dict[str, Panel]) -> str:
    """Return edges as text: ``front.side, back.2``."""
    found = []
    for s in sides:
        found.append(f"{s.panel}.{panels[s.panel].edge_name(s.edge)}")
    return ", ".join(dict.fromkeys(found))
