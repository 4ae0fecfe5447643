"""Derivatives of a loss with respect to the numbers of a scene: ``weft.Adjoint``."""

import dataclasses
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from weft.adjoint.losses import Loss, check_answer
from weft.adjoint.parameter_directions import NumberDerivative
from weft.adjoint.parameters import Parameter, ParameterDerivative, check_names
from weft.adjoint.recorded_run import RecordedRun, RunCheckpoints
from weft.adjoint.reverse_step import step_back
from weft.adjoint.run_check import ROUND_OFF, RunCheck, check_run
from weft.adjoint.scene_parameters import TARGETS, scene_parameters
from weft.adjoint.tangent import tangents
from weft.base.arrays import ArrayArgument, Floats
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Accepts, Rate
from weft.base.trees import Json
from weft.energies.state import StateDerivatives
from weft.run.run import Run
from weft.run.scene_interface import Simulated
from weft.solve.linear.direct import direct_solver
from weft.solve.linear.select import DIRECT_UP_TO, linear_solver
from weft.solve.linear.solver import LinearSolver

MOST = 2.0**30  # [B] memory for states by default


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
    kept: int = 0  # [B] of states
    check: RunCheck | None = None  # comparison with one more run; None: not asked for

    def __str__(self) -> str:
        seconds = f"{self.forward:.2f} s forward and {self.backward:.2f} s back"
        lines = [f"{self.steps} steps, {seconds}; left to converge: {self.correction:.2g} m"]
        if self.indefinite:
            lines.append(
                f"{len(self.indefinite)} steps ended where the Hessian is indefinite "
                "(no minimum, or barely one): solved as it is"
            )
        if self.singular:
            lines.append(
                f"{len(self.singular)} steps ended where it is singular: shifted by 1e-9 "
                "of its largest number; derivatives along what moves freely are "
                "arbitrary"
            )
        if self.stiffness_adapted:
            lines.append(
                f"contact changed its firmness in {self.stiffness_adapted} steps: left out"
            )
        if self.independent:
            lines.append(f"nothing depends on {', '.join(self.independent)}: zero")
        for name, energies in self.differences.items():
            lines.append(f"{name}: differences of the forces of {', '.join(energies)}")
        unchecked = "not checked against a run nearby: call with check=True, at the cost of a run"
        return "\n".join([*lines, *self.remarks, str(self.check or unchecked)])


@dataclass(frozen=True, eq=False)
class Derivative:
    """Value of a loss and its gradient, by parameter name in the shape of the parameter's value."""

    value: float
    gradient: dict[str, Floats]
    report: AdjointReport = field(repr=False)


