"""A try of a step, or of a part of a step, whose result was not used."""

from dataclasses import dataclass

from weft.base.arrays import Vector
from weft.base.trees import Json
from weft.solve.linear.solver import Outcome


@dataclass(frozen=True)
class RejectedStep:
    """A try of a step, or of a part of a step, whose result was not used.

    ``outcome`` says why. CONVERGED: it was a trial of the shortest part, which showed that
    halving the step helps.
    """

    outcome: Outcome
    dt: float  # [s] length of the try
    iterations: int  # Newton iterations
    seconds: float  # wall time
    place: Vector | None = None  # [m] outcomes BLOCKED and PASSES: where there was no room
    obstacle: str = ""  # outcomes BLOCKED and PASSES: the surfaces that leave no room

    def as_dict(self, whole: float) -> Json:
        """Return this try as a tree of numbers and names, for the metrics of a run.

        Args:
            whole: [s] length of the step of which the try is a part.
        """
        tree: Json = {
            "outcome": self.outcome.name,
            "part": self.dt / whole,
            "iterations": self.iterations,
            "seconds": self.seconds,
        }
        if self.place is not None:
            tree["place"] = [float(c) for c in self.place]
        if self.obstacle:
            tree["obstacle"] = self.obstacle
        return tree
