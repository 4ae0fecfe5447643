"""Isosurface of a function on a grid: the closed surface of its zeros, by marching tetrahedra.

Every cell is cut into six tetrahedra around its diagonal (Kuhn's triangulation, the same in all
cells, so that neighbors agree). In each tetrahedron the function is linear, and its zeros are one
or two triangles (Payne & Toga 1990, Guéziec & Hummel 1995). The surface is closed if the function
is positive on the border.
"""

from itertools import permutations

import numpy as np

from weft.base.arrays import Bools, Faces, Floats, Ints, Positions

CLOSEST = 0.01  # least distance of a vertex from an edge's ends, over the edge: no degenerate faces


def isosurface(values: Floats) -> tuple[Positions, Faces]:
    """Return the vertices and faces of the surface on which a function is zero.

    Args:
        values: (nx,ny,nz), positive on the border.

    Returns:
        Vertices (n,3) in units of the grid, and faces (m,3) oriented towards positive values.
    """
    nodes = values.reshape(-1)
    inside = nodes < 0
    tets = _tetrahedra(values, inside)
    low = inside[tets]
    count = low.sum(1)
    pairs: list[Ints] = []  # (m,3,2) both nodes of the edges on which the corners of faces lie
    # A tetrahedron with one or three nodes inside has one triangle, around the node that is alone
    # on its side; one with two nodes inside has a quadrilateral, that is two triangles.
    for n, corners in ((1, (0, 1, 2)), (3, (0, 2, 1)), (2, None)):
        some = tets[count == n]
        alone = low[count == n] if n < 3 else ~low[count == n]
        order = np.argsort(~alone, axis=1, kind="stable")
        t = np.take_along_axis(some, order, axis=1)
        flip = _turn(t, values.shape) < 0
        if corners is not None:
            made = np.stack([np.stack([t[:, 0], t[:, k + 1]], 1) for k in corners], 1)
            pairs.append(_exchange_corners(made, flip))
            continue
        ac, ad, bd, bc = (t[:, [i, j]] for i, j in ((0, 2), (0, 3), (1, 3), (1, 2)))
        pairs += [_exchange_corners(np.stack(c, 1), flip) for c in ((ac, ad, bd), (ac, bd, bc))]
    ends = np.sort(np.concatenate(pairs), axis=2).reshape(-1, 2)
    key, faces = np.unique(ends[:, 0] * nodes.size + ends[:, 1], return_inverse=True)
    a, b = key // nodes.size, key % nodes.size
    part = np.clip(nodes[a] / (nodes[a] - nodes[b]), CLOSEST, 1 - CLOSEST)[:, None]
    place = [np.stack(np.unravel_index(k, values.shape), 1) for k in (a, b)]
    x = (1 - part) * place[0] + part * place[1]
    return np.asarray(x, dtype=np.float64), faces.reshape(-1, 3).astype(np.int32)


def _tetrahedra(values: Floats, inside: Bools) -> Ints:
    """Return the nodes (t,4) of the tetrahedra of all cells that the surface may pass through."""
    shape = values.shape
    cells = np.stack(np.meshgrid(*(np.arange(n - 1) for n in shape), indexing="ij"), -1)
    first = np.ravel_multi_index(tuple(cells.reshape(-1, 3).T), shape)
    step = np.array([shape[1] * shape[2], shape[2], 1])
    corner = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) @ step
    marked = inside[first[:, None] + corner]
    first = first[marked.any(1) & ~marked.all(1)]
    ways = [np.cumsum([0, *(step[k] for k in order)]) for order in permutations(range(3))]
    return np.concatenate([first[:, None] + way for way in ways]).astype(np.int64)


def _turn(t: Ints, shape: tuple[int, ...]) -> Ints:
    """Return the sign (t,) of the volume of tetrahedra with nodes (t,4)."""
    x = np.stack(np.unravel_index(t, shape), axis=2)
    a, b, c = (x[:, k] - x[:, 0] for k in (1, 2, 3))
    return np.asarray(np.sign(np.einsum("mi,mi->m", a, np.cross(b, c))))


def _exchange_corners(faces: Ints, flip: Bools) -> Ints:
    """Return faces (m,3,2) with two corners exchanged where ``flip`` is True."""
    return np.where(flip[:, None, None], faces[:, [0, 2, 1]], faces)
