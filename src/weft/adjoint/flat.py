"""Losses of one vector, as the optimizers of SciPy take them, and several losses at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.adjoint.adjoint import Adjoint, Derivative
from weft.adjoint.processes import call_side_by_side
from weft.base.arrays import Floats
from weft.base.errors import SceneError, SimulationError
from weft.base.runtime_types import checked


@checked(SceneError, "flat")
@dataclass(frozen=True, eq=False)
class Flat:
    """A loss as a function of one vector of parameters.

    Args:
        adjoint: loss and parameters; ``targets`` of pins cannot be among them.
        scaled: numbers are in units of ``Parameter.size``, so that all have a similar scale.
        penalty: value of the loss if a step does not converge (``BLOCKED``, ...), so that an
            optimizer turns back; None: the SimulationError of the step is raised. The penalty
            should be larger than any value of a run that ends. The gradient there leads back to the
            last vector whose run ended; if none has ended yet, the error is raised all the same.

    Attributes:
        notes: messages of the steps that failed, one for each vector that got the penalty.
    """

    adjoint: Adjoint
    scaled: bool = True
    penalty: float | None = None
    notes: list[str] = field(default_factory=list, init=False, repr=False)
    _last: list[tuple[Floats, float]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.penalty is not None and not np.isfinite(self.penalty):
            raise SceneError("Flat.penalty", got=self.penalty, expected="a finite number")

    @property
    def start(self) -> Floats:
        """The values of the scene itself as a vector."""
        a = self.adjoint
        return self.pack({n: a.parameter(n).value for n in a.parameters})

    def pack(self, values: Mapping[str, Floats]) -> Floats:
        """Return values by name as one vector."""
        return np.concatenate(
            [
                np.asarray(values[n], dtype=np.float64).reshape(-1) / self._size(n)
                for n in self.adjoint.parameters
            ]
        )

    def unpack(self, q: Floats) -> dict[str, Floats]:
        """Return a vector as values by name.

        Raises:
            SceneError: a vector of another length.
        """
        q = np.asarray(q, dtype=np.float64).reshape(-1)
        if len(q) != len(self.start):
            raise SceneError("parameters", got=f"{len(q)} numbers", expected=str(len(self.start)))
        found, first = {}, 0
        for n in self.adjoint.parameters:
            p = self.adjoint.parameter(n)
            last = first + p.value.size
            found[n] = (q[first:last] * self._size(n)).reshape(p.value.shape)
            first = last
        return found

    def derivative(self, q: Floats) -> Derivative:
        """Return the ``Derivative`` of ``Adjoint`` at the vector q."""
        return self.adjoint.with_values(self.unpack(q))()

    def __call__(self, q: Floats) -> tuple[float, Floats]:
        """Return value and gradient at q, as ``scipy.optimize.minimize`` with ``jac=True`` expects.

        Raises:
            SimulationError: a step that does not converge, without a penalty.
        """
        try:
            found = self.derivative(q)
        except SimulationError as error:
            return self._penalize(q, error)
        pieces = [found.gradient[n].reshape(-1) * self._size(n) for n in self.adjoint.parameters]
        self._last[:] = [(np.array(q, dtype=np.float64).reshape(-1), found.value)]
        return found.value, np.concatenate(pieces)

    def value(self, q: Floats) -> float:
        """Return the loss at q, without the pass backwards in time.

        Raises:
            SimulationError: a step that does not converge, without a penalty.
        """
        try:
            value = self.adjoint.with_values(self.unpack(q)).value()
        except SimulationError as error:
            return self._penalize(q, error)[0]
        self._last[:] = [(np.array(q, dtype=np.float64).reshape(-1), value)]
        return value

    def _penalize(self, q: Floats, error: SimulationError) -> tuple[float, Floats]:
        """Return the penalty, and the slope of a straight line to it from the last value."""
        if self.penalty is None or not self._last:
            raise error
        before, value = self._last[0]
        away = np.asarray(q, dtype=np.float64).reshape(-1) - before
        most = max(self.penalty, value)
        self.notes.append(f"{error}: the penalty {most:g} stands for the loss")
        return most, (most - value) * away / max(float(away @ away), 1e-300)

    def _size(self, name: str) -> float:
        return self.adjoint.parameter(name).size if self.scaled else 1.0


@checked(SceneError)
def batched(losses: Sequence[Adjoint], processes: int = 1) -> list[Derivative]:
    """Return the derivatives of several runs, computed in parallel processes with one thread each.

    With more than one process, scenes and losses have to be picklable: no lambdas, no local
    functions.

    Args:
        losses: one adjoint for each run.
        processes: number of processes; 1: the runs take turns in this process.

    Raises:
        SceneError: an object that cannot be sent to another process.
    """
    return call_side_by_side(_differentiate, [(a,) for a in losses], processes)


def _differentiate(adjoint: Adjoint) -> Derivative:
    return adjoint()
