"""Changes of contact and friction along changes of their constants.

The constants are stiffness, gap, thickness, coefficients of friction and elastic slip.
``change_of_pairs`` states how the barrier of each pair depends on them. ``gradient_change`` takes
difference quotients of forces and slips, with the same pairs: tangents use it, and it shares
nothing with reverse mode (``contact_derivative``). The adaptive stiffness changes by jumps, which
are left out.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.base.differences import slope_at_zero
from weft.contact.contact_set import ContactSet
from weft.contact.cores import change_of_stiffness_part
from weft.contact.friction.friction import FrictionInputs, FrictionSet
from weft.contact.friction.law import friction_coefficients
from weft.contact.frozen_contact import FrozenContact
from weft.kernel import WarpArray

Numbers = Mapping[str, Floats]
FrictionStart = tuple[
    ContactSet, WarpArray, FrictionInputs
]  # friction: its pairs, where, from what
PART = 1e-4  # of a number: the largest change in difference quotients


def change_of_pairs(frozen: FrozenContact, change: Numbers, contacts: ContactSet) -> Numbers:
    """Return the changes of stiffness, gap and thickness of the pairs of a set, (m,) by name.

    The stiffness of a pair contains how often it is counted, and the adaptive stiffness. Pairs
    that an edge connects have a smaller gap of their own, and a larger stiffness because of it.

    Args:
        frozen: contact in the step.
        change: changes of some of ``Contact.constants``, by name.
        contacts: the set.
    """
    search, touch, sides = frozen.search, contacts.parameters, frozen.contact.mesh.sides
    thickness, thicker = np.zeros(len(contacts)), 0.0
    if "thickness" in change:
        a, b = sides.of_pairs(contacts.stencil, touch["kind"])
        T = change["thickness"]
        thickness = 0.5 * search.thickness_part * (T[a] + T[b])
        thicker = float(T[np.argmax(sides.thickness)])
    whole, adjacency = float(change.get("gap", 0.0)), frozen.contact.mesh.adjacency
    less = adjacency.gap(search.gap)
    by_gap, by_thickness = adjacency.slope(search.gap)
    own = touch["gap"] < search.gap
    gap = np.where(own, by_gap * whole + by_thickness * thicker, whole)
    part = float(change.get("stiffness", 0.0)) / frozen.contact.stiffness
    by_gaps = 3 * (whole / search.gap - gap / less)
    by_core = np.zeros(1)
    if sides.cores is not None:
        kept = search.thickness_part * sides.thickness
        thicker_by = search.thickness_part * change.get("thickness", np.zeros(1))
        way = (whole, thicker_by)
        more = change_of_stiffness_part(search.gap, kept, sides.cores.radius, *way)
        a, b = sides.of_pairs(contacts.stencil, touch["kind"])
        by_core = more[a] + more[b]
    stiffness = (part + np.where(own, by_gaps, 0.0) + by_core) * touch["stiffness"]
    return {"stiffness": stiffness, "gap": gap, "thickness": thickness}


def gradient_change(
    frozen: FrozenContact, y: WarpArray, frictions: Sequence[FrictionStart], change: Numbers
) -> tuple[Floats, Floats]:
    """Return the changes of dE/dx (n,3) [N] of the vertices, and of the slip (k,3) after the step.

    Args:
        frozen: contact in the step.
        y: (n,) vec3 [m] vertices at the end of the step.
        frictions: the data from which friction was frozen; the mean over them counts.
        change: changes of some of ``Contact.constants``, by name.
    """
    contacts = frozen.search.contacts(y)
    sets = [(contacts, y), *((pairs, start) for pairs, start, _ in frictions)]
    changes = [change_of_pairs(frozen, change, pairs) for pairs, _ in sets]
    sides, n = frozen.contact.mesh.sides, y.shape[0]
    stick = float(change.get("stick", 0.0)) * frozen.step.dt if frozen.step.slip is None else 0.0

    def at(e: float) -> Floats:
        forces, slip = np.zeros((n, 3)), np.zeros((frozen.embedding.n, 3))
        moved = [_shift(pairs, d, e) for (pairs, _), d in zip(sets, changes)]
        np.add.at(forces, contacts.stencil, kernel.numpy(moved[0].gradients(y)))
        static = sides.static + e * change.get("static", 0.0)
        kinetic = sides.kinetic + e * change.get("kinetic", 0.0)
        table = friction_coefficients(static, kinetic, sides.part, sides.friction_factor)
        for pairs, (_, start, inputs) in zip(moved[1:], frictions):
            other = inputs._replace(table=table, smooth=inputs.smooth + e * stick)
            friction = FrictionSet.of(pairs, start, *other)
            local = kernel.numpy(friction.gradient(y)) / len(frictions)
            np.add.at(forces, friction.stencil, local)
            slip += kernel.numpy(friction.update_slips(y, inputs.slip)) / len(frictions)
        return np.concatenate([forces, slip])

    sizes = [_largest_part(*one, d) for one, d in zip(sets, changes)]
    sizes += [float(np.abs(change[k]).max()) for k in ("static", "kinetic") if k in change]
    sizes += [abs(stick) / inputs.smooth for *_, inputs in frictions]
    found = slope_at_zero(at, PART / max(*sizes, 1e-300))
    return found[:n], found[n:]


def _shift(contacts: ContactSet, change: Numbers, e: float) -> ContactSet:
    """Return the pairs with parameters that are moved by e times a change."""
    touch = np.array(contacts.parameters)
    for name, d in change.items():
        touch[name] += e * d
    return contacts.with_parameters(touch)


def _largest_part(contacts: ContactSet, y: WarpArray, change: Numbers) -> float:
    """Return the largest change of a parameter of a pair, relative to the parameter; that of the
    thickness is relative to the least room of a pair.
    """
    if len(contacts) == 0:
        return 0.0
    touch = contacts.parameters
    # Of each pair its own: a core keeps its radius, too.
    room = kernel.numpy(contacts.distances(y)) - touch["thickness"]
    sizes = {k: touch[k] for k in ("stiffness", "gap")}
    sizes["thickness"] = np.maximum(room.min(), 1e-300)
    return max(float(np.abs(d / sizes[name]).max()) for name, d in change.items())
