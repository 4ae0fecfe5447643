"""Designs drawn at random: the families of GarmentCode with random parameters.

A design is a top, a bottom or both, with or without a waistband. Around the body, the edges of a
waist or a hem are a loop: from the wearer's left over the front to the right, and over the back to
the left again; ``-PANEL.EDGE`` is an edge from its end to its start.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from studies.garments.body_measures import BodyMeasures
from studies.garments.draft import Curve, Draft, DraftPanel, Edge, arc
from studies.garments.skirts import BACK, FRONT, HIP_EASE, WAIST_EASE, add_pencil, ring
from studies.garments.tops import (
    LOW,
    Bodice,
    Sleeve,
    add_band,
    add_bodice,
    add_collar,
    add_cuffs,
    add_hood,
    add_sleeves,
)
from studies.garments.trousers import Legs, add_legs, waist_edges

GAP = 3.0  # [cm] between parts that are sewn to each other, at the start
LEVEL_GAP = 5.0  # [cm] between the levels of a skirt
CIRCLE_FRONT, CIRCLE_BACK = 15.0, -15.0  # [cm] z where the panels of circle skirts start
Random = np.random.Generator
Loop = list[str]


def draw_design(seed: int, number: int, body: BodyMeasures) -> Draft:
    """Draft a design drawn at random.

    Args:
        seed: of all designs.
        number: of this design.
        body: measures.
    """
    random = np.random.default_rng([seed, number])
    parts = [(True, False), (False, True), (True, True)]
    top, bottom = parts[random.choice(3, p=[0.3, 0.35, 0.35])]
    draft = Draft(f"random_{seed}_{number}")
    names, above, girth = [], Loop(), body.waist * WAIST_EASE
    level = body.waist_height - LOW
    if top:
        fitted = bool(bottom or random.random() < 0.4)
        names.append(_add_top(draft, body, random, fitted=fitted, alone=not bottom))
        if bottom:
            above = bodice_waist()
            girth, level = girth_of(draft, above), draft.panels["left_ftorso"].place[1] - GAP
    if bottom:
        kind = str(random.choice(list(BOTTOMS), p=SHARES))
        shaped = kind in ("pencil", "godets", "trousers")  # from the waist to the hips
        band = str(random.choice(["straight", "fitted", "none"], p=[0.4, 0.4, 0.2]))
        if not top or (band != "none" and not shaped):
            band = "straight" if band == "none" or shaped else band
            tall = random.uniform(0.15, 0.25 if shaped else 0.6)
            level += shaped * tall * (body.waist_height - body.hips_height)
            above, girth, level = add_waistband(draft, body, band, tall, (above, girth, level))
            names.append(f"{band} waistband")
        below, told = BOTTOMS[kind](draft, body, random, girth, level)
        draft.sew_chains(above, below)
        names.append(f"{kind} {told}".strip())
    draft.title = ", ".join(names)
    return draft


def _add_top(draft: Draft, body: BodyMeasures, random: Random, *, fitted: bool, alone: bool) -> str:
    """Add a top with a neck, and perhaps sleeves, cuffs, a collar or a hood; return its name."""
    end = str(random.choice(["none", "collar", "hood"], p=[0.6, 0.2, 0.2]))
    wide = random.uniform(0.5, 3.5 if end == "hood" else 6.0)
    deep = 6.0 + 1.2 * wide if end != "none" else random.uniform(7.0, 18.0)
    bare = bool(random.random() < 0.3)
    strapless = bool(fitted and bare and end == "none" and random.random() < 0.4)
    shape = Bodice(
        ease=random.uniform(1.03, 1.1) if fitted else random.uniform(1.06, 1.35),
        hem=random.uniform(0.0, 28.0),
        neck=wide,
        front_neck=deep,
        back_neck=2.5 if end != "none" else random.uniform(2.0, 10.0),
        shoulder=random.uniform(0.0, 3.0) if bare else 0.0,
        fitted=fitted,
        waist_ease=random.uniform(1.03, 1.1),
        open_front=bool(end == "collar" and alone and not fitted and random.random() < 0.4),
        strapless=strapless,
    )
    add_bodice(draft, body, shape)
    name = f"{'strapless' if strapless else 'fitted' if fitted else 'loose'} top"
    if not bare:
        name += f", {_add_sleeves(draft, body, random)}"
    if end == "collar":
        add_collar(draft, random.uniform(3.0, 7.0))
    elif end == "hood":
        add_hood(draft, body)
    if not fitted and alone and not shape.open_front and random.random() < 0.3:
        add_band(draft, random.uniform(4.0, 9.0), random.uniform(0.8, 1.0))
        name += ", band"
    return name + (f", {end}" if end != "none" else "")


def _add_sleeves(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add sleeves, perhaps with cuffs or flared cuffs."""
    shape = Sleeve(
        length=random.uniform(0.22, 0.95),
        ease=random.uniform(1.15, 1.6),
        cuff=random.uniform(1.2, 2.2),
    )
    add_sleeves(draft, body, shape)
    cuff = str(random.choice(["none", "band", "flare", "band and flare"], p=[0.5, 0.2, 0.15, 0.15]))
    ends = {part: f"left_sleeve_{part}.hem" for part in "fb"}
    if cuff.startswith("band"):
        add_cuffs(draft, body, random.uniform(2.0, 10.0))
        ends = {part: f"left_cuff_{part}.hem" for part in "fb"}
    if cuff.endswith("flare"):
        room = (1.1 - shape.length) * body.arm_length
        long = random.uniform(4.0, max(6.0, min(22.0, room)))
        _add_flares(draft, body, ends, long, random.uniform(1.1, 2.0))
    return f"sleeves {shape.length:.2f}" + ("" if cuff == "none" else f" with {cuff}")


