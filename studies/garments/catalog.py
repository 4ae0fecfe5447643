"""The twenty garments: each is a function of a body's measures."""

from collections.abc import Callable

from studies.garments.body_measures import BodyMeasures
from studies.garments.draft import Draft
from studies.garments.skirts import (
    WAIST_EASE,
    add_circle,
    add_panels,
    add_pencil,
    add_waistband,
    waist_names,
)
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

GAP = 3.0  # [cm] between a bodice and what hangs on it, at the start


def tee(body: BodyMeasures) -> Draft:
    """Draft a shirt with short sleeves."""
    draft = Draft("tee")
    add_bodice(draft, body, Bodice())
    add_sleeves(draft, body, Sleeve(length=0.4))
    return draft


def fitted_tee(body: BodyMeasures) -> Draft:
    """Draft a shirt to the waist with darts at waist and bust, and short sleeves."""
    draft = Draft("fitted_tee")
    shape = Bodice(ease=1.05, fitted=True, bust_dart=2.0, waist_ease=1.08, neck=4.0, front_neck=11)
    add_bodice(draft, body, shape)
    add_sleeves(draft, body, Sleeve(length=0.3, ease=1.2))
    return draft


def shirt(body: BodyMeasures) -> Draft:
    """Draft a shirt that is open at the front, with collar, long sleeves and cuffs."""
    draft = Draft("shirt")
    add_bodice(draft, body, Bodice(ease=1.16, hem=22.0, neck=1.5, front_neck=7.5, open_front=True))
    add_sleeves(draft, body, Sleeve(length=0.9, ease=1.35, cuff=1.5))
    add_cuffs(draft, body)
    add_collar(draft)
    return draft


def hoody(body: BodyMeasures) -> Draft:
    """Draft a loose shirt with long sleeves and a hood."""
    draft = Draft("hoody")
    add_bodice(draft, body, Bodice(ease=1.2, hem=20.0, neck=4.0, front_neck=10.5))
    add_sleeves(draft, body, Sleeve(ease=1.4, cuff=1.6))
    add_hood(draft, body)
    return draft


def sweatshirt(body: BodyMeasures) -> Draft:
    """Draft a loose shirt with long sleeves, cuffs and a band at the hem."""
    draft = Draft("sweatshirt")
    add_bodice(draft, body, Bodice(ease=1.18, hem=14.0, neck=3.0))
    add_sleeves(draft, body, Sleeve(length=0.92, ease=1.4, cuff=1.6))
    add_cuffs(draft, body)
    add_band(draft)
    return draft


def tank_top(body: BodyMeasures) -> Draft:
    """Draft a shirt without sleeves, 5 cm wide on the shoulders."""
    draft = Draft("tank_top")
    shape = Bodice(ease=1.06, hem=16.0, neck=3.8, shoulder=4.5, front_neck=14, back_neck=8)
    add_bodice(draft, body, shape)
    return draft


def strapless_dress(body: BodyMeasures) -> Draft:
    """Draft a dress that begins under the arms, with a fitted bodice and a wide skirt."""
    draft = Draft("strapless_dress")
    add_bodice(draft, body, Bodice(ease=1.0, fitted=True, waist_ease=1.02, strapless=True))
    _hang_circle(draft, body, 0.34 * body.height, 0.5)
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
    add_pencil(draft, body, 0.34 * body.height, body.waist_height - LOW)
    return draft


def circle_skirt(body: BodyMeasures) -> Draft:
    """Draft nearly a whole circle with a waistband."""
    draft = Draft("circle_skirt")
    _circle_with_band(draft, body, 0.33 * body.height, 0.95)
    return draft


def flare_skirt(body: BodyMeasures) -> Draft:
    """Draft a skirt of two sectors with a waistband."""
    draft = Draft("flare_skirt")
    _circle_with_band(draft, body, 0.3 * body.height, 0.5)
    return draft


