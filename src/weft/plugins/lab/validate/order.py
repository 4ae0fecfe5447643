"""Order of the integrators: with half the step, a swinging sheet's error falls by 2^order."""

from collections.abc import Sequence

import numpy as np

from weft.base.arrays import Positions
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import grid
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.integrators.base import Stepper, StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2, SemiImplicitSettings
from weft.plugins.lab.validate.check import Check, RowBasis, Rows, attempt
from weft.plugins.lab.validate.stepping import last_state
from weft.plugins.lab.validate.strip import Material, direct, strip_model

MATERIAL = Material(stretch=20.0, shear=5.0, bending=1e-3, density=0.2)
SECONDS, COARSEST = 0.2, 50  # [s], steps
TOLERANCE = 0.1  # tolerance of the order
DAMPING = 0.01  # [s]
EQUAL, UNEQUAL = (1.0,), (1 / 3, 2 / 3)  # parts of a step


def checks() -> Rows:
    """Compare measured with declared order, ± 0.1."""
    # direct, because multigrid has nothing to coarsen with 25 vertices
    settled = StepSettings(tolerance=1e-9, linear=direct())
    cases: dict[str, tuple[Stepper, float, Sequence[float]]] = {
        "backward-euler": (BackwardEuler(settled), 0.0, EQUAL),
        "baraff-witkin-1998": (BaraffWitkin1998(Settings1998(linear="splu")), 0.0, EQUAL),
        "bdf2": (Bdf2(settled), 0.0, EQUAL),
        "bdf2-semi-implicit": (SemiImplicitBdf2(SemiImplicitSettings(linear="splu")), 0.0, EQUAL),
        "bdf2-unequal-steps": (Bdf2(settled), 0.0, UNEQUAL),
        "bdf2-damped": (Bdf2(settled), DAMPING, EQUAL),
    }
    for name, case in cases.items():
        yield from attempt(f"order/{name}", _order, f"order/{name}", *case)


def _order(name: str, stepper: Stepper, damping: float, parts: Sequence[float]) -> Rows:
    got = measured_order(stepper, damping, parts)
    error = abs(got - stepper.order)
    ok = error <= TOLERANCE
    # The runs are compared with one another; other rows show that their limit is the right motion.
    yield Check(name, stepper.order, got, error, TOLERANCE, ok, basis=RowBasis.SELF)


def measured_order(stepper: Stepper, damping: float = 0.0, parts: Sequence[float] = EQUAL) -> float:
    """Return log2 of the ratio of successive differences at three steps, without a reference
    solution.
    """
    a, b, c = (swing(stepper, COARSEST * 2**i, damping, parts) for i in range(3))
    return float(np.log2(np.linalg.norm(a - b) / np.linalg.norm(b - c)))


def swing(stepper: Stepper, steps: int, damping: float, parts: Sequence[float]) -> Positions:
    """Return positions after SECONDS of a small sheet that hangs by one edge and swings down.

    Each of the ``steps`` is divided into ``parts``, which add up to 1.
    """
    mesh = grid(5, 5, 0.4, 0.4)
    model = strip_model(mesh, MATERIAL, [Pin(mesh.groups["top"])], damping=damping)
    lengths = [part * SECONDS / steps for part in parts] * steps
    return last_state(model, State.at_rest(mesh.vertices), stepper, lengths).x
