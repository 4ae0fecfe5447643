"""Reversal of panels that are listed clockwise, with everything that refers to their edges."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.discretization.polygon import signed_area
from weft.garment.curves import outline_polygon, reverse_edge
from weft.garment.pattern import Panel, Pattern, SeamSide


def orient_panels(pattern: Pattern) -> Pattern:
    """Return the pattern with every outline counter-clockwise, as panels have to be.

    A panel that is listed clockwise gets its corners in the opposite order; the edges in seams and
    elastics are renumbered, and keep the direction in which they ran.
    """
    turned = {p.name for p in pattern.panels if signed_area(outline_polygon(p)[0]) < 0}
    if not turned:
        return pattern
    counts = {p.name: len(p.corners) for p in pattern.panels}

    def sides(chain: Sequence[SeamSide]) -> tuple[SeamSide, ...]:
        return tuple(
            SeamSide(s.panel, (counts[s.panel] - 2 - s.edge) % counts[s.panel], not s.backward)
            if s.panel in turned
            else s
            for s in chain
        )

    return replace(
        pattern,
        panels=[reverse_panel(p) if p.name in turned else p for p in pattern.panels],
        seams=[replace(s, first=sides(s.first), second=sides(s.second)) for s in pattern.seams],
        elastics=[replace(e, chain=sides(e.chain)) for e in pattern.elastics],
    )


def reverse_panel(panel: Panel) -> Panel:
    """Return the panel with its corners in the opposite order.

    Edge e becomes edge k - 2 - e (modulo k), of k edges.
    """
    corners = np.asarray(panel.corners, dtype=np.float64)[::-1]
    k = len(corners)
    edges = [reverse_edge(panel.edges[(k - 2 - e) % k]) for e in range(k)]
    return replace(panel, corners=corners, edges=edges)
