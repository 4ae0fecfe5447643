"""Check that attachments and pins do not stretch cloth by half or more at its start.

Cloth and its connections are a graph: edges of the mesh with their length in the material, and
links with theirs. Two places that hold the cloth stretch it at least by their distance divided by
the length of the shortest path between them.
"""

from collections.abc import Sequence

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Pin
from weft.cloth.attachments.attached import Link
from weft.cloth.cloth import Cloth
from weft.discretization.mesh import half_edges

MOST = 1.5  # largest stretch of cloth between two places that hold it
SOURCES = 32  # most places from which shortest paths are computed, to limit the time


def check_stretch(cloth: Cloth, pins: Sequence[Pin], links: Sequence[Link]) -> None:
    """Check that pins and attachments do not hold cloth at places too far apart for it.

    Raises:
        SceneError: they stretch the cloth by half, or more.
    """
    import scipy.sparse as sp

    if not links:
        return
    n, x = cloth.n_vertices, cloth.vertices
    rows, columns, lengths = _edges(cloth)
    held, places, said = [], [], []
    for pin in pins:
        held += pin.vertices.tolist()
        places += list(pin.targets(x[pin.vertices], 0.0))
        said += [pin.name] * len(pin.vertices)
    count = n
    for link in links:
        others = link.others
        if others is None:  # the other ends are places: nodes of their own
            assert link.places is not None
            others = np.arange(count, count + len(link.vertices), dtype=np.int32)
            count += len(others)
            held += others.tolist()
            places += list(link.places)
            said += [link.name] * len(others)
        rows, columns = np.append(rows, link.vertices), np.append(columns, others)
        lengths = np.append(lengths, link.length)
    if len(held) < 2:
        return
    # A sparse matrix would treat a length of zero as a missing edge.
    lengths = np.maximum(lengths, 1e-12)
    graph = sp.coo_matrix((lengths, (rows, columns)), shape=(count, count)).tocsr()
    nodes, at = np.array(held), np.array(places)
    chosen = _spread(len(nodes))
    way = sp.csgraph.dijkstra(graph, directed=False, indices=nodes[chosen])[:, nodes]
    apart = np.linalg.norm(at[chosen][:, None] - at[None], axis=2)
    ratio = np.where(np.isfinite(way) & (apart > 1e-9), apart / np.maximum(way, 1e-9), 0.0)
    i, j = np.unravel_index(int(ratio.argmax()), ratio.shape)
    if ratio[i, j] > MOST:
        raise SceneError(
            f"{said[chosen[i]]} and {said[j]}",
            got=f"{apart[i, j]:.4g} m apart, with {way[i, j]:.4g} m of cloth and ties between",
            expected=f"attachments that stretch cloth by less than half at the start, not by "
            f"{100 * (ratio[i, j] - 1):.0f} %",
            hint="move the attached points nearer together, or lengthen the cloth or ties "
            "between them",
        )


def _edges(cloth: Cloth) -> tuple[Ints, Ints, Floats]:
    """Return the edges of the mesh and the seams, with their lengths [m] in the material."""
    uv = cloth.corner_uv
    size = np.linalg.norm(np.roll(uv, -1, axis=1) - uv, axis=2).ravel()
    sewn = [pairs for _, pairs in cloth.seams]
    pair = np.sort(np.concatenate([half_edges(cloth.faces), *sewn]), axis=1)
    size = np.concatenate([size, np.zeros(len(pair) - len(size))])
    pair, first = np.unique(pair, axis=0, return_index=True)
    return pair[:, 0], pair[:, 1], size[first]


def _spread(count: int) -> Ints:
    """Return at most ``SOURCES`` indices below ``count``, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, SOURCES)).astype(np.int32))
