"""Stiffness-proportional (Rayleigh) damping with the Hessian frozen per step, in a form that rigid
motion does not feel.

Rayleigh damping adds the force -beta K_n v, with K_n the stiffness at the start of the step. As a
potential of a step that is beta/(2h) u.K_n u with u = x - x_n, but u is not small when cloth
rotates: the chord of a rotation by angle a shortens by a^2/2, and K_n would resist that. So u is
measured by strain instead:

- membrane: beta/(2h) (e - e_n).C_n (e - e_n) per sample, e Green's strain and C_n the Gauss-Newton
Hessian of the law at
  x_n seen in strain space, C_n = G B H B^T G with B = de/dF and G = (B B^T)^-1;
- hinges: beta/(2h) w (theta - theta_n)^2.

At x_n the Hessian of both is beta/h K_n (Gauss-Newton), so for small motions this *is* Rayleigh
damping; a rigid motion of any size leaves it at zero (``tests/energies/test_damping.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import warp as wp

from weft import kernel
from weft.arrays import Ints
from weft.energies.base import Bound
from weft.energies.hinge_bending import BoundHinges, HingeBending
from weft.energies.hinge_kernels import angles
from weft.energies.membrane import BoundMembrane, Membrane
from weft.kernel import Scalar, WarpArray, mat32, mat33
from weft.laws.base import Psd
from weft.laws.viscous import Params, Viscous, strain, strain_gradient
from weft.solve.block_csr import BlockCsr, BlockPattern

REGULARIZATION = Scalar(1e-9)  # of B B^T, over its trace: a collapsed triangle has no strain space

_module = wp.get_module("weft.damping")


@wp.kernel(module=_module)
def freeze_tangent(
    o: int,
    F: wp.array(dtype=mat32),
    H: wp.array2d(dtype=mat33),
    scale: Scalar,
    p: wp.array(dtype=Params),
):
    """C_n = scale G B H B^T G and e_n of every sample."""
    q = o + wp.tid()
    B0, B1 = strain_gradient(F[q])
    B0t = wp.transpose(B0)
    B1t = wp.transpose(B1)
    uv = H[q, 1]
    M = B0t * H[q, 0] * B0 + B0t * uv * B1 + B1t * wp.transpose(uv) * B0 + B1t * H[q, 2] * B1
    G = B0t * B0 + B1t * B1
    G = wp.inverse(
        G + (REGULARIZATION * wp.trace(G) + Scalar(1e-30)) * wp.identity(n=3, dtype=Scalar)
    )
    C = scale * (G * M * G)
    p[q].tangent = Scalar(0.5) * (C + wp.transpose(C))
    p[q].start = strain(F[q])


@wp.kernel(module=_module)
def scale_weight(
    o: int, weight: wp.array(dtype=Scalar), scale: Scalar, out: wp.array(dtype=Scalar)
):
    """out = scale weight."""
    i = o + wp.tid()
    out[i] = scale * weight[i]


@dataclass(frozen=True, eq=False)
class BoundDamping(ABC):
    """A viscous energy on a pattern, whose parameters ``freeze`` takes before each step."""

    viscous: Bound

    @abstractmethod
    def freeze(self, x: WarpArray, dt: float) -> None:
        """Take strain and stiffness at positions x, for a step of dt [s]."""

    def value(self, x: WarpArray) -> float:
        """Dissipation potential [J]."""
        return self.viscous.value(x)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += its gradient."""
        self.viscous.add_gradient(x, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """A += its Hessian."""
        self.viscous.add_hessian(x, psd, A, clear)


@dataclass(frozen=True, eq=False)
class MembraneDamping:
    """Damping of a membrane with time constant beta [s]."""

    source: Membrane
    beta: float
    name: str = "membrane damping"

    @property
    def stencil(self) -> Ints:
        """(q,k)."""
        return self.source.stencil

    def bind(
        self, pattern: BlockPattern, elastic: BoundMembrane | None = None
    ) -> "BoundMembraneDamping":
        """The production face.

        Shares maps and work arrays with the bound membrane it damps, where given.
        """
        elastic = elastic or self.source.bind(pattern)
        parameters = kernel.zeros(len(elastic.samples), Params)
        viscous = BoundMembrane(
            elastic.samples, Viscous(), (parameters,), elastic.rows, elastic.work
        )
        return BoundMembraneDamping(viscous, self, elastic)


@dataclass(frozen=True, eq=False)
class BoundMembraneDamping(BoundDamping):
    """Membrane damping on a pattern."""

    viscous: BoundMembrane
    damping: MembraneDamping
    elastic: BoundMembrane

    def freeze(self, x: WarpArray, dt: float) -> None:
        """Take strain and tangent at positions x, for a step of dt [s]."""
        e = self.elastic
        tangent = (freeze_tangent, e.work.F, e.work.H, self.damping.beta / dt)
        e.local_hessian(x, Psd.GAUSS_NEWTON, (*tangent, *self.viscous.parameters))


@dataclass(frozen=True, eq=False)
class HingeDamping:
    """Damping of hinges with time constant beta [s]."""

    source: HingeBending
    beta: float
    name: str = "bending damping"

    @property
    def stencil(self) -> Ints:
        """(h,4)."""
        return self.source.stencil

    def bind(
        self, pattern: BlockPattern, elastic: BoundHinges | None = None
    ) -> "BoundHingeDamping":
        """The production face; shares maps with the bound hinges it damps, where given."""
        elastic = elastic or self.source.bind(pattern)
        h = elastic.weight.shape[0]
        viscous = BoundHinges(
            elastic.n_vertices,
            elastic.stencil,
            kernel.zeros(h),
            kernel.zeros(h),
            elastic.rows,
            elastic.scratch,
        )
        return BoundHingeDamping(viscous, self, elastic)


@dataclass(frozen=True, eq=False)
class BoundHingeDamping(BoundDamping):
    """Hinge damping on a pattern."""

    viscous: BoundHinges
    damping: HingeDamping
    elastic: BoundHinges

    def freeze(self, x: WarpArray, dt: float) -> None:
        """Take the angles at positions x, for a step of dt [s]."""
        v, h = self.viscous, self.viscous.weight.shape[0]
        weight = (scale_weight, self.elastic.weight, self.damping.beta / dt, v.weight)
        kernel.launch_each(h, (angles, x, v.stencil, v.rest), weight)
