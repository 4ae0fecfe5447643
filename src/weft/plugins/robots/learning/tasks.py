"""Tasks of a robot: scene, starts, observations, rewards and success of each one.

Lengths are in meters, up is y, and the table's top is y = 0. The step that solves a task is
rewarded with ``SUCCESS``. Every step is rewarded with γ Φ(s') - Φ(s) in addition. The potential Φ
grows with reaching, touching and holding the cloth, and with the measure of progress. So rewards
rise on the way, and the best policy is the one that it is without Φ. Φ is 0 after the last step of
a solved episode.

Source: Ng, Harada & Russell 1999, "Policy invariance under reward transformations" (ICML).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import Floats, Ints, Positions
from weft.base.trees import YamlMapping
from weft.plugins.robots.learning.grippers import REACH, WIDE, Grippers
from weft.plugins.robots.learning.metrics import (
    TopView,
    coverage,
    dressed_share,
    intersection_over_union,
    particle_distance,
)
from weft.scene.build import load_scene
from weft.scene.scene import Scene

SCENES = Path(__file__).parent / "scenes"
LIFT = 0.25  # [m] height at which a grasped cloth counts as lifted
BEND = 0.03  # [m] radius of the fold with which flattening begins
STILL = 0.05  # [m/s] mean speed below which released cloth counts as hung
SUCCESS = 100.0  # reward of the step that solves a task; steps on the way have 1 to 5, the size
# for which the defaults of soft actor-critic are made (an entropy has a weight of 1 at first)
OVER = 0.05  # [m] horizontal distance within which the middle of cloth is above its holder
NEAR = 0.1  # [m] distance at which the potential of reaching has fallen to 1 / e
GRIP_SHARE = 0.5  # share of the potential for holding the cloth, before any progress
CARRY_SHARE = 0.8  # share of the potential before the cloth is let go, if the task ends so


class Task(ABC):
    """A task: a subclass says its scene, starts, observations, rewards and success.

    An object is the task in one world. It has the world's ``scene``, and the positions ``rest``
    (n,3) [m] of its cloth as the scene has them.

    Args:
        overrides: fields of the scene, as ``path=value`` texts.

    Raises:
        SceneError: a field that the scene does not have, or a value that it does not take.
    """

    scene_file: ClassVar[str | Path] = SCENES / "towel.yaml"
    vary: ClassVar[YamlMapping] = {}  # distributions of fields, in the words of a sweep's ``vary``
    places: ClassVar[Sequence[Sequence[float]]] = ((0, 0.1, 0),)  # [m] where its grippers start
    done: ClassVar[float] = 1.0  # measure from which on the task is solved
    released: ClassVar[bool] = False  # whether it is solved only once cloth is let go and rests

    def __init__(self, overrides: Sequence[str] = ()) -> None:
        self.scene = self.build(overrides)
        self.rest = self.scene.cloth.mesh.vertices

    def build(self, overrides: Sequence[str]) -> Scene:
        """Return the scene, with some of its fields replaced."""
        return load_scene(self.scene_file, overrides).scene

    def start(self, random: np.random.Generator) -> Positions:
        """Return where the cloth (n,3) [m] is when an episode begins, at rest."""
        return place_randomly(self.rest, random)

    @abstractmethod
    def measure(self, x: Positions) -> Mapping[str, float]:
        """Return measures of cloth at positions x (n,3) [m] by name.

        The first one is the measure of progress: 0 at none and 1 at the goal.
        """

    def observe(self, x: Positions, grippers: Grippers) -> Floats:
        """Return what a policy sees of cloth at x (n,3) [m] and of the grippers, (k,).

        Positions of all vertices and of the grippers [m], and 1 for each gripper that holds cloth.
        """
        return np.concatenate([x.reshape(-1), grippers.x.reshape(-1), grippers.closed])

    def reward(self, before: float, after: float, solved: bool) -> float:
        """Return the reward of a step without shaping, from the measures before and after it."""
        return SUCCESS * float(solved)

    @cached_property
    def grip_vertices(self) -> Sequence[Ints]:
        """For each gripper the vertices (k,) of which it should hold one: by default all."""
        return [np.arange(len(self.rest), dtype=np.int32) for _ in self.places]

    def potential(self, x: Positions, grippers: Grippers, measure: float) -> float:
        """Return the potential Φ of cloth at x (n,3) [m] and of the grippers, at most ``SUCCESS``.

        Φ = ``SUCCESS`` (p + (1 - p) ``GRIP_SHARE`` g), with ``progress`` p and ``grip_progress`` g.
        If the task ends with cloth that is let go, Φ is ``CARRY_SHARE`` of that until p is 1 and
        all grippers are open.
        """
        p = self.progress(x, measure)
        share = p + (1 - max(p, 0.0)) * GRIP_SHARE * self.grip_progress(x, grippers)
        if self.released:
            share = 1.0 if p >= 1 and not grippers.closed.any() else CARRY_SHARE * share
        return SUCCESS * share

    def progress(self, x: Positions, measure: float) -> float:
        """Return the progress of cloth at x (n,3) [m], at most 1: the measure over ``done``."""
        return 1 - max(self.done - measure, 0.0) / (self.done if self.done > 0 else 1.0)

    def grip_progress(self, x: Positions, grippers: Grippers) -> float:
        """Return the progress of the grippers in taking hold of their ``grip_vertices``, 0 to 1.

        It is the mean over grippers of three numbers: exp(-d / ``NEAR``), with the distance d [m]
        to the nearest of its vertices; 1 if d is within ``REACH``; 1 if the gripper holds one.
        """
        found = []
        for ids, gripped, place in zip(self.grip_vertices, grippers.gripped, grippers.x):
            held = bool(np.isin(gripped, ids).any())
            d = 0.0 if held else float(np.linalg.norm(x[ids] - place, axis=1).min())
            found.append((np.exp(-d / NEAR) + (d <= REACH) + held) / 3)
        return float(np.mean(found)) if found else 0.0

    def vertices_near(self, place: ArrayLike) -> Ints:
        """Return the vertices that are within ``REACH`` of a place (3,) [m] at rest, or the nearest
        one.
        """
        d = np.linalg.norm(self.rest - np.asarray(place), axis=1)
        return np.flatnonzero(d <= max(REACH, d.min())).astype(np.int32)

    def is_solved(self, measure: float, speed: float, grippers: Grippers) -> bool:
        """Return whether the task is solved, for a measure and the cloth's mean speed [m/s]."""
        free = speed < STILL and not grippers.closed.any()
        return measure >= self.done and (free or not self.released)


