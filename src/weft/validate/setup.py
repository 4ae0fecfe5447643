"""Models with named numbers, which ``weft.Adjoint`` can differentiate as it does scenes."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from weft.adjoint.parameters import Parameter
from weft.energies.state import State
from weft.integrators.base import Stepper
from weft.integrators.model import Model

Built = tuple[Model, State]
Values = Mapping[str, Any]  # numbers of a model by name, as its ``build`` takes them


@dataclass(frozen=True, eq=False)
class Setup:
    """A model and its start, built from named numbers.

    Args:
        build: builds the model and its start from the numbers.
        values: the numbers.
        stepper: builds the integrator.
        step: [s] time step.
    """

    build: Callable[[Values], Built]
    values: Values
    stepper: Callable[[], Stepper]
    step: float

    @cached_property
    def _built(self) -> Built:
        return self.build(self.values)

    def model(self) -> Model:
        """Return the model, which is built once."""
        return self._built[0]

    def state(self) -> State:
        """Return the start."""
        return self._built[1]

    def parameter(self, name: str, scale: float | None = None, linear: bool = False) -> Parameter:
        """Return one of the numbers as a parameter of derivatives."""

        def apply(setup: Setup, value: object) -> Setup:
            return dataclasses.replace(setup, values={**setup.values, name: value})

        return Parameter(name, self.values[name], apply, "", scale, linear)
