"""The model of a fabric specimen, and the search for its equilibrium."""

from collections.abc import Sequence

import numpy as np

from weft.base.arrays import Positions
from weft.base.errors import FabricError, SimulationError
from weft.bodies.motion.pins import Pin
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.internal_friction import ShearFriction
from weft.energies.elastic.membrane import Membrane
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.fabric.fabric import UNITS, Fabric
from weft.fabric.hysteresis import slipping_shear
from weft.fabric.law import default_law
from weft.integrators.base import Memory
from weft.integrators.model import Model
from weft.integrators.quasi_static import Equilibrium, QuasiStatic, QuasiStaticSettings
from weft.laws.base import Law

GRAVITY = 9.81  # [m/s^2]


def require(fabric: Fabric, field: str, test: str, hint: str) -> None:
    """Raise unless a number of a fabric is above 0.

    Raises:
        FabricError: it is 0.
    """
    value = getattr(fabric, field)
    if not value > 0:
        raise FabricError(
            f"{field} of {fabric.name}",
            got=f"{value:g} {UNITS[field]}",
            expected=f"must be > 0 for {test}",
            hint=hint,
        )


def specimen_model(
    mesh: TriangleMesh,
    fabric: Fabric,
    pins: Sequence[Pin],
    bending: Sequence[Energy],
    *,
    weight: float = 1.0,
    law: Law | None = None,
    start: Positions | None = None,
) -> Model:
    """Build the model of a specimen: membrane with friction, bending, ``weight`` times gravity.

    Args:
        mesh: the specimen.
        fabric: density and stiffness.
        pins: what holds it.
        bending: its bending energies.
        weight: factor of gravity; 0: none.
        law: of the membrane; None: ``law_of(fabric)``.
        start: (n,3) [m] where pinned vertices are; None: where the mesh has them.
    """
    mass = fabric.density * mesh.vertex_area
    samples = linear_triangle(mesh)
    membrane = [Membrane(samples, law or default_law(fabric))]
    if fabric.shear_hysteresis is not None:
        membrane.append(ShearFriction(samples, slipping_shear(fabric)))
    load = (Gravity(mass, (0.0, -weight * GRAVITY, 0.0)),) if weight else ()
    at = mesh.vertices if start is None else start
    return Model(mass, (*membrane, *bending, *load), tuple(pins), at)


def find_equilibrium(
    model: Model,
    x: Positions,
    settings: QuasiStaticSettings,
    what: str,
    memory: Memory | None = None,
) -> Equilibrium:
    """Return the equilibrium near x (n,3) [m], with what the cloth remembers (``memory``).

    Raises:
        SimulationError: none was found; ``what`` names the test in the message.
    """
    found = QuasiStatic(settings).solve(model, np.asarray(x), memory=memory)
    if not found.outcome.ok:
        raise SimulationError(
            what, got=found.outcome.name, expected="an equilibrium", hint=found.outcome.advice
        )
    return found
