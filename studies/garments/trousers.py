"""Legs of trousers: four panels, left and right, front and back.

The left panels have x = 0 at the middle of the body and y = 0 at the hem before they are moved; the
right ones are their mirror images.
"""

from dataclasses import dataclass

from studies.garments.body_measures import BodyMeasures
from studies.garments.draft import Draft, DraftPanel, Edge, bow, dart, toward

FRONT, BACK = 25.0, -20.0  # [cm] z where front and back panels start


@dataclass(frozen=True)
class Legs:
    """Shape of trousers; lengths in cm."""

    length: float = 0.96  # of the way from crotch to ankle
    hem: float = 38.0  # girth of a leg's hem
    hip_ease: float = 1.06
    waist_ease: float = 1.03
    low: float = 6.0  # they start that far below the place where they are worn


def add_legs(draft: Draft, body: BodyMeasures, shape: Legs) -> None:
    """Add four panels, sewn at the sides, inside legs, crotch and middles.

    Edges: hem, out_low, out_hip, waist_0 (and waist_1, dart_a, dart_b at the back), center,
    crotch, inseam.
    """
    bottom = body.crotch_height - shape.length * (body.crotch_height - body.ankle_height)
    for name, z, outside in (("f", FRONT, 1), ("b", BACK, -1)):
        front = name == "f"
        edges = tuple(_leg(body, shape, bottom, front=front))
        ahead = 5.5 if front else 7.5  # apart, so that the panels of both legs do not overlap
        apart = max(ahead, -min(e.x for e in edges) + 0.5)
        place = (apart, bottom - shape.low, z)
        left = DraftPanel(f"pant_{name}_l", edges, place, outside=outside, label="leg")
        draft.add(left, left.mirror(f"pant_{name}_r"))
        draft.sew(f"pant_{name}_l.center", f"pant_{name}_r.center")
        draft.sew(f"pant_{name}_l.crotch", f"pant_{name}_r.crotch")
    for side in "lr":
        for edge in ("out_low", "out_hip", "inseam"):
            draft.sew(f"pant_f_{side}.{edge}", f"pant_b_{side}.{edge}")
        draft.sew(f"pant_b_{side}.dart_a", f"pant_b_{side}.dart_b")


def waist_edges(front: bool) -> list[str]:
    """Return the edges of the waist from the wearer's left to its right, as ``add_waistband``
    takes them.
    """
    if front:
        return ["pant_f_l.waist_0", "pant_f_r.waist_0"]
    back = ["pant_b_l.waist_0", "pant_b_l.dart_end"]
    return [*back, *(e.replace("_l", "_r") for e in reversed(back))]


def _leg(body: BodyMeasures, shape: Legs, bottom: float, *, front: bool) -> list[Edge]:
    """Return the corners of a left panel."""
    sign = 1.0 if front else -1.0
    waist_y, hip_y = body.waist_height - bottom, body.hips_height - bottom
    crotch_y = body.crotch_height - 1.5 - bottom
    hip = body.hips * shape.hip_ease / 4 - 0.7 * sign
    reach = body.hips * (0.055 if front else 0.08)
    rise = crotch_y + 0.42 * (waist_y - crotch_y)
    waist = body.waist * shape.waist_ease / 4 + 0.4 * sign
    lean = 1.0 if front else 2.5  # of the middle seam, at the waist
    side = max(lean + waist + (0.0 if front else 0.8), hip - (2.0 if front else 1.0))
    if front:
        side = lean + waist
    half = shape.hem / 2 - 0.8 * sign
    middle = (hip - reach) / 2
    inner, outer = middle - half / 2, middle + half / 2
    knee_bow = 0.02 if inner > -reach else 0.0
    corners = [
        Edge(inner, 0.0, "hem"),
        Edge(outer, 0.0, "out_low", bow(-0.01, 0.6)),
        Edge(hip, hip_y, "out_hip", bow(-0.04)),
        Edge(side, waist_y, "waist_0", label="lower_interface"),
    ]
    if not front:
        width = side - lean - waist
        at = 0.5 * (side - lean)
        deep = 0.55 * (waist_y - hip_y)
        cut = dart((side, waist_y), (lean, waist_y), at, width, deep, "dart")
        corners += cut
    return [
        *corners,
        Edge(lean, waist_y, "center"),
        Edge(0.0, rise, "crotch", toward((0.0, rise), (-reach, crotch_y), (0.0, crotch_y), 0.8)),
        Edge(-reach, crotch_y, "inseam", bow(knee_bow, 0.35)),
    ]
