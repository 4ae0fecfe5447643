"""Bodices and sleeves, hoods, collars and cuffs.

A bodice is four panels, left and right, front and back. The left ones have x = 0 at the middle of
the body and y = 0 at the waist before they are moved; the right ones are their mirror images.
"""

import math
from dataclasses import dataclass, replace

from studies.garments.body_measures import BodyMeasures
from studies.garments.draft import (
    Curve,
    Draft,
    DraftPanel,
    Edge,
    Point,
    between,
    bow,
    cubic,
    dart,
)

FRONT, BACK = 25.0, -20.0  # [cm] z where front and back panels start
SLEEVE_FRONT, SLEEVE_BACK = 17.5, -12.5
HEIGHT, SHOULDER = 168.0, 13.5  # [cm] of the body and its shoulder for which shapes are written
LOW = 4.5  # [cm] panels start that far below the place where they are worn, as in public files
ABOVE_BUST, UPPER = 5.0, 0.95  # [cm] height of a strapless edge above the bust; its girth over that
AWAY = 13.0  # [cm] of a sleeve from its armhole, along the arm
CAP = cubic((0.38, -0.14), (0.66, 0.03))  # from the shoulder to the underarm


@dataclass(frozen=True)
class Bodice:
    """Shape of a bodice; lengths in cm, those of neckline and shoulder for a body of 168 cm."""

    ease: float = 1.1  # girth of the bodice at the chest over that of the body
    hem: float = 18.0  # below the waist
    flare: float = 0.0  # by which a half panel is wider at the hem than at the chest
    neck: float = 2.5  # from the side of the neck out
    front_neck: float = 9.0  # depth of the neckline
    back_neck: float = 2.5
    shoulder: float = 0.0  # by which the shoulder seam ends before the shoulder point
    armhole: float = 0.0  # by which the armhole is deeper than usual
    fitted: bool = False  # ends at the waist, with darts
    bust_dart: float = 0.0  # width, on the side seam
    waist_ease: float = 1.04  # of a fitted bodice
    open_front: bool = False
    strapless: bool = False  # ends between bust and armpit
    wrap: float = 0.0  # fronts cross: the lowest cm of either side are the other front's end
    z: tuple[float, float] = (FRONT, BACK)


def armhole_depth(body: BodyMeasures) -> float:
    """Return the usual depth [cm] of an armhole below the shoulder point."""
    return 0.06 * body.height + 0.3 * body.upper_arm


def shoulder_line(body: BodyMeasures, shape: Bodice, length: float) -> tuple[Point, Point]:
    """Return the ends of the shoulder seam: at the neck and at the armhole.

    Args:
        body: measures.
        shape: of the bodice.
        length: [cm] from the waist to the side of the neck.
    """
    fall = body.neck_height - body.shoulder_height
    across = body.shoulder_half - body.neck_half
    slope = fall / across
    wide = across / SHOULDER
    inner, outer = wide * shape.neck, across - wide * shape.shoulder
    return (
        (body.neck_half + inner, length - slope * inner),
        (body.neck_half + outer, length - slope * outer),
    )


def add_bodice(draft: Draft, body: BodyMeasures, shape: Bodice) -> None:
    """Add the four panels of a bodice, sewn at shoulders, sides and middles.

    Edges: hem (or waist..., of a fitted one), side, armhole, shoulder, neck, center.
    """
    back = _half(body, shape, front=False)
    front = _half(body, shape, front=True)
    hem = 0.0 if shape.fitted else shape.hem
    low = body.neck_height - LOW - (body.back_length + 1.0)
    for name, edges, z, outside in (
        ("ftorso", front, shape.z[0], 1),
        ("btorso", back, shape.z[1], -1),
    ):
        moved = tuple(replace(e, y=e.y + hem) for e in edges)
        left = DraftPanel(f"left_{name}", moved, (0.0, low - hem, z), outside=outside)
        right = left.mirror(f"right_{name}")
        if shape.wrap and name == "ftorso":
            right = replace(right, place=(0.0, low - hem, z - 4.0))  # the right front is below
        draft.add(left, right)
    if not shape.strapless:
        draft.sew_sides("left_ftorso.shoulder", "left_btorso.shoulder")
    if shape.wrap:
        draft.sew_sides("left_ftorso.side", "left_btorso.side_high")
        draft.sew("right_ftorso.center", "left_btorso.side")
        draft.sew("left_ftorso.center", "right_btorso.side")
    else:
        draft.sew_sides("left_ftorso.side", "left_btorso.side")
    if shape.bust_dart:
        draft.sew_sides("left_ftorso.bust_a", "left_ftorso.bust_b")
        draft.sew_sides("left_ftorso.bust_end", "left_btorso.side_high")
    if shape.strapless:
        draft.sew_sides("left_ftorso.side_upper", "left_btorso.side_upper")
    if shape.fitted:
        for panel in ("left_ftorso", "left_btorso"):
            draft.sew_sides(f"{panel}.waist_dart_a", f"{panel}.waist_dart_b")
    if not (shape.open_front or shape.wrap):
        draft.sew("right_ftorso.center", "left_ftorso.center")
    draft.sew("right_btorso.center", "left_btorso.center")


