"""Derivatives by control points of spline patches at rest, from derivatives by tables.

At fixed parameters slopes G and second derivatives H of shape functions change with the control
points X_b by

    dG_a,i = -G_a,k u_k,i,   dH_a,ij = -H_a,kj u_k,i - H_a,ik u_k,j - G_a,k u_k,ij,

with u_k,i = sum_b dX_b,k G_b,i, u_k,ij likewise with H_b,ij, and material areas by dA = A u_k,k.
The places of the samples of a patch depend on mean arc lengths of its whole control net. The
derivatives by the n1 + n2 - 2 steps of these lengths are central differences of the tables
themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.adjoint.material import material_points, spline_surfaces
from weft.adjoint.rest_terms import FormTables, Handled, SampleTables
from weft.base.arrays import Floats, Ints
from weft.base.errors import SceneError
from weft.cloth.cloth import Cloth
from weft.discretization.bspline import MaterialDerivatives, Patch
from weft.discretization.quadrature import QuadraturePoints, Rule, bending_points, membrane_points
from weft.discretization.spline_surface import Bending, SplineSurface, grid_faces
from weft.energies.elastic.quadratic_form import BoundQuadraticForm

PART = 1e-4  # step of central differences over a step of arc length; relative error 1e-8
SPATIAL = ("anchors", "seam ties")


class SplineRest:
    """Derivatives by control points at rest, patch after patch.

    Args:
        cloth: a cloth of splines.

    Raises:
        SceneError: samples that lie on lines of knots, or smooth seams.
    """

    def __init__(self, cloth: Cloth) -> None:
        self.cloth, self.surfaces = cloth, spline_surfaces(cloth)
        for surface in self.surfaces:
            if surface.rule is Rule.ALTERNATING:
                raise SceneError("parameter rest", got="rule alternating", expected="another")
            if any(j.smooth for j in surface.joints):
                raise SceneError("parameter rest", got="smooth seams of splines", expected="none")

    def knows(self, made: Handled | None) -> bool:
        """Return whether derivatives by a term's tables can be taken to control points."""
        return isinstance(made, SampleTables | FormTables)

    def is_spatial(self, term: Any) -> bool:
        """Return whether a term depends on positions only, and not on the rest shape."""
        return type(term) is BoundQuadraticForm and term.name in SPATIAL

    def faces(self, triples: Ints) -> Ints:
        """Raise an error: splines have no faces of their own.

        Raises:
            SceneError: always.
        """
        raise SceneError("loss and parameter rest", got="splines", expected="triangles")

    def by_points(self, handled: Mapping[str, Handled], by_mass: Floats) -> Floats:
        """Return (k,2) derivatives by material points, of all terms and of masses (N,)."""
        out: dict[int, list[Floats]] = {}
        for k, (fabric, surface) in enumerate(self.cloth.elements):
            assert isinstance(surface, SplineSurface)
            number = "" if k == 0 else f" {k + 1}"
            sampled = [handled.get(f"{name}{number}") for name in ("membrane", "wind")]
            form: Any = handled[f"bending{number}"]
            warp, weft = fabric.bending_warp, fabric.bending_weft
            done, terms = [0, 0], _terms(surface, warp, weft)
            for patch, ids in zip(surface.patches, surface.ids):
                at = _Sampled.of(surface, patch)
                size = [len(at.membrane.uv), len(terms) * len(at.bending.uv)]
                q, b = (slice(d, d + s) for d, s in zip(done, size))
                done = [d + s for d, s in zip(done, size)]
                found = _Slopes.zeros(len(at.membrane.uv))
                for term in sampled:
                    if isinstance(term, SampleTables):
                        found = found.plus(term, q)
                many = (len(terms), len(at.bending.uv))
                c, w, G = (v[b].reshape(*many, *v.shape[1:]) for v in (form.c, form.w, form.G))
                f = patch.functions(at.mass.uv)
                mass = fabric.density * by_mass[ids.reshape(-1)[f.stencil]]
                H = np.einsum("tqa,ts->qas", c, np.array(terms))
                by = _ByTables(found.G, found.w, found.N, H, w.sum(0), G.sum(0), mass)
                out.setdefault(id(surface), []).append(_by_net(surface, patch, by))
        return np.concatenate([net.reshape(-1, 2) for s in self.surfaces for net in out[id(s)]])

    def of_corners(self, by: Floats) -> Floats:
        """Return (k,2) derivatives by material points, from (m,3,2) by corners of contact faces."""
        out, first, at = np.zeros_like(material_points(self.cloth)[0]), 0, 0
        for surface in self.surfaces:
            for patch in surface.patches:
                uv, faces = _shown(surface, patch)
                mine, at = by[at : at + len(faces)], at + len(faces)
                on = np.zeros((len(uv), 2))
                np.add.at(on, faces, mine)
                f = patch.functions(uv)
                np.add.at(out, first + f.stencil, f.value[:, :, None] * on[:, None])
                first += patch.shape[0] * patch.shape[1]
        return out


