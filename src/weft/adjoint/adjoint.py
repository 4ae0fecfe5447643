"""Derivatives of a loss with respect to the numbers of a scene: ``weft.Adjoint``."""

import dataclasses
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from weft.adjoint.losses import Loss, check_answer
from weft.adjoint.parameters import Parameter
from weft.adjoint.rollout import MOST, Rollout, Shapes, Trajectory
from weft.adjoint.run_check import RunCheck
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Accepts, Rate
from weft.run.run import Run
from weft.scene.prepare import Simulation
from weft.scene.scene import Scene


@dataclass(frozen=True)
class AdjointReport:
    """Report of a derivative: its cost, its exactness, and what it leaves out."""

    steps: int = 0  # number of steps, and of parts of divided steps
    indefinite: Sequence[float] = ()  # [s] ends of steps with an indefinite Hessian
    singular: Sequence[float] = ()  # [s] ends of steps with a singular Hessian, which is shifted
    correction: float = 0.0  # [m] largest displacement of a Newton step at a solution
    stiffness_adapted: int = 0  # steps in which contact stiffness adapted; not differentiated
    independent: Sequence[str] = ()  # parameters that the run does not depend on
    # by parameter: energies whose forces were differentiated by finite differences; all other
    # energies are differentiated exactly
    differences: Mapping[str, Sequence[str]] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    forward: float = 0.0  # [s]
    backward: float = 0.0  # [s] including steps that were computed again
    recomputed: int = 0  # steps that were computed again
    stored: int = 0  # [B] of states
    check: RunCheck | None = None  # comparison with one more run; None: not asked for

    def __str__(self) -> str:
        seconds = f"{self.forward:.2f} s forward and {self.backward:.2f} s back"
        lines = [f"{self.steps} steps, {seconds}; left to converge: {self.correction:.2g} m"]
        if self.indefinite:
            lines.append(
                f"{len(self.indefinite)} steps ended with an indefinite Hessian (not a minimum, "
                "or nearly not): weft solved with this Hessian"
            )
        if self.singular:
            lines.append(
                f"{len(self.singular)} steps ended with a singular Hessian, which weft shifted "
                "by 1e-9 of its largest number; derivatives along free motions are arbitrary"
            )
        if self.stiffness_adapted:
            lines.append(
                f"contact changed its stiffness in {self.stiffness_adapted} steps: derivatives "
                "leave this out"
            )
        if self.independent:
            lines.append(f"nothing depends on {', '.join(self.independent)}: the gradient is zero")
        for name, energies in self.differences.items():
            lines.append(f"{name}: differences of the forces of {', '.join(energies)}")
        unchecked = "not checked with a second run: call with check=True, which costs one run"
        return "\n".join([*lines, *self.remarks, str(self.check or unchecked)])


@dataclass(frozen=True, eq=False)
class Derivative:
    """Value of a loss and its gradient, by parameter name in the shape of the parameter's value."""

    value: float
    gradient: dict[str, Floats]
    report: AdjointReport = field(repr=False)


@checked(SceneError, "Adjoint")
class Adjoint(Rollout):
    """A loss of a run, and its derivatives with respect to what the run is made from.

    Args:
        scene, parameters, frames, fps, memory: see ``weft.adjoint.Rollout``.
        loss: ``loss(x, v, t)``, see ``weft.adjoint.losses``.

    Raises:
        SceneError: an unknown name; an integrator, setting or energy without a derivative.
    """

    def __init__(
        self,
        scene: Annotated[Scene | Simulation, Accepts(Scene | Simulation | Run)],
        loss: Loss,
        parameters: Sequence[str | Parameter] = (),
        *,
        frames: int,
        fps: Rate = 30.0,
        memory: float = MOST,
    ) -> None:
        super().__init__(scene, parameters, frames=frames, fps=fps, memory=memory)
        self.loss = loss

    def value(self) -> float:
        """Run the simulation and return the loss, without derivatives."""
        return float(self.answer(self.run(keep=False))[0])

    def shapes(self) -> tuple[Shapes, Shapes]:
        """Return the shapes of the parameters' values, and that of the loss."""
        return super().shapes()[0], [()]

    def answer(self, found: Trajectory) -> tuple[Any, ...]:
        """Return what is differentiated: the loss."""
        return (self._loss(found)[0],)

    def multiply(
        self, found: Trajectory, by: Sequence[Floats], check: bool = False
    ) -> tuple[dict[str, Floats], RunCheck | None]:
        """Return a factor times the gradient of the loss; and with ``check`` its comparison with
        one more run.
        """
        _, by_x, by_v = self._loss(found)
        gradient, notes = found.pull_back(by_x, by_v, loss=self.loss)
        product = {name: by[0] * each for name, each in gradient.items()}
        if not check:
            return product, None
        return product, self.check_gradient(gradient, found, by_x, by_v, notes["correction"])

    def functional(self, found: Trajectory, by_x: Floats, by_v: Floats) -> float:
        """Return the loss of a run."""
        return self._loss(found)[0]

    def _loss(self, found: Trajectory) -> tuple[float, Floats, Floats]:
        """Return the loss and its derivatives; one with a method ``of`` is bound to the model."""
        loss: Any = self.loss
        bound = loss.of(self.forward.model) if hasattr(loss, "of") else loss
        return check_answer(bound(found.x, found.v, found.t), found.x)

    def __call__(self, check: bool = False) -> Derivative:
        """Run the simulation, and return the loss with its derivatives by all parameters.

        Args:
            check: compare the gradient with one more run, in which all parameters (but ``targets``
                of pins) are changed a little along the gradient: ``report.check``. A warning is
                given if that run does not agree with the gradient.

        Raises:
            SceneError: a loss that is not finite, or whose derivative has another shape; a check of
                parameters that are all ``targets``.
            SimulationError: a step that does not converge.
        """
        if check:
            self.movable()
        derivatives = self.derivatives()  # errors come before the run
        clock, f = time.perf_counter(), self.forward
        trajectory = self.run()
        kept = trajectory.checkpoints
        value, by_x, by_v = self._loss(trajectory)
        size, forward = kept.bytes, time.perf_counter() - clock
        clock = time.perf_counter()
        gradient, notes = trajectory.pull_back(by_x, by_v, derivatives, self.loss)
        report = AdjointReport(
            **notes,
            independent=[n for n, d in derivatives.items() if not d.matters],
            differences={n: d.differences for n, d in derivatives.items() if d.differences},
            remarks=f.remarks,
            forward=forward,
            backward=time.perf_counter() - clock,
            recomputed=kept.recomputed,
            stored=size,
        )
        if check:
            found = self.check_gradient(gradient, trajectory, by_x, by_v, report.correction)
            report = dataclasses.replace(report, check=found)
            if found.tells and not found.agrees:
                warnings.warn(f"gradient {found}", stacklevel=2)
        return Derivative(value, gradient, report)
