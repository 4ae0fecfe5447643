"""Derivatives by whole arrays in closed form: positions and velocities at the start, pin targets.

The derivative by the rest shape is in ``rest``.
"""

import dataclasses
from typing import Any

import numpy as np

from weft.adjoint.parameters import ParameterDerivative
from weft.adjoint.recorded_run import RecordedRun
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Pin
from weft.energies.state import StateDerivatives
from weft.integrators.model import Model


class PositionDerivative(ParameterDerivative):
    """The derivative by the points of the cloth at the start, (N,3); pins move with them.

    Args:
        scene: a ``weft.Scene``.
        run: its run.

    Raises:
        SceneError: a scene with attachments.
    """

    def __init__(self, scene: Any, run: RecordedRun) -> None:
        if scene.attachments:
            raise SceneError(
                "parameter positions",
                got="with attachments",
                expected="a scene without them",
                hint="their places and lengths depend on the start of the cloth; pins move with it",
            )
        self.model, self.n = run.model, len(scene.cloth.points)
        self.by = np.zeros((len(self.model.mass), 3))

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of the pins in one step."""
        t = back.phi.step.t
        for pin in self.model.pins:
            if pin.holds(t):
                self.by[pin.vertices] += by_start(pin, self.model, back.pulled.target, t)

    def add_start(self, back: StateDerivatives) -> None:
        """Add the derivative by the positions at the start."""
        self.by = back.x + self.by

    def result(self) -> Floats:
        """Return the derivative (N,3)."""
        out = np.array(self.by[: self.n])
        springs: Any = next((e for e in self.model.energies if e.name == "anchors"), None)
        if springs is not None:  # anchors of splines start at the vertices
            weight, own = springs.coefficient[:, :-1], self.by[springs.stencil[:, -1]]
            np.add.at(out, springs.stencil[:, :-1], weight[:, :, None] * own[:, None])
        return out


def by_start(pin: Pin, model: Model, by: Floats, t: float) -> Floats:
    """Return (k,3) derivatives by the start positions of a pin's vertices.

    Args:
        pin: the pin.
        model: model of the run.
        by: (n,3) derivatives by the pinned positions at time t.
        t: [s].
    """
    mine = by[pin.vertices]
    if pin.path is None:
        return np.asarray(mine)
    about = dataclasses.replace(pin.path, center=(0.0, 0.0, 0.0))
    turn = about.positions(np.eye(3), t) - about.positions(np.zeros((3, 3)), t)  # rows of R^T
    out = mine @ turn.T
    if pin.path.center is None:
        out = out + (mine.sum(0) - mine.sum(0) @ turn.T) / len(mine)
    return np.asarray(out)


class VelocityDerivative(ParameterDerivative):
    """The derivative by the velocities of the cloth's points at the start, (N,3).

    Args:
        scene: a ``weft.Scene``.
        run: its run.
    """

    def __init__(self, scene: Any, run: RecordedRun) -> None:
        self.by: Floats = np.zeros((len(scene.cloth.points), 3))

    def add_start(self, back: StateDerivatives) -> None:
        """Add the derivative by the velocities at the start."""
        self.by = np.array(back.v[: len(self.by)])

    def result(self) -> Floats:
        """Return the derivative (N,3)."""
        return self.by


class TargetDerivative(ParameterDerivative):
    """The derivative by a pin's points at the end of each step, (steps,k,3).

    If a step was divided, its derivative is that by an offset of all its parts.

    Args:
        number: index of the pin in the scene.
        scene: a ``weft.Scene``.
        run: its run.
    """

    def __init__(self, number: int, scene: Any, run: RecordedRun) -> None:
        title = scene.pins[number].name
        held = [p.vertices for p in run.model.pins if p.name == title]
        self.ids = np.unique(np.concatenate([np.zeros(0, np.int32), *held]))
        self.by = np.zeros((run.count, len(self.ids), 3))
        self.run = run

    @property
    def matters(self) -> bool:
        """True if the pin has points."""
        return len(self.ids) > 0

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        # 1e-9: round-off in the time must not lead to the step before
        run, t = self.run, back.taken.state.t + 1e-9 * self.run.dt
        k = min(int(np.floor(t / run.dt)), run.count - 1)
        self.by[k] += np.where(back.phi.step.fixed[:, None], back.pulled.target, 0.0)[self.ids]

    def result(self) -> Floats:
        """Return the derivative (steps,k,3)."""
        return self.by