def _terms(surface: SplineSurface, warp: float, weft: float) -> list[tuple[float, float, float]]:
    """Return the combinations of second derivatives H that bending squares.

    See ``SplineSurface.laplacians``.
    """
    a, b = float(np.sqrt(warp)), float(np.sqrt(weft))
    if surface.bending is Bending.PLATE:
        return [(a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, float(np.sqrt(2 * a * b)))]
    return [(a, b, 0.0)]


@dataclass(frozen=True, eq=False)
class _Sampled:
    """Quadrature points of a patch for membrane, bending and mass."""

    membrane: QuadraturePoints
    bending: QuadraturePoints
    mass: QuadraturePoints

    @staticmethod
    def of(surface: SplineSurface, patch: Patch) -> "_Sampled":
        rule = surface.rule
        return _Sampled(
            membrane_points(patch, rule),
            bending_points(patch, rule),
            membrane_points(patch, Rule.FULL),
        )


@dataclass(frozen=True, eq=False)
class _Slopes:
    """Derivatives by the tables of the samples of a patch."""

    G: Floats
    w: Floats
    N: Floats

    @staticmethod
    def zeros(q: int) -> "_Slopes":
        return _Slopes(np.zeros((q, 9, 2)), np.zeros(q), np.zeros((q, 9)))

    def plus(self, term: SampleTables, rows: slice) -> "_Slopes":
        return _Slopes(self.G + term.G[rows], self.w + term.w[rows], self.N + term.N[rows])


@dataclass(frozen=True, eq=False)
class _ByTables:
    """Derivatives by all tables of a patch."""

    G: Floats  # (q,9,2) of the membrane and the air, at their samples
    w: Floats  # (q,)
    N: Floats  # (q,9)
    H: Floats  # (b,9,3) of bending: N_11, N_22, N_12
    bent_w: Floats  # (b,)
    bent_G: Floats  # (b,9,2)
    mass: Floats  # (p,9) by areas times values

    def total(self, surface: SplineSurface, patch: Patch) -> float:
        """Return the sum of all derivatives times the tables of a patch."""
        at = _Sampled.of(surface, patch)
        d, e = patch.derivatives(at.membrane.uv), patch.derivatives(at.bending.uv)
        values = at.mass.weight[:, None] * patch.functions(at.mass.uv).value
        pairs = (
            (self.G, d.gradient),
            (self.w, at.membrane.weight),
            (self.N, d.functions.value),
            (self.H, e.second),
            (self.bent_w, at.bending.weight),
            (self.bent_G, e.gradient),
            (self.mass, values),
        )
        return float(sum((by * table).sum() for by, table in pairs))


def _shown(surface: SplineSurface, patch: Patch) -> tuple[Floats, Ints]:
    """Return the parameters of the contact samples of a patch, and the faces between them."""
    if surface.touched is not None:
        return surface.touched.uv, surface.touched.faces
    m1, m2 = (m * surface.density + 1 for m in patch.spans)
    return np.indices((m1, m2)).reshape(2, -1).T / surface.density, grid_faces(m1, m2)