def _add_flares(
    draft: Draft, body: BodyMeasures, ends: dict[str, str], long: float, flare: float
) -> None:
    """Add a flared piece at the lower end of each sleeve: a front and a back panel."""
    angle = math.radians(body.arm_angle)
    for part, end in ends.items():
        panel = draft.panels[end.split(".")[0]]
        wide = panel.edge_length("hem")
        more = (flare - 1) * wide / 2
        edges = (
            Edge(0.0, 0.0, "top"),
            Edge(-long, -more, "upper"),
            Edge(-long, -more - wide, "under"),
            Edge(0.0, -wide - 2 * more, "hem"),
        )
        far, (x, y, z) = long + GAP, panel.place
        up = (more * math.sin(angle), more * math.cos(angle))
        place = (
            x + far * math.cos(angle) + up[0],
            y - far * math.sin(angle) + up[1],
            z,
        )
        name = f"left_flare_{part}"
        left = DraftPanel(name, edges, place, panel.turn, panel.outside, "arm")
        draft.add(left, left.mirror(name.replace("left", "right")))
        draft.sew_sides(f"{name}.upper", end)
    draft.sew_sides("left_flare_f.top", "left_flare_b.top")
    draft.sew_sides("left_flare_f.under", "left_flare_b.under")


def add_waistband(
    draft: Draft,
    body: BodyMeasures,
    kind: str,
    part: float,
    above: tuple[Loop, float, float],
) -> tuple[Loop, float, float]:
    """Add a waistband of two rectangles, or of two sectors of a ring for a fitted one.

    Args:
        draft: to add to.
        body: measures.
        kind: straight or fitted.
        part: height over the distance from waist to hips.
        above: loop of edges above, or none, its girth and height [cm].

    Returns:
        The same of its lower edges.
    """
    loop, girth, level = above
    height = part * (body.waist_height - body.hips_height)
    lower = girth + part * max(body.hips * HIP_EASE - girth, 0.02 * girth)
    if kind == "straight":
        lower = girth if loop else lower  # it has to be as wide as the body at its lower edge
        girth = lower
        halves: list[Sequence[Edge]] = [rectangle(girth / 2, height)] * 2
    else:
        halves = [ring(girth / 2, height, (lower - girth) / 2 / height)] * 2
    for side, edges, z, outside in (
        ("front", halves[0], FRONT - 5, 1),
        ("back", halves[1], BACK + 5, -1),
    ):
        place = (0.0, level, z)
        draft.add(DraftPanel(f"wb_{side}", tuple(edges), place, outside=outside))
    for edge in ("left", "right"):
        draft.sew(f"wb_front.{edge}", f"wb_back.{edge}")
    if loop:
        draft.sew_chains(loop, ["wb_front.waist", "-wb_back.waist"])
    return ["-wb_front.hem", "wb_back.hem"], lower, level - height - GAP


def rectangle(wide: float, tall: float) -> list[Edge]:
    """Return the corners of a rectangle, named as those of a sector of a ring."""
    return [
        Edge(-wide / 2, 0.0, "right"),
        Edge(-wide / 2, -tall, "hem"),
        Edge(wide / 2, -tall, "left"),
        Edge(wide / 2, 0.0, "waist", label="lower_interface"),
    ]


def add_pair(
    draft: Draft,
    name: str,
    pieces: Sequence[Sequence[Edge]],
    level: float,
    z: tuple[float, float] = (FRONT, BACK),
) -> None:
    """Add a front and a back panel that are sewn to each other at both sides."""
    for side, edges, at, outside in zip(("front", "back"), pieces, z, (1, -1)):
        place = (0.0, level, at)
        draft.add(DraftPanel(f"{name}_{side}", tuple(edges), place, (0, 0, 0), outside, "leg"))
    for edge in ("left", "right"):
        draft.sew(f"{name}_front.{edge}", f"{name}_back.{edge}")


