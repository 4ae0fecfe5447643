"""Integrators whose runs have derivatives: the steps backwards, and forwards in time."""

from abc import ABC, abstractmethod
from typing import Any

from weft.base.arrays import Floats
from weft.energies.state import State, StateDerivatives
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.integrators.base import Memory, StepPart
from weft.integrators.model import Model
from weft.integrators.potential import Potential


class Reversible(ABC):
    """Base of the integrators whose runs have derivatives (``weft.adjoint``).

    A step is made from a state and a memory (``potential``), and leaves another state and memory.
    ``pull_back`` takes derivatives of a loss back through both, ``push_forward`` takes derivatives
    by a number through them forwards in time. Both leave to the caller how the end of the step
    depends on its potential, and what terms of the potential remember.
    """

    settings: Any

    @property
    @abstractmethod
    def has_history(self) -> bool:
        """Whether the parts of a step depend on one another."""

    @abstractmethod
    def potential(self, model: Model, state: State, memory: Memory, dt: float) -> Potential:
        """Return the potential of the step of dt [s] from ``state``."""

    @abstractmethod
    def pull_back(
        self, part: StepPart, by: StepCotangents, after: StateDerivatives
    ) -> StateDerivatives:
        """Return derivatives by state and memory at the beginning of a step.

        Args:
            part: the step.
            by: derivatives by what its potential was made from, and by the memory of terms before.
            after: derivatives by the state and memory at its end, for memory that is handed on.
        """

    @abstractmethod
    def pull_back_init(self, start: StateDerivatives) -> StateDerivatives:
        """Return derivatives by the first state, from those by it and its memory (``init``)."""

    @abstractmethod
    def push_init(self, model: Model, start: State) -> StateDerivatives:
        """Return how the first state and its memory change if the state changes by ``start``."""

    @abstractmethod
    def push_forward(
        self, model: Model, part: StepPart, step: Step, before: StateDerivatives, x: Floats
    ) -> StateDerivatives:
        """Return how state and memory at the end of a step change.

        Args:
            model: masses, energies, pins and contact.
            part: the step.
            step: what its potential was made from.
            before: change of the state and memory at its beginning.
            x: (n,3) change of its end.
        """
