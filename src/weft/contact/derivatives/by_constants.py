"""Derivatives of contact and friction by their constants.

The constants are stiffness, gap, thickness, coefficients of friction and elastic slip. The barrier
of a pair has closed forms (``contact.barrier.by_constants``), at the end of the step and, for
the lagged normal force of friction, at the positions where it is evaluated. Friction is w f'(|u|)
u/|u| times that force, with f and u functions of the coefficients and of the slip e = stick dt over
which friction rises. What friction remembers for the next step is differentiated, too. The adaptive
stiffness changes by jumps, which are left out.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from weft import kernel
from weft.base.arrays import AnyArray, Floats
from weft.contact.barrier.by_constants import gradient_changes
from weft.contact.contact_set import ContactSet
from weft.contact.derivatives.contact_slopes import ContactSlopes
from weft.contact.derivatives.sliding_pair_slopes import smoothed_friction
from weft.contact.derivatives.sliding_pairs import SlidingPairs
from weft.contact.friction.friction import load_changes
from weft.contact.memory import SLIP

if TYPE_CHECKING:
    from weft.contact.contact_energy import ContactEnergy

Numbers = Mapping[str, Floats]


def gradient_change(touching: ContactSlopes, change: Numbers) -> tuple[Floats, dict[str, Floats]]:
    """Return the change (N,3) [N] of dE/dx at the points with given changes of constants.

    Args:
        touching: derivatives of contact at the end of a step.
        change: changes of some of ``Contact.constants``, by name.

    Returns:
        The change of the forces, and the changes of what friction remembers, by name.
    """
    term = touching.term
    y, contacts = term._at(touching.x)
    out = np.zeros_like(touching.y)
    if len(contacts):
        numbers = _of_pairs(term, change, contacts)
        local = kernel.numpy(gradient_changes(contacts, y, *numbers))
        np.add.at(out, contacts.stencil, local)
    kept: dict[str, Floats] = {}
    several = touching.slides
    for slides in several:
        slope, weights = _slope(touching, slides, change), np.asarray(slides.slide["w"])
        force = slope["force"] / len(several)
        np.add.at(out, slides.stencil, weights[:, :, None] * force[:, None])
        slip = _slip_change(slides, slope) / len(several)
        kept[SLIP] = kept.get(SLIP, 0.0) + slip
    return touching._to_points(out[: touching.n]), kept


def _of_pairs(
    term: "ContactEnergy", change: Numbers, contacts: ContactSet
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the changes of stiffness, gap and thickness of the pairs of a set.

    The stiffness of a pair contains how often it is counted, and the adaptive stiffness. Pairs
    that an edge connects have a smaller gap of their own, and a larger stiffness because of it.
    """
    search, touch, sides = term.search, contacts.touch, term.contact.mesh.sides
    thickness, thicker = np.zeros(len(contacts)), 0.0
    if "thickness" in change:
        a, b = sides.of_pairs(contacts.stencil, touch["kind"])
        T = change["thickness"]
        thickness = 0.5 * search.thickness_part * (T[a] + T[b])
        thicker = float(T[np.argmax(sides.thickness)])
    whole, adjacency = float(change.get("gap", 0.0)), term.contact.mesh.adjacency
    less = adjacency.gap(search.gap)
    by_gap, by_thickness = adjacency.slope(search.gap)
    own = touch["gap"] < search.gap
    gap = np.where(own, by_gap * whole + by_thickness * thicker, whole)
    part = float(change.get("stiffness", 0.0)) / term.contact.stiffness
    firmer = 3 * (whole / search.gap - gap / less)
    return (part + np.where(own, firmer, 0.0)) * touch["stiffness"], gap, thickness


def _slope(touching: ContactSlopes, slides: SlidingPairs, change: Numbers) -> dict[str, Floats]:
    """Return the changes of load (m,), e (m,) and force (m,3) of sliding pairs."""
    term, s, began = touching.term, slides.slide, slides.contacts
    numbers = _of_pairs(term, change, began)
    pushed = gradient_changes(began, slides.start, *numbers)
    load = load_changes(began, slides.start, pushed)[slides.push]
    sides = term.contact.mesh.sides
    part = sides.part
    a, b = sides.of_pairs(slides.stencil, began.touch[slides.push]["kind"])
    none = np.zeros(len(load))
    grip = sides.grip[a] * sides.grip[b]
    static, kinetic = (
        grip * change[name][part[a], part[b]] if name in change else none
        for name in ("static", "kinetic")
    )
    e = none
    if "stick" in change and touching.step.slip is None:
        e = none + float(change["stick"]) * touching.step.dt
    t, _, u, held = slides.in_plane()
    du = (slides.part / s["smooth"] * e)[:, None] * np.einsum("mki,mi->mk", t, held)
    length = np.linalg.norm(u, axis=1)
    over, second = smoothed_friction(length, s)
    safe = np.maximum(length, 1e-300)
    steeper = _rise_slope(length, s, static, kinetic, e)
    steeper = steeper + (second - over) * (u * du).sum(1) / safe**2
    along = (load * over + s["load"] * steeper)[:, None] * u + (s["load"] * over)[:, None] * du
    return {"load": load, "e": e, "force": np.einsum("mk,mki->mi", along, t)}


def _slip_change(slides: SlidingPairs, slope: Mapping[str, Floats]) -> Floats:
    """Return (n,3) the change of the remembered elastic slip (``friction.update_slips``)."""
    s, r, n = slides.slide, slides.slips(), slides.n
    changes = -(slope["e"] / s["smooth"])[:, None] * r.change
    shares = slope["load"][:, None] * np.where(slides.own, s["w"], 0.0)
    ids = slides.ids
    loads, totals = np.zeros(n), np.zeros((n, 3))
    np.add.at(loads, ids, np.sign(r.share) * shares)
    more = shares[:, :, None] * r.change[:, None] + r.share[:, :, None] * changes[:, None]
    np.add.at(totals, ids, more)
    return r.cut((totals - r.total * loads[:, None] / r.safe) / r.safe)


def _rise_slope(y: Floats, s: AnyArray, static: Floats, kinetic: Floats, e: Floats) -> Floats:
    """Return (m,) the change of f'/y at the same y >= 0, with f as in
    ``contact.friction.kernels.smoothed_friction``.
    """
    smooth, drop = s["smooth"], s["mu_kinetic"] - s["mu_static"]
    t = np.clip((y - smooth) / smooth, 0.0, 1.0)
    falls = t * t * (3 - 2 * t)
    inside = static * (2 / smooth - y / smooth**2)
    inside = inside + s["mu_static"] * (2 * y / smooth - 2) / smooth**2 * e
    beyond = static + (kinetic - static) * falls - drop * 6 * t * (1 - t) * y / smooth**2 * e
    return np.asarray(np.where(y < smooth, inside, beyond / np.maximum(y, 1e-300)))
