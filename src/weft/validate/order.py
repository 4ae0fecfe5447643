"""Order of the integrators: with half the step, a swinging sheet's error falls by 2^order."""

from collections.abc import Iterator

import numpy as np

from weft.base.arrays import Positions
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import grid
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.integrators.base import Memory, Stepper, StepReport, StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.model import Model
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2, SemiImplicitSettings
from weft.validate.check import Check, RowBasis, attempt
from weft.validate.solver import direct
from weft.validate.stepping import last_state
from weft.validate.strip import Material, strip_model

MATERIAL = Material(stretch=20.0, shear=5.0, bending=1e-3, density=0.2)
SECONDS, COARSEST = 0.2, 50  # [s], steps
TOLERANCE = 0.1  # tolerance of the order
DAMPING = 0.01  # [s]


class Unequal:
    """An integrator that takes every step of another one as two, of one and of two thirds."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper

    @property
    def order(self) -> int:
        """The order of the other integrator."""
        return self.stepper.order

    def init(self, model: Model, state: State) -> Memory:
        """Return the other integrator's memory."""
        return self.stepper.init(model, state)

    def step(
        self, model: Model, state: State, memory: Memory, dt: float
    ) -> tuple[State, Memory, StepReport]:
        """Take a step of a third of dt, and one of the rest."""
        state, memory, report = self.stepper.step(model, state, memory, dt / 3)
        assert report.outcome.ok, report.outcome
        return self.stepper.step(model, state, memory, 2 * dt / 3)


def checks() -> Iterator[Check]:
    """Compare measured with declared order, ± 0.1."""
    # direct, because multigrid has nothing to coarsen with 25 vertices
    settled = StepSettings(tolerance=1e-9, linear=direct())
    steppers: dict[str, Stepper] = {
        "backward-euler": BackwardEuler(settled),
        "baraff-witkin-1998": BaraffWitkin1998(Settings1998(linear="splu")),
        "bdf2": Bdf2(settled),
        "bdf2-semi-implicit": SemiImplicitBdf2(SemiImplicitSettings(linear="splu")),
        "bdf2-unequal-steps": Unequal(Bdf2(settled)),
    }
    for name, stepper in steppers.items():
        yield from attempt(f"order/{name}", _order, name, stepper)
    yield from attempt("order/bdf2-damped", _order, "bdf2-damped", Bdf2(settled), DAMPING)


def _order(name: str, stepper: Stepper, damping: float = 0.0) -> Iterator[Check]:
    got = measured_order(stepper, damping)
    error = abs(got - stepper.order)
    ok = error <= TOLERANCE
    # The runs are compared with one another; other rows show that their limit is the right motion.
    yield Check(f"order/{name}", stepper.order, got, error, TOLERANCE, ok, basis=RowBasis.SELF)


def measured_order(stepper: Stepper, damping: float = 0.0) -> float:
    """Return log2 of the ratio of successive differences at three steps, without a reference
    solution.
    """
    a, b, c = (swing(stepper, COARSEST * 2**i, damping) for i in range(3))
    return float(np.log2(np.linalg.norm(a - b) / np.linalg.norm(b - c)))


def swing(stepper: Stepper, steps: int, damping: float = 0.0) -> Positions:
    """Return positions after SECONDS of a small sheet that hangs by one edge and swings down."""
    mesh = grid(5, 5, 0.4, 0.4)
    model = strip_model(mesh, MATERIAL, [Pin(mesh.groups["top"])], damping=damping)
    return last_state(model, State.at_rest(mesh.vertices), stepper, SECONDS / steps, steps).x
