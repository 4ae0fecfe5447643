"""Changes of drafted panels: slits, tilted hems, necklines, armholes, two different halves.

Each function changes panels of a draft that are there. Lengths are in centimeters.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from studies.garments.draft import Curve, Draft, DraftPanel, Edge, Point, arc, bow, cubic

NECKLINES = ("circle", "curve", "V", "square", "trapezoid", "arc", "bow")
ARMHOLES = ("curve", "square", "angle")
LEAST_LEG = 0.3  # [cm] of a polygon's edge


def cut_hem(draft: Draft, panel: str, at: float, width: float, depth: float) -> None:
    """Cut a triangle out of the edge ``hem`` of a panel; its sides stay open.

    Args:
        draft: to change.
        panel: name of the panel.
        at: part of the hem's length where the middle of the triangle is.
        width: of the triangle at the hem.
        depth: of its point.
    """
    base = draft.panels[panel]
    half = min(width / 2 / base.edge_length("hem"), 0.45)
    at = min(max(at, half + 0.02), 0.98 - half)
    first, last = at - half, at + half
    base, rest = base.divide("hem", first)
    base, _ = base.divide(rest, (last - first) / (1 - first))
    edges = list(base.edges)
    i = next(i for i, e in enumerate(edges) if e.name == rest)
    a, b = edges[i], edges[(i + 1) % len(edges)]
    along = (b.x - a.x, b.y - a.y)
    far = depth / math.hypot(*along)
    point = ((a.x + b.x) / 2 - far * along[1], (a.y + b.y) / 2 + far * along[0])
    edges[i : i + 1] = [Edge(a.x, a.y, "slit_a"), Edge(*point, "slit_b")]
    draft.panels[panel] = replace(base, edges=tuple(edges))


def open_side(draft: Draft, front: str, back: str, part: float) -> None:
    """Leave the lower part of a side seam open.

    Args:
        draft: to change.
        front, back: edges ``PANEL.EDGE`` that are sewn to each other.
        part: of the length of the edges that stays open.
    """
    ends = [(*front.split("."),), (*back.split("."),)]
    draft.unsew(front, back)
    upper = []
    for panel, edge in ends:
        base = draft.panels[panel]
        i = base.names().index(edge)
        rises = base.edges[(i + 1) % len(base.edges)].y > base.edges[i].y
        draft.panels[panel], rest = base.divide(edge, part if rises else 1 - part)
        upper.append(f"{panel}.{rest if rises else edge}")
    draft.sew(*upper)


def tilt_hem(draft: Draft, panels: Sequence[str], angle: float) -> None:
    """Turn the straight hem of panels that are symmetric about x = 0: the hem rises to the wearer's
    left.

    Args:
        draft: to change.
        panels: names of the panels.
        angle: [degrees].
    """
    slope = math.tan(math.radians(angle))
    for name in panels:
        base = draft.panels[name]
        low = min(e.y for e in base.edges)
        edges = [
            replace(e, y=e.y + slope * e.x) if math.isclose(e.y, low) else e for e in base.edges
        ]
        draft.panels[name] = replace(base, edges=tuple(edges))


def change_neckline(panel: DraftPanel, kind: str, angle: float = 95.0) -> tuple[DraftPanel, int]:
    """Return the panel of a left half with another neckline, and the number of its edges: ``neck``,
    ``neck_1``...

    Args:
        panel: with an edge ``neck`` from the shoulder to the middle.
        kind: of ``NECKLINES``.
        angle: [degrees] between the floor and the side of a trapezoid, or of an arc.
    """
    i = panel.names().index("neck")
    start, end = panel.edges[i], panel.edges[(i + 1) % len(panel.edges)]
    wide, deep = start.x - end.x, start.y - end.y
    corners: list[Point] = []
    curve: Curve | None = None
    if kind == "circle":  # a quarter of an ellipse, nearly
        curve = bow(0.3 * min(wide, deep) / max(wide, deep))
    elif kind == "curve":
        curve = cubic((0.4, 0.2), (0.8, -0.25))
    elif kind == "arc":
        turn = math.radians(min(angle, 110.0))
        curve = arc(math.hypot(wide, deep) / 2 / math.sin(turn / 2), right=False)
    elif kind == "bow":
        curve = bow(0.35, 0.4)
    elif kind == "square":
        corners = [(start.x, end.y)]
    elif kind == "trapezoid":
        corners = [(start.x - min(deep / math.tan(math.radians(angle)), 0.7 * wide), end.y)]
    new = [Edge(start.x, start.y, "neck", curve, start.label)]
    new += [Edge(*p, f"neck_{k + 1}", label=start.label) for k, p in enumerate(corners)]
    edges = (*panel.edges[:i], *new, *panel.edges[i + 1 :])
    return replace(panel, edges=edges), len(new)


def change_armhole(panel: DraftPanel, kind: str, part: float = 0.25) -> DraftPanel:
    """Return the panel of a left half with another armhole, without a sleeve.

    Args:
        panel: with an edge ``armhole`` from the underarm to the shoulder.
        kind: of ``ARMHOLES``.
        part: of width and height that the corner of an angle keeps from the square one.
    """
    i = panel.names().index("armhole")
    low, high = panel.edges[i], panel.edges[(i + 1) % len(panel.edges)]
    if kind == "curve":
        return panel
    share = 0.0 if kind == "square" else part
    corner = (high.x + share * (low.x - high.x), low.y + share * (high.y - low.y))
    if low.x - high.x < LEAST_LEG:
        return panel
    new = [replace(low, curve=None), Edge(*corner, "armhole_1", label=low.label)]
    return replace(panel, edges=(*panel.edges[:i], *new, *panel.edges[i + 1 :]))


def lower_half(panel: DraftPanel, down: float) -> DraftPanel:
    """Return the panel of a left half without its shoulder: its upper edge goes straight from the
    side to the middle of the neckline.

    Args:
        panel: with the edges ``armhole``, ``shoulder`` and ``neck``.
        down: [cm] from the underarm to the end of the upper edge.
    """
    gone = ("shoulder", "neck", "neck_1", "armhole_1")
    edges = []
    for e in panel.edges:
        if e.name == "armhole":
            edges.append(Edge(e.x, e.y - down, "upper"))
        elif e.name not in gone:
            edges.append(e)
    return replace(panel, edges=tuple(edges))


def join_halves(draft: Draft, left: Draft, right: Draft, centers: Sequence[str]) -> None:
    """Add the left half of one draft and the right half of another one.

    Args:
        draft: to add to.
        left, right: whole drafts; names of their panels begin with the side.
        centers: names, without the side, of panels whose edges ``center`` are sewn to each other.
    """
    for side, half in (("left", left), ("right", right)):
        draft.add(*(p for p in half.panels.values() if p.name.startswith(side)))
        for a, i, b, j in half.stitches:
            if a.startswith(side) and b.startswith(side):
                draft.sew(f"{a}.{i}", f"{b}.{j}")
    for name in centers:
        draft.sew(f"right_{name}.center", f"left_{name}.center")
