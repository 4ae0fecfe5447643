"""Skirts and waistbands.

A skirt's panels are symmetric about x = 0, with y = 0 at the waist before they are moved.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from studies.garments.body_measures import BodyMeasures
from studies.garments.draft import Draft, DraftPanel, Edge, Point, arc, between, bow, dart

FRONT, BACK = 25.0, -20.0  # [cm] z where front and back panels start
CIRCLE_FRONT, CIRCLE_BACK = 17.5, -12.5
WAIST_EASE, HIP_EASE = 1.02, 1.05
LEAST_DART = 0.8  # [cm]


@dataclass(frozen=True)
class HipShape:
    """Half widths [cm] of a panel from the middle to the side, and the width of darts."""

    hip: float
    side: float  # at the waist, darts included
    waist: float  # darts closed

    @staticmethod
    def of(body: BodyMeasures, *, front: bool, hip_ease: float = HIP_EASE) -> "HipShape":
        """Return the widths of a front or back panel."""
        sign = 0.5 if front else -0.5
        waist = body.waist * WAIST_EASE / 4
        hip = max(body.hips * hip_ease / 4, waist + LEAST_DART)
        side = hip - 0.4 * (hip - waist)
        return HipShape(hip, max(side, waist + LEAST_DART), min(waist + sign, side - LEAST_DART))


def waist_corners(
    side: float, shape: HipShape, depth: float, darts: int, name: str = "waist"
) -> list[Edge]:
    """Return the corners of a waist from (side, 0) to (-side, 0) with darts on either side."""
    width = (side - shape.waist) / darts
    corners = [Edge(side, 0.0, f"{name}_0", label="lower_interface")]
    for k in range(2 * darts):
        # darts share the waist line evenly
        part = (k % darts + 1) / (darts + 1)
        middle = side - part * side if k < darts else side + (1 - part) * 0 + part * side
        a, b = (side, 0.0), (-side, 0.0)
        cut = dart(a, b, middle, width, depth, f"{name}_dart{k}")
        corners += [*cut[:2], Edge(cut[2].x, cut[2].y, f"{name}_{k + 1}", label="lower_interface")]
    return corners


def waist_names(panel: str, darts: int, name: str = "waist") -> list[str]:
    """Return the edges of a waist, from the wearer's left to its right."""
    return [f"{panel}.{name}_{k}" for k in range(2 * darts + 1)]


def add_pencil(
    draft: Draft,
    body: BodyMeasures,
    length: float,
    top: float,
    *,
    hem: float = 0.94,
    godets: Sequence[float] = (),
) -> None:
    """Add a fitted skirt of a front and a back panel, with darts.

    Args:
        draft: to add to.
        body: measures.
        length: [cm] from the waist to the hem.
        top: [cm] height above the floor where the waist starts.
        hem: width of the hem over that of the hips.
        godets: x over the half hem where triangles are set in.
    """
    for name, z, outside in (("front", FRONT, 1), ("back", BACK, -1)):
        front = name == "front"
        shape = HipShape.of(body, front=front)
        down = body.waist_height - body.hips_height
        half = hem * shape.hip
        low = (-half, -length)
        edges = [
            *hem_corners(low, (half, -length), [g * half for g in godets], 0.45 * length),
            Edge(half, -length, "left_low"),
            Edge(shape.hip, -down, "left_hip", bow(-0.05)),
            *waist_corners(shape.side, shape, 0.5 * down if front else 0.65 * down, 1),
            Edge(-shape.side, 0.0, "right_hip", bow(-0.05)),
            Edge(-shape.hip, -down, "right_low"),
        ]
        draft.add(
            DraftPanel(f"skirt_{name}", tuple(edges), (0.0, top, z), (0, 0, 0), outside, "leg")
        )
        for k in range(2):
            draft.sew(f"skirt_{name}.waist_dart{k}_a", f"skirt_{name}.waist_dart{k}_b")
        add_godets(draft, f"skirt_{name}", len(godets))
    for edge in ("left_low", "left_hip", "right_low", "right_hip"):
        draft.sew(f"skirt_front.{edge}", f"skirt_back.{edge}")


def hem_corners(start: Point, end: Point, at: Sequence[float], deep: float) -> list[Edge]:
    """Return the corners of a hem that is cut up at some x, 2 cm wide, for godets."""
    edges = [Edge(*start, "hem_0")]
    for k, x in enumerate(at):
        y = between(start, end, 0.5)[1]
        edges += [
            Edge(x - 1.0, y, f"slit{k}_a"),
            Edge(x, y + deep, f"slit{k}_b"),
            Edge(x + 1.0, y, f"hem_{k + 1}"),
        ]
    return edges


