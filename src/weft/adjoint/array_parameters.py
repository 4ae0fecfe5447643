"""Derivatives by whole arrays in closed form: positions and velocities at the start, pin targets.

A class of this module is a parameter of ``weft.Adjoint``. Derivatives by the rest shape are in
``rest``.
"""

import dataclasses
from typing import Any

import numpy as np

from weft.adjoint.parameters import TARGETS, pin_names
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Pin
from weft.energies.state import StateDerivatives
from weft.integrators.model import Model


class Positions:
    """Parameter ``positions``: the points of the cloth at the start, (N,3); pins move with them."""

    name, unit = "positions", "m"
    size = 0.01

    @staticmethod
    def value(scene: Any) -> Floats:
        """Return the positions (N,3) [m] of the cloth of a scene."""
        return np.array(scene.cloth.points)

    @staticmethod
    def at(scene: Any, value: Floats) -> Any:
        """Return the scene with the cloth at these positions (N,3) [m]."""
        return scene.with_(cloth=scene.cloth.with_points(value))

    def __init__(self, scene: Any) -> None:
        if scene.attachments:
            raise SceneError(
                "parameter positions",
                got="with attachments",
                expected="a scene without them",
                hint="their places and lengths come from where the cloth starts; pins move along",
            )
        self.scene, self.model = scene, scene.model()
        self.n = len(scene.cloth.points)
        self._pinned = np.zeros((len(self.model.mass), 3))

    @property
    def matters(self) -> bool:
        """True: every run depends on its start."""
        return True

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of the pins in one step."""
        t = back.phi.step.t
        for pin in self.model.pins:
            if pin.holds(t):
                self._pinned[pin.vertices] += by_start(pin, self.model, back.pulled.target, t)

    def end(self, back: StateDerivatives) -> Floats:
        """Return the derivative (N,3), including that of the state at the start."""
        every = back.x + self._pinned
        out = np.array(every[: self.n])
        springs: Any = next((e for e in self.model.energies if e.name == "anchors"), None)
        if springs is not None:  # anchors of splines start at the vertices
            weight, own = springs.coefficient[:, :-1], every[springs.stencil[:, -1]]
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


class Velocities:
    """Parameter ``velocities``: the velocities of the cloth's points at the start, (N,3)."""

    name, unit = "velocities", "m/s"
    size = 0.1

    @staticmethod
    def value(scene: Any) -> Floats:
        """Return the velocities (N,3) [m/s] of the cloth of a scene."""
        return np.array(np.broadcast_to(scene.velocity, scene.cloth.points.shape))

    @staticmethod
    def at(scene: Any, value: Floats) -> Any:
        """Return the scene with these velocities (N,3) [m/s] of the cloth."""
        return scene.with_(velocity=value)

    def __init__(self, scene: Any) -> None:
        self.n = len(scene.cloth.points)

    @property
    def matters(self) -> bool:
        """True: every run depends on its start."""
        return True

    def add(self, back: ReverseStep) -> None:
        """Add nothing: velocities matter at the start only."""

    def end(self, back: StateDerivatives) -> Floats:
        """Return the derivative (N,3)."""
        return np.array(back.v[: self.n])


class Targets:
    """Parameter ``pins.NAME.targets``: a pin's points at the end of each step, (steps,k,3).

    If a step was divided, its derivative is that by an offset of all its parts.
    """

    unit = "m"

    def __init__(self, scene: Any, number: int, forward: Any) -> None:
        self.model = scene.model()
        self.name = f"pins.{pin_names(scene.pins)[number]}{TARGETS}"
        title = scene.pins[number].name
        held = [p.vertices for p in self.model.pins if p.name == title]
        self.ids = np.unique(np.concatenate([np.zeros(0, np.int32), *held]))
        self.out = np.zeros((forward.count, len(self.ids), 3))
        self.forward = forward

    @property
    def matters(self) -> bool:
        """True if the pin has points."""
        return len(self.ids) > 0

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        # 1e-9: round-off in the time must not lead to the step before
        f, t = self.forward, back.taken.state.t + 1e-9 * self.forward.dt
        k = min(int(np.floor(t / f.dt)), f.count - 1)
        self.out[k] += np.where(back.phi.step.fixed[:, None], back.pulled.target, 0.0)[self.ids]

    def end(self, back: StateDerivatives) -> Floats:
        """Return the derivative (steps,k,3)."""
        return self.out
