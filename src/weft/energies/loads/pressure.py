"""Pressure inside a closed surface: constant, or that of a fixed amount of gas.

    E = -integral of p dV,   V = sum over faces of x_0 . (x_1 x x_2)/6,   dE/dx = -p dV/dx

A gas at constant temperature has p(V) = (p_0 + p_a) V_0/V - p_a above the ambient pressure p_a. Its
Hessian has the dense part -p'(V) dV dV^T, which would fill the matrix; the minimizer gets it as a
rank-one update instead (``solve.linear.low_rank``).

The Hessian of V is indefinite: EXACT keeps it, PROJECTED and GAUSS_NEWTON leave it out. The
stiffness of the tension that pressure causes belongs to the membrane and stays.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions, Vector
from weft.base.errors import MeshError, SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName, repeat_per_element
from weft.energies.derivative import DifferentiableTerm
from weft.energies.gather import SYMMETRIC, GatherMap
from weft.energies.step import Step
from weft.kernel import (
    IntArray2d,
    Kernel,
    Mat33Array2d,
    Scalar,
    ScalarArray,
    Scratch,
    Vec3Array,
    Vec3Array2d,
    WarpArray,
    mat33,
    vec3,
)
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

ATMOSPHERE = 101325.0  # [Pa]
FLAT = 1e-6  # volume of a surface that encloses something, over the cube of its size
_module = wp.get_module("weft.pressure")


@wp.kernel(module=_module)
def face_volumes(o: int, x: Vec3Array, faces: IntArray2d, center: vec3, out: ScalarArray):
    """Compute the signed volume of the tetrahedron of every face and the center."""
    i = o + wp.tid()
    a = x[faces[i, 0]] - center
    b = x[faces[i, 1]] - center
    c = x[faces[i, 2]] - center
    out[i] = wp.dot(a, wp.cross(b, c)) / Scalar(6.0)


@wp.kernel(module=_module)
def volume_gradients(
    o: int, x: Vec3Array, faces: IntArray2d, center: vec3, scale: Scalar, out: Vec3Array2d
):
    """Compute ``scale`` times dV/dx of every face's volume."""
    i = o + wp.tid()
    a = x[faces[i, 0]] - center
    b = x[faces[i, 1]] - center
    c = x[faces[i, 2]] - center
    s = scale / Scalar(6.0)
    out[i, 0] = s * wp.cross(b, c)
    out[i, 1] = s * wp.cross(c, a)
    out[i, 2] = s * wp.cross(a, b)


@wp.kernel(module=_module)
def volume_hessians(
    o: int, x: Vec3Array, faces: IntArray2d, center: vec3, scale: Scalar, out: Mat33Array2d
):
    """Compute ``scale`` times d2V/dx2 of every face's volume: blocks on and above the diagonal."""
    i = o + wp.tid()
    s = scale / Scalar(6.0)
    zero = mat33(Scalar(0.0))
    out[i, 0] = zero
    out[i, 1] = -s * wp.skew(x[faces[i, 2]] - center)
    out[i, 2] = s * wp.skew(x[faces[i, 1]] - center)
    out[i, 3] = zero
    out[i, 4] = -s * wp.skew(x[faces[i, 0]] - center)
    out[i, 5] = zero


@checked(SceneError, "gas", unchecked=("at",))
@documented
@dataclass(frozen=True)
class Gas:
    """Gas of a fixed amount and temperature."""

    pressure: float = setting(REQUIRED, "pressure above the outside pressure", "Pa", keyframes=True)
    volume: float = setting(
        REQUIRED,
        "volume at which a fixed amount of gas has this pressure",
        "m^3",
        above=0,
        keyframes=True,
    )
    ambient: float = setting(
        ATMOSPHERE, "pressure outside, for a gas", "Pa", least=0, keyframes=True
    )

    def __post_init__(self) -> None:
        absolute = self.pressure + self.ambient
        if not absolute > 0:
            raise SceneError("gas absolute pressure", got=absolute, expected="must be > 0 [Pa]")

    @property
    def amount(self) -> float:
        """Product (p_0 + p_a) V_0 [J] of absolute pressure and volume."""
        return (self.pressure + self.ambient) * self.volume

    def at(self, volume: float) -> tuple[float, float, float]:
        """Return E [J], p [Pa] and -dp/dV [Pa/m^3] at a volume [m^3].

        The energy is infinite if the volume is not > 0, so that no search goes there.
        """
        if not volume > 0:
            return np.inf, 0.0, 0.0
        energy = -self.amount * np.log(volume / self.volume) + self.ambient * (volume - self.volume)
        return energy, self.amount / volume - self.ambient, self.amount / volume**2