def _by_net(surface: SplineSurface, patch: Patch, by: _ByTables) -> Floats:
    """Return (n1,n2,2) derivatives by a patch's control points."""
    at, out = _Sampled.of(surface, patch), np.zeros((patch.rest[:, :, 0].size, 2))
    d, e = patch.derivatives(at.membrane.uv), patch.derivatives(at.bending.uv)
    values = patch.functions(at.mass.uv).value
    for derivatives, by_G, by_H in ((d, by.G, None), (e, by.bent_G, by.H)):
        np.add.at(out, derivatives.functions.stencil, _at_fixed_places(derivatives, by_G, by_H))
    for points, by_w in (
        (at.membrane, by.w),
        (at.bending, by.bent_w),
        (at.mass, (by.mass * values).sum(1)),
    ):
        _add_areas(patch, points, by_w, out)
    net = out.reshape(patch.rest.shape)
    for axis in (0, 1):
        edge = np.diff(patch.rest, axis=axis)
        unit = edge / np.linalg.norm(edge, axis=2, keepdims=True) / patch.shape[1 - axis]
        slope = [_by_step(surface, patch, by, axis, i) for i in range(patch.shape[axis] - 1)]
        pull = np.asarray(slope)[(slice(None), None) if axis == 0 else (None, slice(None))]
        low, high = (slice(None, -1), slice(1, None))
        ends = ((low,), (high,)) if axis == 0 else ((slice(None), low), (slice(None), high))
        for end, sign in zip(ends, (-1.0, 1.0)):
            net[end] += sign * pull[:, :, None] * unit
    return net


def _at_fixed_places(d: MaterialDerivatives, by_G: Floats, by_H: Floats | None) -> Floats:
    """Return (q,9,2) derivatives by the control points of each sample, at fixed parameters."""
    G = d.gradient
    out = -np.einsum("qai,qbi,qak->qbk", by_G, G, G, optimize=True)
    if by_H is None:
        return np.asarray(out)
    H, B = _full(d.second), _full(by_H * [1.0, 1.0, 0.5])
    out -= 2 * np.einsum("qaij,qakj,qbi->qbk", B, H, G, optimize=True)
    return np.asarray(out - np.einsum("qaij,qak,qbij->qbk", B, G, H, optimize=True))


def _full(second: Floats) -> Floats:
    """Return symmetric matrices (q,9,2,2) from components 11, 22 and 12."""
    one, two, both = np.moveaxis(second, 2, 0)
    return np.stack([np.stack([one, both], -1), np.stack([both, two], -1)], -1)


def _add_areas(patch: Patch, at: QuadraturePoints, by: Floats, out: Floats) -> None:
    """Add derivatives by weights w = raw a E/O at fixed parameters.

    a is the material area per parameters, E the area of the cell, and O the sum of raw a in it; da
    = a u_k,k.
    """
    t, cells = by * at.weight, len(at.fine)
    total, own = (np.bincount(at.cell, v, cells) for v in (t, at.raw * patch.area_density(at.uv)))
    each = at.raw * patch.area_density(at.uv) / own[at.cell]
    _pull_areas(patch, at.uv, t - total[at.cell] * each, out)
    fine = at.fine.reshape(-1, 2)
    part = at.fine_raw * patch.area_density(fine).reshape(at.fine_raw.shape)
    part /= part.sum(1, keepdims=True)
    _pull_areas(patch, fine, (total[:, None] * part).reshape(-1), out)


def _pull_areas(patch: Patch, uv: Floats, by: Floats, out: Floats) -> None:
    d = patch.derivatives(uv)
    np.add.at(out, d.functions.stencil, by[:, None, None] * d.gradient)


def _by_step(surface: SplineSurface, patch: Patch, by: _ByTables, axis: int, i: int) -> float:
    """Return the derivative by one step of mean arc length, along u (axis 0) or v (axis 1).

    Such a step moves the samples.
    """
    h, slope = PART * float(np.diff(patch.lengths[axis])[i]), 0.0
    for k in (1, -1):
        nets = list(patch.lengths)
        nets[axis] = nets[axis] + k * h * (np.arange(patch.shape[axis]) > i)
        held = Patch(patch.rest)
        vars(held)["lengths"] = tuple(nets)
        slope += k / (2 * h) * by.total(surface, held)
    return slope
