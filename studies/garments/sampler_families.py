"""Families of designs that GarmentCode's sampler draws and ``random_designs`` does not.

``random_designs`` keeps its designs: a family has numbers of its own. The ranges follow
``default.yaml`` of GarmentCode (Korosteleva and Sorkine-Hornung 2023). Later
copies of this file give no waistband in two of three designs. Other families have a low rise,
slits, gathered sleeves, seven necklines or two different halves.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from studies.garments.alterations import (
    ARMHOLES,
    NECKLINES,
    change_armhole,
    change_neckline,
    cut_hem,
    join_halves,
    lower_half,
    open_side,
    tilt_hem,
)
from studies.garments.body_measures import BodyMeasures
from studies.garments.draft import Draft, DraftPanel, Edge, bow
from studies.garments.random_designs import (
    CIRCLE_BACK,
    CIRCLE_FRONT,
    GAP,
    LEVEL_GAP,
    Loop,
    Random,
    add_pair,
    add_waistband,
    highest,
    lowest,
    pair_waist,
    pencil_waist,
    trapezoid,
    turn_chain,
)
from studies.garments.skirts import BACK, FRONT, HIP_EASE, WAIST_EASE, add_pencil, ring
from studies.garments.tops import Bodice, Sleeve, add_bodice, add_cuffs, add_sleeves
from studies.garments.trousers import Legs, add_legs, waist_edges

Family = Callable[[Draft, BodyMeasures, Random], str]
COLLAR_Z = 10.0  # [cm] from the middle of the body to a standing collar at the start
LAPEL_Z = 35.0


def draw_family(family: str, seed: int, number: int, body: BodyMeasures) -> Draft:
    """Draft a design of a family.

    Args:
        family: of ``FAMILIES``.
        seed: of all designs.
        number: of this design.
        body: measures.
    """
    random = np.random.default_rng([seed, number, *family.encode()])
    draft = Draft(f"{family}_{seed}_{number}")
    draft.title = f"{family}: {FAMILIES[family](draft, body, random)}"
    return draft


def _lower_waist(body: BodyMeasures, rise: float) -> BodyMeasures:
    """Return measures whose waist is lower: at a part of the way from the hips to the waist."""
    waist = body.hips + rise * (body.waist - body.hips)
    height = body.hips_height + rise * (body.waist_height - body.hips_height)
    return replace(body, waist=waist, waist_height=height)


def _low_skirt(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a skirt without a waistband that ends below the waist, and starts at the waist."""
    rise = random.uniform(0.5, 1.0)
    low, kind = _lower_waist(body, rise), str(random.choice(["circle", "straight", "pencil"]))
    _add_bottom(draft, low, random, kind, low.waist * WAIST_EASE, body.waist_height)
    return f"{kind}, rise {rise:.2f}"


def _add_bottom(
    draft: Draft, body: BodyMeasures, random: Random, kind: str, girth: float, level: float
) -> Loop:
    """Add a skirt or trousers; return the loop of their waist."""
    length = random.uniform(0.2, 0.4) * body.height
    if kind == "circle":
        edges = ring(girth / 2, length, math.pi * random.uniform(0.2, 0.75))
        add_pair(draft, "skirt", [edges] * 2, level, (CIRCLE_FRONT, CIRCLE_BACK))
    elif kind == "straight":
        wide = max(girth, body.hips * HIP_EASE) / 2
        add_pair(draft, "skirt", [trapezoid(wide, length, random.uniform(0, 20))] * 2, level)
    elif kind == "pencil":
        add_pencil(draft, body, length, level, hem=random.uniform(0.8, 1.4))
        return pencil_waist()
    else:
        add_legs(draft, body, Legs(random.uniform(0.2, 0.9), low=body.waist_height - level))
        return [*waist_edges(True), *turn_chain(waist_edges(False))]
    return pair_waist("skirt")


