"""Least numbers of mesh edges along edges of panels that close on themselves or coincide once sewn.

As a single mesh edge, such an edge would have no length, or coincide with another one.
"""

from collections.abc import Mapping, Sequence

from weft.garment.check import Match, corner_pairs
from weft.garment.edge_chains import Corner
from weft.garment.pattern import Closing, Panel
from weft.garment.sampling import EdgeId

RING, PAIR = 3, 2  # least mesh edges along an edge that closes on itself, or shares both its ends


def minimum_edge_counts(seams: Sequence[Match], panels: Mapping[str, Panel]) -> dict[EdgeId, int]:
    """Return the least numbers of mesh edges along edges of panels that need several.

    These are the edges whose two corners become one, and the edges between the same two corners as
    another edge to which they are not sewn.

    Args:
        seams: with their chains.
        panels: by name.
    """
    parent: dict[Corner, Corner] = {}

    def root(c: Corner) -> Corner:
        while c in parent:
            c = parent[c]
        return c

    sewn = [m for m in seams if m.seam.closing is Closing.SEWN]
    names: dict[EdgeId, object] = {}  # the seam of each edge that is one whole side of a seam
    for match in sewn:
        for a, b in corner_pairs(match):
            if root(a) != root(b):
                parent[root(a)] = root(b)
        for chain in (match.first, match.second):
            if len(chain.sides) == 1:
                names[chain.sides[0].panel, chain.sides[0].edge] = match.seam.name
    between: dict[frozenset[Corner], list[EdgeId]] = {}
    for name, panel in panels.items():
        k = len(panel.corners)
        for e in range(k):
            ends = frozenset((root((name, e)), root((name, (e + 1) % k))))
            between.setdefault(ends, []).append((name, e))
    found: dict[EdgeId, int] = {}
    for ends, edges in between.items():
        different = {names.get(e, e) for e in edges}
        if len(ends) == 1:
            found |= dict.fromkeys(edges, RING)
        elif len(different) > 1:
            found |= dict.fromkeys(edges, PAIR)
    return found
