"""Derivatives by control points of spline patches at rest, from derivatives by tables.

At fixed parameters slopes G and second derivatives H of shape functions change with the control
points X_b by

    dG_a,i = -G_a,k u_k,i,   dH_a,ij = -H_a,kj u_k,i - H_a,ik u_k,j - G_a,k u_k,ij,

with u_k,i = sum_b dX_b,k G_b,i, u_k,ij likewise with H_b,ij, and material areas by dA = A u_k,k.
The places of the samples of a patch depend on mean arc lengths of its whole control net. The
derivatives by the n1 + n2 - 2 steps of these lengths are central differences of the tables
themselves.
"""

from dataclasses import dataclass

import numpy as np

from weft.adjoint.material import material_points, spline_surfaces
from weft.base.arrays import Floats, Ints
from weft.base.errors import SceneError
from weft.cloth.cloth import Cloth
from weft.discretization.bspline import MaterialDerivatives, Patch
from weft.discretization.quadrature import QuadraturePoints, Rule, bending_points, membrane_points
from weft.discretization.spline_surface import SplineSurface, grid_faces
from weft.energies.by_constants import ByName
from weft.energies.rest_mesh import by_areas
from weft.energies.term import Term
from weft.fabric.fabric import Fabric

PART = 1e-4  # step of central differences over a step of arc length; relative error 1e-8


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
        self.elements = [_ElementTables(f, s) for f, s in cloth.elements]  # type: ignore[arg-type]
        self.by_mass = np.zeros(len(cloth.points))
        self.by_points = np.zeros_like(material_points(cloth)[0])  # (k,2) of contact

    def result(self) -> Floats:
        """Return (k,2) derivatives by material points."""
        nets = {id(e.surface): e.by_nets(self.by_mass) for e in self.elements}
        return np.concatenate([nets[id(s)] for s in self.surfaces]) + self.by_points

    def add(self, term: Term, by: ByName) -> None:
        """Add derivatives by the tables of a term.

        Masses are those of points; anchors are none of them. Flat positions of contact's vertices
        are none here.

        Raises:
            NotImplementedError: tables that splines do not have.
        """
        names = set(by)
        if names == {"mass"}:
            n = min(len(by["mass"]), len(self.by_mass))
            self.by_mass[:n] += by["mass"][:n]
        elif names == {"total mass", "rest"}:
            self._add_contact(float(by["total mass"]))
        elif names >= {"coefficient", "weight"}:
            self._add(self._element(term).bent, by)
        elif names >= {"gradient", "weight"}:
            self._add(self._element(term).sampled, by)
        else:
            raise NotImplementedError

    def _add(self, tables: dict[str, Floats], by: ByName) -> None:
        for name, value in by.items():
            tables[name] += value

    def _element(self, term: Term) -> "_ElementTables":
        """Return the element whose samples have the stencil of the term's energy."""
        first = term.energy.stencil[0]
        return next(e for e in self.elements if np.isin(first, e.points).all())

    def _add_contact(self, by_total_mass: float) -> None:
        """Add derivatives by the mass of contact's faces."""
        density = np.array([r.fabric.density for r in self.cloth.regions])
        each = density[self.cloth.region_of_faces] * by_total_mass
        by = by_areas(self.cloth.mesh, each)
        first, at = 0, 0
        for surface in self.surfaces:
            for patch in surface.patches:
                uv, faces = _contact_samples(surface, patch)
                mine, at = by[at : at + len(faces)], at + len(faces)
                on = np.zeros((len(uv), 2))
                np.add.at(on, faces, mine)
                f = patch.functions(uv)
                np.add.at(self.by_points, first + f.stencil, f.value[:, :, None] * on[:, None])
                first += patch.shape[0] * patch.shape[1]


class _ElementTables:
    """Derivatives by the tables of a surface of one fabric, patch after patch."""

    def __init__(self, fabric: Fabric, surface: SplineSurface) -> None:
        self.fabric, self.surface = fabric, surface
        self.points = np.unique(np.concatenate([ids.ravel() for ids in surface.ids]))
        self.terms = surface.terms(fabric.bending_warp, fabric.bending_weft)
        self.at = [_Sampled.of(surface, patch) for patch in surface.patches]
        q = sum(len(at.membrane.uv) for at in self.at)
        b = len(self.terms) * sum(len(at.bending.uv) for at in self.at)
        self.sampled = {"gradient": np.zeros((q, 9, 2)), "weight": np.zeros(q)}
        self.sampled["shares"] = np.zeros((q, 9))
        self.bent = {"coefficient": np.zeros((b, 9)), "weight": np.zeros(b)}
        self.bent["gradient"] = np.zeros((b, 9, 2))

    def by_nets(self, by_mass: Floats) -> Floats:
        """Return (k,2) derivatives by the control points of all patches."""
        nets, q, b = [], 0, 0
        for patch, ids, at in zip(self.surface.patches, self.surface.ids, self.at):
            many = (len(self.terms), len(at.bending.uv))
            rows, bent = slice(q, q + len(at.membrane.uv)), slice(b, b + many[0] * many[1])
            q, b = rows.stop, bent.stop
            G, w, N = (self.sampled[n][rows] for n in ("gradient", "weight", "shares"))
            c, bent_w, bent_G = (
                v[bent].reshape(*many, *v.shape[1:])
                for v in (self.bent[n] for n in ("coefficient", "weight", "gradient"))
            )
            mass = by_mass[ids.reshape(-1)[patch.functions(at.mass.uv).stencil]]
            H = np.einsum("tqa,ts->qas", c, np.array(self.terms))
            by = _ByTables(G, w, N, H, bent_w.sum(0), bent_G.sum(0), self.fabric.density * mass)
            nets.append(_by_net(self.surface, patch, by).reshape(-1, 2))
        return np.concatenate(nets)


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


def _contact_samples(surface: SplineSurface, patch: Patch) -> tuple[Floats, Ints]:
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
