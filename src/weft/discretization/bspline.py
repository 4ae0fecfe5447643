"""Quadratic tensor-product B-spline patch: a reference shape in the material plane.

The module has positions X(u,v), the inverse of that map to second order, and shape functions with
derivatives along warp and weft. Meng et al. 2025, supplement, sections 1 and 2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import MeshError
from weft.discretization.basis import basis, coordinate, greville, parameter_of, slope, spans
from weft.discretization.mesh import check_size


@dataclass(frozen=True, eq=False)
class ShapeFunctions:
    """Values and (u,v) derivatives of the nine nonzero shape functions at each of q points."""

    stencil: Ints  # (q,9) control points of the patch, row by row
    value: Floats  # (q,9) N
    first: Floats  # (q,9,2) N_u, N_v
    second: Floats  # (q,9,3) N_uu, N_vv, N_uv

    def of(self, net: Floats) -> Floats:
        """Return the surface with the control points ``net`` (n,d) at these points, (q,d)."""
        return np.asarray(np.einsum("qa,qad->qd", self.value, net[self.stencil]))


@dataclass(frozen=True, eq=False)
class Patch:
    """Control net of a patch in the material plane.

    Raises:
        MeshError: fewer than three control points a side, or values that are not finite.
    """

    rest: Floats  # (n1,n2,2) [m] (warp, weft) of the control points at rest

    def __post_init__(self) -> None:
        object.__setattr__(self, "rest", np.ascontiguousarray(self.rest, dtype=np.float64))
        self.rest.setflags(write=False)
        if self.rest.ndim != 3 or self.rest.shape[2] != 2 or not np.isfinite(self.rest).all():
            raise MeshError(
                "control net at rest", got=self.rest.shape, expected="finite, of shape (n1, n2, 2)"
            )
        for n in self.shape:
            spans(n)

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of control points along u and v."""
        return self.rest.shape[0], self.rest.shape[1]

    @property
    def spans(self) -> tuple[int, int]:
        """Return the numbers of knot spans along u and v; the parameters run from 0 to these."""
        return spans(self.shape[0]), spans(self.shape[1])

    def functions(self, uv: Floats) -> ShapeFunctions:
        """Evaluate the shape functions at parameters uv (q,2)."""
        n1, n2 = self.shape
        a, b = basis(n1, uv[:, 0]), basis(n2, uv[:, 1])
        i, j = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
        stencil = (a.first[:, None] + i) * n2 + b.first[:, None] + j
        first = [a.slope[:, i] * b.value[:, j], a.value[:, i] * b.slope[:, j]]
        second = [
            a.curve[:, i] * b.value[:, j],
            a.value[:, i] * b.curve[:, j],
            a.slope[:, i] * b.slope[:, j],
        ]
        return ShapeFunctions(
            stencil.astype(np.int32),
            a.value[:, i] * b.value[:, j],
            np.stack(first, axis=2),
            np.stack(second, axis=2),
        )

    def material(self, uv: Floats) -> Floats:
        """Return the material coordinates [m] at parameters uv, (q,2)."""
        return self.functions(uv).of(self.rest.reshape(-1, 2))

    def jacobian(self, uv: Floats) -> Floats:
        """Return dX/d(u,v) at parameters uv, (q,2,2), with rows X_1 (warp) and X_2 (weft)."""
        return jacobian(self.functions(uv), self.rest)

    def area_density(self, uv: Floats) -> Floats:
        """Return the material area [m^2] per area of parameters, (q,); negative in a fold."""
        return np.asarray(np.linalg.det(self.jacobian(uv)))

    def derivatives(self, uv: Floats) -> "MaterialDerivatives":
        """Return derivatives of the shape functions along warp and weft at parameters uv (q,2).

        Raises:
            MeshError: the map from parameters to the material folds over there.
        """
        f = self.functions(uv)
        J = jacobian(f, self.rest)
        check_unfolded(uv, np.linalg.det(J))
        curve = np.einsum("qas,qad->qds", f.second, self.rest.reshape(-1, 2)[f.stencil])
        inverse = inverse_derivatives(J, curve)
        return MaterialDerivatives(f, *inverse)

    @cached_property
    def lengths(self) -> tuple[Floats, Floats]:
        """Return spline coefficients of the mean arc lengths [m] along u and v, (n1,) and (n2,).

        For a rectangle they are the coordinates of its sides. Quadrature points are placed in these
        lengths, and so in the material.
        """
        found = []
        for axis in (0, 1):
            step = np.linalg.norm(np.diff(self.rest, axis=axis), axis=2).mean(axis=1 - axis)
            found.append(np.concatenate([[0.0], np.cumsum(step)]))
        return found[0], found[1]

    def at_lengths(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """Convert mean arc lengths to parameters.

        Args:
            s: (q,2) [m] mean arc lengths.

        Returns:
            Parameters (q,2); the area of arc lengths per area of parameters [m^2], (q,); and the
            material area per area of arc lengths, (q,).
        """
        nets = self.lengths
        uv = np.stack([parameter_of(net, s[:, k]) for k, net in enumerate(nets)], axis=1)
        slopes = [slope(net, uv[:, k]) for k, net in enumerate(nets)]
        per = slopes[0] * slopes[1]
        return uv, per, self.area_density(uv) / per

    def knots_at(self, axis: int) -> Floats:
        """Return the mean arc length [m] of the knots along u (axis 0) or v (axis 1), (m+1,)."""
        return coordinate(self.lengths[axis], np.arange(self.spans[axis] + 1.0))


@dataclass(frozen=True, eq=False)
class MaterialDerivatives:
    """Shape functions with derivatives along warp (index 1) and weft (index 2)."""

    functions: ShapeFunctions
    first_of: Floats  # (q,2,2) d(u,v)/dX: row u, row v
    second_of: Floats  # (q,2,3) u_11, u_22, u_12 and v_11, v_22, v_12

    @cached_property
    def gradient(self) -> Floats:
        """Return dN/dX [1/m], (q,9,2). Meng 2025 supp. eq. 10."""
        return np.asarray(np.einsum("qas,qsb->qab", self.functions.first, self.first_of))

    @cached_property
    def second(self) -> Floats:
        """Return N_11, N_22 and N_12 [1/m^2], (q,9,3). Meng 2025 supp. eq. 15."""
        f, d = self.functions, self.first_of
        u1, u2, v1, v2 = d[:, 0, 0], d[:, 0, 1], d[:, 1, 0], d[:, 1, 1]
        curved = np.stack(
            [
                np.stack([u1 * u1, v1 * v1, 2 * u1 * v1], axis=1),
                np.stack([u2 * u2, v2 * v2, 2 * u2 * v2], axis=1),
                np.stack([u1 * u2, v1 * v2, u1 * v2 + u2 * v1], axis=1),
            ],
            axis=1,
        )
        straight = np.einsum("qas,qsk->qak", f.first, self.second_of)
        return np.asarray(np.einsum("qas,qks->qak", f.second, curved) + straight)


def check_unfolded(uv: Floats, density: Floats) -> None:
    """Check that the map from parameters to the material is nowhere inside out.

    Args:
        uv: (q,2) parameters.
        density: (q,) area density of the map; not positive where it folds over.

    Raises:
        MeshError: the map folds over.
    """
    if not (density > 0).all():
        raise MeshError(
            "patch at rest",
            got=f"folds over at parameters {np.round(uv[np.argmin(density)], 3).tolist()}",
            expected="control points of a patch that does not fold over",
        )


def grid(u: Floats, v: Floats) -> Floats:
    """Return the pairs of values of u (a,) and v (b,), (a b,2), v running faster."""
    return np.stack(np.meshgrid(u, v, indexing="ij"), axis=2).reshape(-1, 2)


def jacobian(f: ShapeFunctions, rest: Floats) -> Floats:
    """Return dX/d(u,v) for the control points ``rest`` (n1,n2,2), (q,2,2)."""
    return np.asarray(np.einsum("qas,qad->qds", f.first, rest.reshape(-1, 2)[f.stencil]))


def inverse_derivatives(J: Floats, curve: Floats) -> tuple[Floats, Floats]:
    """Return the first and second derivatives of the inverse (u,v)(X) of a map X(u,v).

    Differentiating u(X(u,v)) = u twice gives u_ab = -u_c X_c,st s_a t_b. Meng 2025 supp. eqs. 3 and
    5 write this sum out.

    Args:
        J: (q,2,2) dX/d(u,v).
        curve: (q,2,3) X_uu, X_vv, X_uv.

    Returns:
        First derivatives (q,2,2), and second derivatives (q,2,3) in the order 11, 22, 12.
    """
    inverse = np.asarray(np.linalg.inv(J), dtype=np.float64)
    d = np.empty((len(J), 2, 2, 2))
    d[:, :, 0, 0], d[:, :, 1, 1] = curve[:, :, 0], curve[:, :, 1]
    d[:, :, 0, 1] = d[:, :, 1, 0] = curve[:, :, 2]
    full = -np.einsum("qkc,qcst,qsa,qtb->qkab", inverse, d, inverse, inverse)
    return inverse, np.stack([full[:, :, 0, 0], full[:, :, 1, 1], full[:, :, 0, 1]], axis=2)


def rectangle(n1: int, n2: int, width: float, height: float, net: str = "greville") -> Patch:
    """Create a rectangular patch of n1 x n2 control points.

    Args:
        n1: control points along the width (warp).
        n2: control points along the height (weft).
        width: [m].
        height: [m].
        net: ``greville``: all spans alike (an affine map); ``uniform``: control points equally far
            apart, as in the paper, with boundary spans half as long again.

    Raises:
        MeshError: fewer than three control points, a size that is not positive, another net.
    """
    check_size(width, height)
    nets: dict[str, Callable[[int], Floats]] = {
        "greville": lambda n: greville(n) / spans(n),
        "uniform": lambda n: np.linspace(0, 1, n),
    }
    if net not in nets:
        raise MeshError("sheet net", got=repr(net), expected="greville or uniform")
    for n in (n1, n2):
        spans(n)
    x, y = width * nets[net](n1), height * nets[net](n2)
    return Patch(np.stack(np.meshgrid(x, y, indexing="ij"), axis=2))