def _half(body: BodyMeasures, shape: Bodice, *, front: bool) -> list[Edge]:
    """Return the corners of a left panel, y = 0 at the waist."""
    length = body.back_length + (1.5 + shape.bust_dart if front else 1.0)
    neck, shoulder = shoulder_line(body, shape, length)
    raised = shape.bust_dart if front else 0.0
    under = body.back_length + 1.0 - (body.neck_height - body.shoulder_height)
    under -= armhole_depth(body) + shape.armhole
    chest = body.chest * shape.ease / 4 + (0.6 if front else -0.6)
    underarm = (chest, under + raised)
    depth = (shape.front_neck if front else shape.back_neck) * body.height / HEIGHT
    neck_middle = (0.0, length - depth)
    edges = _lower(body, shape, underarm, front=front)
    hole = cubic((0.2, 0.32), (0.5, 0.2)) if front else cubic((0.2, 0.28), (0.5, 0.15))
    neckline = cubic((0.12, 0.3), (0.55, 0.32)) if front else bow(0.18, 0.7)
    if shape.strapless:  # its upper edge is narrower than the bust, or it would slide off
        bust = (chest, body.chest_height - body.waist_height)
        upper = (UPPER * chest, bust[1] + ABOVE_BUST * body.height / HEIGHT)
        edges = _lower(body, shape, bust, front=front)
        side = [Edge(*bust, "side_upper"), Edge(*upper, "upper", bow(-0.03))]
        return [*edges, *side, Edge(0.0, upper[1], "center")]
    if shape.wrap and front:
        end = next(e for e in edges if e.name == "side")
        edges[0] = replace(edges[0], x=-end.x, y=end.y - shape.wrap)
        neck_middle, neckline = (-end.x, end.y), bow(0.05)
    return [
        *edges,
        Edge(*underarm, "armhole", hole, "left_armhole"),
        Edge(*shoulder, "shoulder"),
        Edge(*neck, "neck", neckline, "left_collar"),
        Edge(*neck_middle, "center"),
    ]


def _lower(body: BodyMeasures, shape: Bodice, underarm: Point, *, front: bool) -> list[Edge]:
    """Return the corners from the middle of the hem to the underarm."""
    x, y = underarm
    if not shape.fitted:
        low = (x + shape.flare, -shape.hem)
        edges = [Edge(0.0, -shape.hem, "hem", label="lower_interface"), Edge(*low, "side")]
        if shape.wrap:
            high = between(low, underarm, shape.wrap / math.dist(low, underarm))
            edges = [edges[0], Edge(*high, "side")] if front else [*edges, Edge(*high, "side_high")]
    else:
        taken_in = 1.5  # by the side seam
        waist = body.waist * shape.waist_ease / 4 + (0.5 if front else -0.5)
        low = (x - taken_in, 0.0)
        width = max(0.8, low[0] - waist)
        at = 0.47 * waist + width / 2
        edges = [
            Edge(0.0, 0.0, "waist_in", label="lower_interface"),
            *dart((0.0, 0.0), low, at, width, 0.72 * y, "waist_dart"),
            Edge(*low, "side"),
        ]
    if shape.bust_dart:
        plain = math.hypot(x - low[0], y - low[1]) - (shape.bust_dart if front else 0.0)
        at = 0.75 * plain  # of the side seam, from below
        if front:
            middle = at + shape.bust_dart / 2
            edges += dart(low, underarm, middle, shape.bust_dart, 0.45 * x, "bust")
        else:
            edges.append(Edge(*between(low, underarm, at / plain), "side_high"))
    return edges


