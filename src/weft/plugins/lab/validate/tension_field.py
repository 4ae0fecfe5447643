"""Bending of a strip under tension that wrinkles (Stein & Hedgepeth 1961).

A strip of height H and stiffness k per width is pulled by P and bent in its plane by the moment M.
It has the curvature c = 12 M/(k H^3) until M = P H/6, where its lower edge goes slack; from then on
part of it is wrinkled, and

    2 M/(P H) = 1 - 2/3 sqrt(2 P/(k H^2 c)).

Along the strip the law resists tension only, so the wrinkles need not be resolved: it stays flat.
Two assumptions of the theory are enforced by terms that resist both signs: shear stiffness, so that
cross-sections stay straight, and stiffness across, so that they keep their height where curved
fibers press on each other. The ends are turned against each other; curvature and moment are those
of the middle.
"""

import numpy as np

from weft.base.arrays import Positions
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import TriangleMesh, grid
from weft.integrators.quasi_static import Equilibrium
from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.immediate_buckling import ImmediateBuckling
from weft.plugins.lab.validate.check import Rows, attempt, compare
from weft.plugins.lab.validate.strip import membrane_model, settle

HEIGHT, LENGTH, STIFFNESS = 1.0, 6.0, 1000.0  # [m], [m], [N/m]
NONE = 1e-6  # [N/m] negligible stiffness of a fiber that the other law has
SEGMENTS = 24  # elements over the height
STRAIN = 5e-4  # strain of the middle line: small, so that the pull does not straighten the strip
CURVATURES = (0.0005, 0.002, 0.004, 0.008)  # [1/m]: the first one before it wrinkles


def checks() -> Rows:
    """Compare four curvatures, to 2 %."""
    for curvature in CURVATURES:
        yield from attempt(f"tension-field/curvature {curvature:g}", _of_curvature, curvature)


def _of_curvature(curvature: float) -> Rows:
    pull, moment, got = bend_strip(curvature)
    load = 2 * moment / (pull * HEIGHT)
    scaled = 2 * pull / (STIFFNESS * HEIGHT**2 * got)
    wrinkled = scaled < 1
    expected = 1 - 2 / 3 * np.sqrt(scaled) if wrinkled else 1 / (3 * scaled)
    name = f"tension-field/{'wrinkled' if wrinkled else 'taut'} {load:.2f}"
    yield compare(name, expected, load, 2e-2)


def bend_strip(curvature: float) -> tuple[float, float, float]:
    """Simulate a strip whose ends are turned against each other by curvature times length.

    Returns:
        Pull [N], moment [N m], and curvature of the middle [1/m].

    Raises:
        SimulationError: no equilibrium.
    """
    n = round(SEGMENTS * LENGTH / HEIGHT)
    mesh = grid(n + 1, SEGMENTS + 1, LENGTH, HEIGHT, "alternating")
    u, v = mesh.vertex_uv.T - [[LENGTH / 2], [HEIGHT / 2]]  # type: ignore[union-attr]
    held = np.array(bend(u, v, curvature, STRAIN))
    start = held * [1.0, 0.999, 1.0]
    ends = Pin(np.concatenate([mesh.groups["left"], mesh.groups["right"]]))
    taut, across = (STIFFNESS, NONE), (NONE, STIFFNESS)
    law = ImmediateBuckling(taut, (0.0, 0.0)) + BaraffWitkin(across, STIFFNESS)
    model = membrane_model(mesh.with_vertices(held), law, 0.01, [ends])
    return _measure(mesh, settle(model, start, 1e-5, 1e-6))


def bend(u: Positions, v: Positions, curvature: float, strain: float) -> Positions:
    """Return positions (n,3) [m] of a strip with straight cross-sections, in the plane z = 0."""
    angle = curvature * u
    along = (1 + strain) / curvature
    return np.stack(
        [(along - v) * np.sin(angle), along - (along - v) * np.cos(angle), 0 * u], axis=1
    )


def _measure(mesh: TriangleMesh, found: Equilibrium) -> tuple[float, float, float]:
    """Return pull, moment about the center of the middle section, and curvature of the
    middle line.
    """
    x, right = found.x, mesh.groups["right"]
    force = found.phi.reaction(x)[right]
    uv = mesh.vertex_uv
    assert uv is not None
    axis = np.abs(uv[:, 1] - HEIGHT / 2) < 1e-9
    axis &= np.abs(uv[:, 0] - LENGTH / 2) < LENGTH / 12
    a, _, c = np.polyfit(x[axis, 0], x[axis, 1], 2)
    arm = x[right] - [0.0, c, 0.0]
    moment = np.cross(arm, force).sum(0)[2]
    return float(np.linalg.norm(force.sum(0))), abs(float(moment)), abs(2 * float(a))
