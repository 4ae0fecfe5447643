"""The parts of a minimization, and the values that they exchange.

A ``Descent`` proposes directions, ``line_search`` measures how far to go, and a ``StoppingRule``
decides when the search ends. Each reads the values of the others and writes its own alone.
"""

from dataclasses import dataclass
from typing import Protocol

from weft.kernel import WarpArray
from weft.solve.linear.solver import Outcome
from weft.solve.newton.newton_system import NewtonSystem


@dataclass
class SearchPoint:
    """The point that a minimization has reached; the minimizer alone writes it."""

    x: WarpArray  # (n,) vec3
    g: WarpArray  # (n,) vec3 gradient at x
    value: float  # at x


@dataclass(frozen=True, eq=False)
class SearchDirection:
    """A search direction with its numbers."""

    d: WarpArray  # (n,) vec3
    length: float  # largest displacement of a vertex
    slope: float  # derivative of the value along the direction
    failure: Outcome | None = None  # why it cannot be followed, which ends the search
    refused: bool = False  # the search asks for another one
    settled: bool = True  # whether the direction of the last matrix was small to every energy
    is_newton: bool = True  # whether its length bounds the distance to the minimum
    mu: float = 0.0  # [1/s^2] factor of the mass matrix in its matrix


@dataclass(frozen=True)
class RemainingError:
    """Distance to the minimum at which a search was stopped, estimated from its last direction."""

    unsettled: float = 0.0  # fraction of vertices whose last increment exceeds the tolerance
    gain: float = 0.0  # [J] decrease that Newton's quadratic model predicts for that increment


class Descent(Protocol):
    """Interface of the search directions of one minimization."""

    truncates: bool  # whether a direction may be shortened vertex by vertex

    @property
    def needs_matrix(self) -> bool:
        """Whether the next direction needs a new matrix."""

    def propose(self, at: SearchPoint) -> SearchDirection:
        """Return a search direction at the iterate."""

    def merit(self, x: WarpArray) -> float:
        """Return the term that the direction's model adds to the value at x."""

    def after_step(self, direction: SearchDirection, step: float) -> None:
        """Adapt to a step along the direction.

        Args:
            direction: the last proposal.
            step: accepted by the line search, (0, 1].
        """

    def has_other(self) -> bool:
        """Return whether another direction can be tried where no step lowers the value."""


class StoppingRule(Protocol):
    """Interface of the decisions when a minimization ends."""

    force: float  # largest force, relative; NaN if it is not measured
    remaining: RemainingError

    def check(self, at: SearchPoint, iterations: int, needs_matrix: bool) -> Outcome | None:
        """Return the outcome if the search ends at the iterate, else None.

        Args:
            at: the iterate.
            iterations: number of matrices so far.
            needs_matrix: whether the next direction needs a new matrix.
        """

    def measure(self, direction: SearchDirection) -> None:
        """Measure a direction that is proposed, whether it is followed or not."""

    def arrives(self, direction: SearchDirection) -> Outcome | None:
        """Return the outcome if the search ends with this direction, applied without a line search.

        None: the search goes on with a line search.
        """

    def after_step(self, direction: SearchDirection, step: float) -> Outcome | None:
        """Return the outcome if the search ends after a step (0, 1] along the direction."""

    def at_end_of_directions(self) -> Outcome:
        """Return the outcome where no direction lowers the value."""


class Method(Protocol):
    """Interface of the frozen settings of a minimization, which create its parts."""

    def begin(self, system: NewtonSystem, n: int) -> tuple[Descent, StoppingRule]:
        """Return descent and stopping rule of a minimization of n points."""
