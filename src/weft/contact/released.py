"""Cloth that contact has released, where prescribed motion leaves no room for it.

With ``prescribed: pass`` pins may take cloth through bodies and through other pinned cloth. With
``pinch: release`` one of two surfaces of bodies that close on cloth passes through it: the one that
moves more, so that cloth stays on the other one. Vertices have a level:

- ``THROUGH_BODIES``: primitives of cloth and of bodies with such a vertex do not meet;
- ``THROUGH_CLOTH``: primitives of cloth with such a vertex do not meet each other either.

Contact takes a connected part of the released cloth up again once nothing there intersects or is
nearer than its thickness.
"""

from collections.abc import Mapping

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.exact.crossings import Crossings
from weft.contact.memory import RELEASED
from weft.discretization.connectivity import component_labels


def released_levels(memory: Mapping[str, Floats], n: int) -> Ints:
    """Return the levels (n,) of the vertices that contact remembers as released."""
    kept = memory.get(RELEASED)
    return np.zeros(n, dtype=np.int32) if kept is None else np.asarray(kept).astype(np.int32)


def still_released(mesh: CollisionMesh, y: Positions, released: Ints) -> Ints:
    """Return the levels of the vertices that remain released, (n+b,).

    Args:
        mesh: the surfaces.
        y: (n+b,3) [m] vertices at the end of a step.
        released: (n+b,) levels of the vertices in it.
    """
    cloth = released > 0
    cloth[mesh.sides.first_body :] = False
    caught = np.zeros(len(y), dtype=bool)
    caught[mesh.faces[Crossings.of(mesh, y, released).released]] = True
    thickest = mesh.sides.thickest
    if thickest > 0:
        near = find_candidates(mesh, y, thickest)
        pairs, kinds = (np.array(kernel.numpy(a)) for a in near.device)
        thin = near.distances(y) <= mesh.sides.thickness_of(pairs, kinds)
        caught[pairs[thin]] = True
    part = component_labels(mesh.edges[cloth[mesh.edges].all(1)], len(y))
    cloth &= np.isin(part, part[caught & cloth])
    if not cloth.any():
        return np.zeros_like(released)
    cloth[mesh.sides.first_body :] = True  # bodies stay as long as cloth does
    return np.where(cloth, released, 0)
