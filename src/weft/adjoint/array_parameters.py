"""Derivatives by whole arrays, in closed form: where points start, how fast, where a pin is in each
step. Those by the rest shape: ``rest``.
"""

import dataclasses
from typing import Any

import numpy as np

from weft.adjoint.parameters import TARGETS, pin_names
from weft.adjoint.reverse_step import Back, ReverseStep
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Pin
from weft.integrators.model import Model


class Positions:
    """By where the points of the cloth start, (N,3): what is pinned moves its pin along."""

    name, unit = "positions", "m"
    size = 0.01

    @staticmethod
    def value(scene: Any) -> Floats:
        """(N,3) [m] of a scene."""
        return np.array(scene.cloth.points)

    @staticmethod
    def at(scene: Any, value: Floats) -> Any:
        """The scene whose cloth starts there."""
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
        """Always."""
        return True

    def add(self, back: ReverseStep) -> None:
        """Of one step: what its pins say."""
        t = back.phi.step.t
        for pin in self.model.pins:
            if pin.holds(t):
                self._pinned[pin.vertices] += by_start(pin, self.model, back.pulled.target, t)

    def end(self, back: Back) -> Floats:
        """(N,3), with that of the state."""
        every = back.x + self._pinned
        out = np.array(every[: self.n])
        springs: Any = next((e for e in self.model.energies if e.name == "anchors"), None)
        if springs is not None:  # anchors of splines stand where vertices do
            weight, own = springs.coefficient[:, :-1], every[springs.stencil[:, -1]]
            np.add.at(out, springs.stencil[:, :-1], weight[:, :, None] * own[:, None])
        return out


def by_start(pin: Pin, model: Model, by: Floats, t: float) -> Floats:
    """(k,3) by where a pin's vertices start, from those by where they are at t, by (n,3)."""
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
    """By how fast the points of the cloth start, (N,3)."""

    name, unit = "velocities", "m/s"
    size = 0.1

    @staticmethod
    def value(scene: Any) -> Floats:
        """(N,3) [m/s] of a scene."""
        return np.array(np.broadcast_to(scene.velocity, scene.cloth.points.shape))

    @staticmethod
    def at(scene: Any, value: Floats) -> Any:
        """The scene whose cloth starts so fast."""
        return scene.with_(velocity=value)

    def __init__(self, scene: Any) -> None:
        self.n = len(scene.cloth.points)

    @property
    def matters(self) -> bool:
        """Always."""
        return True

    def add(self, back: ReverseStep) -> None:
        """Nothing, of a step."""

    def end(self, back: Back) -> Floats:
        """(N,3)."""
        return np.array(back.v[: self.n])


class Targets:
    """By where a pin's points are at the end of each step, (steps,k,3): a motion step by step.

    Where a step was divided, by an offset of all its parts.
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
        """Whether it has points."""
        return len(self.ids) > 0

    def add(self, back: ReverseStep) -> None:
        """Of one step."""
        f, t = self.forward, back.taken.state.t + 1e-9 * self.forward.dt
        k = min(int(np.floor(t / f.dt)), f.count - 1)
        self.out[k] += np.where(back.phi.step.fixed[:, None], back.pulled.target, 0.0)[self.ids]

    def end(self, back: Back) -> Floats:
        """(steps,k,3)."""
        return self.out
