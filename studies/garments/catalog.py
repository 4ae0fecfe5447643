"""The twenty garments: each is a function of a body's measures."""

from collections.abc import Callable

from studies.garments.body_measures import BodyMeasures
from studies.garments.draft import Draft
from studies.garments.skirts import (
    add_circle,
    add_pencil,
    add_waistband,
)
from studies.garments.tops import (
    LOW,
    Bodice,
    Sleeve,
    add_bodice,
    add_sleeves,
)
from studies.garments.trousers import Legs, add_legs, waist_edges

GAP = 3.0  # [cm] between a bodice and what hangs on it, at the start


def tee(body: BodyMeasures) -> Draft:
    """Draft a shirt with short sleeves."""
    draft = Draft("tee")
    add_bodice(draft, body, Bodice())
    add_sleeves(draft, body, Sleeve(length=0.4))
    return draft


def strap_dress(body: BodyMeasures) -> Draft:
    """Draft a dress with straps of 3 cm and a wide skirt."""
    draft = Draft("strap_dress")
    straps = Bodice(
        ease=1.04, fitted=True, neck=4.2, shoulder=6.2, front_neck=15, back_neck=13, armhole=1
    )
    add_bodice(draft, body, straps)
    _hang_circle(draft, body, 0.36 * body.height, 0.45)
    return draft


def pencil_skirt(body: BodyMeasures) -> Draft:
    """Draft a fitted skirt with darts."""
    draft = Draft("pencil_skirt")
    add_pencil(draft, body, 0.34 * body.height, body.waist_height - 3.0)
    return draft


def trousers(body: BodyMeasures) -> Draft:
    """Draft trousers with a waistband."""
    draft = Draft("trousers")
    add_legs(draft, body, Legs(hem=0.4 * body.hips))
    _band_of_legs(draft, body, Legs().low)
    return draft


def jumpsuit(body: BodyMeasures) -> Draft:
    """Draft trousers in one piece with a bodice with long sleeves."""
    draft = Draft("jumpsuit")
    add_bodice(draft, body, Bodice(ease=1.08, fitted=True, waist_ease=1.08))
    add_sleeves(draft, body, Sleeve())
    add_legs(draft, body, Legs(hem=0.4 * body.hips, waist_ease=1.08, low=LOW + 2 * GAP + 2))
    for part in "fb":
        chain = waist_edges(part == "f")
        half = len(chain) // 2
        for side in ("left", "right"):
            bodice = [f"-{side}_{part}torso.waist_dart_end", f"-{side}_{part}torso.waist_in"]
            if side == "left":
                draft.sew_chains(bodice, chain[:half])
            else:
                draft.sew_chains(bodice[::-1], chain[half:])
    return draft


def _hang_circle(draft: Draft, body: BodyMeasures, length: float, suns: float) -> None:
    """Add a skirt of two sectors of a ring to a fitted bodice."""
    bodice = draft.panels["left_ftorso"]
    top = bodice.place[1] - GAP
    front = _waist_chain("f")
    back = _waist_chain("b")
    girth = sum(_length(draft, e) for e in (*front, *back))
    add_circle(draft, girth, length, top, suns)
    # the two sectors are equal; what front and back of the bodice differ by is eased
    draft.sew_chains(front, ["skirt_front.waist"])
    draft.sew_chains(back, ["skirt_back.waist"])


def _waist_chain(part: str) -> list[str]:
    """Return the waist of a fitted bodice from the wearer's left to its right."""
    left = [f"-left_{part}torso.waist_dart_end", f"-left_{part}torso.waist_in"]
    right = [f"-right_{part}torso.waist_in", f"-right_{part}torso.waist_dart_end"]
    return [*left, *right]


def _length(draft: Draft, edge: str) -> float:
    panel, name = edge.lstrip("-").split(".")
    return draft.panels[panel].edge_length(name)


def _band_of_legs(draft: Draft, body: BodyMeasures, low: float) -> None:
    top = body.waist_height - low + GAP
    add_waistband(draft, waist_edges(True), waist_edges(False), top)


GARMENTS: dict[str, Callable[[BodyMeasures], Draft]] = {
    f.__name__: f for f in (tee, strap_dress, pencil_skirt, trousers, jumpsuit)
}