class Grasp(Task):
    """Lift a towel: the mean height of the cloth over ``LIFT``, at most 1."""

    done = 0.5

    def measure(self, x: Positions) -> Mapping[str, float]:
        """Return the lift."""
        return {"lift": float(np.clip(x[:, 1].mean() / LIFT, 0, 1))}


class Flatten(Task):
    """Spread a towel of which 30 to 45 % are folded over: its normalized coverage."""

    done = 0.95

    def __init__(self, overrides: Sequence[str] = ()) -> None:
        super().__init__(overrides)
        self._view = TopView(self.scene.cloth.mesh.faces)
        self._flat = self._view.cells(self.rest)

    @cached_property
    def grip_vertices(self) -> Sequence[Ints]:
        """The edge that is folded over."""
        return [np.flatnonzero(self.rest[:, 0] > self.rest[:, 0].max() - 1e-6).astype(np.int32)]

    def start(self, random: np.random.Generator) -> Positions:
        """Return cloth that is folded over on top, without stretch, round a bend."""
        x = self.rest
        side = float(np.ptp(x[:, 0]))
        crease = x[:, 0].max() - random.uniform(0.3, 0.45) * side
        s = x[:, 0] - crease
        turn = np.clip(s / BEND, 0, np.pi)
        over = np.where(s < 0, s, BEND * np.sin(turn)) - np.maximum(s - np.pi * BEND, 0)
        up = x[:, 1] + BEND * (1 - np.cos(turn))
        return place_randomly(np.column_stack([crease + over, up, x[:, 2]]), random)

    def measure(self, x: Positions) -> Mapping[str, float]:
        """Return the coverage, and the intersection over union with the cloth as the scene has
        it.
        """
        now = self._view.cells(x)
        return {
            "coverage": coverage(now, self._flat),
            "iou": intersection_over_union(now, self._flat),
        }


class Fold(Task):
    """Fold cloth along its middle: 1 - d/d0, d the mean distance of what the fold brings together.

    d0 is this distance in the flat cloth.
    """

    places = ((0, 0.1, -0.05), (0, 0.1, 0.05))
    done = 0.8

    def __init__(self, overrides: Sequence[str] = ()) -> None:
        from scipy.spatial import KDTree

        super().__init__(overrides)
        middle = 0.5 * (self.rest[:, 0].min() + self.rest[:, 0].max())
        mirrored = self.rest * [-1, 1, 1] + [2 * middle, 0, 0]
        self._pairs = KDTree(self.rest).query(mirrored)[1]
        self._flat = particle_distance(self.rest, self._pairs)

    @cached_property
    def grip_vertices(self) -> Sequence[Ints]:
        """The two corners at the side -x, within the range of the grippers."""
        return [self.vertices_near(corner(self.rest, -1, side)) for side in (-1, 1)]

    def measure(self, x: Positions) -> Mapping[str, float]:
        """Return the progress, and the distance [m]."""
        distance = particle_distance(x, self._pairs)
        return {"fold": 1 - distance / self._flat, "distance": distance}


