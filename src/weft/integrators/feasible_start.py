"""A start without intersections and with room for the thickness, near a start that has neither.

First, closed bodies are made thinner until no cloth is in them (``integrators.push_out``). Then
intersections are removed (``contact.untangling``), and contact alone, without elasticity, pushes
apart pairs that are closer than their thickness, which grows as there is room. Last, the bodies
grow to their shape and push the cloth out.
"""

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Ints, Positions
from weft.base.errors import SceneError, abbreviate, point_text
from weft.bodies.body import Body
from weft.bodies.erosion import Solid
from weft.contact.contact import Contact
from weft.contact.contact_term import ContactTerm
from weft.contact.untangling import remove_intersections
from weft.energies.state import State
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.push_out import DEEPEST, ROOM, Inside, find_inside, grow
from weft.solve.linear.select import linear_solver
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import minimize

MOST_STEPS = 60
SCALE = 1e-3  # [s^2] scale of the inertia that keeps vertices near their positions
LEAST = 1e-5  # [m] displacement from which a vertex counts as moved
DEEPER = (1.0, 1.5, 2.25)  # times the depth of the cloth, by which a body is made thinner


@dataclass(frozen=True, eq=False)
class FeasibleStart:
    """A start without intersections, with the displacements that led to it."""

    x: Positions  # (n,3) [m]
    moved: int  # number of vertices that moved
    farthest: float  # [m] largest displacement
    crossing: int  # pairs of faces that intersected before
    notes: Sequence[str] = ()  # which cloth came out of which body

    def __str__(self) -> str:
        return "; ".join(
            [
                f"untangled {self.crossing} pairs of faces: moved {self.moved} vertices "
                f"by up to {1e3 * self.farthest:.3g} mm",
                *self.notes,
            ]
        )


def feasible_start(model: Model, x: Positions) -> FeasibleStart:
    """Remove the intersections from the start x (n,3) [m] of a model with contact; pins stay.

    Args:
        model: the model.
        x: (n,3) [m].

    Returns:
        The new start and how far it is from x.

    Raises:
        SceneError: cloth that is too deep in a body or is pinned there, a body that has no room to
            push it out, or intersections that no small motion removes.
    """
    assert model.contact is not None
    contact = model.contact
    fixed, _ = model.prescribed_positions(0.0)
    before = len(contact.crossings(x))
    solids = [Solid(body.at(0.0), body.faces) for body in contact.bodies]
    known = [solid if solid.has_inside else None for solid in solids]
    pieces = list(find_inside(contact, x, known))
    pushed = [p for p in pieces if _is_pushed(model, p, fixed)]
    thinner, still = _make_thinner(contact, x, solids, pushed), contact
    if pushed:
        still = _with_bodies(contact, thinner)
    apart, left = remove_intersections(still, x, ~fixed)
    if len(left):
        raise _unresolved(contact, apart, left, before, known, pushed)
    apart = _spread(model, still, apart)
    if pushed:
        apart, blocked = grow(model, apart, thinner)
        if blocked is not None:
            sides = dict.fromkeys(contact.name_of(v) for v in blocked.sides)
            raise SceneError(
                "contact.resolve",
                got=f"no room to push {_names(contact, pushed)} near "
                f"({point_text(blocked.place)}), between {abbreviate(list(sides))}",
                expected="room for the cloth outside the body",
                hint="move the pin, body or cloth that is in the way",
            )
        apart = _spread(model, contact, apart)
    contact.check_start(apart)
    for piece in find_inside(contact, apart, known):
        if any(p.body == piece.body and np.isin(p.vertices, piece.vertices).any() for p in pushed):
            raise SceneError(
                "contact.resolve",
                got=f"{_name(contact, piece)} is still {1e3 * piece.depth:.3g} mm inside "
                f"{contact.bodies[piece.body].name} near ({point_text(piece.place)})",
                expected="cloth outside the body",
                hint="move the cloth or the body by hand",
            )
    shift = np.linalg.norm(apart - x, axis=1)
    return FeasibleStart(
        apart,
        int((shift > LEAST).sum()),
        float(shift.max(initial=0.0)),
        before,
        [_note(contact, p) for p in pushed],
    )


def _is_pushed(model: Model, piece: Inside, fixed: Bools) -> bool:
    """Return whether a piece of cloth is pushed out of the body, in which a part of it is.

    Cloth that is deep in a body that contains most of it is in a room.

    Raises:
        SceneError: cloth that is too deep, or a pin inside the body.
    """
    assert model.contact is not None
    contact = model.contact
    name, body = _name(contact, piece), contact.bodies[piece.body].name
    deep = f"{1e3 * piece.depth:.3g} mm inside {body} near ({point_text(piece.place)})"
    if piece.depth > DEEPEST:
        if piece.whole or (piece.mostly and piece.depth > ROOM):
            warnings.warn(
                f"{name} is {deep}, and stays there, like in a room: `resolve` only pushes out "
                f"cloth that is at most {1e3 * DEEPEST:.0f} mm deep",
                stacklevel=2,
            )
            return False
        raise SceneError(
            "contact.resolve",
            got=f"{name} is {deep}",
            expected=f"at most {1e3 * DEEPEST:.0f} mm, because weft does not push out deeper cloth",
            hint=f"move {name} or {body} by hand until less is inside",
        )
    if piece.inwards:
        raise SceneError(
            "contact.resolve",
            got=f"{name} is {deep}, and the nearest way out leads to the inside of {name}",
            expected=f"the middle of {body} inside {name}, which goes around it",
            hint=f"move {name} or {body} by hand until the middle is inside {name}",
        )
    held = piece.vertices[fixed[piece.vertices]]
    if len(held):
        pins = [p.name for p in model.pins if p.holds(0.0) and np.isin(held, p.vertices).any()]
        raise SceneError(
            "contact.resolve",
            got=f"{abbreviate(pins) or 'an attachment'} holds {len(held)} vertices of {name} "
            f"inside {body}, vertex {held[0]} first; {name} is {deep}",
            expected="pins outside of bodies, because pinned vertices stay",
            hint=f"move the pin or {body}, or let {name} and {body} ignore each other "
            "(`contact.pairs`)",
        )
    return True


