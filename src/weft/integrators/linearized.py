"""A step of one linear solve, with contact: the elastic part stays the quadratic model of that
solve, and only contact is searched.

    Q(x) = (x - x_n).A(x - x_n)/2 - b.(x - x_n) + barrier(x) + friction(x)

Without contact its minimum is the step itself. With contact it is that step under forces of
contact, which a search finds that passes through nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft import kernel
from weft.arrays import Floats, Positions
from weft.integrators.lagged import minimize_lagged
from weft.integrators.potential import Potential
from weft.kernel import WarpArray, vec3
from weft.laws.base import Psd
from weft.model import Model
from weft.solve.base import LinearSolver, Outcome
from weft.solve.block_csr import BlockCsr
from weft.solve.newton import NewtonSettings
from weft.solve.updates import Update
from weft.solve.vectors import combine, dot
from weft.state import State

TOLERANCE = 1e-2  # [m/s] of the last Newton increment over the step
MOST_ITERATIONS = 100


@dataclass(eq=False)
class QuadraticModel:
    """(x - x_n).A(x - x_n)/2 - b.(x - x_n), in the place of a model's assembly."""

    A: BlockCsr  # [N/m], symmetric
    b: WarpArray  # (n,) vec3 [N]
    x: WarpArray  # (n,) vec3 [m] x_n

    def __post_init__(self) -> None:
        n = self.x.shape[0]
        self._d, self._Ad = kernel.empty(n, vec3), kernel.empty(n, vec3)
        self._out = BlockCsr.zeros(self.A.pattern)

    def value(self, x: WarpArray) -> float:
        """[J]."""
        combine(x, -1.0, self.x, self._d)
        self.A.multiply(self._d, self._Ad)
        return 0.5 * dot(self._d, self._Ad) - dot(self._d, self.b)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += A (x - x_n) - b."""
        combine(x, -1.0, self.x, self._d)
        self.A.multiply(self._d, self._Ad)
        combine(g, 1.0, self._Ad, g)
        combine(g, -1.0, self.b, g)

    def hessian(self, x: WarpArray, psd: Psd) -> BlockCsr:
        """A copy of A."""
        self._out.values.assign(self.A.values)
        return self._out

    def terms(self, x: WarpArray) -> dict[str, float]:
        """[J] by name."""
        return {"quadratic": self.value(x)}

    def updates(self, x: WarpArray) -> list[Update]:
        """None."""
        return []


@dataclass(frozen=True, eq=False)
class ContactStep:
    """Where a step of one linear solve ends with contact, and how it was found."""

    x: Positions  # (n,3) [m]
    outcome: Outcome
    iterations: int
    linear_iterations: int
    line_search_trials: int
    rescues: int
    prepared: Any
    report: Mapping[str, Any]
    phases: Mapping[str, float]
    place: tuple[float, float, float] | None = None


def with_contact(
    model: Model,
    state: State,
    quadratic: QuadraticModel,
    predicted: Positions,
    dt: float,
    rate: tuple[Positions, float],
    solver: LinearSolver,
    previous: Any,
) -> ContactStep:
    """Minimize the quadratic model of a step of dt [s] under contact.

    Args:
        model: with contact.
        state: where the step begins.
        quadratic: the model of the step without contact.
        predicted: (n,3) [m] its minimum.
        dt: [s].
        rate: origin (n,3) [m] and span [s] of the new velocity.
        solver: of linear systems.
        previous: what it prepared for the last step, or None.
    """
    assert model.contact is not None
    fixed, target = model.prescribed(state.t + dt)
    t = state.t + dt
    phi = Potential(model, predicted, None, fixed, target, Psd.PROJECTED, t, quadratic)
    phi.begin(state, dt, *rate)
    start = phi.feasible(state.x)
    if start is None:
        return ContactStep(
            state.x, Outcome.BLOCKED, 0, 0, 0, 0, previous, {}, phi.phases,
            phi.tight,
        )  # fmt: skip
    settings = NewtonSettings(TOLERANCE * dt, MOST_ITERATIONS)
    lags = model.contact.settings.lags
    found = minimize_lagged(phi, start, solver, settings, previous, lags)
    x: Floats = np.array(kernel.numpy(found.x))
    spent = phi.phases.copy()
    return ContactStep(
        x, found.outcome, found.iterations, found.linear_iterations, found.line_search_trials,
        found.rescues, found.prepared, phi.report(x, dt) if found.outcome.ok else {}, spent,
    )  # fmt: skip
