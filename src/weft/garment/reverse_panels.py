"""Reversal of panels that are listed clockwise."""

from dataclasses import replace

import numpy as np

from weft.garment.curves import reverse_edge
from weft.garment.pattern import Panel


def reverse_panel(panel: Panel) -> Panel:
    """Return the panel with its corners in the opposite order.

    Edge e becomes edge k - 2 - e (modulo k), of k edges.
    """
    corners = np.asarray(panel.corners, dtype=np.float64)[::-1]
    k = len(corners)
    edges = [reverse_edge(panel.edges[(k - 2 - e) % k]) for e in range(k)]
    return replace(panel, corners=corners, edges=edges)