@dataclass(frozen=True)
class Sleeve:
    """Shape of a sleeve; lengths in cm."""

    length: float = 1.0  # of the arm's length
    ease: float = 1.25  # girth over that of the upper arm
    cuff: float = 1.3  # girth at the lower end over that of the arm there
    cap: Curve = CAP
    gather: float = 1.0  # length of the cap over that of the armhole
    flared: bool = False  # it may be wider at the lower end than at the upper one


def add_sleeves(draft: Draft, body: BodyMeasures, shape: Sleeve) -> None:
    """Add a front and a back panel on either side, sewn into the armholes."""
    wide = body.upper_arm * shape.ease / 2
    long = shape.length * body.arm_length
    down = body.upper_arm + (body.wrist - body.upper_arm) * min(1.0, shape.length)
    narrow = down * shape.cuff / 2
    narrow = narrow if shape.flared else min(wide, narrow)
    torso = draft.panels["left_ftorso"]
    end = next(e for e in torso.edges if e.name == "shoulder")
    angle = math.radians(body.arm_angle)
    c, s = math.cos(angle), math.sin(angle)
    far = AWAY + long
    wrist = (
        end.x + torso.place[0] + far * c + wide / 2 * s,
        end.y + torso.place[1] - far * s + wide / 2 * c,
    )
    holes = {p: shape.gather * draft.panels[f"left_{p}torso"].edge_length("armhole") for p in "fb"}
    chord = min(holes.values()) / shape.cap.length(1.0)
    lean = math.sqrt(max(chord**2 - wide**2, 4.0))
    for part, z, outside in (("f", SLEEVE_FRONT, 1), ("b", SLEEVE_BACK, -1)):
        edges = (
            Edge(0.0, 0.0, "top"),
            Edge(-long, 0.0, "cap", _cap(shape.cap, holes[part], lean, wide), "left_armhole"),
            Edge(-long + lean, -wide, "under"),
            Edge(0.0, -narrow, "hem"),
        )
        turn = (0.0, 0.0, -body.arm_angle)
        name = f"left_sleeve_{part}"
        left = DraftPanel(name, edges, (*wrist, z), turn, outside, "arm")
        draft.add(left, left.mirror(name.replace("left", "right")))
    for part in "fb":
        draft.sew_sides(f"left_sleeve_{part}.cap", f"left_{part}torso.armhole")
    draft.sew_sides("left_sleeve_f.top", "left_sleeve_b.top")
    draft.sew_sides("left_sleeve_f.under", "left_sleeve_b.under")


def _cap(cap: Curve, long: float, lean: float, wide: float) -> Curve:
    """Return the cap with the curvature that gives it a length [cm], by bisection."""
    chord = math.hypot(lean, wide)
    low, high = 0.0, 6.0
    for _ in range(40):
        middle = (low + high) / 2
        short = cap.scale(middle).length(chord) < long
        low, high = (middle, high) if short else (low, middle)
    return cap.scale(low)


def add_cuffs(draft: Draft, body: BodyMeasures, height: float = 6.0, tight: float = 0.85) -> None:
    """Add cuffs at the lower ends of the sleeves: a front and a back panel on either side.

    Args:
        draft: to add to.
        body: measures.
        height: [cm].
        tight: girth of the cuff over that of the sleeve's lower end.
    """
    angle = math.radians(body.arm_angle)
    for part in "fb":
        sleeve = draft.panels[f"left_sleeve_{part}"]
        wide = tight * sleeve.edge_length("hem")
        edges = (
            Edge(0.0, 0.0, "top"),
            Edge(-height, 0.0, "sleeve", label="lower_interface"),
            Edge(-height, -wide, "under"),
            Edge(0.0, -wide, "hem"),
        )
        far, (x, y, z) = height + 3.0, sleeve.place
        place = (x + far * math.cos(angle), y - far * math.sin(angle), z)
        name = f"left_cuff_{part}"
        left = DraftPanel(name, edges, place, sleeve.turn, sleeve.outside, "arm")
        draft.add(left, left.mirror(name.replace("left", "right")))
        draft.sew_sides(f"{name}.sleeve", f"left_sleeve_{part}.hem")
    draft.sew_sides("left_cuff_f.top", "left_cuff_b.top")
    draft.sew_sides("left_cuff_f.under", "left_cuff_b.under")


