"""Models by their numbers, for derivatives: what a scene is to ``weft.Adjoint``, without scenes."""

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


@dataclass(frozen=True, eq=False)
class Setup:
    """A model and where it starts, made from named numbers.

    Args:
        build: makes them.
        values: the numbers.
        stepper: makes the integrator.
        step: [s].
    """

    build: Callable[[Mapping[str, Any]], Built]
    values: Mapping[str, Any]
    stepper: Callable[[], Stepper]
    step: float

    @cached_property
    def _built(self) -> Built:
        return self.build(self.values)

    def model(self) -> Model:
        """Built once."""
        return self._built[0]

    def state(self) -> State:
        """The start."""
        return self._built[1]

    def parameter(self, name: str, scale: float | None = None, linear: bool = False) -> Parameter:
        """One of the numbers."""

        def apply(setup: Setup, value: Any) -> Setup:
            return dataclasses.replace(setup, values={**setup.values, name: value})

        return Parameter(name, self.values[name], apply, "", scale, linear)
