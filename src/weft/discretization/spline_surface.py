"""Surfaces of quadratic B-spline patches that share control points (Meng et al. 2025).

``SplineSurface`` computes the membrane samples, the second derivatives of bending, the penalty of
smooth seams, and the triangles that are drawn and that collide.
"""

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from weft.base.arrays import Arrays, Bools, CornerUv, Faces, Floats, Ints, Positions
from weft.base.errors import MeshError, check_known
from weft.discretization.bspline import MaterialDerivatives, Patch
from weft.discretization.embedding import Embedding
from weft.discretization.patch_triangulation import PatchTriangulation, embed
from weft.discretization.quadrature import QuadraturePoints, Rule, bending_points, membrane_points
from weft.discretization.samples import Samples
from weft.discretization.surface import Surface, Tessellation

SIDES = ("left", "right", "bottom", "top")  # u = 0, u = m1, v = 0, v = m2
OTHERWISE = "leave it out, or write `discretization: triangles`"
# Penalty stiffness of a smooth seam, over the bending stiffness D/h of one span: large enough that
# the angle across the seam is practically rigid.
SMOOTH = 10.0


class Bending(enum.Enum):
    """Second derivatives that cost bending energy; on a cylinder both give D/(2 R^2) per area."""

    PLATE = "plate"  # squares of both curvatures and of the twist; a strip bends with its D
    # Square of the sum of both curvatures (Meng et al. 2025). Saddles cost nothing, so narrow
    # strips are too soft (docs/decisions/0012).
    MEAN = "mean"


@dataclass(frozen=True, eq=False)
class SharedSide:
    """Two sides of patches that share their control points: a seam."""

    first: tuple[int, str]  # patch and side
    second: tuple[int, str]
    reverse: bool = False  # the second runs the other way
    smooth: bool = False  # the seam bends like the cloth beside it; else it folds freely


@dataclass(frozen=True, eq=False)
class Laplacians:
    """Weighted second derivatives at bending points, or jumps of slope across smooth seams."""

    stencil: Ints  # (q,k)
    coefficient: Floats  # (q,k)
    weight: Floats  # (q,)
    gradient: Floats  # (q,k,2) dN/dX


@dataclass(frozen=True, eq=False)
class PatchTies:
    """Pairs of points of two patches that springs join, where no control points are shared."""

    stencil: Ints  # (t,18)
    coefficient: Floats  # (t,18) shape functions of the one point, minus those of the other
    weight: Floats  # (t,) length of the seam that a tie represents, over the size of a span


