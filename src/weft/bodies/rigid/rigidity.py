"""The energy that keeps affine bodies rigid.

For every body, with A = sum_a p_a g_a^T,

    E = Y V/8 |A^T A - I|^2.

This is the orthogonality potential of Lan et al. 2022, with the constant of a Saint
Venant-Kirchhoff solid of Young's modulus Y, Poisson's ratio 0 and volume V.
"""

from dataclasses import dataclass, replace

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName
from weft.energies.element_energy import ElementEnergy, ElementKernels
from weft.energies.gather import FULL
from weft.energies.step import Step
from weft.kernel import (
    IntArray2d,
    Mat33Array3d,
    Scalar,
    ScalarArray,
    Vec2Array,
    Vec3Array,
    Vec3Array2d,
    WarpStruct,
    mat33,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd

_module = wp.get_module("weft.rigidity")


@wp.struct
class Frames:
    """Parameters of all bodies."""

    g: Vec3Array2d  # (k,4) [1/m] g_a
    stiffness: ScalarArray  # (k,) [J] Y V


@wp.func
def frame_of(i: int, x: Vec3Array, stencil: IntArray2d, p: Frames):
    """Return A of body i."""
    A = mat33(Scalar(0.0))
    for a in range(4):
        A += wp.outer(x[stencil[i, a]], p.g[i, a])
    return A


@wp.func
def strain_of(A: mat33):
    """Return C = A^T A - I."""
    return wp.transpose(A) * A - wp.identity(n=3, dtype=Scalar)


@wp.kernel(module=_module)
def energy(o: int, x: Vec3Array, stencil: IntArray2d, p: Frames, out: Vec2Array):
    """Compute Y V/8 |C|^2."""
    i = o + wp.tid()
    C = strain_of(frame_of(i, x, stencil, p))
    out[i] = vec2(p.stiffness[i] / Scalar(8.0) * wp.ddot(C, C), Scalar(0.0))


@wp.kernel(module=_module)
def gradient(o: int, x: Vec3Array, stencil: IntArray2d, p: Frames, out: Vec3Array2d):
    """Compute Y V/2 A C g_a."""
    i = o + wp.tid()
    A = frame_of(i, x, stencil, p)
    stress = Scalar(0.5) * p.stiffness[i] * (A * strain_of(A))
    for a in range(4):
        out[i, a] = stress * p.g[i, a]


@wp.kernel(module=_module)
def hessian(o: int, x: Vec3Array, stencil: IntArray2d, p: Frames, out: Mat33Array3d):
    """Compute Y V/2 [(g_a.C g_b) I + (A g_b)(A g_a)^T + (g_a.g_b) A A^T]."""
    i = o + wp.tid()
    A = frame_of(i, x, stencil, p)
    C = strain_of(A)
    AAt = A * wp.transpose(A)
    k = Scalar(0.5) * p.stiffness[i]
    for a in range(4):
        for b in range(4):
            ga = p.g[i, a]
            gb = p.g[i, b]
            block = wp.dot(ga, C * gb) * wp.identity(n=3, dtype=Scalar)
            out[i, a, b] = k * (block + wp.outer(A * gb, A * ga) + wp.dot(ga, gb) * AAt)


@dataclass(frozen=True, eq=False)
class Rigidity(ElementEnergy):
    """The rigidity energy of bodies whose four points are the rows of ``points``."""

    points: Ints  # (k,4) indices of the points of each body
    gradients: Floats  # (k,4,3) [1/m] g_a
    stiffness: Floats  # (k,) [J] Y V
    name: str = "rigidity"
    damping: float = 0.0

    kernels = ElementKernels(energy, gradient, {Psd.EXACT: (hessian, FULL)})

    @property
    def stencil(self) -> Ints:
        """Points of each body, (k,4)."""
        return self.points

    def parameters(self) -> WarpStruct:
        """Return gradients and stiffness on the device."""
        p = Frames()
        p.g, p.stiffness = kernel.array(self.gradients, vec3), kernel.array(self.stiffness, Scalar)
        return p

    @property
    def constants(self) -> ByName:
        """The stiffness [J], by name."""
        return {"stiffness": self.stiffness}

    @property
    def structure(self) -> object:
        """The data that defines the energy besides its constants: points and gradients."""
        return self.stencil, self.gradients

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/d(stiffness), (k,), for ``by`` (k,4,3)."""
        unit = replace(self, stiffness=np.ones(len(self.stiffness))).gradient(x)
        return {"stiffness": np.einsum("kai,kai->k", unit, by)}