@dataclass(frozen=True, eq=False)
class Pressure:
    """Pressure on the inside of a closed surface, whose faces are counter-clockwise from outside.

    ``law`` is a constant [Pa], or a ``Gas``. Local values of a gas are shares of its energy by
    volume; local Hessians are those at the present pressure, without the rank-one update.
    """

    faces: Ints  # (m,3)
    law: float | Gas
    n_vertices: int
    # [m] common apex of the tetrahedra. Any point gives the same total; a near one less round-off.
    center: Vector = (0.0, 0.0, 0.0)
    name: str = "pressure"

    rest_tables = ()

    @staticmethod
    def of(mesh: TriangleMesh, law: float | Gas) -> "Pressure":
        """Build the pressure inside a mesh.

        Raises:
            MeshError: a surface with a border, or with faces of opposite orientation.
            SceneError: a pressure that is not finite.
        """
        if len(mesh.boundary):
            raise MeshError(
                "pressure",
                got=f"a surface with {len(mesh.boundary)} vertices on its border",
                expected="a closed surface",
                where=mesh.source,
            )
        bad = len(mesh.non_manifold_edges) + len(mesh.one_sided_edges)
        if bad:
            raise MeshError(
                "pressure",
                got=f"{bad} edges with more than two faces, or whose faces disagree in orientation",
                expected="a closed surface with an inside and an outside",
                where=mesh.source,
            )
        if not isinstance(law, Gas) and not np.isfinite(law):
            raise SceneError("pressure", got=law, expected="a finite number [Pa]")
        center = tuple(float(c) for c in mesh.vertices.mean(0))
        made = Pressure(mesh.faces, law, mesh.n_vertices, center)  # type: ignore[arg-type]
        size = float(np.ptp(mesh.vertices, axis=0).max())
        if made.volumes(mesh.vertices).sum() > -FLAT * size**3:  # flat pillows have none
            return made
        warnings.warn(
            f"{mesh.source}: the faces look inwards; weft turns them for the pressure",
            stacklevel=2,
        )
        return replace(made, faces=mesh.faces[:, ::-1])

    @property
    def stencil(self) -> Ints:
        """Vertices of each face, (m,3)."""
        return self.faces

    def at(self, volume: float) -> tuple[float, float, float]:
        """Return E [J], p [Pa] and -dp/dV [Pa/m^3] at a volume [m^3]."""
        if isinstance(self.law, Gas):
            return self.law.at(volume)
        return -self.law * volume, self.law, 0.0

    @cached_property
    def _surface(self) -> tuple[WarpArray, vec3]:
        """Faces on the device, and the apex."""
        return kernel.array(self.faces, wp.int32), vec3(*self.center)

    def launch(self, evaluate: Kernel, x: WarpArray, out: WarpArray, *scale: object) -> WarpArray:
        """Launch a kernel over the faces and return ``out``."""
        kernel.launch(evaluate, len(self.faces), x, *self._surface, *scale, out)
        return out

    def volumes(self, x: Positions) -> Floats:
        """Return the volumes of the faces' tetrahedra, (m,) [m^3], which sum to that inside."""
        out = self.launch(face_volumes, kernel.points(x), kernel.empty(len(self.faces)))
        return np.array(kernel.numpy(out))

    def value(self, x: Positions) -> Floats:
        """Return the local energies, (m,) [J]."""
        volumes = self.volumes(x)
        total = float(volumes.sum())
        energy, _, _ = self.at(total)
        return np.asarray(volumes * (energy / total)) if total else np.zeros(len(volumes))

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,3,3) [N]."""
        return -self.at(float(self.volumes(x).sum()))[1] * self._slopes(x)

    def _slopes(self, x: Positions) -> Floats:
        """Return dV of every face, (m,3,3) [m^2]."""
        out = kernel.empty((len(self.faces), 3), vec3)
        return np.array(
            kernel.numpy(self.launch(volume_gradients, kernel.points(x), out, Scalar(1.0)))
        )

    @property
    def constants(self) -> ByName:
        """Constants by name: pressure [Pa]; of a gas also ``volume`` [m^3] and ``ambient`` [Pa]."""
        m, law = len(self.faces), self.law
        if not isinstance(law, Gas):
            return {"pressure": repeat_per_element(law, m)}
        names = ("pressure", "volume", "ambient")
        return {name: repeat_per_element(getattr(law, name), m) for name in names}

    @property
    def structure(self) -> object:
        """Data besides the constants: the surface, and whether a gas is inside."""
        return self.faces, self.center, self.n_vertices, isinstance(self.law, Gas)

    def mixed_derivatives(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by constant, (m,3,3)."""
        slopes, law = self._slopes(x), self.law
        if not isinstance(law, Gas):
            return {"pressure": -slopes}
        volume = float(self.volumes(x).sum())
        part = law.volume / volume
        absolute = (law.pressure + law.ambient) / volume
        by = {"pressure": part, "volume": absolute, "ambient": part - 1}
        return {name: -p * slopes for name, p in by.items()}

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (m,3,3,3,3) [N/m], without the rank-one update."""
        if psd != Psd.EXACT:
            return np.zeros((len(self.faces), 3, 3, 3, 3))
        p = self.at(float(self.volumes(x).sum()))[1]
        scratch = Scratch()  # it owns the array, so it has to stay until the array is read
        out = SYMMETRIC.take(scratch, *self.faces.shape)
        self.launch(volume_hessians, kernel.points(x), out, Scalar(-p))
        return SYMMETRIC.full(np.array(kernel.numpy(out)), 3)

    def bind(self, pattern: BlockPattern) -> "PressureTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return PressureTerm(self, pattern)


class PressureTerm(DifferentiableTerm):
    """Pressure bound to a block pattern."""

    is_load = True

    energy: Pressure

    def __init__(self, energy: Pressure, pattern: BlockPattern) -> None:
        self.energy, self.name, self.scratch = energy, energy.name, pattern.scratch
        self.rows = GatherMap.of(energy.faces, pattern)

    def update_constants(self, energy: Pressure) -> None:
        """Take the pressure or the gas of another energy of the same surface."""
        self.energy = energy

    def volume(self, x: WarpArray) -> float:
        """Return the volume inside [m^3]."""
        return kernel.total(
            self.energy.launch(face_volumes, x, self.scratch.take(len(self.energy.faces)))
        )

    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""
        return self.energy.at(self.volume(x))[0]

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx to g."""
        self._add(x, -self.energy.at(self.volume(x))[1], g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add -p d2V/dx2 to A if psd is EXACT, and return A."""
        if psd == Psd.EXACT:
            p = self.energy.at(self.volume(x))[1]
            local = SYMMETRIC.take(self.scratch, len(self.energy.faces), 3)
            self.rows.add_rows(
                SYMMETRIC, self.energy.launch(volume_hessians, x, local, Scalar(-p)), A
            )
        return A

    def updates(self, x: WarpArray) -> Sequence[LowRankUpdate]:
        """Return the rank-one update -dp/dV u u^T, u = dV/dx, of a gas."""
        c = self.energy.at(self.volume(x))[2]
        if c == 0.0:
            return ()
        u = kernel.zeros(self.rows.n, vec3)
        self._add(x, 1.0, u)
        return (LowRankUpdate(c, u),)

    def _add(self, x: WarpArray, scale: float, g: WarpArray) -> None:
        """Add ``scale`` times dV/dx to g."""
        local = self.scratch.take((len(self.energy.faces), 3), vec3)
        self.rows.add_gradient(self.energy.launch(volume_gradients, x, local, Scalar(scale)), g)