@dataclass(frozen=True, eq=False)
class SplineSurface(Surface):
    """Patches, and the indices of their control points, (n1,n2) each, among ``n_points``."""

    patches: Sequence[Patch]
    ids: Sequence[Ints]
    n_points: int
    joints: Sequence[SharedSide] = ()
    rule: Rule = Rule.REDUCED
    ties: PatchTies | None = None
    bending: Bending = Bending.PLATE
    deviation: float | None = None  # [m] largest distance from the outlines that were fitted
    density: int = 1  # samples in each knot span of the triangles that collide
    touched: PatchTriangulation | None = (
        None  # triangles of a single patch, instead of those between samples
    )
    kind: ClassVar[str] = "splines"
    unsupported: ClassVar[Mapping[str, str]] = {
        "bending": OTHERWISE,
        "buckling": OTHERWISE,
        "conditions.bend": OTHERWISE,
        "contact.resolve": (
            "first separate the triangles from which the splines are fitted, or move the "
            "pieces apart"
        ),
        "pressure": OTHERWISE,
        "rest_angles": OTHERWISE,
    }

    @staticmethod
    def of(
        patches: Sequence[Patch],
        joints: Sequence[SharedSide] = (),
        rule: Rule = Rule.REDUCED,
        bending: Bending = Bending.PLATE,
    ) -> "SplineSurface":
        """Build a surface from patches and joints; control points of joined sides become one.

        Raises:
            MeshError: sides of different numbers of control points.
        """
        sizes = [p.shape[0] * p.shape[1] for p in patches]
        first = np.concatenate([[0], np.cumsum(sizes)])
        same = np.arange(first[-1])
        ids = [f + np.arange(s).reshape(p.shape) for f, s, p in zip(first, sizes, patches)]
        for joint in joints:
            a = side_of(ids[joint.first[0]], joint.first[1])
            b = side_of(ids[joint.second[0]], joint.second[1])
            if len(a) != len(b):
                got = f"{len(a)} and {len(b)} control points"
                raise MeshError("joined sides", got=got, expected="the same number on both")
            for i, j in zip(a.tolist(), (b[::-1] if joint.reverse else b).tolist()):
                low, high = sorted((int(same[i]), int(same[j])))
                same[same == high] = low
        _, number = np.unique(same, return_inverse=True)
        numbered = [number[k].astype(np.int32) for k in ids]
        n = int(number.max()) + 1
        return SplineSurface(patches, numbered, n, joints, rule, None, bending)

    def samples(
        self, points: Callable[[Patch, Rule], QuadraturePoints] = membrane_points
    ) -> Samples:
        """Return the quadrature points of the membrane (Meng 2025 supp. eqs. 8-12), or others."""
        return Samples.concatenate(
            [
                Samples(stencil, d.gradient, weight, self.n_points, d.functions.value)
                for stencil, d, weight in self._at(points)
            ]
        )

    def terms(self, warp: float | Floats, weft: float | Floats) -> list[Floats]:
        """Return the factors (3,) of second derivatives x_11, x_22 and x_12 in each term of bending
        (``laplacians``), (q,3) for rigidities of every bending point.
        """
        a, b, zero = np.broadcast_arrays(np.sqrt(warp), np.sqrt(weft), 0.0)
        if self.bending is Bending.MEAN:
            return [np.stack([a, b, zero], axis=-1)]
        columns = (a, zero, zero), (zero, b, zero), (zero, zero, np.sqrt(2 * a * b))
        return [np.stack(term, axis=-1) for term in columns]

    def laplacians(self, warp: float | Floats = 1.0, weft: float | Floats = 1.0) -> Laplacians:
        """Return the terms of the bending energy: combinations of second derivatives to be squared.

        MEAN: sqrt(warp) x_11 + sqrt(weft) x_22 (Meng 2025 supp. eqs. 16-17, where both rigidities
        are mu_bd). PLATE: sqrt(warp) x_11, sqrt(weft) x_22 and sqrt(2) (warp weft)^(1/4) x_12, one
        after the other: a thin plate without Poisson's effect.

        Args:
            warp: [N m] bending rigidity along the warp, one number or one for every bending point.
            weft: [N m] bending rigidity along the weft.
        """
        parts, terms, first = [], self.terms(warp, weft), 0
        for stencil, d, weight in self._at(bending_points):
            rows, first = slice(first, first + len(weight)), first + len(weight)
            for term in terms:
                factor = term if term.ndim == 1 else term[rows, :, None]
                coefficient = (d.second @ factor).reshape(stencil.shape)
                parts.append((stencil, coefficient, weight, d.gradient))
        return Laplacians(*(np.concatenate(column) for column in zip(*parts)))

    def seams(self, warp: float, weft: float) -> "list[Laplacians]":
        """Return the jumps of slope across smooth joints, weighted by the bending rigidities [N m].

        They are an interior penalty: where the surface is smooth, the slopes out of both patches
        add up to zero. The square of their sum is weighted with ``SMOOTH`` times D over the size of
        a span.
        """
        return [jump(self, j, warp, weft) for j in self.joints if j.smooth]

    def _at(
        self, points: Callable[[Patch, Rule], QuadraturePoints]
    ) -> Iterator[tuple[Ints, MaterialDerivatives, Floats]]:
        """Yield stencils, derivatives and weights at the quadrature points of each patch."""
        for patch, ids in zip(self.patches, self.ids):
            at = points(patch, self.rule)
            d = patch.derivatives(at.uv)
            yield _numbers(ids, d), d, at.weight

    @cached_property
    def area(self) -> Floats:
        """Return the material area [m^2] of each control point, (n,): its function's integral."""
        out = np.zeros(self.n_points)
        for patch, ids in zip(self.patches, self.ids):
            points = membrane_points(patch, Rule.FULL)
            f = patch.functions(points.uv)
            share = points.weight[:, None] * f.value
            out += np.bincount(ids.reshape(-1)[f.stencil].reshape(-1), share.reshape(-1), len(out))
        return out

    def tessellate(self, density: int) -> Tessellation:
        """Return triangles between samples, ``density`` samples in each knot span.

        Raises:
            MeshError: a density below 1.
        """
        if density < 1:
            raise MeshError("density", got=density, expected="at least 1 sample per knot span")
        samples, faces, grids, count = [], [], [], 0
        for patch, ids in zip(self.patches, self.ids):
            m1, m2 = (m * density + 1 for m in patch.spans)
            uv = np.indices((m1, m2)).reshape(2, -1).T / density
            f = patch.functions(uv)
            samples.append((ids.reshape(-1)[f.stencil], f.value, f.of(patch.rest.reshape(-1, 2))))
            faces.append(count + grid_faces(m1, m2))
            grids.append(count + np.arange(m1 * m2).reshape(m1, m2))
            count += m1 * m2
        stencil, weight, uvs = (np.concatenate(column) for column in zip(*samples))
        corners = np.concatenate(faces)
        patch_of = np.repeat(np.arange(len(faces), dtype=np.int32), [len(f) for f in faces])
        first, number = _group_samples(stencil, weight)
        embedding = Embedding(stencil[first], weight[first], self.n_points)
        merged = number.astype(np.int32)
        return Tessellation(
            embedding, merged[corners], uvs[corners], patch_of, [merged[grid] for grid in grids]
        )

    @cached_property
    def shown(self) -> Tessellation:
        """Return the triangles that are drawn and that collide.

        They are a panel's own triangles (``touched``), or triangles between samples.
        """
        if self.touched is None:
            return self.tessellate(self.density)
        return self.touched.tessellation(self.patches[0], self.ids[0], self.n_points)

    def net(self) -> tuple[Faces, CornerUv]:
        """Return two faces for each quadrilateral of the control nets, and material coordinates."""
        corners = [grid_faces(*ids.shape) for ids in self.ids]
        faces = [ids.reshape(-1)[c] for ids, c in zip(self.ids, corners)]
        uv = [patch.rest.reshape(-1, 2)[c] for patch, c in zip(self.patches, corners)]
        return np.concatenate(faces), np.concatenate(uv)

    def between(self, pinned: Bools) -> tuple[Embedding, Ints]:
        """Return what else has to be pinned where vertices of ``shown`` are pinned.

        Args:
            pinned: mask of the vertices of ``shown``.

        Returns:
            Points halfway between neighboring pinned samples, and the control points of spans all
            of whose samples are pinned.
        """
        lines, inside = [], []
        d, n = self.density, self.n_points
        if self.touched is not None:
            along = self.touched.between(self.patches[0], self.ids[0], pinned, n)
            return along, np.zeros(0, dtype=np.int32)
        for patch, ids, grid in zip(self.patches, self.ids, self.shown.grids):
            held = pinned[grid]
            a, b = held[:-1] & held[1:], held[:, :-1] & held[:, 1:]
            uv = np.concatenate([np.argwhere(a) + (0.5, 0.0), np.argwhere(b) + (0.0, 0.5)])
            lines.append(embed(patch, ids, uv / d, n))
            windows = np.lib.stride_tricks.sliding_window_view(held, (d + 1, d + 1))
            span = np.argwhere(windows[::d, ::d].all(axis=(2, 3))).astype(np.float64)
            inside.append(ids.reshape(-1)[patch.functions(span + 0.5).stencil].reshape(-1))
        return Embedding.concatenate(lines, n), np.concatenate(inside)

    def among(self, points: Positions, first: int) -> Self:
        """Return this surface as a piece of a larger cloth; control points begin at ``first``."""
        ids = [(own + first).astype(np.int32) for own in self.ids]
        return replace(self, ids=ids, n_points=len(points))

    def arrays(self) -> Arrays:
        """Return the control nets in the material and the control point indices, patch by patch."""
        out: dict[str, Any] = {"density": self.density}
        for j, (patch, ids) in enumerate(zip(self.patches, self.ids)):
            out[f"{j}.rest"], out[f"{j}.ids"] = patch.rest, ids
        if self.touched is not None:
            out["touched.uv"], out["touched.faces"] = self.touched.uv, self.touched.faces
        return out

    @classmethod
    def of_arrays(cls, arrays: Arrays, n_points: int) -> Self:
        """Restore a surface from its arrays in a file; joints and ties are not stored."""
        count = sum(name.endswith(".ids") for name in arrays)
        patches = [Patch(arrays[f"{j}.rest"]) for j in range(count)]
        ids = [arrays[f"{j}.ids"] for j in range(count)]
        own = None
        if "touched.uv" in arrays:
            own = PatchTriangulation(arrays["touched.uv"], arrays["touched.faces"])
        return cls(patches, ids, n_points, density=int(arrays["density"]), touched=own)

    def facts(self) -> str:
        """Return control points, spans, seams and deviation of the fit as text."""
        spans = ", ".join("{} x {}".format(*p.spans) for p in self.patches)
        count = len(np.unique(np.concatenate([ids.reshape(-1) for ids in self.ids])))
        text = f"{count} control points, {spans} knot spans"
        if self.joints:
            text += f", {len(self.joints)} seams closed exactly"
        if self.deviation is not None:
            text += f", outline kept to {1e3 * self.deviation:.2g} mm"
        return text


