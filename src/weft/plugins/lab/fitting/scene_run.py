"""Simulations of a scene file for a sequence of fabrics, and their derivatives by fabric numbers.

Derivatives are computed in forward mode, by the tangents of converged steps
(``weft.adjoint.Rollout``): one more simulation for each number.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from weft.adjoint.rollout import Rollout
from weft.base.arrays import Faces, Floats
from weft.base.errors import FabricError
from weft.base.settings import REQUIRED, setting
from weft.fabric.fabric import Fabric
from weft.plugins.lab.fitting.block import MeasurementBlock, MeasurementSettings
from weft.plugins.lab.fitting.measurement import Measurement, directional_derivative
from weft.scene.scene import Scene

FIELDS = (
    "density",
    "stretch_warp",
    "stretch_weft",
    "shear",
    "bending_warp",
    "bending_weft",
    "damping",
)
MOST_KEPT = 4  # runs in the cache
VAGUE = 0.1  # [m] standard deviation of a position from which on data are useless


@dataclass(frozen=True, kw_only=True)
class RecordedSettings(MeasurementSettings):
    """A recorded scene."""

    scene: str = setting(REQUIRED, "scene file of the recording; weft fits its fabric")


@dataclass(eq=False)
class SceneRun:
    """A scene that is simulated for any fabric; the last runs are cached.

    Args:
        scene: a ``weft.Scene`` with one fabric.
        frames: number of the last frame that is needed.
        fps: frames per second.
    """

    scene: Scene
    frames: int
    fps: float
    _cache: list[tuple[Fabric, Floats]] = field(default_factory=list)

    @property
    def faces(self) -> Faces:
        """Return the faces of the cloth, (m,3)."""
        return self.scene.cloth.faces

    def at(self, frames: Floats, times: Floats) -> Floats:
        """Return positions or rates (f,n,3) at times (k,) [s], linear between frames, (k,n,3)."""
        place = np.clip(times * self.fps, 0, len(frames) - 1)
        first = place.astype(int)
        after = np.minimum(first + 1, len(frames) - 1)
        part = (place - first)[:, None, None]
        return np.asarray((1 - part) * frames[first] + part * frames[after])

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return the fields of the fabric on which a run may depend."""
        return FIELDS[:-1] if self.scene.damping is not None else FIELDS

    def of(self, fabric: Fabric) -> Scene:
        """Return the scene with another fabric."""
        cloth = self.scene.cloth
        parts = [dataclasses.replace(p, fabric=fabric) for p in cloth.parts] if cloth.given else ()
        return self.scene.with_(cloth=dataclasses.replace(cloth, fabric=fabric, given=tuple(parts)))

    def positions(self, fabric: Fabric) -> Floats:
        """Return the positions of the vertices in all frames, (frames+1,n,3) [m].

        Raises:
            SceneError: runs of the scene have no derivative.
            SimulationError: a step does not converge.
        """
        for known, x in self._cache:
            if known == fabric:
                return x
        x = Rollout(self.of(fabric), frames=self.frames, fps=self.fps).run(keep=False).x
        self._cache = [*self._cache[-(MOST_KEPT - 1) :], (fabric, x)]
        return x

    def rates(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return the derivatives of ``positions`` by the logarithm of each field.

        Returns:
            (len(fields),frames+1,n,3) [m]; zero for fields on which the run does not depend.
        """
        shape = self.positions(fabric).shape
        found = np.zeros((len(fields), *shape))
        asked = [f for f in fields if f in self.depends_on and getattr(fabric, f) > 0]
        if asked:
            names = [f"fabric.{f}" for f in asked]
            rollout = Rollout(self.of(fabric), names, frames=self.frames, fps=self.fps)
            for name in asked:
                rate, _ = rollout.tangent(f"fabric.{name}")
                found[list(fields).index(name)] = getattr(fabric, name) * rate
        return found


class SceneMeasurement(Measurement):
    """Base of measurements of a recorded scene; a subclass has ``numbers``."""

    run: SceneRun
    slow: ClassVar[bool] = True

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return the fields on which a run of the scene depends."""
        return self.run.depends_on

    def numbers(self, frames: Floats) -> Floats:
        """Return what weft predicts for the data, (m,), from vertices in frames (f,n,3) [m]."""
        raise NotImplementedError

    def model(self, fabric: Fabric) -> Floats:
        """Return what weft predicts for the data, (m,)."""
        return self.numbers(self.run.positions(fabric))

    def slopes(self, fabric: Fabric, fields: Sequence[str]) -> Mapping[str, Floats]:
        """Return the derivatives along the tangents of the run."""
        frames, rates = self.run.positions(fabric), self.run.rates(fabric, fields)
        return {f: self.slope(frames, rate) for f, rate in zip(fields, rates)}

    def slope(self, frames: Floats, rate: Floats) -> Floats:
        """Return the derivative of ``numbers`` if vertices in frames move with a rate (f,n,3)."""
        return directional_derivative(lambda shift: self.numbers(frames + shift), rate)


def build_scene_run(block: MeasurementBlock, until: float | None) -> SceneRun:
    """Return the run of the scene that a block names.

    Args:
        block: with the field ``scene``.
        until: [s] end of the run; None: the end of the scene.

    Raises:
        FabricError: the data end later than the scene, or the scene has several fabrics.
    """
    from weft.scene.build import load_scene

    path: Path = block.file("scene")
    loaded = load_scene(path)
    if len(loaded.scene.cloth.fabrics) != 1:
        got = f"{path.name} with {len(loaded.scene.cloth.fabrics)} fabrics"
        raise block.error("scene", got, "a scene with exactly one fabric")
    if until is not None and until > loaded.seconds + 1e-9:
        raise FabricError(
            "recorded times",
            got=f"up to {until:g} s",
            where=block.where("scene"),
            expected=f"within the {loaded.seconds:g} s of {path.name}",
            hint="check the unit of time",
        )
    seconds = loaded.seconds if until is None else until
    frames = max(1, int(np.ceil(seconds * loaded.fps - 1e-9)))
    return SceneRun(loaded.scene, frames, loaded.fps)
