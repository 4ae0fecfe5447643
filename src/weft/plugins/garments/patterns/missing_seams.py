"""Seams that a pattern seems to lack: open edges that would close cloth around nothing.

An opening has a part of the body in it: neck, trunk, arm or leg. Two open edges of equal length
that lie opposite each other, with nothing of the body between them, are likely to belong together,
also where the pattern lacks the seams of both sides, which its symmetry does not show.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from weft.plugins.garments.patterns.edge_chains import EdgeChain, Match
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.pattern import Pattern, Seam, SeamSide
from weft.plugins.garments.patterns.sampling import sewn_edges
from weft.plugins.garments.patterns.seam_ways import CENTER, SeamWays

LIKE = 0.02  # difference of the lengths of edges that belong together, over their length
SHORTEST = 0.06  # [m] of an edge
FREE = 0.02  # mean obstruction of ways, over the height of the body, up to which they are free
# Cosines of the angle between outward and down from which an edge may be a hem, and up, a waist.
HEM, WAIST = 0.5, 0.75


def find_missing_seams(pattern: Pattern, ways: Sequence[SeamWays], figure: Figure) -> Iterator[str]:
    """Yield warnings about open edges that seem to belong together, and are no slit of a seam.

    Args:
        pattern: placed beside the body.
        ways: of its seams.
        figure: the body.
    """
    panels = pattern.by_name
    sewn = sewn_edges(w.match for w in ways)
    loose = [
        SeamSide(name, i)
        for name, panel in panels.items()
        for i in range(len(panel.edges))
        if (name, i) not in sewn
    ]
    pairs = list[tuple[float, SeamSide, SeamSide, SeamWays]]()
    for one, two in combinations(loose, 2):
        match = Match.of(Seam("", [one], [two]), panels)
        alike = abs(match.ratio - 1) < LIKE and match.first.length > SHORTEST
        if alike and one.panel != two.panel and not _is_slit(one, two, ways):
            way = SeamWays.of(match)
            pairs.append((way.longest, one, two, way))
    taken: set[SeamSide] = set()
    for _, one, two, way in sorted(pairs, key=lambda pair: pair[0]):
        if one in taken or two in taken or not _is_closed_around_nothing(way, figure):
            continue
        taken |= {one, two}
        names = (f"{panels[s.panel].edge_name(s.edge)} of panel {s.panel}" for s in (one, two))
        yield (
            f"{' and '.join(names)} are open, have the same length "
            f"({100 * way.match.first.length:.0f} cm), and no part of the body is between them: "
            "add the seam if it is missing"
        )


def _is_slit(one: SeamSide, two: SeamSide, ways: Sequence[SeamWays]) -> bool:
    """Return whether a seam between the panels of two edges ends where both edges begin."""

    def is_beside(chain: EdgeChain, side: SeamSide) -> bool:
        count = len(chain.panels[side.panel].edges)
        apart = ((s.edge - side.edge) % count for s in chain.sides if s.panel == side.panel)
        return any(k in (1, count - 1) for k in apart)

    chains = [w.match.chains for w in ways]
    chains += [pair[::-1] for pair in chains]
    return any(is_beside(a, one) and is_beside(b, two) for a, b in chains)


def _is_closed_around_nothing(way: SeamWays, figure: Figure) -> bool:
    """Return whether two edges would close a seam, at a side or behind, with no body between."""
    if way.is_central and np.einsum("ki,ki->k", way.first_out, way.second_out).mean() < 0:
        aside = max(abs(x[:, 0].mean()) for x in (way.first, way.second))
        return bool(aside < CENTER and way.middle[2] < 0)  # many garments are open in front
    up = way.outward.mean(axis=0)[1]
    if not way.encloses or up < -HEM:
        return False
    if up > WAIST and way.middle[1] < figure.armpit:
        return False
    if way.is_inseam(figure.crotch):
        return True
    stopped = figure.depth.obstruction(way.first, way.second, way.outward)
    return bool(stopped.mean() <= FREE * figure.landmarks.height)
