"""Tables with a cloth and grippers each, as one batch: the simulation behind the environments."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray, Bools, Floats, Positions
from weft.base.errors import SceneError, SimulationError, WeftError
from weft.base.machine import cores
from weft.bodies.shapes.primitives import plate
from weft.cloth.create import sheet
from weft.contact.contact import SelfContact
from weft.integrators.base import StepSettings
from weft.robotics.grippers import Grippers
from weft.robotics.tasks import LIES, SIDE, task
from weft.scene.scene import Scene
from weft.solve.linear.batched_cholesky import MOST
from weft.worlds.batch import Batch

RATE = 20.0  # [Hz] of actions
STEP = 0.025  # [s]
FARTHEST = 5.0  # [m] largest coordinate of an observation


class Rig:
    """Worlds of one task, stepped together.

    Args:
        name: the task.
        count: number of worlds.
        size: vertices along a side of the cloth, from 5 to 65.
        fabric: its name.
        processes: among which worlds are divided; None: one for each core.

    Raises:
        WeftError: no such task or fabric, or a number out of range.
    """

    def __init__(
        self, name: str, count: int, size: int, fabric: str, processes: int | None = 1
    ) -> None:
        self.task = task(name)
        for what, number, least, most in (("num_envs", count, 1, 4096), ("size", size, 5, 65)):
            if not isinstance(number, int) or not least <= number <= most:
                raise WeftError(what, got=repr(number), expected=f"from {least} to {most}")
        cloth = sheet(size, size, SIDE, SIDE, pattern="alternating", fabric=fabric)
        uv = cloth.mesh.vertex_uv
        assert uv is not None
        self.uv: Floats = uv - SIDE / 2
        self.table = plate(1.4, 1.4, 0.7, "table")
        self.scene = Scene(
            cloth.move((0, LIES, 0)),
            bodies=(self.table,),
            contact=SelfContact(gap=4e-3, friction=0.4),
            step=STEP,
            settings=StepSettings(linear="lanes" if size**2 <= MOST else "auto"),
        )
        among = min(processes or cores(), count)
        self.batch = Batch([self.scene] * count, fps=RATE, processes=among)
        self.grippers = [self._grippers() for _ in range(count)]

    def _grippers(self) -> Grippers:
        return Grippers(self.task.grippers, self.uv)

    @property
    def observed(self) -> int:
        """The number of entries of an observation."""
        return 3 * len(self.uv) + 4 * self.task.grippers

    def reset(self, k: int, random: np.random.Generator) -> None:
        """Restart world k from a random start."""
        self.batch.reset(k, self.task.start(self.uv, random))
        self.grippers[k] = self._grippers()

    def step(self, actions: ArrayLike, idle: Bools | None = None) -> None:
        """Advance all worlds by one action, (N,g,4); grippers of ``idle`` worlds (N,) get zeros.

        Raises:
            WeftError: another shape, or numbers that are not finite.
        """
        given = check_actions(actions, (len(self.batch), self.task.grippers, 4))
        clipped = np.clip(given, -1.0, 1.0)
        if idle is not None:
            clipped[idle] = 0.0
        cloth = self.batch.positions()
        holds = [g.move(a, x) for g, a, x in zip(self.grippers, clipped, cloth)]
        try:
            self.batch.step(holds=holds)
        except SimulationError as error:
            if not self.batch.failed:
                raise error

    def failed(self, k: int) -> str:
        """Return why world k cannot go on; an empty text if it can."""
        return str(self.batch.failed.get(k, ""))

    def measures(self) -> Floats:
        """Return (N,) the measure of each world, whose change is the reward."""
        return np.array([self.task.measure(x, self.uv) for x in self.batch.positions()])

    def observations(self) -> AnyArray:
        """Return (N, 3 n + 4 g) float32: vertices and grippers [m], and a flag for each that holds
        cloth.
        """
        cloth: Positions = self.batch.positions()
        rows = [
            np.concatenate([x.reshape(-1), g.x.reshape(-1), g.closed])
            for x, g in zip(cloth, self.grippers)
        ]
        clipped: AnyArray = np.clip(np.stack(rows), -FARTHEST, FARTHEST).astype(np.float32)
        return clipped


def check_actions(actions: ArrayLike, shape: Sequence[int]) -> Floats:
    """Return actions as numbers of a shape.

    Raises:
        SceneError: other shapes, or entries that are not finite numbers.
    """
    try:
        given = np.array(actions, dtype=np.float64)
    except (TypeError, ValueError):
        got = type(actions).__name__
        raise SceneError("actions", got=got, expected=f"numbers {tuple(shape)}") from None
    if given.size == np.prod(shape) and given.ndim >= 1 and len(given) == shape[0]:
        given = given.reshape(tuple(shape))
    if given.shape != tuple(shape):
        got = f"shape {given.shape}"
        raise SceneError("actions", got=got, expected=f"shape {tuple(shape)}, in [-1, 1]")
    if not np.isfinite(given).all():
        bad = np.argwhere(~np.isfinite(given))[0].tolist()
        raise SceneError("actions", got=f"{given[tuple(bad)]} at {bad}", expected="finite numbers")
    return given