def pair_waist(name: str) -> Loop:
    """Return the waist of a front and a back panel."""
    return [f"{name}_front.waist", f"-{name}_back.waist"]


def _circle(
    draft: Draft, body: BodyMeasures, random: Random, girth: float, level: float
) -> tuple[Loop, str]:
    """Add a skirt of two sectors of a ring, together up to nearly two whole circles."""
    length = random.uniform(0.12, 0.42) * body.height
    suns = random.uniform(0.15, 1.9)
    add_pair(
        draft,
        "skirt",
        [ring(girth / 2, length, math.pi * suns)] * 2,
        level,
        (CIRCLE_FRONT, CIRCLE_BACK),
    )
    return pair_waist("skirt"), f"{suns:.2f}"


def _asymmetric(
    draft: Draft, body: BodyMeasures, random: Random, girth: float, level: float
) -> tuple[Loop, str]:
    """Add two sectors whose hem is higher in front than at the back."""
    side = random.uniform(0.2, 0.36) * body.height
    rise = random.uniform(0.1, 0.45) * side
    angle = math.pi * random.uniform(0.3, 1.2)
    pieces = []
    for lower in (-rise, rise):
        edges = list(ring(girth / 2, side, angle))
        start, end = edges[1], edges[2]
        inner = girth / 2 / angle
        down = inner * math.cos(angle / 2) - (inner + side + lower)
        edges[1] = replace(start, curve=_arc_through(start, (0.0, down), end))
        pieces.append(edges)
    add_pair(draft, "skirt", pieces, level, (CIRCLE_FRONT, CIRCLE_BACK))
    return pair_waist("skirt"), f"{angle / math.pi:.2f}"


def _arc_through(start: Edge, middle: tuple[float, float], end: Edge) -> Curve | None:
    """Return the arc from ``start`` through a point below the middle to ``end``."""
    half, deep = abs(end.x - start.x) / 2, start.y - middle[1]
    if abs(deep) < 0.01 * half:
        return None
    radius = (half**2 + deep**2) / (2 * abs(deep))
    return arc(radius, right=deep > 0, large=abs(deep) > half)


def _levels(
    draft: Draft, body: BodyMeasures, random: Random, girth: float, level: float
) -> tuple[Loop, str]:
    """Add a short skirt with one to four levels sewn below one another."""
    total = random.uniform(0.22, 0.42) * body.height
    count, ruffle = int(random.integers(1, 5)), random.uniform(1.0, 1.7)
    short = random.uniform(0.2, 0.6) * total
    circle = bool(random.random() < 0.5)
    suns = random.uniform(0.3, 1.0)
    above: tuple[str, str] | None = None
    for k in range(count + 1):
        name = f"skirt{k}"
        length = short if k == 0 else (total - short) / count
        wide = girth / 2 if above is None else ruffle * draft.panels[above[0]].edge_length("hem")
        if k == 0 or circle:
            part = suns if k == 0 else min(suns, 0.9)
            edges = list(ring(wide, length, math.pi * part))
        else:
            edges = trapezoid(wide, length, random.uniform(0.0, 8.0))
        if above is not None:
            level = draft.panels[above[0]].place[1] - LEVEL_GAP
            level += min(lowest(draft.panels[n].edges) for n in above) - highest(edges)
        add_pair(draft, name, [edges] * 2, level, (CIRCLE_FRONT, CIRCLE_BACK))
        if above is not None:
            draft.sew(f"{above[0]}.hem", f"{name}_front.waist")
            draft.sew(f"{above[1]}.hem", f"{name}_back.waist")
        above = f"{name}_front", f"{name}_back"
    return pair_waist("skirt0"), f"{count} {'circles' if circle else 'trapezoids'}, {ruffle:.2f}"


def lowest(edges: Sequence[Edge]) -> float:
    """Return y [cm] of the lowest point of a hem."""
    hem = next(e for e in edges if e.name == "hem")
    if hem.curve is None or not hem.curve.radius:
        return min(e.y for e in edges)
    end = edges[(edges.index(hem) + 1) % len(edges)]
    half = abs(end.x - hem.x) / 2
    off = math.sqrt(max(hem.curve.radius**2 - half**2, 0.0))
    return hem.y - hem.curve.radius + (-off if hem.curve.large else off)


def highest(edges: Sequence[Edge]) -> float:
    """Return y [cm] of the highest corner."""
    return max(e.y for e in edges)


def trapezoid(waist: float, length: float, flare: float) -> list[Edge]:
    """Return the corners of a straight panel that is wider at its hem by ``flare`` [cm] a side."""
    edges = rectangle(waist, length)
    for k, sign in ((1, -1), (2, 1)):
        edges[k] = replace(edges[k], x=edges[k].x + sign * flare)
    return edges


