"""Integrators by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from weft.base.errors import SceneError
from weft.integrators.adaptive import Adaptive
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.integrators.base import Stepper, StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2, SemiImplicitSettings

Settings = StepSettings | Settings1998 | SemiImplicitSettings | QuasiStaticSettings


@dataclass(frozen=True)
class IntegratorKind:
    """An integrator that scenes can name, with the class of its settings."""

    settings: type[Settings]
    stepper: Callable[[Any], Stepper]  # called with the settings
    meaning: str


INTEGRATORS: Mapping[str, IntegratorKind] = {
    "backward_euler": IntegratorKind(
        StepSettings, BackwardEuler, "every step is solved to a tolerance"
    ),
    "bdf2": IntegratorKind(StepSettings, Bdf2, "the same, of second order, with less damping"),
    "bdf2_semi_implicit": IntegratorKind(
        SemiImplicitSettings, SemiImplicitBdf2, "method of Choi & Ko, one linear solve per step"
    ),
    "baraff_witkin_1998": IntegratorKind(
        Settings1998, BaraffWitkin1998, "one linear solve per step, damping of conditions"
    ),
    "quasi_static": IntegratorKind(
        QuasiStaticSettings, QuasiStatic, "an equilibrium for every step"
    ),
}


def check_stepper(stepper: object) -> None:
    """Check an integrator of the user's.

    Raises:
        SceneError: an object that cannot step.
    """
    for method in ("init", "step"):
        if isinstance(stepper, type) or not callable(getattr(stepper, method, None)):
            raise SceneError(
                "scene.integrator",
                got=f"{stepper!r} without {method}()",
                expected="a name, or an object with init(model, state) and step(model, state, "
                "memory, dt)",
                hint="such as weft.Bdf2(weft.StepSettings(tolerance=1e-3))",
            )


def name_of(stepper: Stepper) -> str:
    """Return the name of a stepper's class in INTEGRATORS, or else the class's own name."""
    while isinstance(stepper, Adaptive):
        stepper = stepper.stepper
    known = (name for name, kind in INTEGRATORS.items() if kind.stepper is type(stepper))
    return next(known, type(stepper).__name__)
