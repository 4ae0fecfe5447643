"""Topology of a garment once its seams are closed: pieces, openings, Euler number,
orientability.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.base.arrays import Bools, Ints
from weft.base.errors import abbreviate
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import are_among, half_edges, unique_edges
from weft.plugins.garments.patterns.garment import Garment


@dataclass(frozen=True)
class SewnTopology:
    """The topology of a sewn garment as a surface.

    Args:
        pieces: number of connected parts.
        openings: number of closed borders, such as neck, hem and sleeves.
        euler: Euler characteristic: vertices - edges + faces.
        orientable: whether the surface has two sides.
        warnings: faces that collapse, and edges in more than two faces, by panel.
    """

    pieces: int
    openings: int
    euler: int
    orientable: bool
    warnings: Sequence[str]

    def __str__(self) -> str:
        parts = [
            f"{n} {word}{'s' * (n != 1)}"
            for n, word in ((self.pieces, "piece"), (self.openings, "opening"))
        ]
        sides = "two-sided" if self.orientable else "one-sided (a Möbius band)"
        return f"{', '.join(parts)}, Euler characteristic {self.euler}, {sides}"


def sewn_topology(garment: Garment) -> SewnTopology:
    """Return the topology of a garment after all seams of kind ``SEWN`` are closed."""
    faces = garment.weld_ids[garment.mesh.faces]
    warnings = []
    closed = np.flatnonzero((faces == np.roll(faces, 1, axis=1)).any(axis=1))
    if len(closed):
        names = abbreviate(_panels(garment, closed))
        warnings.append(f"{len(closed)} faces of {names} have two corners that are sewn together")
        faces = np.delete(faces, closed, axis=0)
    edges, of = unique_edges(faces.astype(np.int32))
    count = np.bincount(of, minlength=len(edges))
    on_line = [s.edges.reshape(-1, 2) for s in garment.seams if s.match.on_line]
    none = np.zeros((0, 2), dtype=np.int32)
    wanted = are_among(edges, garment.weld_ids[np.concatenate([none, *on_line])])
    many = np.flatnonzero((count > 2) & ~wanted)
    if len(many):
        at = np.flatnonzero(np.isin(of, many)) // 3
        kept = np.setdiff1d(np.arange(len(garment.mesh.faces)), closed)
        names = abbreviate(_panels(garment, kept[at]))
        warnings.append(
            f"{len(many)} edges of {names} lie in more than two faces once sewn: folds there carry "
            "no bending; a smaller edge length may help"
        )
    used = np.unique(faces)
    borders = edges[count == 1]
    return SewnTopology(
        _components(edges, used),
        _components(borders, np.unique(borders)) if len(borders) else 0,
        len(used) - len(edges) + len(faces),
        _orientable(faces, of, wanted),
        tuple(warnings),
    )


def _panels(garment: Garment, faces: NDArray[np.integer]) -> list[str]:
    """Return the names of the panels to which faces belong."""
    return [
        f"panel {n}"
        for n, r in garment.faces.items()
        if ((faces >= r.start) & (faces < r.stop)).any()
    ]


def _components(edges: Ints, ids: Ints) -> int:
    """Return the number of connected components of the vertices ``ids`` under ``edges``."""
    return len(np.unique(component_labels(np.searchsorted(ids, edges), len(ids))))


def _orientable(faces: Ints, edge_of: Ints, on_line: Bools) -> bool:
    """Return whether faces can be oriented consistently.

    Every face is a node twice, as it is and reversed. An edge between two faces joins the nodes
    whose orientations agree; the surface is orientable if no face is connected to its own reversed
    node. Edges ``on_line`` (e,), where a panel is sewn on another one, join no faces.
    """
    start, end = half_edges(faces).T
    forward = start < end
    order = np.argsort(edge_of, kind="stable")
    same = (edge_of[order][:-1] == edge_of[order][1:]) & ~on_line[edge_of[order][1:]]
    a, b = order[:-1][same], order[1:][same]
    m = len(faces)
    turned = forward[a] == forward[b]  # both faces run along the edge in the same direction
    fa, fb = a // 3, b // 3
    i = np.concatenate([fa, fa + m])
    j = np.concatenate([np.where(turned, fb + m, fb), np.where(turned, fb, fb + m)])
    label = component_labels(np.stack([i, j], axis=1), 2 * m)
    return bool((label[:m] != label[m:]).all())