def godet_skirt(body: BodyMeasures) -> Draft:
    """Draft a fitted skirt with triangles set into its hem."""
    draft = Draft("godet_skirt")
    top = body.waist_height - LOW
    add_pencil(draft, body, 0.36 * body.height, top, hem=1.0, godets=(-0.5, 0.5))
    front, back = waist_names("skirt_front", 1), waist_names("skirt_back", 1)
    add_waistband(draft, front, back, top + GAP)
    return draft


def panel_skirt(body: BodyMeasures) -> Draft:
    """Draft a skirt of six panels around the body, with a waistband."""
    draft = Draft("panel_skirt")
    top = body.waist_height - LOW
    add_panels(draft, body, 0.33 * body.height, top, 6)
    front = [f"skirt_{k}.waist" for k in (1, 0, 5)]
    back = [f"skirt_{k}.waist" for k in (2, 3, 4)]
    # a back panel stands turned around, so that seen from the front its waist runs the other way
    add_waistband(draft, front, [f"-{e}" for e in back], top + GAP)
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


def trousers(body: BodyMeasures) -> Draft:
    """Draft trousers with a waistband."""
    return _trousers("trousers", body, Legs(hem=0.4 * body.hips))


def wide_trousers(body: BodyMeasures) -> Draft:
    """Draft trousers with wide legs and a waistband."""
    return _trousers("wide_trousers", body, Legs(hem=0.62 * body.hips, hip_ease=1.1))


def shorts(body: BodyMeasures) -> Draft:
    """Draft trousers that end above the knee, with a waistband."""
    return _trousers("shorts", body, Legs(length=0.35, hem=1.15 * body.thigh, hip_ease=1.08))


def wrap_top(body: BodyMeasures) -> Draft:
    """Draft a top whose fronts cross: each is sewn to both sides of the back."""
    draft = Draft("wrap_top")
    add_bodice(draft, body, Bodice(ease=1.08, hem=8.0, neck=3.0, wrap=5.0))
    add_sleeves(draft, body, Sleeve(length=0.5))
    return draft


def aline_dress(body: BodyMeasures) -> Draft:
    """Draft a dress without a waist seam that widens to its hem, with sleeves to the elbow."""
    draft = Draft("aline_dress")
    hem = 0.3 * body.height
    add_bodice(draft, body, Bodice(ease=1.08, hem=hem, flare=0.1 * body.hips, neck=3.5))
    add_sleeves(draft, body, Sleeve(length=0.55))
    return draft


def peplum_top(body: BodyMeasures) -> Draft:
    """Draft a fitted top without sleeves and with a short wide skirt."""
    draft = Draft("peplum_top")
    add_bodice(draft, body, Bodice(ease=1.06, fitted=True, neck=3.5, shoulder=1.5))
    _hang_circle(draft, body, 0.13 * body.height, 0.7)
    return draft


def _trousers(name: str, body: BodyMeasures, shape: Legs) -> Draft:
    """Draft trousers with a waistband."""
    draft = Draft(name)
    add_legs(draft, body, shape)
    top = body.waist_height - shape.low + GAP
    add_waistband(draft, waist_edges(True), waist_edges(False), top)
    return draft


def _circle_with_band(draft: Draft, body: BodyMeasures, length: float, suns: float) -> None:
    """Add a skirt of two sectors of a ring and a waistband."""
    top = body.waist_height - LOW
    add_circle(draft, body.waist * WAIST_EASE, length, top, suns)
    add_waistband(draft, ["skirt_front.waist"], ["skirt_back.waist"], top + GAP)


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


GARMENTS: dict[str, Callable[[BodyMeasures], Draft]] = {
    f.__name__: f
    for f in (
        tee,
        fitted_tee,
        shirt,
        hoody,
        sweatshirt,
        tank_top,
        wrap_top,
        peplum_top,
        strapless_dress,
        strap_dress,
        aline_dress,
        jumpsuit,
        pencil_skirt,
        circle_skirt,
        flare_skirt,
        godet_skirt,
        panel_skirt,
        trousers,
        wide_trousers,
        shorts,
    )
}