def add_hood(draft: Draft, body: BodyMeasures) -> None:
    """Add the two halves of a hood, turned to stand beside the head, sewn to the neckline."""
    torso = draft.panels["left_ftorso"]
    front = torso.edge_length("neck")
    back = draft.panels["left_btorso"].edge_length("neck")
    tall = 0.2 * body.height
    # forward is -x on the left half; the corner between front and back neckline is (0, 0)
    face = (-0.6 * front, -0.8 * front)
    nape = (0.97 * back, 0.2 * back)
    behind = (nape[0] + 5.0, 0.55 * tall)
    edges = (
        Edge(*face, "front_neck"),
        Edge(0.0, 0.0, "back_neck"),
        Edge(*nape, "back", bow(-0.1)),
        Edge(*behind, "crown", bow(-0.22)),
        Edge(-1.0, tall, "top"),
        Edge(face[0] - 1.5, tall - 1.0, "face"),
    )
    scale = back / math.hypot(*nape)
    edges = (*edges[:2], replace(edges[2], x=nape[0] * scale, y=nape[1] * scale), *edges[3:])
    neck = next(e for e in torso.edges if e.name == "neck")
    place = (neck.x, neck.y + torso.place[1] + 8.0, -3.0)
    left = DraftPanel("left_hood", edges, place, (0.0, 90.0, 0.0))
    draft.add(left, left.mirror("right_hood"))
    draft.sew_sides("left_ftorso.neck", "left_hood.front_neck")
    draft.sew_sides("left_btorso.neck", "left_hood.back_neck")
    for edge in ("back", "crown", "top"):
        draft.sew(f"left_hood.{edge}", f"right_hood.{edge}")


def add_collar(draft: Draft, height: float = 5.0) -> None:
    """Add a standing collar: two fronts and a back, sewn to the neckline."""
    torso = draft.panels["left_ftorso"]
    front = torso.edge_length("neck")
    back = 2 * draft.panels["left_btorso"].edge_length("neck")
    neck = next(e for e in torso.edges if e.name == "neck")
    y = neck.y + torso.place[1] + 4.0
    edges = (
        Edge(0.0, 0.0, "neck_edge", label="lower_interface"),
        Edge(front, 0.0, "side"),
        Edge(front, height, "upper"),
        Edge(0.0, height, "center"),
    )
    left = DraftPanel("left_collar_f", edges, (0.3, y, 16.0))
    half = back / 2
    behind = (
        Edge(-half, 0.0, "neck_right", label="lower_interface"),
        Edge(0.0, 0.0, "neck_left", label="lower_interface"),
        Edge(half, 0.0, "side_left"),
        Edge(half, height, "upper"),
        Edge(-half, height, "side_right"),
    )
    draft.add(
        left,
        left.mirror("right_collar_f"),
        DraftPanel("collar_b", behind, (0.0, y, -16.0), outside=-1),
    )
    for side in ("left", "right"):
        draft.sew(f"{side}_collar_f.neck_edge", f"{side}_ftorso.neck")
        draft.sew(f"collar_b.neck_{side}", f"{side}_btorso.neck")
        draft.sew(f"{side}_collar_f.side", f"collar_b.side_{side}")


def add_band(draft: Draft, height: float = 6.0, part: float = 0.9) -> None:
    """Add a band to the hem of an unfitted bodice, a front and a back panel, narrower than it."""
    for name, outside in (("f", 1), ("b", -1)):
        torso = draft.panels[f"left_{name}torso"]
        half = part * torso.edge_length("hem")
        edges = (
            Edge(-half, 0.0, "hem"),
            Edge(half, 0.0, "side_left"),
            Edge(half, height, "upper_left"),
            Edge(0.0, height, "upper_right"),
            Edge(-half, height, "side_right"),
        )
        place = (0.0, torso.place[1] - height - 2.0, torso.place[2])
        draft.add(DraftPanel(f"band_{name}", edges, place, outside=outside))
        for side in ("left", "right"):
            draft.sew(f"band_{name}.upper_{side}", f"{side}_{name}torso.hem")
    for side in ("left", "right"):
        draft.sew(f"band_f.side_{side}", f"band_b.side_{side}")
