"""Seams between spline patches: they fold by the angle between the patches' tangent planes.

A hinge has the seam's edge, and for tips a point in the tangent plane of each patch beside the
middle of that edge: (x_a + x_b)/2 + l dx/dn, n the direction into the panel. So its angle is the
jump of slope alone, and bending inside the patches is not counted twice. Its weight is that of the
penalty that makes joined patches smooth, 10 D l/h with h the size of a span
(docs/explanations/splines.md), or the seam's own stiffness.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.trees import Json
from weft.discretization.embedding import Embedding
from weft.discretization.spline_surface import SMOOTH, SplineSurface
from weft.energies.seams.seam_hinges import SeamHinges
from weft.energies.seams.sewing import SeamPanels, SeamRows


@dataclass(frozen=True, eq=False)
class PatchedPart:
    """A panel of splines among the vertices of all panels.

    Args:
        surface: one patch with triangles of its own.
        first: number of its first vertex.
        rigidity: (warp, weft) [N m] of its fabric.
    """

    surface: SplineSurface
    first: int
    rigidity: tuple[float, float]

    @property
    def last(self) -> int:
        """One more than the number of its last vertex."""
        touched = self.surface.touched
        assert touched is not None
        return self.first + len(touched.uv)


@dataclass(frozen=True, eq=False)
class _Tips:
    """Points beside the edges of a border, and further numbers that their hinges need."""

    stencil: Ints  # (k,27)
    weight: Floats  # (k,27)
    length: Floats  # (k,) [m] of the edge in the material
    across: Floats  # (k,) [m] size of a span, into the panel
    rigidity: Floats  # (k,) [N m] of bending about the edge


def hinges_of_patches(
    sides: SeamPanels,
    parts: Sequence[PatchedPart],
    weights: Embedding,
    joints: Sequence[SeamRows],
    begin: float,
    damping: float = 0.0,
) -> tuple[SeamHinges, Embedding]:
    """Build hinges across seams of spline panels, and the vertices that they use, tips included.

    Args:
        sides: the panels as seams see them.
        parts: those of splines; joints are between these alone.
        weights: of all vertices, in the points.
        joints: that hold for good.
        begin: [s] from which on they act.
        damping: [s].

    Returns:
        The hinges, and the weights in the points of all vertices followed by the tips.
    """
    n = len(weights)
    stencils, tips, weight = [], [weights], []
    angle: list[Floats] = []
    for joint in joints:
        edges = sides.facing(joint)
        one, two = (_tips(parts, e) for e in (edges.near, edges.other))
        k = np.arange(len(edges.near)) + sum(len(t) for t in tips)
        stencils.append(np.stack([edges.start, edges.end, k, k + len(k)], axis=1))
        tips += [Embedding(t.stencil, t.weight, weights.n_points) for t in (one, two)]
        length = 0.5 * (one.length + two.length)
        if joint.fold_stiffness is None:
            rigidity = 0.5 * (one.rigidity + two.rigidity)
            weight.append(SMOOTH * rigidity * length / (0.5 * (one.across + two.across)))
        else:
            weight.append(joint.fold_stiffness * length)
        angle.append(np.full(len(k), joint.angle))
    rows = np.concatenate([np.zeros((0, 4), dtype=np.int32), *stencils]).astype(np.int32)
    every = Embedding.concatenate(tips, weights.n_points)
    none = np.zeros(0)
    hinges = SeamHinges(
        rows,
        np.concatenate([none, *weight]),
        np.concatenate([none, *angle]),
        len(every),
        "seams",
        damping,
        begin,
    )
    assert len(every) == n + 2 * len(rows)
    return hinges, every


def _tips(parts: Sequence[PatchedPart], edges: Ints) -> _Tips:
    """Return the tips of edges (k,2) of vertices along borders of patches."""
    found: Json = {
        "stencil": np.zeros((len(edges), 27), dtype=np.int32),
        "weight": np.zeros((len(edges), 27)),
    }
    found |= {name: np.zeros(len(edges)) for name in ("length", "across", "rigidity")}
    for part in parts:
        own = np.flatnonzero((edges[:, 0] >= part.first) & (edges[:, 0] < part.last))
        if len(own):
            of = _of_patch(part, edges[own] - part.first)
            for name, values in found.items():
                values[own] = getattr(of, name)
    return _Tips(**found)


def _of_patch(part: PatchedPart, edges: Ints) -> _Tips:
    """Return the tips of edges (k,2) of vertices of one panel."""
    surface = part.surface
    assert surface.touched is not None
    patch, ids, uv = surface.patches[0], surface.ids[0].reshape(-1), surface.touched.uv[edges]
    middle, way = uv.mean(1), uv[:, 1] - uv[:, 0]
    d, J = patch.derivatives(middle), patch.jacobian(middle)
    tangent = np.einsum("kis,ks->ki", J, way)
    length = np.linalg.norm(tangent, axis=1)
    into = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1) / length[:, None]
    inside = np.array(patch.spans) / 2 - middle
    rows = np.arange(len(edges))
    constant = np.argmin(np.abs(way), axis=1)  # parameter that is constant along the border
    towards = J[rows, :, constant] * np.sign(inside[rows, constant])[:, None]
    side = np.sign((into * towards).sum(1))
    into = into * side[:, None]
    slope = np.einsum("kab,kb->ka", d.gradient, into) * length[:, None]
    a, b = (patch.functions(uv[:, end]) for end in (0, 1))
    stencil = np.concatenate([a.stencil, b.stencil, d.functions.stencil], axis=1)
    weight = np.concatenate([0.5 * a.value, 0.5 * b.value, slope], axis=1)
    warp, weft = part.rigidity
    rigidity = warp * into[:, 0] ** 2 + weft * into[:, 1] ** 2
    return _Tips(ids[stencil], weight, length, np.abs((into * towards).sum(1)), rigidity)
