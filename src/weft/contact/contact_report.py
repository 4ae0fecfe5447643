"""Figures of contact at the end of a step, for its report."""

import numpy as np

from weft import kernel
from weft.base.trees import Json
from weft.contact.contact_forces import link_forces
from weft.contact.frozen_contact import FrozenContact
from weft.kernel import WarpArray


def contact_report(frozen: FrozenContact, x: WarpArray) -> Json:
    """Return figures of the contacts at points x (N,), by name.

    These are the number of pairs, the least distance [m], the work of friction [J] in the step,
    forces on links of arms, and where bodies pinch the cloth or have released it.
    """
    y, contacts = frozen.contacts_at(x)
    found: Json = {"count": len(contacts), "least_distance": None, "friction_work": 0.0}
    if len(contacts):
        found["least_distance"] = frozen.least_distance(y, contacts)
    if frozen.friction:
        found["friction_work"] = frozen.friction.work(y)
    links = frozen.workspace.links
    if links:
        found["links"] = link_forces(links, y, contacts, frozen.friction)
    part = frozen.search.thickness_part
    if part < 1.0 and frozen.obstacle is not None:
        place = list(frozen.obstacle.place)
        found["pinched"] = {"t": frozen.step.t, "part": part, "place": place}
    released = frozen.carry_along.released
    if released.any():
        cloth = released[: frozen.contact.n_cloth] > 0
        at = np.array(kernel.numpy(y))[: len(cloth)][cloth]
        found["released"] = {"vertices": len(at), "place": at.mean(0).tolist()}
    return found