@checked(SceneError, "Adjoint")
class Adjoint:
    """A loss of a run, and its derivatives with respect to what the run is made from.

    Args:
        scene: a ``weft.Scene``, or an object that can be simulated like one
            (``weft.run.scene_interface.Simulated``) with parameters of its own.
        loss: ``loss(x, v, t)``, see ``weft.adjoint.losses``.
        parameters: names (``Adjoint.names``), or ``Parameter`` objects; none: every number of the
            fabrics.
        frames: number of the last frame.
        fps: frames per second.
        memory: [B] that states may take; if not all of them fit, sqrt(steps) of them are kept and
            the others are computed again, bitwise equal.

    Raises:
        SceneError: an unknown name; an integrator, setting or energy without a derivative.
    """

    def __init__(
        self,
        scene: Annotated[Simulated, Accepts(Simulated | Run)],
        loss: Loss,
        parameters: Sequence[str | Parameter] = (),
        *,
        frames: int,
        fps: Rate = 30.0,
        memory: float = MOST,
    ) -> None:
        if hasattr(scene, "manifest"):
            hint = "weft.scene_of(run).scene reads it from the run's manifest"
            raise SceneError("Adjoint of a run", got="a folder", expected="its scene", hint=hint)
        self.scene, self.loss, self.memory = scene, loss, memory
        self.forward = RecordedRun(scene, frames, fps)
        of_scene = _parameters_of(scene)
        asked = list(parameters) or [k for k in of_scene if k.startswith("fabric")]
        self._own = {p.name: p for p in asked if isinstance(p, Parameter)}
        self._named = {**of_scene, **self._own}
        self.names = list(self._named)
        self.parameters = [p if isinstance(p, str) else p.name for p in asked]
        check_names(dict.fromkeys(self.parameters), self.names)
        if not self.parameters:
            raise SceneError("parameters", got="none", expected="at least one")

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by name.

        Raises:
            SceneError: an unknown name.
        """
        check_names({name: None}, self.names)
        return self._named[name]

    def with_values(self, values: Mapping[str, ArrayArgument]) -> "Adjoint":
        """Return this adjoint for a scene with other values of parameters.

        Args:
            values: new values by name; ``positions``, ``velocities`` and ``rest`` have the shapes
                of their gradients.

        Raises:
            SceneError: an unknown name, or a parameter that cannot be given (``targets`` of pins).
        """
        scene: Any = self.scene
        arrays = [p.name for p in self._named.values() if p.closed_form is not None]
        numbers = [name for name in values if name not in arrays]
        new: dict[str, Floats] = {}
        for name in [*numbers, *(name for name in arrays if name in values)]:
            p, value = self.parameter(name), np.asarray(values[name], dtype=np.float64)
            new[name] = value if name in arrays else value.reshape(p.value.shape)
            scene = p.at(scene, new[name])
        own = {n: dataclasses.replace(p, value=new.get(n, p.value)) for n, p in self._own.items()}
        given = [own.get(name, name) for name in self.parameters]
        f = self.forward
        return Adjoint(scene, self.loss, given, frames=f.frames, fps=f.fps, memory=self.memory)

    def value(self) -> float:
        """Run the simulation and return the loss, without derivatives."""
        x, v, t = self._frames(RunCheckpoints(self.forward, 0.0))
        return check_answer(self._loss(x, v, t), x)[0]

    def _loss(self, x: Floats, v: Floats, t: Floats) -> Any:
        """Return the answer of the loss; it is bound to the model if it has a method ``of``."""
        loss: Any = self.loss
        return (loss.of(self.forward.model) if hasattr(loss, "of") else loss)(x, v, t)

    def _frames(self, kept: RunCheckpoints) -> tuple[Floats, Floats, Floats]:
        f, model = self.forward, self.forward.model
        x, v, t = [], [], []
        for place in kept.run():
            if place.count % f.steps == 0:
                x.append(model.vertices(place.state.x))
                v.append(model.vertices(place.state.v))
                t.append(place.state.t)
        return np.array(x), np.array(v), np.array(t)

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
        movable = [n for n in self.parameters if not n.endswith(TARGETS)]
        if check and not movable:
            raise SceneError(
                "check",
                got=f"by {', '.join(self.parameters)} alone",
                expected="a parameter beside them",
                hint="pins.NAME.translation is one that a scene can be given",
            )
        derivatives = {n: self._derivative(self._named[n]) for n in self.parameters}
        clock, f = time.perf_counter(), self.forward  # errors come before the run
        kept = RunCheckpoints(f, self.memory)
        x, v, t = self._frames(kept)
        value, by_x, by_v = check_answer(self._loss(x, v, t), x)
        size, forward = kept.bytes, time.perf_counter() - clock
        clock = time.perf_counter()
        back, notes = self._backwards(kept, by_x, by_v, list(derivatives.values()))
        for d in derivatives.values():
            d.add_start(back)
            if hasattr(self.loss, "of"):
                d.add_explicit(self.loss, x, v, t)
        gradient = {name: d.result() for name, d in derivatives.items()}
        report = AdjointReport(
            **notes,
            independent=[n for n, d in derivatives.items() if not d.matters],
            differences={n: d.differences for n, d in derivatives.items() if d.differences},
            remarks=f.remarks,
            forward=forward,
            backward=time.perf_counter() - clock,
            recomputed=kept.recomputed,
            kept=size,
        )
        if check:
            moved_by = float(np.abs(by_x).sum() + np.abs(by_v).sum() / f.dt)
            noise = report.correction * moved_by + ROUND_OFF * float(np.abs(by_x * x).sum())
            found = self._check_gradient({n: gradient[n] for n in movable}, value, noise)
            report = dataclasses.replace(report, check=found)
            if found.tells and not found.agrees:
                warnings.warn(f"gradient {found}", stacklevel=2)
        return Derivative(value, gradient, report)

    def _derivative(self, parameter: Parameter) -> ParameterDerivative:
        """Return the derivative by a parameter, before the run."""
        if parameter.closed_form is not None:
            return parameter.closed_form(self.scene, self.forward)
        return NumberDerivative(self.scene, self.forward, parameter)

    def _check_gradient(
        self, gradient: Mapping[str, Floats], value: float, noise: float
    ) -> RunCheck:
        """Compare the gradient with one more run along it."""
        starts = {n: self._named[n].value for n in gradient}
        sizes = {n: self._named[n].size for n in gradient}

        def value_at(change: Mapping[str, Floats]) -> float:
            return self.with_values({n: starts[n] + c for n, c in change.items()}).value()

        return check_run(gradient, sizes, value, noise, value_at)

    def tangent(self, name: str) -> tuple[Floats, Floats]:
        """Return how positions and velocities change with a parameter, computed forwards in time.

        Returns:
            Two arrays (frames+1,n,3,...); the last axes are those of the parameter's value.

        Raises:
            SceneError: an unknown name, or the name of a whole array, for which the pass backwards
                is meant.
        """
        parameter = self.parameter(name)
        if parameter.closed_form is not None:
            raise SceneError(
                f"tangent by {name}", got="a whole array", expected="numbers of the scene"
            )
        return tangents(self.forward, self.scene, parameter, self._solver())

    def _backwards(
        self, kept: RunCheckpoints, by_x: Floats, by_v: Floats, asked: Sequence[ParameterDerivative]
    ) -> tuple[StateDerivatives, Json]:
        """Go from the last frame to the start; return derivatives by the start, and report data."""
        f, n = self.forward, len(self.forward.model.mass)
        back, prepared, solver = StateDerivatives.zeros(n), None, self._solver()
        bad: dict[str, list[float]] = {"indefinite": [], "singular": []}
        steps, correction, stiffness_adapted = 0, 0.0, 0
        asked = [a for a in asked if a.matters]
        for count in range(f.count, 0, -1):
            if count % f.steps == 0:
                self._add_frame(back, by_x[count // f.steps], by_v[count // f.steps])
            for taken in reversed(kept.parts(count)):
                steps += 1
                links = step_back(f.model, taken, f.inner, solver, back, prepared)
                for link in links:
                    stiffness_adapted += link.pulled.stiffness_adapted
                    prepared = link.hessian.prepared
                    correction = max(correction, link.correction)
                    if link.hessian.kind in bad:
                        bad[link.hessian.kind].append(link.phi.step.t)
                    for each in asked:
                        each.add(link)
                    back = link.before
        self._add_frame(back, by_x[0], by_v[0])
        back = f.inner.pull_back_init(back)
        return back, {
            **bad,
            "steps": steps,
            "correction": correction,
            "stiffness_adapted": stiffness_adapted,
        }

    def _add_frame(self, back: StateDerivatives, by_x: Floats, by_v: Floats) -> None:
        """Add the derivatives by the vertices of a frame, pulled back to the points."""
        W = self.forward.model.embedding
        for by, to in ((by_x, back.x), (by_v, back.v)):
            mine = by if W is None else W.matrix.T @ by
            to[: len(mine)] += mine

    def _solver(self) -> LinearSolver:
        """Return the linear solver; a direct one up to ``DIRECT_UP_TO`` points.

        Derivatives need more digits than steps, and a direct solver of that size is as fast.
        """
        model, settings = self.forward.model, self.forward.inner.settings
        n = len(model.mass)
        if settings.linear == "auto" and n <= DIRECT_UP_TO:
            return direct_solver()
        touching, pattern = model.contact is not None, model.assembly.pattern
        return linear_solver(settings.linear, n, contact=touching, pattern=pattern)


def _parameters_of(scene: Any) -> dict[str, Parameter]:
    """Return the parameters of a ``weft.Scene`` by name; another object has none but your own."""
    return scene_parameters(scene) if hasattr(scene, "cloth") else {}