def _straight(
    draft: Draft, body: BodyMeasures, random: Random, girth: float, level: float
) -> tuple[Loop, str]:
    """Add a gathered skirt of two trapezoids."""
    wide = max(girth * random.uniform(1.0, 1.8), body.hips * HIP_EASE) / 2
    length, flare = random.uniform(0.2, 0.4) * body.height, random.uniform(0.0, 20.0)
    add_pair(draft, "skirt", [trapezoid(wide, length, flare)] * 2, level)
    return pair_waist("skirt"), f"{2 * wide / girth:.2f}"


def _panels(
    draft: Draft, body: BodyMeasures, random: Random, girth: float, level: float
) -> tuple[Loop, str]:
    """Add a skirt of four to twelve panels that stand around the body."""
    count = int(random.integers(4, 13))
    length, suns = random.uniform(0.25, 0.42) * body.height, random.uniform(0.25, 0.9)
    waist = girth / count
    hem = waist + 2 * math.pi * suns * length / count
    far = max(body.waist / 4 + 3.0, 0.6 * waist / math.tan(math.pi / count))
    edges = [replace(e, x=e.x - waist / 2) for e in trapezoid(waist, length, (hem - waist) / 2)]
    edges = [replace(e, x=e.x + waist / 2) for e in edges]
    for k in range(count):
        angle = math.pi / 2 - 2 * math.pi * (k + 0.5) / count
        place = (far * math.sin(angle), level, far * math.cos(angle))
        turn = (0.0, (math.degrees(angle) + 180) % 360 - 180, 0.0)
        draft.add(DraftPanel(f"skirt_{k}", tuple(edges), place, turn, label="leg"))
    for k in range(count):
        draft.sew(f"skirt_{k}.right", f"skirt_{(k + 1) % count}.left")
    return [f"skirt_{k}.waist" for k in range(count)], f"{count}, {suns:.2f}"


def _pencil(
    draft: Draft, body: BodyMeasures, random: Random, girth: float, level: float
) -> tuple[Loop, str]:
    """Add a fitted skirt with darts."""
    length, hem = random.uniform(0.2, 0.42) * body.height, random.uniform(0.9, 1.5)
    add_pencil(draft, body, length, level, hem=hem)
    return pencil_waist(), ""


def _godets(
    draft: Draft, body: BodyMeasures, random: Random, girth: float, level: float
) -> tuple[Loop, str]:
    """Add a fitted skirt with triangles set into its hem."""
    length = random.uniform(0.3, 0.4) * body.height
    add_pencil(draft, body, length, level, hem=1.0, godets=(-0.5, 0.5))
    return pencil_waist(), ""


def pencil_waist() -> Loop:
    """Return the waist of a fitted skirt."""
    front = [f"skirt_front.waist_{k}" for k in range(3)]
    return [*front, *(f"-skirt_back.waist_{k}" for k in reversed(range(3)))]


def _trousers(
    draft: Draft, body: BodyMeasures, random: Random, girth: float, level: float
) -> tuple[Loop, str]:
    """Add trousers."""
    length = random.uniform(0.2, 0.96)
    at = body.thigh + (0.4 * body.hips - body.thigh) * length
    shape = Legs(
        length=length,
        hem=at * random.uniform(1.1, 1.6),
        hip_ease=random.uniform(1.05, 1.15),
        low=body.waist_height - level,
    )
    add_legs(draft, body, shape)
    return [*waist_edges(True), *turn_chain(waist_edges(False))], f"{length:.2f}"


def turn_chain(chain: Sequence[str]) -> Loop:
    """Return a chain from its other end."""
    return [e[1:] if e.startswith("-") else f"-{e}" for e in reversed(chain)]


def bodice_waist() -> Loop:
    """Return the waist of a fitted bodice."""
    front, back = (
        [
            f"-left_{part}torso.waist_dart_end",
            f"-left_{part}torso.waist_in",
            f"-right_{part}torso.waist_in",
            f"-right_{part}torso.waist_dart_end",
        ]
        for part in "fb"
    )
    return [*front, *turn_chain(back)]


def girth_of(draft: Draft, loop: Loop) -> float:
    """Return the length [cm] of a loop of edges."""
    edges = [e.lstrip("-").split(".") for e in loop]
    return sum(draft.panels[panel].edge_length(edge) for panel, edge in edges)


SHARES = (0.2, 0.12, 0.2, 0.1, 0.14, 0.08, 0.06, 0.1)  # of the kinds of bottoms
BOTTOMS: dict[str, Callable[[Draft, BodyMeasures, Random, float, float], tuple[Loop, str]]] = {
    "circle": _circle,
    "asymmetric": _asymmetric,
    "levels": _levels,
    "straight": _straight,
    "panels": _panels,
    "pencil": _pencil,
    "godets": _godets,
    "trousers": _trousers,
}