def _loose_dress(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a shirt without darts, gathered into a waistband or into what hangs below."""
    ease, flare = random.uniform(1.05, 1.3), random.uniform(-4.0, 8.0)
    shape = Bodice(ease=ease, flare=flare, hem=random.uniform(0.0, 12.0), neck=4.0, back_neck=4.0)
    add_bodice(draft, body, shape)
    kind = str(random.choice(["circle", "straight", "pencil", "trousers"]))
    front = ["-left_ftorso.hem", "-right_ftorso.hem"]
    above = [*front, *turn_chain([e.replace("ftorso", "btorso") for e in front])]
    girth, level = body.waist * WAIST_EASE, draft.panels["left_ftorso"].place[1] - GAP
    band = random.random() < 0.5
    if band:
        above, girth, level = add_waistband(draft, body, "straight", 0.2, (above, girth, level))
    below = _add_bottom(draft, body, random, kind, girth, level)
    draft.sew_chains(above, below)
    return f"ease {ease:.2f}, {kind}{', waistband' * band}"


def _cuffed_trousers(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add trousers without a waistband, with a low rise, and cuffs, flared pieces or both."""
    rise, length = random.uniform(0.6, 1.0), random.uniform(0.25, 0.75)
    at = body.thigh + (0.4 * body.hips - body.thigh) * length
    wide = at * random.uniform(1.1, 1.5)
    low = _lower_waist(body, rise)
    add_legs(draft, low, Legs(length, hem=wide, low=body.waist_height - low.waist_height))
    kind = str(random.choice(["band", "flare", "band and flare"]))
    tall = random.uniform(0.05, 0.2) * body.crotch_height
    gather = random.uniform(1.0, 1.6)
    ends = {part: f"pant_{part}_l" for part in "fb"}
    pieces = [("cuff", 0.0)] * kind.startswith("band")
    pieces += [("frill", random.uniform(0.0, 0.5))] * kind.endswith("flare")
    for name, flare in pieces:
        for part, end in ends.items():
            base = draft.panels[end]
            hem = base.edge_length("hem") / (gather if name == "cuff" else 1.0)
            middle = _middle(base, "hem")
            edges = trapezoid(hem, tall, flare * hem / 2)
            down = min(e.y for e in base.edges)
            place = (base.place[0] + middle, base.place[1] + down - LEVEL_GAP, base.place[2])
            left = DraftPanel(f"{name}_{part}_l", tuple(edges), place, outside=base.outside)
            draft.add(left, left.mirror(f"{name}_{part}_r"))
            for side in "lr":
                draft.sew(f"{end[:-1]}{side}.hem", f"{name}_{part}_{side}.waist")
        for side in "lr":
            for edge in ("left", "right"):
                draft.sew(f"{name}_f_{side}.{edge}", f"{name}_b_{side}.{edge}")
        ends = {part: f"{name}_{part}_l" for part in "fb"}
    return f"rise {rise:.2f}, {length:.2f}, {kind}"


def _middle(panel: DraftPanel, edge: str) -> float:
    """Return x in the middle of an edge."""
    i = panel.names().index(edge)
    return (panel.edges[i].x + panel.edges[(i + 1) % len(panel.edges)].x) / 2


def _slit_skirt(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a skirt with slits: in its hem, or in its side seams."""
    level, girth = body.waist_height, body.waist * WAIST_EASE
    kind = str(random.choice(["circle", "straight", "pencil"]))
    above, girth, level = add_waistband(draft, body, "fitted", 0.25, ([], girth, level))
    low = _lower_waist(body, 0.75)
    draft.sew_chains(above, _add_bottom(draft, low, random, kind, girth, level))
    panel = str(random.choice(["skirt_front", "skirt_back"]))
    base = draft.panels[panel]
    tall = highest(base.edges) - min(e.y for e in base.edges)
    depth = random.uniform(0.2, 0.7)
    if kind == "circle":
        cut_hem(draft, panel, random.random(), random.uniform(0.05, 0.4) * tall, 0.8 * depth * tall)
    else:
        for side in ("left", "right"):
            edge = side if kind == "straight" else f"{side}_low"
            open_side(draft, f"skirt_front.{edge}", f"skirt_back.{edge}", depth)
    return f"{kind}, {depth:.2f}"


def _tilted_skirt(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a pencil skirt whose hem is not level, and levels below it."""
    low, angle = _lower_waist(body, random.uniform(0.7, 1.0)), random.uniform(-30.0, 30.0)
    length, level = random.uniform(0.18, 0.3) * body.height, body.waist_height
    add_pencil(draft, low, length, level, hem=1.1)
    panels = ["skirt_front", "skirt_back"]
    tilt_hem(draft, panels, angle)
    count, ruffle = int(random.integers(0, 3)), random.uniform(1.0, 1.7)
    above, edge, down = panels, "hem_0", level - length
    for k in range(count):
        wide = ruffle * draft.panels[above[0]].edge_length(edge)
        edges = list(ring(wide, 14.0, math.pi * random.uniform(0.3, 0.7)))
        down += -LEVEL_GAP - highest(edges)
        turn = (0.0, 0.0, angle)
        for side, z, outside in (("front", FRONT, 1), ("back", BACK, -1)):
            at = (0.0, down, z)
            draft.add(DraftPanel(f"level{k}_{side}", tuple(edges), at, turn, outside, "leg"))
        for name in ("left", "right"):
            draft.sew(f"level{k}_front.{name}", f"level{k}_back.{name}")
        below = [f"level{k}_front", f"level{k}_back"]
        for a, b in zip(above, below):
            draft.sew(f"{a}.{edge}", f"{b}.waist")
        down += lowest(edges)
        above, edge = below, "hem"
    return f"{angle:.0f} degrees, {count} levels"


def _gathered_sleeves(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a shirt with sleeves gathered into deep armholes, and cuffs narrower than the sleeves."""
    fitted = bool(random.random() < 0.5)
    gather, deep = random.uniform(1.0, 1.8), random.uniform(0.0, 8.0)
    shape = Bodice(random.uniform(1.05, 1.2), 12.0, neck=3.0, armhole=deep, fitted=fitted)
    add_bodice(draft, body, shape)
    hole = min(draft.panels[f"left_{part}torso"].edge_length("armhole") for part in "fb")
    long = gather * hole / Sleeve.cap.length(1.0)  # from end to end of the cap
    wide = random.uniform(0.7, 0.9) * long  # of a panel; the rest is the height of the cap
    length = random.uniform(0.1, 0.6) + math.sqrt(long**2 - wide**2) / body.arm_length
    end = random.uniform(1.2, 3.0)
    sleeve = Sleeve(length, 2 * wide / body.upper_arm, end, gather=gather, flared=True)
    add_sleeves(draft, body, sleeve)
    cuffs = bool(random.random() < 0.6)
    if cuffs:
        tight = max(1.15 / end, 1 / random.uniform(1.0, 3.0))
        add_cuffs(draft, body, random.uniform(0.05, 0.15) * body.arm_length, min(tight, 1.0))
    return f"gather {gather:.2f}, {length:.2f}, end {end:.2f}{', cuffs' * cuffs}"


def _necklines(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a top with another neckline in front and at the back, and other armholes."""
    _add_half(draft, body, random, depths=(random.uniform(8, 20), random.uniform(2, 16)))
    return draft.title


def _add_half(
    draft: Draft, body: BodyMeasures, random: Random, depths: tuple[float, float]
) -> None:
    """Add a top, perhaps with sleeves; its necklines end at ``depths`` in front and behind."""
    front, back = (str(random.choice(NECKLINES)) for _ in range(2))
    hole = str(random.choice(ARMHOLES))
    bare = bool(random.random() < 0.5)
    shape = Bodice(
        ease=random.uniform(1.05, 1.25),
        hem=14.0,
        neck=random.uniform(0.5, 6.0),
        front_neck=depths[0],
        back_neck=depths[1],
    )
    add_bodice(draft, body, shape)
    if not bare:
        add_sleeves(draft, body, Sleeve(random.uniform(0.2, 0.8), random.uniform(1.2, 1.5)))
    for part, kind in (("f", front), ("b", back)):
        name = f"left_{part}torso"
        left = change_neckline(draft.panels[name], kind, random.uniform(70.0, 110.0))[0]
        left = change_armhole(left, hole) if bare else left
        draft.add(left, left.mirror(name.replace("left", "right")))
    draft.title = f"{front} and {back}, {f'{hole} armhole' if bare else 'sleeves'}"


def _two_halves(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a top whose left half is not the mirror image of its right one."""
    depths = random.uniform(8.0, 18.0), random.uniform(3.0, 14.0)
    halves = [Draft("left"), Draft("right")]
    for half in halves:
        _add_half(half, body, random, depths)
    told = f"left {halves[0].title}; right {halves[1].title}"
    if random.random() < 0.4:  # one half ends below the shoulder
        bare = Draft("left")
        shape = Bodice(hem=14.0, front_neck=depths[0], back_neck=depths[1])
        add_bodice(bare, body, shape)
        halves[0] = Draft("left")
        for part in "fb":
            halves[0].add(lower_half(bare.panels[f"left_{part}torso"], 2.0))
        halves[0].sew("left_ftorso.side", "left_btorso.side")
        told = f"left without shoulder; right {halves[1].title}"
    join_halves(draft, halves[0], halves[1], ("ftorso", "btorso"))
    return told


def _collared(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a shirt with a standing collar of four panels, or with lapels that lie on the front."""
    lapel, tall = bool(random.random() < 0.5), random.uniform(3.0, 8.0)
    deep = random.uniform(9.0, 18.0) if lapel else random.uniform(6.0, 9.0)
    add_bodice(draft, body, Bodice(1.12, 16.0, neck=random.uniform(0.5, 2.0), front_neck=deep))
    add_sleeves(draft, body, Sleeve(random.uniform(0.25, 0.9), 1.3))
    kind = str(random.choice(["V", "bow", "arc"])) if lapel else "circle"
    name = "left_ftorso"
    left = change_neckline(draft.panels[name], kind)[0]
    draft.add(left, left.mirror("right_ftorso"))
    front, back = (draft.panels[f"left_{part}torso"].edge_length("neck") for part in "fb")
    level = body.neck_height + tall
    _add_quarter(draft, "b", back, tall, level, -COLLAR_Z)
    if lapel:
        edges = (
            Edge(0.0, 0.0, "side"),
            Edge(-tall, 0.0, "neck_edge"),
            Edge(-tall, -front, "outer", bow(-0.2, 0.3)),
        )
        left = DraftPanel("left_collar_f", edges, (2 * tall, level + tall, LAPEL_Z))
        draft.add(left, left.mirror("right_collar_f"))
    else:
        _add_quarter(draft, "f", front, tall, level, COLLAR_Z)
        draft.sew("right_collar_f.center", "left_collar_f.center")
    draft.sew("right_collar_b.center", "left_collar_b.center")
    draft.sew_sides("left_collar_f.side", "left_collar_b.side", right_wrong=lapel)
    draft.sew_sides("left_collar_f.neck_edge", "left_ftorso.neck", right_wrong=lapel)
    draft.sew_sides("left_collar_b.neck_edge", "left_btorso.neck")
    return f"{'lapels' if lapel else 'standing collar'} of {tall:.1f} cm, {kind}"


def _add_quarter(draft: Draft, part: str, long: float, tall: float, level: float, z: float) -> None:
    """Add a quarter of a standing collar on either side."""
    edges = (
        Edge(0.0, -tall, "neck_edge"),
        Edge(long, -tall, "side"),
        Edge(long, 0.0, "upper"),
        Edge(0.0, 0.0, "center"),
    )
    left = DraftPanel(f"left_collar_{part}", edges, (0.0, level, z), outside=1 if z > 0 else -1)
    draft.add(left, left.mirror(f"right_collar_{part}"))


def _many_godets(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a straight skirt whose hem is cut up for four to twelve triangles, in a row below it."""
    count = int(random.choice([2, 3, 4, 5, 6]))  # of each side
    wide, tall = random.uniform(10.0, 35.0), random.uniform(12.0, 30.0)
    apart, length = random.uniform(0.5, 10.0), random.uniform(0.25, 0.36) * body.height
    half = body.hips * HIP_EASE / 2
    level, girth = body.waist_height, body.waist * WAIST_EASE
    above, girth, level = add_waistband(draft, body, "fitted", 0.3, ([], girth, level))
    edges = trapezoid(half, length, 4.0)
    start, end = edges[1], edges[2]
    leg = math.hypot(wide / 2, tall)
    cut = min(max((end.x - start.x) / count - apart, 1.0), 1.6 * leg)
    deep = math.sqrt(leg**2 - (cut / 2) ** 2)
    if deep > 0.7 * length:
        tall *= 0.7 * length / deep
        leg = math.hypot(wide / 2, tall)
        deep = math.sqrt(max(leg**2 - (cut / 2) ** 2, 1.0))
    hem = [Edge(start.x, start.y, "hem")]
    for k in range(count):
        x = start.x + (k + 0.5) * (end.x - start.x) / count
        hem += [
            Edge(x - cut / 2, start.y, f"slit{k}_a"),
            Edge(x, start.y + deep, f"slit{k}_b"),
            Edge(x + cut / 2, start.y, f"hem_{k}"),
        ]
    edges[1:2] = hem
    add_pair(draft, "skirt", [edges] * 2, level)
    draft.sew_chains(above, pair_waist("skirt"))
    for side, z, outside in (("front", FRONT + 5, 1), ("back", BACK - 5, -1)):
        for k in range(count):
            triangle = (
                Edge(-wide / 2, -tall, "hem"),
                Edge(wide / 2, -tall, "b"),
                Edge(0.0, 0.0, "a"),
            )
            at = ((k + 0.5 - count / 2) * wide, level - length + tall, z)
            name = f"insert_{side}_{k}"
            draft.add(DraftPanel(name, triangle, at, outside=outside, label="leg"))
            for leg_name in ("a", "b"):
                draft.sew(f"skirt_{side}.slit{k}_{leg_name}", f"{name}.{leg_name}")
    return f"{2 * count} of {wide:.0f} x {tall:.0f} cm"


def _low_levels(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a straight skirt without a waistband, and one to four levels of circles below it."""
    low, count = _lower_waist(body, random.uniform(0.5, 1.0)), int(random.integers(1, 5))
    ruffle, total = random.uniform(1.0, 1.7), random.uniform(0.25, 0.4) * body.height
    level, wide = body.waist_height, max(low.waist, body.hips * HIP_EASE) / 2
    length, above = random.uniform(0.25, 0.6) * total, ""
    rest = (total - length) / count
    for k in range(count + 1):
        name = f"skirt{k}"
        edges = list(ring(wide, rest, math.pi * random.uniform(0.3, 0.9)))
        edges = edges if k else trapezoid(wide, length, 3.0)
        level -= (LEVEL_GAP + highest(edges)) if k else 0.0
        add_pair(draft, name, [edges] * 2, level)
        if above:
            for side in ("front", "back"):
                draft.sew(f"{above}_{side}.hem", f"{name}_{side}.waist")
        level, above = level + lowest(edges), name
        wide = ruffle * draft.panels[f"{name}_front"].edge_length("hem")
    return f"{count} levels, {ruffle:.2f}"


def _curved_panels(draft: Draft, body: BodyMeasures, random: Random) -> str:
    """Add a skirt of four to fifteen panels with curved sides, without a waistband."""
    count, curve = int(random.integers(4, 16)), random.uniform(-0.3, 0.4)
    length, suns = random.uniform(0.2, 0.36) * body.height, random.uniform(0.3, 1.2)
    waist = body.waist * WAIST_EASE / count
    hem = waist + 2 * math.pi * suns * length / count
    far = max(body.waist / 4 + 3.0, 0.6 * waist / math.tan(math.pi / count))
    edges = trapezoid(waist, length, (hem - waist) / 2)
    bend = bow(0.3 * curve * (hem - waist) / 2 / length, 0.6)
    edges[0], edges[2] = (
        replace(edges[0], curve=bend),
        replace(edges[2], curve=bend.reverse().mirror()),
    )
    for k in range(count):
        angle = math.pi / 2 - 2 * math.pi * (k + 0.5) / count
        place = (far * math.sin(angle), body.waist_height, far * math.cos(angle))
        turn = (0.0, (math.degrees(angle) + 180) % 360 - 180, 0.0)
        draft.add(DraftPanel(f"skirt_{k}", tuple(edges), place, turn, label="leg"))
    for k in range(count):
        draft.sew(f"skirt_{k}.right", f"skirt_{(k + 1) % count}.left")
    return f"{count}, {suns:.2f} suns, curve {curve:.2f}"


FAMILIES: dict[str, Family] = {
    "low-skirt": _low_skirt,
    "loose-dress": _loose_dress,
    "necklines": _necklines,
    "gathered-sleeves": _gathered_sleeves,
    "cuffed-trousers": _cuffed_trousers,
    "slit-skirt": _slit_skirt,
    "collared": _collared,
    "two-halves": _two_halves,
    "low-levels": _low_levels,
    "tilted-skirt": _tilted_skirt,
    "many-godets": _many_godets,
    "curved-panels": _curved_panels,
}
