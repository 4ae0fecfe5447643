"""Specimens that are led along a path of strains and back, with what they remember.

KES-FB2 bends a specimen that is clamped 1 cm apart into cylinders between -2.5 and 2.5 /cm. B is
the slope of its moment from 0.5 to 1.5 /cm, 2HB the width of the loop at 1 /cm. KES-FB4 shears to 8
degrees; 2HG is the width at 0.5 degrees (Kawabata 1980, *The Standardization and Analysis of Hand
Evaluation*).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.hinge_weights import STRIP
from weft.energies.elastic.internal_friction import HingeFriction
from weft.energies.elastic.measured_bending import MeasuredBending
from weft.energies.energy import Energy
from weft.fabric.fabric import Fabric
from weft.fabric.hysteresis import bending_friction
from weft.integrators.base import Memory
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.laws.base import Law
from weft.plugins.lab.laboratory.cantilever import Direction, clamped_strip, turn_strip
from weft.plugins.lab.laboratory.specimen import find_equilibrium, require, specimen_model

SETTINGS = QuasiStaticSettings(1e-8, 1e-6, imperfection=0.0)
DIFFERENCE = 1e-5  # part of a strain by which positions are differentiated
PARTS = 10  # steps of a quarter of a loop
GAP, CELLS = 0.01, 8  # [m] between the clamps; cells along it
MOST, AT, SLOPE = 250.0, 100.0, (50.0, 150.0)  # [1/m] curvatures of KES-FB2
GF = 9.80665e-3  # [N]


@dataclass(frozen=True, eq=False)
class HysteresisLoop:
    """A loop of a load over a strain: to the most, to minus the most, and to the most again."""

    strain: Floats  # (5 PARTS + 1,)
    load: Floats  # (5 PARTS + 1,) work per area and strain

    def slope(self, low: float, high: float) -> float:
        """Return the slope of the load that grows between two strains."""
        at = self.strain[3 * PARTS :], self.load[3 * PARTS :]
        return float(np.diff(np.interp([low, high], *at))[0] / (high - low))

    def width(self, at: float) -> float:
        """Return the difference of the load that grows and that falls, the mean at ``+-at``."""
        up, down = slice(3 * PARTS, None), slice(3 * PARTS, PARTS - 1, -1)
        high, low = (np.interp([-at, at], self.strain[s], self.load[s]) for s in (up, down))
        return float((high - low).mean())


def around(most: float) -> Floats:
    """Return the strains (5 PARTS + 1,) of a loop."""
    return most * np.interp(np.arange(5 * PARTS + 1) / PARTS, [0, 1, 3, 5], [0, 1, -1, 1])


def lead(
    fabric: Fabric,
    mesh: TriangleMesh,
    bending: Sequence[Energy],
    place: Callable[[float], Positions],
    path: Floats,
    area: float,
    law: Law | None = None,
) -> Floats:
    """Return the loads (k,), work per strain and area [m^2], on the path of a specimen's border.

    Args:
        fabric: what to test.
        mesh: the specimen.
        bending: its bending energies.
        place: function that returns vertices (n,3) [m] at a strain.
        path: (k,) strains.
        area: [m^2].
        law: of the membrane; None: the fabric's.

    Raises:
        SimulationError: no equilibrium.
    """
    kept: Memory = {}
    loads, step = [], DIFFERENCE * float(np.abs(path).max())
    for strain in path:
        x = place(strain)
        pin = Pin(mesh.boundary)
        model = specimen_model(mesh, fabric, [pin], bending, weight=0, law=law, start=x)
        found = find_equilibrium(model, x, SETTINGS, f"{fabric.name} at {strain:.3g}", kept)
        kept = found.phi.remember(found.x)
        rate = (place(strain + step) - place(strain - step)) / (2 * step)
        loads.append(float((found.phi.reaction(found.x) * rate).sum()) / area)
    return np.array(loads)


def bending_loop(fabric: Fabric, direction: Direction) -> HysteresisLoop:
    """Bend a specimen as KES-FB2 does.

    Args:
        fabric: what to test.
        direction: of the yarns that are bent.

    Returns:
        Curvatures [1/m] and moments per width [N].

    Raises:
        FabricError: a fabric with no rigidity. SimulationError: no equilibrium.
    """
    require(fabric, f"bending_{direction}", "pure bending", "the fabric would carry no moment")
    # The clamps are in the middle of the first and the last row of cells.
    cell = GAP / CELLS
    mesh = turn_strip(clamped_strip(GAP + cell / 2, CELLS + 1)[0], direction)
    rigidity = fabric.bending_warp / STRIP, fabric.bending_weft / STRIP
    elastic = HingeBending.of(mesh, rigidity)
    if fabric.arcsim is not None:
        elastic = MeasuredBending.of_table(mesh, fabric.arcsim.rigidities(rigidity))
    bending = elastic, HingeFriction.from_hysteresis(mesh, *bending_friction(fabric))

    def place(curvature: float) -> Positions:
        return _cylinder(mesh.vertices, curvature, cell)

    path = around(MOST)
    area = GAP * float(np.ptp(mesh.vertices[:, 2]))
    return HysteresisLoop(path, lead(fabric, mesh, bending, place, path, area))


def _cylinder(x: Positions, curvature: float, cell: float) -> Positions:
    """Return vertices x (n,3) of a flat grid rolled onto a cylinder, with edges of the same
    length.
    """
    s, half = x[:, 0], curvature * cell / 2
    longer = 1 / np.sinc(half / np.pi)  # of the cylinder that has the cells as chords
    along = s * np.sinc(curvature * s / np.pi)
    up = curvature * s**2 / 2 * np.sinc(curvature * s / (2 * np.pi)) ** 2
    return np.stack([longer * along, longer * up, x[:, 2]], axis=1)
