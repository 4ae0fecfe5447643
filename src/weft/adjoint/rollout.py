"""Runs of a scene with their derivatives: frames, the pass backwards from any derivatives by them,
and tangents.

``weft.Adjoint`` adds a loss to it; ``weft.torch`` and ``weft.jax`` make tensors of it.
"""

import copy
import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from weft.adjoint.losses import Loss
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
from weft.scene.prepare import Simulation, prepare
from weft.scene.scene import Scene
from weft.solve.linear.direct import direct_solver
from weft.solve.linear.select import DIRECT_EXACT, linear_solver
from weft.solve.linear.solver import LinearSolver

Shapes = list[tuple[int, ...]]
MOST = 2.0**30  # [B] memory for states by default


@checked(SceneError, "Rollout")
class Rollout:
    """Positions and velocities of a run, and their derivatives by what the run is made from.

    Args:
        scene: a ``weft.Scene``, or an object that can be simulated like one
            (``weft.Simulation``) with parameters of its own.
        parameters: names (``Rollout.names``), or ``Parameter`` objects; none: every number of the
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
        scene: Annotated[Scene | Simulation, Accepts(Scene | Simulation | Run)],
        parameters: Sequence[str | Parameter] = (),
        *,
        frames: int,
        fps: Rate = 30.0,
        memory: float = MOST,
    ) -> None:
        if hasattr(scene, "manifest"):
            hint = "weft.scene_of(run).scene reads it from the run's manifest"
            what = f"{type(self).__name__} of a run"
            raise SceneError(what, got="a folder", expected="its scene", hint=hint)
        self.memory = memory
        self._set(scene, parameters, frames, fps)

    def _set(
        self,
        scene: Scene | Simulation,
        parameters: Sequence[str | Parameter],
        frames: int,
        fps: float,
    ) -> None:
        self.scene = scene
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
        for name in self.parameters:
            if self._named[name].doubt:
                warnings.warn(f"gradient by {name}: {self._named[name].doubt}", stacklevel=4)

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by name.

        Raises:
            SceneError: an unknown name.
        """
        check_names({name: None}, self.names)
        return self._named[name]

    def with_values(self, values: Mapping[str, ArrayArgument]) -> Self:
        """Return this rollout, or adjoint, for a scene with other values of parameters.

        Args:
            values: new values by name; ``positions``, ``velocities`` and ``rest`` have the shapes
                of their gradients.

        Raises:
            SceneError: an unknown name, a parameter that cannot be given (``targets`` of pins), or
                a value of another shape.
        """
        scene: Any = self.scene
        arrays = [p.name for p in self._named.values() if p.closed_form is not None]
        numbers = [name for name in values if name not in arrays]
        new: dict[str, Floats] = {}
        for name in [*numbers, *(name for name in arrays if name in values)]:
            p, value = self.parameter(name), np.asarray(values[name], dtype=np.float64)
            if value.size != p.value.size > 0:
                got, expected = f"shape {value.shape}", f"shape {p.value.shape}"
                raise SceneError(f"parameter {name}", got=got, expected=expected)
            new[name] = value if name in arrays else value.reshape(p.value.shape)
            scene = p.at(scene, new[name])
        own = {n: dataclasses.replace(p, value=new.get(n, p.value)) for n, p in self._own.items()}
        given = [own.get(name, name) for name in self.parameters]
        return self.again(scene, given)

    def again(self, scene: Scene | Simulation, parameters: Sequence[str | Parameter]) -> Self:
        """Return this rollout, or adjoint, for another scene and other parameters."""
        made = copy.copy(self)
        made._set(scene, parameters, self.forward.frames, self.forward.fps)
        return made

    def run(self, keep: bool = True) -> "Trajectory":
        """Run the simulation.

        Args:
            keep: keep the states that a pass backwards needs.

        Raises:
            SimulationError: a step that does not converge.
        """
        f = self.forward
        kept = RunCheckpoints(f, self.memory if keep else 0.0)
        x, v, t = [], [], []
        for place in kept.run():
            if place.count % f.steps == 0:
                x.append(f.model.vertices(place.state.x))
                v.append(f.model.vertices(place.state.v))
                t.append(place.state.t)
        return Trajectory(self, kept, np.array(x), np.array(v), np.array(t))

    def shapes(self) -> tuple[Shapes, Shapes]:
        """Return the shapes of the parameters' values, and those of ``answer``."""
        f, frame = self.forward, self.forward.model.vertices(prepare(self.scene).state.x).shape
        values = [self._named[n].value.shape for n in self.parameters]
        return values, [(f.frames + 1, *frame)] * 2

    def answer(self, found: "Trajectory") -> tuple[Any, ...]:
        """Return what is differentiated: positions and velocities of all frames."""
        return found.x, found.v

    def multiply(
        self, found: "Trajectory", by: Sequence[Floats], check: bool = False
    ) -> tuple[dict[str, Floats], RunCheck | None]:
        """Return the vector-Jacobian product: derivatives by the parameters, from those by
        ``answer``; and with ``check`` its comparison with one more run.
        """
        by_x, by_v = by
        gradient, notes = found.pull_back(by_x, by_v)
        if not check:
            return gradient, None
        return gradient, self.check_gradient(gradient, found, by_x, by_v, notes["correction"])

    def functional(self, found: "Trajectory", by_x: Floats, by_v: Floats) -> float:
        """Return the function of the frames whose gradient a check compares: the one that is linear
        with the derivatives ``by_x`` and ``by_v``.
        """
        return float((by_x * found.x).sum() + (by_v * found.v).sum())

    def movable(self) -> list[str]:
        """Return the parameters that a check can change: all but ``targets`` of pins.

        Raises:
            SceneError: there are none.
        """
        names = [n for n in self.parameters if not n.endswith(TARGETS)]
        if not names:
            raise SceneError(
                "check",
                got=f"by {', '.join(self.parameters)} alone",
                expected="another parameter, too",
                hint="for example pins.NAME.translation",
            )
        return names

    def check_gradient(
        self,
        gradient: Mapping[str, Floats],
        found: "Trajectory",
        by_x: Floats,
        by_v: Floats,
        correction: float,
    ) -> RunCheck:
        """Compare a gradient with one more run, in which all movable parameters are changed along
        it.

        Args:
            gradient: derivatives of ``functional``, by name.
            found: the run that was differentiated.
            by_x, by_v: derivatives by its frames, as for ``Trajectory.pull_back``.
            correction: [m] by which its steps are not converged.
        """
        names, named = self.movable(), self._named
        moved_by = float(np.abs(by_x).sum() + np.abs(by_v).sum() / self.forward.dt)
        noise = correction * moved_by + ROUND_OFF * float(np.abs(by_x * found.x).sum())

        def value_at(change: Mapping[str, Floats]) -> float:
            other = self.with_values({n: named[n].value + c for n, c in change.items()})
            return self.functional(other.run(keep=False), by_x, by_v)

        sizes, value = {n: named[n].size for n in names}, self.functional(found, by_x, by_v)
        return check_run({n: gradient[n] for n in names}, sizes, value, noise, value_at)

    def derivatives(self) -> dict[str, ParameterDerivative]:
        """Return the derivatives by all parameters before a pass backwards, by name.

        Raises:
            SceneError: a parameter that has none in this scene.
        """
        return {n: self._derivative(self._named[n]) for n in self.parameters}

    def _derivative(self, parameter: Parameter) -> ParameterDerivative:
        """Return the derivative by a parameter, before the run."""
        if parameter.closed_form is not None:
            return parameter.closed_form(self.scene, self.forward)
        return NumberDerivative(self.scene, self.forward, parameter)

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
        return tangents(self.forward, self.scene, parameter, self.solver())

    def solver(self) -> LinearSolver:
        """Return the linear solver; a direct one up to ``DIRECT_EXACT`` points.

        Derivatives need more digits than steps, and a direct solver of that size is as fast.
        """
        model, settings = self.forward.model, self.forward.inner.settings
        n = len(model.mass)
        if settings.linear == "auto" and n <= DIRECT_EXACT:
            return direct_solver()
        touching, pattern = model.contact is not None, model.assembly.pattern
        return linear_solver(settings.linear, n, contact=touching, pattern=pattern)


