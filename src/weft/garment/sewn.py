"""What a garment is as a surface once its seams are closed: pieces, openings, handles, sides."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.base.arrays import Ints
from weft.base.errors import shortened
from weft.discretization.mesh import unique_edges
from weft.garment.garment import Garment


@dataclass(frozen=True)
class SewnShape:
    """A sewn garment as a surface.

    Args:
        pieces: parts that no seam joins.
        openings: closed borders: neck, hem, sleeves.
        euler: vertices - edges + faces.
        orientable: whether it has two sides.
        warnings: edges that do not lie between two faces, by panel.
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


def shape_of(garment: Garment) -> SewnShape:
    """The surface that a garment is after all seams that are sewn for good are closed."""
    faces = garment.welded[garment.mesh.faces]
    warnings = []
    closed = np.flatnonzero((faces == np.roll(faces, 1, axis=1)).any(axis=1))
    if len(closed):
        names = shortened(_panels(garment, closed))
        warnings.append(f"{len(closed)} faces of {names} have two corners that are sewn together")
        faces = np.delete(faces, closed, axis=0)
    edges, of = unique_edges(faces.astype(np.int32))
    count = np.bincount(of, minlength=len(edges))
    many = np.flatnonzero(count > 2)
    if len(many):
        at = np.flatnonzero(np.isin(of, many)) // 3
        kept = np.setdiff1d(np.arange(len(garment.mesh.faces)), closed)
        names = shortened(_panels(garment, kept[at]))
        warnings.append(
            f"{len(many)} edges of {names} lie in more than two faces once sewn: folds there carry "
            "no bending; a smaller edge length may help"
        )
    used = np.unique(faces)
    borders = edges[count == 1]
    return SewnShape(
        _components(edges, used),
        _components(borders, np.unique(borders)) if len(borders) else 0,
        len(used) - len(edges) + len(faces),
        _orientable(faces, of, len(edges)),
        tuple(warnings),
    )


def _panels(garment: Garment, faces: NDArray[np.integer]) -> list[str]:
    """Names of the panels that faces belong to."""
    return [
        f"panel {n}"
        for n, r in garment.faces.items()
        if ((faces >= r.start) & (faces < r.stop)).any()
    ]


def _components(edges: Ints, ids: Ints) -> int:
    """Number of connected parts of some vertices."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if len(ids) == 0:
        return 0
    local = np.searchsorted(ids, edges)
    n = len(ids)
    graph = coo_matrix((np.ones(len(local)), (local[:, 0], local[:, 1])), shape=(n, n))
    return int(connected_components(graph, directed=False)[0])


def _orientable(faces: Ints, edge_of: Ints, n_edges: int) -> bool:
    """Whether faces can be turned so that neighbors agree: no odd cycle in the graph of faces and
    their turned copies.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    half = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)
    forward = half[:, 0] < half[:, 1]
    order = np.argsort(edge_of, kind="stable")
    same = edge_of[order][:-1] == edge_of[order][1:]
    a, b = order[:-1][same], order[1:][same]
    m = len(faces)
    turned = forward[a] == forward[b]  # both run along the edge the same way
    fa, fb = a // 3, b // 3
    i = np.concatenate([fa, fa + m])
    j = np.concatenate([np.where(turned, fb + m, fb), np.where(turned, fb, fb + m)])
    graph = coo_matrix((np.ones(len(i)), (i, j)), shape=(2 * m, 2 * m))
    _, label = connected_components(graph, directed=False)
    return bool((label[:m] != label[m:]).all())
