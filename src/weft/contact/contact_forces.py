"""Contact forces at one time, for pictures: where cloth is in contact, and how hard it is
pressed.
"""

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.contact import Contact
from weft.contact.friction.friction import normal_forces
from weft.contact.narrow_phase.classify import contacts


def contact_loads(
    contact: Contact,
    x: Positions,
    t: float,
    area: Floats,
    firmness: float = 1.0,
) -> dict[str, Floats]:
    """Return the contact points, forces and pressures at x and time t.

    Args:
        contact: the contact.
        x: (n,3) [m] vertices that move: those of the cloth, then those of rigid bodies.
        t: [s] time.
        area: (c,) [m^2] area of cloth around each of its vertices.
        firmness: factor on the stiffness in the step that led to x.

    Returns:
        ``contact_points`` (m,3) [m] halfway between the closest points of every pair that pushes,
        ``contact_forces`` (m,) [N] between them, and ``pressure`` (c,) [Pa] on the cloth.
    """
    y = np.concatenate([x, contact.body_positions(t)])
    near = find_candidates(contact.mesh, y, contact.reach)
    set_ = contacts(contact.mesh, y, near, firmness * contact.stiffness, contact.gap)
    if len(set_) == 0:
        none = {"contact_points": np.zeros((0, 3)), "contact_forces": np.zeros(0)}
        return {**none, "pressure": np.zeros(len(area))}
    push, w, _, force = normal_forces(set_, y)
    stencil = set_.stencil[push]
    points = 0.5 * np.einsum("ma,mai->mi", np.abs(w), y[stencil])
    nodal = np.bincount(stencil.reshape(-1), (np.abs(w) * force[:, None]).reshape(-1), len(y))
    pressure = nodal[: len(area)] / np.maximum(area, 1e-300)
    return {"contact_points": points, "contact_forces": force, "pressure": pressure}