def grid_faces(n1: int, n2: int) -> Faces:
    """Return the triangles (m,3) of a grid of n1 x n2 points, numbered row by row."""
    grid = np.arange(n1 * n2, dtype=np.int32).reshape(n1, n2)
    quads = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=2)
    return quads[..., [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)


def side_of(ids: Ints, side: str) -> Ints:
    """Return the control points of one side of a patch, in the direction of its parameter.

    Args:
        ids: (n1,n2) control points of the patch.
        side: one of ``SIDES``.

    Raises:
        MeshError: no such side.
    """
    check_known(side, SIDES, "side of a patch", MeshError)
    sides: list[Ints] = [ids[0], ids[-1], ids[:, 0], ids[:, -1]]
    return sides[SIDES.index(side)]


def jump(surface: SplineSurface, joint: SharedSide, warp: float, weft: float) -> Laplacians:
    """Return the jump of slope across one joint, at two Gauss points in each span.

    The outward slopes of both sides are added; the weight is ``SMOOTH`` times the rigidity across
    the seam, over the mean size of the spans beside it.
    """
    x, w = np.polynomial.legendre.leggauss(2)
    stencils, slopes, sizes, measure = [], [], [], np.zeros(0)
    for number, side in (joint.first, joint.second):
        patch, ids = surface.patches[number], surface.ids[number]
        axis = int(side in ("bottom", "top"))  # the parameter that is constant
        m = patch.spans[1 - axis]
        along = (np.arange(m)[:, None] + 0.5 + 0.5 * x).reshape(-1)
        if number == joint.second[0] and side == joint.second[1] and joint.reverse:
            along = m - along
        uv = np.empty((len(along), 2))
        uv[:, 1 - axis] = along
        uv[:, axis] = 0.0 if side in ("left", "bottom") else patch.spans[axis]
        d = patch.derivatives(uv)
        tangent = patch.jacobian(uv)[:, :, 1 - axis]
        length = np.linalg.norm(tangent, axis=1)
        outward = np.stack([tangent[:, 1], -tangent[:, 0]], axis=1) / length[:, None]
        if side in ("left", "top"):
            outward = -outward
        stencils.append(_numbers(ids, d))
        slopes.append(np.einsum("qab,qb->qa", d.gradient, outward))
        sizes.append(np.abs(np.einsum("qi,qi->q", outward, patch.jacobian(uv)[:, :, axis])))
        rigidity = warp * outward[:, 0] ** 2 + weft * outward[:, 1] ** 2
        measure = SMOOTH * rigidity * length * np.tile(w / 2, m)
    weight = measure / (0.5 * (sizes[0] + sizes[1]))
    stencil = np.concatenate(stencils, axis=1)
    return Laplacians(
        stencil, np.concatenate(slopes, axis=1), weight, np.zeros((*stencil.shape, 2))
    )


def _numbers(ids: Ints, d: MaterialDerivatives) -> Ints:
    """Return the control point indices of the stencils in the whole surface, (q,9)."""
    return ids.reshape(-1)[d.functions.stencil]


def _group_samples(stencil: Ints, weight: Floats) -> tuple[Ints, Ints]:
    """Group samples that are the same combination of control points.

    Returns the first sample of every group, and the group of each sample.
    """
    used = weight > 1e-12
    order = np.argsort(np.where(used, stencil, np.iinfo(np.int32).max), axis=1, kind="stable")
    ids = np.take_along_axis(np.where(used, stencil, -1), order, 1)
    parts = np.take_along_axis(np.where(used, weight, 0.0), order, 1)
    # Weights are compared after rounding to 1e-9, because patches differ in round-off.
    key = np.concatenate([ids, np.round(parts * 1e9).astype(np.int64)], axis=1)
    _, first, group = np.unique(key, axis=0, return_index=True, return_inverse=True)
    order_of = np.argsort(first)  # keep the order of the samples
    rank = np.empty(len(first), dtype=np.int64)
    rank[order_of] = np.arange(len(first))
    return np.asarray(first[order_of]), np.asarray(rank[group.reshape(-1)])
