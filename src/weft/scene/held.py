"""Pins of vertices, as the points of a cloth have them.

Where vertices are points, nothing changes. Vertices of a spline are combinations of its control
points: of the pinned ones, those control points that they determine are pinned themselves (corners,
sides, and the inside of pinned regions: exactly the same), and what is left, single vertices inside
the cloth, is held by stiff springs to anchors: additional points, which are pinned.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.bodies.motion.pins import Path, Pin
from weft.cloth.cloth import Cloth
from weft.energies.elastic.quadratic_form import QuadraticForm

ANCHOR = 1e-9  # [kg] mass of an anchor, which is pinned: any
STIFF = 1e3  # stiffness of a spring to an anchor, over the fabric's stretch stiffness
DETERMINED = 1e-9  # part of a control point in motions that no pinned vertex notices


@dataclass(frozen=True, eq=False)
class HeldPoints:
    """Pins of points, and springs."""

    pins: tuple[Pin, ...]
    points: Positions  # (N+a,3) [m] at the start, anchors last
    anchors: int = 0
    energies: tuple[QuadraticForm, ...] = ()


def held_points(cloth: Cloth, pins: Sequence[Pin]) -> HeldPoints:
    """Pins of vertices of the cloth as pins of its points.

    A pinned region moves its control points rigidly, as its vertices move.
    """
    embedding = cloth.embedding
    if embedding is None:
        return HeldPoints(tuple(pins), cloth.vertices)
    W, n = embedding.matrix, len(cloth.points)
    made: list[Pin] = []
    anchored: list[Ints] = []
    count = n
    for pin in pins:
        pin_path = _about(pin.path, cloth.vertices[pin.vertices])
        lines, whole = cloth.surfaces.between(pin.vertices)
        control = determined(sp.vstack([W[pin.vertices], lines.matrix]), whole)
        loose = left_by(control, W[pin.vertices])
        if len(control):
            made.append(dataclasses.replace(pin, vertices=control, path=pin_path))
        if loose.any():
            ids = pin.vertices[loose]
            anchors = np.arange(count, count + len(ids), dtype=np.int32)
            made.append(dataclasses.replace(pin, vertices=anchors, path=pin_path))
            anchored.append(ids)
            count += len(ids)
    if not anchored:
        return HeldPoints(tuple(made), cloth.points)
    ids = np.concatenate(anchored)
    k = STIFF * max(max(f.stretch_warp, f.stretch_weft) for f in cloth.fabrics)
    spring = QuadraticForm(
        np.column_stack([embedding.stencil[ids], np.arange(n, count, dtype=np.int32)]),
        np.column_stack([embedding.weight[ids], np.full(len(ids), -1.0)]),
        np.full(len(ids), k),
        "anchors",
    )
    points = np.concatenate([cloth.points, cloth.vertices[ids]])
    return HeldPoints(tuple(made), points, len(ids), (spring,))


def determined(W: sp.csr_matrix, known: Ints) -> Ints:
    """Columns of W whose unknowns W x = y determines, where some are known."""
    open_ = np.ones(W.shape[1], dtype=bool)
    open_[known] = False
    left = np.flatnonzero(open_)
    W = W.tocsr()[:, left]
    W = W[np.diff(W.indptr) > 0]
    if W.shape[0] == 0:
        return known.astype(np.int32)
    rows = W.shape[0]
    graph = sp.bmat([[None, W], [W.T, None]]).tocsr()
    _, label = sp.csgraph.connected_components(graph, directed=False)
    used = np.unique(W.indices)
    found: list[Ints] = [known]
    for component in np.unique(label[:rows]):
        columns = used[label[rows + used] == component]
        dense = W[np.flatnonzero(label[:rows] == component)][:, columns].toarray()
        found.append(left[columns[_fixed_by(dense)]])
    return np.sort(np.concatenate(found)).astype(np.int32)


def left_by(control: Ints, W: sp.csr_matrix) -> Bools:
    """(rows,) of W in which other columns than ``control`` have a part."""
    other = np.ones(W.shape[1])
    other[control] = 0.0
    return np.asarray((W @ other) > DETERMINED)


def _fixed_by(dense: Floats) -> Bools:
    """(c,) unknowns without a part in the null space of a matrix (r,c)."""
    _, s, vt = np.linalg.svd(dense, full_matrices=True)
    rank = int((s > DETERMINED * s[0]).sum())
    return np.asarray((np.abs(vt[rank:]) < DETERMINED).all(0))


def _about(path: Path | None, start: Positions) -> Path | None:
    """The path, turning about the same center for other points."""
    if path is None or path.center is not None:
        return path
    center = tuple(float(c) for c in np.mean(start, axis=0))
    return dataclasses.replace(path, center=center)  # type: ignore[arg-type]
