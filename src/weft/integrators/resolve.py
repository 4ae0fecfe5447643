"""A start without intersections, and with room for the thickness, near one that has neither.

First intersections are untangled (``contact.untangle``); then contact alone, without elasticity,
pushes apart what is nearer than its thickness, which grows as there is room.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.arrays import Positions
from weft.contact.untangle import uncrossed
from weft.errors import SceneError
from weft.integrators.potential import Potential
from weft.kernel import WarpArray, vec3
from weft.laws.base import Psd
from weft.model import Model
from weft.solve.block_csr import BlockCsr
from weft.solve.choose import linear_solver
from weft.solve.newton import NewtonSettings, minimize
from weft.solve.updates import Update
from weft.state import State

MOST_STEPS = 60
SCALE = 1e-3  # [s^2] of the inertia that holds vertices where they are


@dataclass(frozen=True, eq=False)
class Resolved:
    """A start that contact can begin from."""

    x: Positions  # (n,3) [m]
    moved: int  # vertices
    farthest: float  # [m] largest displacement
    crossing: int  # pairs of faces that intersected

    def __str__(self) -> str:
        return (
            f"untangled {self.crossing} pairs of faces: moved {self.moved} vertices "
            f"by up to {1e3 * self.farthest:.3g} mm"
        )


class _Nothing:
    """No energies, in the place of a model's."""

    def __init__(self, model: Model) -> None:
        self._matrix = BlockCsr.zeros(model.assembly.pattern)

    def value(self, x: WarpArray) -> float:
        return 0.0

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        pass

    def hessian(self, x: WarpArray, psd: Psd) -> BlockCsr:
        self._matrix.values.zero_()
        return self._matrix

    def terms(self, x: WarpArray) -> dict[str, float]:
        return {}

    def updates(self, x: WarpArray) -> list[Update]:
        return []


def resolved(model: Model, x: Positions) -> Resolved:
    """Untangle the start x (n,3) of a model with contact. Pinned vertices stay.

    Raises:
        SceneError: intersections that no small motion takes away.
    """
    assert model.contact is not None
    contact = model.contact
    fixed, _ = model.prescribed(0.0)
    contact.surface.hold(fixed)
    before = len(contact.crossings(x))
    apart, left = uncrossed(contact, x, ~fixed)
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
    return Resolved(apart, int((shift > 0).sum()), float(shift.max(initial=0.0)), before)


def _spread(model: Model, x: Positions) -> Positions:
    """Push apart what is nearer than its thickness."""
    assert model.contact is not None
    settings = dataclasses.replace(model.contact.settings, pinch="thin")
    contact = dataclasses.replace(model.contact, settings=settings)
    if contact.surface.who.thickest == 0:
        return x
    thin = dataclasses.replace(model, contact=contact)
    fixed, target = model.prescribed(0.0)
    solver = linear_solver("auto", len(x))
    for _ in range(MOST_STEPS):
        phi = Potential(thin, x, SCALE, fixed, target, elastic=_Nothing(model))
        phi.begin(State(x, np.zeros_like(x)), 1.0, x, 1.0)
        if phi.tight is None:
            break
        tolerance = NewtonSettings(1e-3 * contact.gap)
        found = minimize(phi, kernel.array(x, vec3), solver, tolerance)
        x = np.array(kernel.numpy(found.x))
    return x
