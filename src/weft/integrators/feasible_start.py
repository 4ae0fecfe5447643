"""A start without intersections and with room for the thickness, near a start that has neither.

First, intersections are removed (``contact.untangling``). Then contact alone, without elasticity,
pushes apart pairs that are closer than their thickness, which grows as there is room.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.base.arrays import Positions
from weft.base.errors import SceneError
from weft.contact.contact_energy import ContactEnergy
from weft.contact.untangling import MOST_ROUNDS, remove_intersections
from weft.energies.state import State
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.solve.linear.select import linear_solver
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import minimize

MOST_STEPS = 60
SCALE = 1e-3  # [s^2] scale of the inertia that keeps vertices near their positions


@dataclass(frozen=True, eq=False)
class FeasibleStart:
    """A start without intersections, with the displacements that led to it."""

    x: Positions  # (n,3) [m]
    moved: int  # number of vertices that moved
    farthest: float  # [m] largest displacement
    crossing: int  # pairs of faces that intersected before

    def __str__(self) -> str:
        return (
            f"untangled {self.crossing} pairs of faces: moved {self.moved} vertices "
            f"by up to {1e3 * self.farthest:.3g} mm"
        )


def feasible_start(model: Model, x: Positions, rounds: int = MOST_ROUNDS) -> FeasibleStart:
    """Remove the intersections from the start x (n,3) [m] of a model with contact; pins stay.

    Args:
        model: the model.
        x: (n,3) [m].
        rounds: of small motions, at most.

    Returns:
        The new start and how far it is from x.

    Raises:
        SceneError: intersections that no small motion removes.
    """
    assert model.contact is not None
    contact = model.contact
    fixed, _ = model.prescribed_positions(0.0)
    before = len(contact.crossings(x))
    apart, left = remove_intersections(contact, x, ~fixed, rounds)
    if left:
        raise SceneError(
            "contact.resolve",
            got=f"{left} of {before} pairs of faces still intersect",
            expected="small intersections, that a motion of a few gaps takes away",
            hint="`weft check` draws them; move the pieces apart, or raise contact.gap",
        )
    apart = _spread(model, apart)
    contact.check_start(apart)
    shift = np.linalg.norm(apart - x, axis=1)
    return FeasibleStart(apart, int((shift > 0).sum()), float(shift.max(initial=0.0)), before)


def _spread(model: Model, x: Positions) -> Positions:
    """Push apart pairs that are closer than their thickness; return positions (n,3) [m]."""
    assert model.contact is not None
    settings = dataclasses.replace(model.contact.settings, pinch="thin")
    contact = dataclasses.replace(model.contact, settings=settings)
    if contact.mesh.sides.thickest == 0:
        return x
    terms = (model.assembly.inertia, ContactEnergy(contact, model.assembly.phases))
    solver = linear_solver("auto", len(x), exact=True)
    for _ in range(MOST_STEPS):
        still = State(x, np.zeros_like(x))
        phi = Potential(model, model.step(still, 0.0, x, SCALE), terms=terms)
        if phi.blocked is None:
            break
        found = minimize(phi, kernel.points(x), solver, Newton(1e-3 * contact.gap))
        x = np.array(kernel.numpy(found.x))
    return x