def _make_thinner(
    contact: Contact, x: Positions, solids: Sequence[Solid], pushed: Sequence[Inside]
) -> Positions:
    """Return the vertices (b,3) [m] of all bodies, thinner where cloth is to be pushed out.

    The bodies intersect x (n,3) [m] as little as possible.
    """
    found, least = contact.body_positions(0.0), np.inf
    for factor in DEEPER if pushed else ():
        parts = [solid.vertices for solid in solids]
        for k in {p.body for p in pushed}:
            depth = factor * max(p.depth for p in pushed if p.body == k)
            parts[k] = solids[k].erode(depth + contact.reach)
        thinner = np.concatenate(parts)
        crossing = len(_with_bodies(contact, thinner).crossings(x))
        if crossing < least:
            found, least = thinner, crossing
        if crossing == 0:
            break
    return found


def _with_bodies(contact: Contact, vertices: Positions) -> Contact:
    """Return the contact with bodies at rest, whose vertices are (b,3) [m]."""
    ends = np.cumsum([len(body.vertices) for body in contact.bodies])[:-1]
    bodies = [
        Body(at, body.faces, name=body.name, thickness=body.thickness)
        for body, at in zip(contact.bodies, np.split(vertices, ends))
    ]
    return dataclasses.replace(contact, bodies=tuple(bodies))


def _name(contact: Contact, piece: Inside) -> str:
    """Return the name of the cloth of a piece."""
    return contact.name_of(piece.nearest)


def _names(contact: Contact, pushed: Sequence[Inside]) -> str:
    """Return what is pushed out of what."""
    pairs = [f"{_name(contact, p)} out of {contact.bodies[p.body].name}" for p in pushed]
    return abbreviate(list(dict.fromkeys(pairs)))


def _note(contact: Contact, piece: Inside) -> str:
    """Return a line about a piece of cloth that was pushed out of a body."""
    return (
        f"pushed {len(piece.vertices)} vertices of {_name(contact, piece)} out of "
        f"{contact.bodies[piece.body].name}, where they were inside by up to "
        f"{1e3 * piece.depth:.3g} mm"
    )


def _unresolved(
    contact: Contact,
    x: Positions,
    left: Ints,
    before: int,
    known: Sequence[Solid | None],
    pushed: Sequence[Inside],
) -> SceneError:
    """Return the error about pairs (k,2) of faces that still intersect at x (n,3) [m]."""
    faces = contact.mesh.faces
    y = np.concatenate([x, contact.body_positions(0.0)])
    first = left[0]
    place = point_text(y[faces[first[0]]].mean(0))
    sides = contact.mesh.sides
    met = {int(k) - (len(sides.names) - len(known)) for k in sides.part[faces[left]].ravel()}
    opened = [contact.bodies[k].name for k in sorted(met) if k >= 0 and known[k] is None]
    thin = [contact.bodies[k].name for k in sorted(met & {p.body for p in pushed})]
    hint = "`weft check` draws them; move these pieces apart, or raise contact.gap"
    if opened:
        hint = (
            f"{abbreviate(opened)}: this body is open, so weft does not know its inside; "
            f"close the mesh. {hint}"
        )
    if thin:
        hint = f"{abbreviate(thin)}: the cloth goes through the middle of this body. {hint}"
    return SceneError(
        "contact.resolve",
        got=f"{len(left)} pairs of faces still intersect, {before} before: "
        f"{contact.pieces_of(left)}, first near ({place})",
        expected="small intersections, which a motion of a few gaps removes",
        hint=hint,
    )


def _spread(model: Model, contact: Contact, x: Positions) -> Positions:
    """Push apart pairs that are closer than their thickness; return positions (n,3) [m]."""
    settings = dataclasses.replace(contact.settings, pinch="thin")
    contact = dataclasses.replace(contact, settings=settings)
    if contact.mesh.sides.thickest == 0:
        return x
    terms = (model.assembly.inertia, ContactTerm(contact, model.assembly.phases))
    solver, bodies = linear_solver("auto", len(x), exact=True), contact.body_positions(0.0)
    for _ in range(MOST_STEPS):
        step = model.step(State(x, np.zeros_like(x)), 0.0, x, SCALE)
        step = dataclasses.replace(step, bodies=(bodies, bodies))
        phi = Potential(model, step, terms=terms)
        if phi.blocked is None:
            break
        found = minimize(phi, kernel.points(x), solver, Newton(1e-3 * contact.gap))
        x = np.array(kernel.numpy(found.x))
    return x