def add_godets(draft: Draft, panel: str, count: int, wide: float = 18.0) -> None:
    """Add a triangle into every slit of a panel's hem."""
    base = draft.panels[panel]
    for k in range(count):
        leg = base.edge_length(f"slit{k}_a")
        point = next(e for e in base.edges if e.name == f"slit{k}_b")
        tall = math.sqrt(leg**2 - (wide / 2) ** 2)
        edges = (
            Edge(-wide / 2, -tall, "hem", bow(-0.06)),
            Edge(wide / 2, -tall, "b"),
            Edge(0.0, 0.0, "a"),
        )
        x, y, z = base.place
        place = (x + point.x, y + point.y - 2.0, z + 10.0 * base.outside)
        name = f"{panel}_godet{k}"
        draft.add(DraftPanel(name, edges, place, outside=base.outside, label="leg"))
        draft.sew(f"{panel}.slit{k}_a", f"{name}.a")
        draft.sew(f"{panel}.slit{k}_b", f"{name}.b")


def ring(upper: float, length: float, angle: float) -> tuple[Edge, ...]:
    """Return the corners of a sector of a ring that hangs below its center; y = 0 at the ends of
    its upper edge.

    Args:
        upper: length [cm] of its upper edge.
        length: [cm].
        angle: [rad].
    """
    inner, large = upper / angle, angle > math.pi
    outer = inner + length
    s, c = math.sin(angle / 2), math.cos(angle / 2)
    corners = [(-inner * s, 0.0), (-outer * s, (inner - outer) * c)]
    top = arc(inner, right=False, large=large)
    return (
        Edge(*corners[0], "right"),
        Edge(*corners[1], "hem", arc(outer, right=True, large=large)),
        Edge(-corners[1][0], corners[1][1], "left"),
        Edge(-corners[0][0], 0.0, "waist", top, "lower_interface"),
    )


def add_circle(
    draft: Draft, waist: float, length: float, top: float, suns: float, name: str = "skirt"
) -> None:
    """Add a skirt of two sectors of a ring.

    Args:
        draft: to add to.
        waist: [cm] girth of the upper edge.
        length: [cm].
        top: [cm] height above the floor where the ends of the upper edge start.
        suns: part of a whole circle that both panels are together.
        name: of the panels, with _front and _back.
    """
    edges = ring(waist / 2, length, math.pi * suns)
    for side, z, outside in (("front", CIRCLE_FRONT, 1), ("back", CIRCLE_BACK, -1)):
        place = (0.0, top, z)
        draft.add(DraftPanel(f"{name}_{side}", edges, place, outside=outside, label="leg"))
    for edge in ("left", "right"):
        draft.sew(f"{name}_front.{edge}", f"{name}_back.{edge}")


def add_panels(draft: Draft, body: BodyMeasures, length: float, top: float, count: int) -> None:
    """Add a skirt of equal panels that stand around the body."""
    waist, hip = body.waist * WAIST_EASE / count, body.hips * HIP_EASE / count
    down = body.waist_height - body.hips_height
    hem = hip + 0.28 * (length - down)
    edges = (
        Edge(-hem / 2, -length, "hem", bow(-0.04)),
        Edge(hem / 2, -length, "left_low", bow(0.02)),
        Edge(hip / 2, -down, "left_high", bow(-0.04)),
        Edge(waist / 2, 0.0, "waist", label="lower_interface"),
        Edge(-waist / 2, 0.0, "right_high", bow(-0.04)),
        Edge(-hip / 2, -down, "right_low", bow(0.02)),
    )
    far = max(hem / 2 / math.tan(math.pi / count), body.hips / 6 + 8.0)
    for k in range(count):
        angle = 2 * math.pi * k / count
        place = (far * math.sin(angle), top, far * math.cos(angle))
        turn = (0.0, (math.degrees(angle) + 180) % 360 - 180, 0.0)
        draft.add(DraftPanel(f"skirt_{k}", edges, place, turn, label="leg"))
    for k in range(count):
        after = (k + 1) % count
        for part in ("low", "high"):
            draft.sew(f"skirt_{k}.left_{part}", f"skirt_{after}.right_{part}")


def add_waistband(
    draft: Draft,
    front: Sequence[str],
    back: Sequence[str],
    top: float,
    height: float = 4.0,
    name: str = "wb",
) -> None:
    """Add a straight waistband of two rectangles.

    Args:
        draft: to add to.
        front: edges ``PANEL.EDGE`` below the front, from the wearer's left to its right; with a
            ``-`` where an edge runs the other way in its panel as seen from the front.
        back: the same below the back.
        top: [cm] height above the floor of the seam where it starts.
        height: [cm].
        name: of the panels.
    """
    for side, chain, z, outside in (("front", front, FRONT - 3, 1), ("back", back, BACK + 3, -1)):
        plain = [e.lstrip("-").split(".") for e in chain]
        half = sum(draft.panels[p].edge_length(e) for p, e in plain) / 2
        edges = (
            Edge(-half, 0.0, "low", label="lower_interface"),
            Edge(half, 0.0, "left"),
            Edge(half, height, "up"),
            Edge(-half, height, "right"),
        )
        panel = f"{name}_{side}"
        draft.add(DraftPanel(panel, edges, (0.0, top + 1.0, z), outside=outside))
        draft.sew_chains([f"-{panel}.low"], chain)
    for edge in ("left", "right"):
        draft.sew(f"{name}_front.{edge}", f"{name}_back.{edge}")
