"""Contact forces at one time: where cloth is in contact and how hard it is pressed, for pictures;
and forces on links of arms, for reports.
"""

from collections.abc import Mapping

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.base.trees import Json
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.contact import Contact
from weft.contact.contact_set import ContactSet
from weft.contact.friction.friction import FrictionSet, normal_forces
from weft.contact.narrow_phase.classify import contacts
from weft.kernel import WarpArray


def contact_loads(
    contact: Contact,
    x: Positions,
    t: float,
    area: Floats,
    stiffness_factor: float = 1.0,
) -> dict[str, Floats]:
    """Return the contact points, forces and pressures at x and time t.

    Args:
        contact: the contact.
        x: (n,3) [m] vertices that move: those of the cloth, then those of rigid bodies.
        t: [s] time.
        area: (c,) [m^2] area of cloth around each of its vertices.
        stiffness_factor: factor on the stiffness in the step that led to x.

    Returns:
        ``contact_points`` (m,3) [m] halfway between the closest points of every pair that pushes,
        ``contact_forces`` (m,) [N] between them, and ``pressure`` (c,) [Pa] on the cloth: the
        resultant of the forces on a vertex over its area. Forces on both sides of cloth, as between
        layers or in a pinch, cancel.
    """
    y = np.concatenate([x, contact.body_positions(t)])
    near = find_candidates(contact.mesh, y, contact.reach)
    set_ = contacts(contact.mesh, y, near, stiffness_factor * contact.stiffness, contact.gap)
    if len(set_) == 0:
        none = {"contact_points": np.zeros((0, 3)), "contact_forces": np.zeros(0)}
        return {**none, "pressure": np.zeros(len(area))}
    push, w, normal, force = normal_forces(set_, y)
    stencil = set_.stencil[push]
    points = 0.5 * np.einsum("ma,mai->mi", np.abs(w), y[stencil])
    points += _beside_cores(contact, set_, push, normal)
    nodal = np.zeros_like(y)
    np.add.at(nodal, stencil, (w * force[:, None])[:, :, None] * normal[:, None])
    pressure = np.linalg.norm(nodal[: len(area)], axis=1) / np.maximum(area, 1e-300)
    return {"contact_points": points, "contact_forces": force, "pressure": pressure}


def _beside_cores(contact: Contact, pairs: ContactSet, push: Ints, normal: Floats) -> Floats:
    """Return the ways (m,3) [m] from the middle between the closest points of pairs to the middle
    between their surfaces. Only pairs with a core have a way.

    Args:
        contact: the contact.
        pairs: pairs in contact.
        push: (m,) indices of those that push.
        normal: (m,3) unit vectors from the second side to the first.
    """
    sides = contact.mesh.sides
    if sides.cores is None:
        return np.zeros((1, 3))
    first, second = sides.of_pairs(pairs.stencil[push], pairs.parameters["kind"][push])
    away = sides.cores.radius[second] - sides.cores.radius[first]
    return np.asarray(0.5 * away[:, None] * normal)


def link_forces(
    links: Mapping[str, Ints], y: WarpArray, contacts: ContactSet, friction: FrictionSet | None
) -> Json:
    """Return the force [N] of contact and friction on each link of arms that touches something,
    and its torque [N m] about the origin of the scene.

    Args:
        links: vertices of each link, by name.
        y: (n+b,) vec3 [m] vertices of cloth and bodies.
        contacts: pairs in contact there.
        friction: pairs with friction; None: none.
    """
    place = kernel.numpy(y)
    force = np.zeros(place.shape)
    if len(contacts):
        np.subtract.at(force, contacts.stencil, kernel.numpy(contacts.gradients(y)))
    if friction:
        np.subtract.at(force, friction.stencil, kernel.numpy(friction.gradient(y)))
    found: Json = {}
    for name, own in links.items():
        if force[own].any():
            torque = np.cross(place[own], force[own]).sum(0)
            found[name] = {"force": force[own].sum(0).tolist(), "torque": torque.tolist()}
    return found
