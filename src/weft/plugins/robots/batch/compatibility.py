"""Partition of worlds into kinds that can share kernel launches.

Worlds of one kind have the same points, stencils and step settings.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from weft.plugins.robots.batch.world import World
from weft.solve.sparse.block_csr import BlockPattern


def kinds(worlds: Sequence[World]) -> list[list[World]]:
    """Return the worlds of every kind in their order; worlds of one kind get the same pattern."""
    found: dict[Hashable, list[World]] = {}
    for world in worlds:
        found.setdefault(_kind(world), []).append(world)
    for alike in found.values():
        pattern: BlockPattern = alike[0].model.assembly.pattern
        for world in alike[1:]:
            vars(world.model.assembly)["pattern"] = pattern
    return list(found.values())


def _kind(world: World) -> Hashable:
    model = world.model
    energies = tuple((type(e).__qualname__, e.name, _bytes(e.stencil)) for e in model.energies)
    settings = world.integrator.settings
    return (len(model.mass), energies, model.contact is None, world.steps, settings)


def _bytes(a: ArrayLike) -> bytes:
    return np.ascontiguousarray(a).tobytes()
