"""Optimization of a patch's control net towards an isometric map.

Meng et al. 2025, supplement, section 3.2, eqs. 27-29, with the MIPS energy of Hormann & Greiner
(2000).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from weft.base.arrays import Floats
from weft.discretization.basis import spans
from weft.discretization.bspline import Patch, ShapeFunctions, grid, jacobian
from weft.discretization.polygon import arc_lengths, interpolate_points, signed_area

PER_SPAN = 4  # least number of fitted points in each span; longer edges are divided
MOST_ITERATIONS = 60
HALVINGS = 30
DONE = 1e-6  # largest step over the size of a span at which the iteration has converged
MOST_SOFTENINGS, FEW = 60, 6  # rounds of untangling, Newton iterations in each
# Softening, squared: SOFTENING times the square of the worst determinant, plus the square of
# LEAST_SOFT times a span's area.
SOFTENING, LEAST_SOFT = 0.04, 1e-3
SUFFICIENT = 1e-4  # fraction of the linear decrease that a step has to reach (Armijo)


@dataclass(frozen=True, eq=False)
class SidePoints:
    """Points along a side of a patch, with their parameters. Eq. 20."""

    points: Floats  # (m,2) [m]
    u: Floats  # (m,) in [0, n - 2]

    @staticmethod
    def of(polyline: Floats, n: int) -> "SidePoints":
        """Return a polyline as a side of n control points.

        Its edges are divided until there are at least ``PER_SPAN`` points for each span.
        """
        s = arc_lengths(polyline)
        extra = np.linspace(0.0, s[-1], PER_SPAN * spans(n) + 1)
        places = np.unique(np.concatenate([s, extra]))
        places = places[np.concatenate([[True], np.diff(places) > 1e-9 * s[-1]])]
        return SidePoints(interpolate_points(places, s, polyline), spans(n) * places / s[-1])


class Mips:
    """Psi of eq. 29 as a function of the control points, with its minimization."""

    def __init__(self, start: Floats, lines: list[SidePoints], boundary: float) -> None:
        self.start, self.lines = start, lines
        n1, n2 = start.shape[:2]
        self.patch = Patch(start)
        x = 0.5 + 0.5 / np.sqrt(3) * np.array([-1.0, 1.0])
        u = (np.arange(n1 - 2)[:, None] + x).reshape(-1)
        v = (np.arange(n2 - 2)[:, None] + x).reshape(-1)
        self.at = self.patch.functions(grid(u, v))  # eq. 28: 2 x 2 Gauss points, of weight 1/4
        around = np.concatenate([start[:, 0], start[-1], start[::-1, -1], start[0, ::-1]])
        self.size = float(np.sqrt(abs(signed_area(around)) / (n1 - 2) / (n2 - 2)))
        self.keep = boundary * (n1 + n2) / self.size**2

    @cached_property
    def border(self) -> list[ShapeFunctions]:
        """Return the shape functions at the points of the four sides."""
        m1, m2 = self.patch.spans
        fixed = ((1, 0.0), (0, float(m1)), (1, float(m2)), (0, 0.0))
        found = []
        for line, (axis, value) in zip(self.lines, fixed):
            uv = np.empty((len(line.u), 2))
            uv[:, axis], uv[:, 1 - axis] = value, line.u
            found.append(self.patch.functions(uv))
        return found

    @cached_property
    def boundary_matrix(self) -> "tuple[sp.csr_matrix, Floats, float]":
        """Return K, f and c of Psi_boundary = 1/2 x.K x - f.x + c.

        For every side it is the mean of the squared distances.
        """
        n = self.start.shape[0] * self.start.shape[1]
        K, f, c = sp.csr_matrix((n, n)), np.zeros((n, 2)), 0.0
        for S, line in zip(self.border, self.lines):
            m = len(line.u)
            rows = np.repeat(np.arange(m), 9)
            A = sp.csr_matrix((S.value.reshape(-1), (rows, S.stencil.reshape(-1))), shape=(m, n))
            K = K + (2 / m) * (A.T @ A)
            f += (2 / m) * (A.T @ line.points)
            c += float((line.points**2).sum()) / m
        return K.tocsr(), f, c

    def jacobians(self, net: Floats) -> tuple[Floats, Floats]:
        """Return J (q,2,2) at the Gauss points, and its determinant (q,)."""
        J = jacobian(self.at, net)
        return J, J[:, 0, 0] * J[:, 1, 1] - J[:, 0, 1] * J[:, 1, 0]

    def mean_mips(self, net: Floats) -> float:
        """Return the mean of |J|^2 |J^-1|^2 over the parameters."""
        J, det = self.jacobians(net)
        return float((((J**2).sum((1, 2)) / det) ** 2).mean())

    def value(self, net: Floats, soft: float = 0.0) -> float:
        """Return Psi; infinite if the net is inverted at a Gauss point.

        With ``soft`` [m^2] > 0 determinants are softened (``soften``), and Psi is finite.
        """
        J, det = self.jacobians(net)
        det = soften(det, soft)[0]
        if not (det > 0).all():
            return float("inf")
        K, f, c = self.boundary_matrix
        x = net.reshape(-1, 2)
        kept = 0.5 * float((x * (K @ x)).sum()) - float((f * x).sum()) + c
        mips = float((((J**2).sum((1, 2)) / det) ** 2).sum())
        return float(0.25 * mips + self.keep * kept)

    def derivatives(self, net: Floats, soft: float = 0.0) -> "tuple[Floats, sp.csr_matrix]":
        """Return the gradient (n,2) and the projected Hessian (2n,2n) of Psi."""
        g, H = mips_derivatives(self.jacobians(net)[0], soft)
        n = net.shape[0] * net.shape[1]
        local = 0.25 * np.einsum("qis,qas->qai", g, self.at.first)
        gradient = np.stack(
            [
                np.bincount(self.at.stencil.reshape(-1), local[:, :, k].reshape(-1), n)
                for k in (0, 1)
            ],
            axis=1,
        )
        d = self.at.first
        blocks = 0.25 * np.einsum("qas,qisjt,qbt->qaibj", d, H, d, optimize=True)
        index = 2 * self.at.stencil[:, :, None] + np.arange(2)
        rows = np.broadcast_to(index[:, :, :, None, None], blocks.shape)
        columns = np.broadcast_to(index[:, None, None, :, :], blocks.shape)
        hessian = sp.csr_matrix(
            (blocks.reshape(-1), (rows.reshape(-1), columns.reshape(-1))), shape=(2 * n, 2 * n)
        )
        K, f, _ = self.boundary_matrix
        x = net.reshape(-1, 2)
        total: Floats = np.asarray(gradient + self.keep * (K @ x - f), dtype=np.float64)
        return total, hessian + self.keep * sp.kron(K, sp.eye(2), format="csr")

    def minimize(
        self, net: Floats, soft: float = 0.0, most: int = MOST_ITERATIONS
    ) -> tuple[Floats, int]:
        """Minimize Psi by Newton's method with backtracking; the corners do not move.

        Without ``soft`` the net must be nowhere inverted at the start, and stays so.

        Returns:
            The net, and the number of iterations.
        """
        value = self.value(net, soft)
        n1, n2 = net.shape[:2]
        free = np.ones(n1 * n2, dtype=bool)
        free[[0, n2 - 1, (n1 - 1) * n2, n1 * n2 - 1]] = False
        both = np.repeat(free, 2)
        for iteration in range(most):
            g, H = self.derivatives(net, soft)
            right = -g.reshape(-1)[both]
            step = np.zeros(2 * n1 * n2)
            step[both] = spla.spsolve(H[both][:, both].tocsc(), right)
            slope = -float(right @ step[both])
            d = step.reshape(n1, n2, 2)
            a = 1.0
            for _ in range(HALVINGS):
                after = self.value(net + a * d, soft)
                if after <= value + SUFFICIENT * a * slope:
                    break
                a /= 2
            else:
                return net, iteration
            net, value = net + a * d, after
            if a * float(np.abs(d).max()) <= DONE * self.size:
                return net, iteration + 1
        return net, most

    def untangle(self) -> Floats:
        """Return the initial net, untangled as far as possible if it is inverted.

        Starting with the net that blends the sides (Coons), Psi of softened determinants is
        minimized, a few iterations at a time, while the softening follows the worst determinant
        towards zero (Garanzha et al. 2021).
        """
        if np.isfinite(self.value(self.start)):
            return self.start
        net = self.blend_sides()
        unit = self.size**2
        for _ in range(MOST_SOFTENINGS):
            worst = float(self.jacobians(net)[1].min())
            if worst > 0.0:
                break
            soft = np.sqrt((LEAST_SOFT * unit) ** 2 + SOFTENING * worst**2)
            net, _ = self.minimize(net, float(soft), FEW)
        return net

    def blend_sides(self) -> Floats:
        """Return the net that blends the four sides (Coons)."""
        net = np.array(self.start)
        n1, n2 = net.shape[:2]
        a, b = np.linspace(0, 1, n1)[:, None, None], np.linspace(0, 1, n2)[None, :, None]
        across = (1 - b) * net[:, :1] + b * net[:, -1:]
        along = (1 - a) * net[:1] + a * net[-1:]
        corners = (1 - a) * ((1 - b) * net[0, 0] + b * net[0, -1]) + a * (
            (1 - b) * net[-1, 0] + b * net[-1, -1]
        )
        return np.asarray(across + along - corners)

    def find_inversions(self, net: Floats) -> Floats:
        """Return the Gauss points [m] at which the net is inverted, (k,2)."""
        _, det = self.jacobians(net)
        return self.at.of(net.reshape(-1, 2))[det <= 0]


def soften(det: Floats, soft: float) -> tuple[Floats, Floats, Floats]:
    """Return (det + sqrt(det^2 + soft^2))/2, positive everywhere, and its two derivatives."""
    if soft == 0.0:
        return det, np.ones_like(det), np.zeros_like(det)
    root = np.sqrt(det * det + soft * soft)
    return (det + root) / 2, (1 + det / root) / 2, soft * soft / (2 * root**3)


def mips_derivatives(J: Floats, soft: float = 0.0) -> tuple[Floats, Floats]:
    """Return the gradient and the projected Hessian of (|J|^2/c)^2.

    c is the determinant (eq. 27) or the softened one. With r = |J|^2/c and the cofactors D, r' = (2
    J - r c' D)/c and (r^2)'' = 2 r' r' + 2 r r''. Negative eigenvalues of the Hessian are set to
    zero.

    Args:
        J: (q,2,2).
        soft: [m^2] softening of determinants; 0: none.

    Returns:
        Gradient (q,2,2) and Hessian (q,2,2,2,2).
    """
    q = len(J)
    chi, slope, curve = soften(np.linalg.det(J), soft)
    D = np.stack(
        [np.stack([J[:, 1, 1], -J[:, 1, 0]], 1), np.stack([-J[:, 0, 1], J[:, 0, 0]], 1)], 1
    )
    r = (J**2).sum((1, 2)) / chi
    first = (2 * J - (r * slope)[:, None, None] * D) / chi[:, None, None]
    f, cofactor = first.reshape(q, 4), D.reshape(q, 4)
    c = slope[:, None] * cofactor
    swap = np.zeros((4, 4))  # second derivative of the determinant
    swap[0, 3] = swap[3, 0] = 1.0
    swap[1, 2] = swap[2, 1] = -1.0
    second = 2 * np.eye(4) - (r * slope)[:, None, None] * swap
    second = second - (r * curve)[:, None, None] * cofactor[:, :, None] * cofactor[:, None, :]
    second = second - f[:, :, None] * c[:, None, :] - c[:, :, None] * f[:, None, :]
    second = second / chi[:, None, None]
    H = 2 * f[:, :, None] * f[:, None, :] + 2 * r[:, None, None] * second
    values, vectors = np.linalg.eigh(H)
    H = np.einsum("qij,qj,qkj->qik", vectors, np.maximum(values, 0.0), vectors)
    return 2 * r[:, None, None] * first, H.reshape(q, 2, 2, 2, 2)