@dataclass(eq=False)
class Trajectory:
    """Frames of a run, and the states that the pass backwards needs."""

    rollout: Rollout
    checkpoints: RunCheckpoints
    x: Floats  # (frames+1,n,3) [m]
    v: Floats  # (frames+1,n,3) [m/s]
    t: Floats  # (frames+1,) [s]

    def pull_back(
        self,
        by_x: Floats,
        by_v: Floats,
        derivatives: Mapping[str, ParameterDerivative] | None = None,
        loss: Loss | None = None,
    ) -> tuple[dict[str, Floats], Json]:
        """Go from the last frame to the start.

        Args:
            by_x: (frames+1,n,3) derivatives of any function by the positions.
            by_v: (frames+1,n,3) derivatives by the velocities.
            derivatives: those of ``Rollout.derivatives``, each used once; None: new ones.
            loss: the function, if it depends on parameters directly (it has a method ``of``).

        Returns:
            The gradient by name, and what ``AdjointReport`` says of the pass, by field.
        """
        derivatives = derivatives or self.rollout.derivatives()
        back, notes = self._backwards(by_x, by_v, list(derivatives.values()))
        for d in derivatives.values():
            d.add_start(back)
            if loss is not None and hasattr(loss, "of"):
                d.add_explicit(loss, self.x, self.v, self.t)
        return {name: d.result() for name, d in derivatives.items()}, notes

    def _backwards(
        self, by_x: Floats, by_v: Floats, asked: Sequence[ParameterDerivative]
    ) -> tuple[StateDerivatives, Json]:
        """Go from the last frame to the start; return derivatives by the start, and report data."""
        f, kept, solver = self.rollout.forward, self.checkpoints, self.rollout.solver()
        back, prepared = StateDerivatives.zeros(len(f.model.mass)), None
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
        W = self.rollout.forward.model.embedding
        for by, to in ((by_x, back.x), (by_v, back.v)):
            mine = by if W is None else W.matrix.T @ by
            to[: len(mine)] += mine


def _parameters_of(scene: Any) -> dict[str, Parameter]:
    """Return the parameters of a ``weft.Scene`` by name; another object has none but your own."""
    return scene_parameters(scene) if hasattr(scene, "cloth") else {}
