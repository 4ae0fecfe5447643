"""The cantilever test (Peirce 1930; ASTM D1388 option A, ISO 9073-7): rigidity from overhang.

A strip slides out over an edge until the line from the edge to its tip is 41.5 degrees below the
horizontal. The standard calls half of that overhang L the bending length c and takes

    D = rho g c^3,   c = L/2.

Exactly L = 2.00035 c (``elastica.elastica_of_chord``): c by the standard is 0.02 % too long and D
0.05 % too large, whatever the fabric. (Peirce's own formula, c = L (cos(a/2)/(8 tan a))^(1/3),
gives 1.963.)

The strip is simulated in its final state, clamped at the edge; L is found as the root of the angle
minus 41.5 degrees. The clamp is in the middle of the fixed row of elements
(``docs/explanations/bending.md``).

A strip of a grid with parallel diagonals bends with D because it twists, by -0.2 of its curvature;
if warp and weft differ, it misses D by some percent. The strip here has mirrored diagonals and does
not twist; it bends as a cylinder, whose energy is that of the hinges along the other yarns: weights
of D l^2/A. That is D itself, to half a percent with 40 elements, whatever the ratio.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from weft.base.arrays import Bools, Floats, Positions
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import TriangleMesh, cut_quads, grid
from weft.energies.elastic.hinge_bending import HingeBending, hinge_weight
from weft.energies.elastic.hinge_weights import STRIP
from weft.energies.elastic.internal_friction import HingeFriction
from weft.fabric.fabric import Fabric
from weft.fabric.hysteresis import bending_friction
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.plugins.lab.laboratory.elastica import PLANE, elastica_of_chord
from weft.plugins.lab.laboratory.specimen import GRAVITY, find_equilibrium, require, specimen_model

Direction = Literal["warp", "weft"]

SEGMENTS = 40  # elements along the overhang
CELLS = 4  # across
CLOSE = 1e-4  # relative tolerance of the overhang
MOST_STRIPS = 20  # overhangs that are tried


@dataclass(frozen=True, eq=False)
class Cantilever:
    """Result of the cantilever test in one direction."""

    direction: Direction
    overhang: float  # [m] L at 41.5 degrees
    weight: float  # [N/m^2] rho g
    given: float  # [N m] the fabric's rigidity
    x: Positions  # (n,3) [m] of the strip at that overhang; the edge is at the origin

    @property
    def bending_length(self) -> float:
        """The bending length c [m] of the standard."""
        return self.overhang / 2

    @property
    def rigidity(self) -> float:
        """The rigidity [N m] of the standard, rho g c^3."""
        return self.weight * self.bending_length**3

    @property
    def exact(self) -> float:
        """The rigidity [N m] by the exact elastica."""
        return float(self.weight * (self.overhang / elastica_of_chord().length) ** 3)

    @property
    def profile(self) -> Floats:
        """(k,2) [m] reach and height of the strip, from the edge to the tip."""
        return _profile(self.x)


def cantilever(
    fabric: Fabric,
    direction: Direction,
    segments: int = SEGMENTS,
) -> Cantilever:
    """Slide a strip out until its chord reaches the plane of 41.5 degrees.

    Args:
        fabric: what to test; rigidity and density count, stretch has little influence.
        direction: of the strip's length.
        segments: elements along the overhang.

    Returns:
        Overhang, weight, rigidity and shape of the strip.

    Raises:
        FabricError: a fabric with no rigidity. SimulationError: no equilibrium, or no overhang.
    """
    from scipy.optimize import root_scalar

    require(
        fabric, f"bending_{direction}", "a cantilever", "the strip would hang down at any overhang"
    )
    rigidity = float(getattr(fabric, f"bending_{direction}"))
    weight = fabric.density * GRAVITY
    c = (rigidity / weight) ** (1 / 3)
    shape: Positions | None = None

    def off_plane(length: float) -> float:
        nonlocal shape
        shape = _hang(fabric, direction, segments, length, shape)
        reach, height = _profile(shape)[-1]
        return float(np.arctan2(-height, reach) - PLANE)

    found = root_scalar(
        off_plane,
        method="secant",  # because the chord is nearly linear in the overhang here
        x0=1.9 * c,
        x1=2.1 * c,
        xtol=1e-12,
        rtol=CLOSE,
        maxiter=MOST_STRIPS,
    )
    if not found.converged:
        raise SimulationError(
            f"cantilever of {fabric.name} along the {direction}",
            got=f"{MOST_STRIPS} overhangs",
            expected="an overhang with the chord at 41.5 degrees",
        )
    length = float(found.root)
    shape = _hang(fabric, direction, segments, length, shape)
    return Cantilever(direction, length, weight, rigidity, length * shape)


def _hang(
    fabric: Fabric, direction: Direction, segments: int, length: float, shape: Positions | None
) -> Positions:
    """Return the equilibrium (n,3) of a strip over its overhang ``length`` [m].

    The search starts from ``shape``, a strip of another overhang; None: from a flat strip.
    """
    mesh, clamped = clamped_strip(length, segments)
    mesh = turn_strip(mesh, direction)
    weight = hinge_weight(mesh, (fabric.bending_warp, fabric.bending_weft)) / STRIP
    bending = HingeBending(mesh.hinges, weight, np.zeros(len(weight)), mesh.n_vertices)
    friction = []
    if fabric.has_bending_friction:
        friction.append(HingeFriction.from_hysteresis(mesh, *bending_friction(fabric)))
    model = specimen_model(mesh, fabric, [Pin(mesh.faces[clamped])], [bending, *friction])
    start = mesh.vertices if shape is None else shape * length
    settings = QuasiStaticSettings(1e-6 * length, 1e-5, max_iterations=2000)
    what = f"strip of {fabric.name} that hangs over by {length:.3g} m"
    return find_equilibrium(model, start, settings, what).x / length


def turn_strip(mesh: TriangleMesh, direction: Direction) -> TriangleMesh:
    """Return a strip with its length along the warp, or the same with it along the weft."""
    if direction == "warp":
        return mesh
    uv = mesh.corner_uv[..., ::-1] * [1.0, -1.0]  # a quarter turn: the front stays up
    return TriangleMesh(mesh.vertices, mesh.faces, uv, mesh.groups, mesh.source)


def _profile(x: Positions) -> Floats:
    """Return the mean reach and height (k,2) of the columns of vertices of a strip x (n,3)."""
    return np.asarray(x.reshape(CELLS + 1, -1, 3).mean(0)[:, :2])


def clamped_strip(length: float, segments: int) -> tuple[TriangleMesh, Bools]:
    """Return a strip four cells wide that lies along +x, and its clamped corners (m,3).

    The strip is free from x = 0 to ``length`` [m]; the corners are those of a row of faces with its
    middle at x = 0. Diagonals are mirrored at the middle line, so that the strip does not twist.
    """
    cell = length / (segments - 0.5)
    flat = grid(segments + 1, CELLS + 1, cell * segments, CELLS * cell)
    ids = np.arange(flat.n_vertices).reshape(CELLS + 1, segments + 1)
    quads = np.stack([ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]], -1).reshape(-1, 4)
    upper = np.repeat(np.arange(CELLS) >= CELLS // 2, segments)
    faces = np.concatenate(cut_quads(quads, upper)).astype(np.int32)
    uv = flat.vertex_uv
    assert uv is not None
    x = flat.vertices - [flat.vertices[:, 0].min() + 0.5 * cell, 0.0, 0.0]
    mesh = TriangleMesh(x, faces, uv[faces], flat.groups, f"strip of {flat.n_vertices} points")
    return mesh, mesh.corner_uv[..., 0] < 1.5 * cell
