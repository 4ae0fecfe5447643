"""Quadratic bending of inextensible surfaces (Bergou et al. 2006), one form per inner edge.

    E = 1/2 w |y|^2,   y = t_2 + t_3,   w = P l^2/A

with t_2 and t_3 the derivatives of the two faces outward across their common edge, per length of
material. Both are unit vectors if the cloth is not stretched, and opposite ones if it is flat: then
|y| = 2 sin(theta/2), and E = w (1 - cos theta). y is the discrete Laplacian of the paper over the
length of the edge, K_e x/l (with cotangents in material coordinates), its weight 1/2 k 3/A |K_e
x|^2 with k = P/3. P depends on direction as that of the hinges: it is P_warp and P_weft weighted
with the squared cosine and sine of the angle between edge and yarns. P_warp and P_weft are such
that strips of a grid bend with D_warp and D_weft even if the two differ (``strip_weights``; P is
5/4 D if they are equal: ``docs/explanations/bending.md``).

y is linear in the positions: the Hessian is constant, the same in x, y and z, computed once
(``quadratic_form``), never indefinite, and finite where triangles collapse.

The model is valid for cloth that is flat at rest and hardly stretches. A fold by theta costs w (1 -
cos theta) in place of w theta^2/2: 2 % less at 0.5 rad, 19 % less at a right angle, 59 % less if
closed. Stretch by s scales the energy by s^2, and a stretch that varies over flat cloth costs
energy, too. A curved rest shape would be a constant vector y_0 that does not turn with the cloth;
it is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import MeshError, SceneError
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName
from weft.energies.condition_term import ConditionTerm
from weft.energies.elastic.curvature_damping import CurvatureDamping
from weft.energies.elastic.hinge_bending import (
    check_stiffness,
    hinge_weight,
    material_corners,
    rest_angles,
)
from weft.energies.elastic.hinge_weights import STRIP, HingeGeometry
from weft.energies.elastic.quadratic_form import QuadraticForm, QuadraticFormTerm
from weft.energies.rest_mesh import RestMesh
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import damping_of
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

FLAT = 1e-4  # [rad] largest rest angle that counts as flat; rounded coordinates in files cause it
FOLDED = 0.03  # [1] cos(theta/2), the length of the mean normal, below which damping fades: 177 deg


@dataclass(frozen=True, eq=False)
class QuadraticBending(QuadraticForm):
    """Bending energy of the inner edges of a mesh, as a quadratic form, and its damping.

    Damping is that of the curvature n.y, n the mean normal of both faces (``curvature_damping``):
    rigid motion does not feel it. In the matrix it is represented by beta/h times the Hessian of
    bending, which is an upper bound of its own Hessian if the cloth does not stretch, and constant.
    """

    name: str = "bending"
    # (h,4,2) [1/m] derivatives along each edge and across it, at its middle
    frame: Floats = field(default_factory=lambda: np.zeros((0, 4, 2)))
    n_vertices: int = 0

    rest_tables = ("weight", "coefficient", "gradient")

    @staticmethod
    def of(
        mesh: TriangleMesh,
        stiffness: tuple[float, float],
        rest: str | Floats = "flat",
        damping: float = 0.0,
    ) -> "QuadraticBending":
        """Build the bending energy of a mesh with flexural rigidity (D_warp, D_weft) [N m].

        Args:
            mesh: the mesh.
            stiffness: D of bending the warp yarns and the weft yarns, >= 0.
            rest: ``"flat"``; ``"as-given"`` or (h,) angles [rad] where these are flat.
            damping: [s] time constant of stiffness-proportional damping.

        Raises:
            MeshError: a negative stiffness; a rest shape that is curved.
        """
        require_flat(rest_angles(mesh, rest))
        weight = hinge_weight(mesh, strip_weights(stiffness)) / STRIP
        coefficient, frame = coefficients(material_corners(mesh))
        return QuadraticBending(
            mesh.hinges,
            coefficient,
            weight,
            damping=damping,
            frame=frame,
            n_vertices=mesh.n_vertices,
        )

    @property
    def rate(self) -> CurvatureDamping:
        """Damping of this bending energy."""
        how = (self.damping, self.n_vertices, self.name, FOLDED)
        return CurvatureDamping(self, self.frame, *how)

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by the constants."""
        P = np.array([strip_weights((warp, weft)) for warp, weft in rest.rigidity])
        weights = HingeGeometry.between(rest, self.stencil, P)
        tables = by["coefficient"], by["gradient"]
        return weights.by_corner(rest.mesh, by["weight"] / STRIP) + rest.by_hinge_tables(
            self.stencil, coefficients, tables
        )

    @property
    def constants(self) -> ByName:
        """Constants by name: those of ``CurvatureDamping``, whose weights are those of bending."""
        return self.rate.constants

    @property
    def structure(self) -> object:
        """Data besides the constants: the edges."""
        return super().structure, self.n_vertices

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (h,...), for ``by`` (h,4,3) of each edge."""
        elastic, late = super().contract(x, by), self.rate.contract(x, by, step)
        return {**late, **{name: elastic[name] + late[name] for name in ("weight", "coefficient")}}

    def bind(self, pattern: BlockPattern) -> "QuadraticBendingTerm":
        """Bind the energy and its damping to the block pattern of a matrix."""
        return QuadraticBendingTerm(self, pattern)


class QuadraticBendingTerm(QuadraticFormTerm):
    """Quadratic bending bound to a block pattern: one matrix for every iteration, damped or not."""

    is_condition = False
    add_condition_hessian = ConditionTerm.add_condition_hessian
    energy: QuadraticBending

    def __init__(self, bending: QuadraticBending, pattern: BlockPattern) -> None:
        super().__init__(bending, pattern)
        self.rate = bending.rate.bind(pattern) if bending.damping > 0 else None
        # Damping has the Hessian of bending in place of its own.
        self.has_exact_hessian = self.rate is None
        self._scale = 1.0

    def update_constants(self, energy: QuadraticBending) -> None:  # type: ignore[override]
        """Replace weights and damping by those of another energy.

        Raises:
            SceneError: damping that begins or ends.
        """
        if (energy.damping > 0) != (self.rate is not None):
            raise SceneError(
                f"damping of {self.name}",
                got="keyframes from or to 0",
                expected="a value above 0 at every key, with `bending: quadratic`",
            )
        super().update_constants(energy)
        if self.rate is not None:
            self.rate.update_constants(energy.rate)

    def freeze(self, step: Step) -> None:
        """Freeze damping for a step, with the rate beta/h; that of the form itself is not used."""
        if self.rate is not None:
            self.rate.freeze(step)
            self._scale = 1.0 + self.damping / step.span

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives of damping by the start of the step."""
        if self.rate is not None:
            self.rate.pull_back(step, x, by, into)

    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""
        return super().value(x) + (0.0 if self.rate is None else self.rate.value(x))

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the energy [J] of the elastic part and of damping, by name."""
        elastic = {self.name: super().value(x)}
        if self.rate is None:
            return elastic
        return {**elastic, damping_of(self.name): self.rate.value(x)}

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx to g."""
        super().add_gradient(x, g)
        if self.rate is not None:
            self.rate.add_gradient(x, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add (1 + beta/h) K to A and return A."""
        return self.add_scaled(self._scale, A)


def strip_weights(stiffness: tuple[float, float]) -> tuple[float, float]:
    """Return (P_warp, P_weft) [N m] with which strips of a grid bend with (D_warp, D_weft).

    On the grid of ``docs/explanations/bending.md`` the diagonals have the mean of both, and a
    strip that is free in z_uv and z_vv keeps D_warp = P_warp 2 (1 + r)/(3 + 2 r), r =
    P_weft/P_warp; likewise along the weft. So D_weft/D_warp = r (3 + 2 r)/(2 + 3 r), which is a
    quadratic equation for r.

    Args:
        stiffness: (D_warp, D_weft) [N m] flexural rigidity.

    Raises:
        MeshError: a negative or infinite stiffness.
    """
    check_stiffness(stiffness)
    low, high = sorted(stiffness)
    if high == 0:
        return 0.0, 0.0
    ratio = low / high
    r = (3 * (ratio - 1) + np.sqrt(9 * (1 - ratio) ** 2 + 16 * ratio)) / 4
    larger = high * (3 + 2 * r) / (2 * (1 + r))
    pair = (float(larger), float(r * larger))
    return pair if stiffness[0] == high else pair[::-1]


def coefficients(corners: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients of y, (h,4) [1/m], and the frame, (h,4,2) [1/m].

    Args:
        corners: (h,2,3,2) [m] material coordinates of the edge's start and end and of the tip, in
            both faces.
    """
    left, right = (_outward(corners[:, side], side) for side in (0, 1))
    length = np.linalg.norm(corners[:, :, 1] - corners[:, :, 0], axis=-1).mean(1)
    along = np.zeros_like(left)
    along[:, 0], along[:, 1] = -1 / length, 1 / length
    return left + right, np.stack([along, (left - right) / 2], axis=-1)


def _outward(corners: Floats, side: int) -> Floats:
    """Return the derivative of one face of each hinge, outward across the edge, (h,4) [1/m].

    It is the tip's foot on the edge less the tip, over the height of the tip, in material
    coordinates.
    """
    start, end, tip = np.moveaxis(corners, 1, 0)
    edge, flap = end - start, tip - start
    length_sq = (edge**2).sum(1)
    foot = (flap * edge).sum(1) / length_sq
    height = np.abs(edge[:, 0] * flap[:, 1] - edge[:, 1] * flap[:, 0]) / np.sqrt(length_sq)
    out = np.zeros((len(corners), 4))
    out[:, 0], out[:, 1], out[:, 2 + side] = 1 - foot, foot, -1.0
    return np.asarray(out / height[:, None])


def require_flat(angles: Floats) -> None:
    """Raise a MeshError if a rest angle is larger than ``FLAT``."""
    steepest = float(np.abs(angles).max(initial=0.0))
    if steepest > FLAT:
        raise MeshError(
            "rest angles",
            got=f"a curved rest shape, up to {steepest:.3g} rad",
            expected="a flat rest shape, with quadratic bending",
            hint="bending: hinges takes any rest shape",
        )
