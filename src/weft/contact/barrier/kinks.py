"""Kinks of the contact forces: positions at which the second derivatives of a barrier jump.

A vertex exactly above an edge of a table is such a position: beyond the edge the nearest point of
one triangle lies inside it, on this side on its border. Distances and forces are continuous there,
but their derivatives are not, and round-off decides whether both triangles of the edge count as
inside or both as border, which is true on neither side. Cloth that is laid flat and straight on a
body begins at many kinks at once.

So second derivatives are evaluated a little to either side, and their mean is used, which is what
central differences find. If a flat face is merely cut into triangles, both sides have the same sum.
"""

from collections.abc import Sequence

import numpy as np

from weft import kernel
from weft.contact.contact_set import ContactSet
from weft.contact.detector import ContactDetector
from weft.contact.distance.distance import closest_of
from weft.kernel import WarpArray

APART = 1e-8  # of the gap: far above round-off, far below what changes a derivative


def places_around(search: ContactDetector, y: WarpArray) -> Sequence[WarpArray]:
    """Return the positions near y at which second derivatives of contact are evaluated, to be
    averaged.

    Args:
        search: finds contacts, with their stiffness and gap.
        y: (n+b,) vec3 [m] vertices of cloth and bodies.

    Returns:
        y alone; at a kink two positions on opposite sides of y, (n+b,) vec3 [m] each.
    """
    here = search.contacts(y)
    if len(here) == 0:
        return [y]
    at = np.array(kernel.numpy(y))
    # A fixed seed makes results reproducible.
    away = APART * search.gap * np.random.default_rng(0).normal(size=at.shape)
    sides = [kernel.points(at + away), kernel.points(at - away)]
    smooth = all(_is_alike(here, y, search.contacts(side), side) for side in sides)
    return [y] if smooth else sides


def _is_alike(one: ContactSet, x: WarpArray, other: ContactSet, y: WarpArray) -> bool:
    """Return whether both have the same pairs, with the same vertices at their closest points."""
    if not np.array_equal(one.stencil, other.stencil):
        return False
    kinds = one.parameters["kind"], other.parameters["kind"]
    if not np.array_equal(*kinds):
        return False
    nearest = [
        closest_of(kernel.numpy(place), one.stencil, kind)[1] != 0.0
        for place, kind in zip((x, y), kinds)
    ]
    return np.array_equal(*nearest)