class FoldTee(Fold):
    """Fold a T-shirt along its middle, sleeve onto sleeve."""

    scene_file = SCENES / "tee.yaml"


class FoldTrousers(Fold):
    """Fold trousers along their middle, leg onto leg."""

    scene_file = SCENES / "trousers.yaml"


class Hang(Task):
    """Hang a towel on a hook: its mean height over that of a towel which hangs from its middle."""

    scene_file = SCENES / "hook.yaml"
    places = ((-0.22, 0.1, -0.05), (-0.22, 0.1, 0.05))
    done = 0.8
    released = True
    holder: ClassVar[str] = "hook"  # the body that holds the cloth

    def __init__(self, overrides: Sequence[str] = ()) -> None:
        super().__init__(overrides)
        (body,) = (b for b in self.scene.bodies if b.name == self.holder)
        self.holder_vertices = body.at(0.0)
        self._hung = self.holder_vertices[:, 1].max() - float(np.ptp(self.rest[:, 2])) / 4

    @cached_property
    def grip_vertices(self) -> Sequence[Ints]:
        """Two places of its middle line, to the left and to the right of the hook."""
        middle = 0.5 * (self.rest.min(0) + self.rest.max(0))
        third = float(np.ptp(self.rest[:, 2])) / 3
        return [self.vertices_near(middle + [0, 0, side * third]) for side in (-1, 1)]

    def progress(self, x: Positions, measure: float) -> float:
        """Return the progress in height, of which half counts only above the holder's middle."""
        middle = 0.5 * (self.holder_vertices.min(0) + self.holder_vertices.max(0))
        off = float(np.linalg.norm((x.mean(0) - middle)[[0, 2]]))
        over = float(np.exp(-max(off - OVER, 0.0) / WIDE))
        return super().progress(x, measure) * 0.5 * (1 + over)

    def measure(self, x: Positions) -> Mapping[str, float]:
        """Return the height."""
        return {"height": float(np.clip(x[:, 1].mean() / self._hung, 0, 1))}


class Drape(Hang):
    """Drape a towel over the bar of a rack: half for its height, half for equal sides."""

    scene_file = SCENES / "rack.yaml"
    holder = "bar"
    done = 0.75

    @cached_property
    def grip_vertices(self) -> Sequence[Ints]:
        """The two corners at the side of the bar."""
        return [self.vertices_near(corner(self.rest, 1, side)) for side in (-1, 1)]

    def measure(self, x: Positions) -> Mapping[str, float]:
        """Return the progress, the height, and the balance: 1 if both sides are equally long."""
        height = super().measure(x)["height"]
        right = float((x[:, 0] > self.holder_vertices[:, 0].mean()).mean())
        balance = 2 * min(right, 1 - right)
        return {"drape": 0.5 * height * (1 + balance), "height": height, "balance": balance}


class Dress(Task):
    """Pull a sleeve onto a mannequin's arm: the share of the arm that it surrounds."""

    scene_file = SCENES / "arm.yaml"
    places = ((-0.2, 0.38, 0), (-0.2, 0.22, 0))
    done = 0.4

    def start(self, random: np.random.Generator) -> Positions:
        """Return the sleeve in the air before the hand, open, up to 1 cm off."""
        return self.rest + random.uniform(-0.01, 0.01, 3)

    def measure(self, x: Positions) -> Mapping[str, float]:
        """Return the dressed share."""
        (arm,) = (b for b in self.scene.bodies if b.name == "arm")
        return {"dressed": dressed_share(x, arm.vertices)}


def corner(x: Positions, along: float, across: float) -> Floats:
    """Return the place (3,) [m] of a corner of x (n,3) [m], within the range of grippers.

    Args:
        x: positions of the cloth.
        along: 1 for a corner at the side +x, -1 for one at -x.
        across: the same for z.
    """
    place: Floats = np.clip(x[np.argmax(along * x[:, 0] + across * x[:, 2])], -WIDE, WIDE)
    return place


def place_randomly(x: Positions, random: np.random.Generator) -> Positions:
    """Return cloth turned by up to 15 degrees about its middle, and moved by up to 2 cm."""
    a = np.radians(random.uniform(-15, 15))
    turn = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    shift = np.array([random.uniform(-0.02, 0.02), 0, random.uniform(-0.02, 0.02)])
    middle = 0.5 * (x.min(0) + x.max(0)) * [1, 0, 1]
    return np.asarray((x - middle) @ turn.T + middle + shift)


TASKS: dict[str, type[Task]] = {
    "grasp": Grasp,
    "fold": Fold,
    "flatten": Flatten,
    "fold_tee": FoldTee,
    "fold_trousers": FoldTrousers,
    "drape": Drape,
    "hang": Hang,
    "dress": Dress,
}
