"""Pins of vertices, converted to pins of the points of a cloth.

If vertices are points (triangles), nothing changes. Vertices of a spline are combinations of its
control points. Control points that the pinned vertices determine (corners, sides, the inside of
pinned regions) are pinned themselves, which is exact. Remaining pinned vertices, single ones inside
the cloth, are held by stiff springs to anchors: additional points that are pinned.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from weft.base.arrays import Bools, Ints, Positions
from weft.bodies.motion.pins import Path, Pin
from weft.cloth.cloth import Cloth
from weft.discretization.embedding import DETERMINED
from weft.energies.elastic.quadratic_form import QuadraticForm

ANCHOR = 1e-9  # [kg] mass of an anchor; any value does, because anchors are pinned
STIFF = 1e3  # stiffness of a spring to an anchor, over the fabric's stretch stiffness


@dataclass(frozen=True, eq=False)
class PinnedPoints:
    """Pins of points, with the anchors and springs that splines need."""

    pins: tuple[Pin, ...]
    points: Positions  # (N+a,3) [m] at the start, anchors last
    anchors: int = 0
    energies: tuple[QuadraticForm, ...] = ()


def pin_points(cloth: Cloth, pins: Sequence[Pin]) -> PinnedPoints:
    """Convert pins of vertices to pins of points.

    The control points of a pinned region move rigidly, as its vertices do.

    Args:
        cloth: triangles or splines.
        pins: of its vertices.

    Returns:
        Pins, points at the start with anchors last, and the springs to the anchors.
    """
    embedding = cloth.embedding
    if embedding is None:
        return PinnedPoints(tuple(pins), cloth.vertices)
    W, n = embedding.matrix, len(cloth.points)
    made: list[Pin] = []
    anchored: list[Ints] = []
    count = n
    for pin in pins:
        pin_path = _about(pin.path, cloth.vertices[pin.vertices])
        control = cloth.surfaces.determined_by(pin.vertices)
        loose = undetermined_points(control, W[pin.vertices])
        if len(control):
            made.append(dataclasses.replace(pin, vertices=control, path=pin_path))
        if loose.any():
            ids = pin.vertices[loose]
            anchors = np.arange(count, count + len(ids), dtype=np.int32)
            made.append(dataclasses.replace(pin, vertices=anchors, path=pin_path))
            anchored.append(ids)
            count += len(ids)
    if not anchored:
        return PinnedPoints(tuple(made), cloth.points)
    ids = np.concatenate(anchored)
    k = STIFF * max(max(f.stretch_warp, f.stretch_weft) for f in cloth.fabrics)
    spring = QuadraticForm(
        np.column_stack([embedding.stencil[ids], np.arange(n, count, dtype=np.int32)]),
        np.column_stack([embedding.weight[ids], np.full(len(ids), -1.0)]),
        np.full(len(ids), k),
        "anchors",
        of_rest=False,
    )
    points = np.concatenate([cloth.points, cloth.vertices[ids]])
    return PinnedPoints(tuple(made), points, len(ids), (spring,))


def undetermined_points(control: Ints, W: sp.csr_matrix) -> Bools:
    """Return (rows,) which rows of W have a weight on columns other than ``control``."""
    other = np.ones(W.shape[1])
    other[control] = 0.0
    return np.asarray((W @ other) > DETERMINED)


def _about(path: Path | None, start: Positions) -> Path | None:
    """Return the path with the center of rotation of the points ``start``, if it names none.

    Control points and anchors then turn about the same center as the pinned vertices.
    """
    if path is None or path.center is not None:
        return path
    center = tuple(float(c) for c in np.mean(start, axis=0))
    return dataclasses.replace(path, center=center)  # type: ignore[arg-type]
