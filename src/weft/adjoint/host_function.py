"""Runs as a function of arrays with a vector-Jacobian product, as PyTorch and JAX call it."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from weft import kernel
from weft.adjoint.processes import call_side_by_side
from weft.adjoint.rollout import Rollout, Trajectory
from weft.adjoint.run_check import RunCheck
from weft.base.arrays import Floats
from weft.base.errors import SceneError

T = TypeVar("T")

Key = tuple[int, bytes]


class HostFunction:
    """Runs of several scenes as a function of arrays, with its vector-Jacobian product.

    The function of a ``Rollout`` has the positions and velocities of all frames, that of an
    ``Adjoint`` the loss. Arguments and results are arrays with a leading axis of M rows; row k is a
    run of scene k modulo the number of scenes. States are kept by the values of their row, as far
    as the memory allows; other runs are computed again, bitwise equal.

    Args:
        things: a scene or adjoint, or a list of them.
        make: returns the rollout of one of them, with the parameters that are the arguments.
        processes: number of processes that runs are divided among.
        check: compare every vector-Jacobian product with one more run (``run_check``).

    Attributes:
        many: whether a list was given, so that results have an axis of scenes.
        names: names of the arguments.
        shapes: shape of each argument in one row.
        results: shape of each result in one row.

    Raises:
        SceneError: an empty list; scenes with different shapes of arguments or results.
    """

    def __init__(
        self,
        things: Any,
        make: Callable[[Any], Rollout],
        processes: int,
        check: bool = False,
    ) -> None:
        self.many = isinstance(things, list | tuple)
        every = things if self.many else [things]
        if not every:
            raise SceneError("scenes of a rollout", got="none", expected="at least one")
        made = {id(thing): make(thing) for thing in every}  # a scene may occur several times
        self.each, self.processes = [made[id(thing)] for thing in every], processes
        self.check = check
        if check:
            self.each[0].movable()
        self.names = self.each[0].parameters
        self.shapes, self.results = self.each[0].shapes()
        for k, rollout in enumerate(self.each):
            if rollout.shapes() != (self.shapes, self.results):
                raise SceneError(
                    f"world {k}",
                    got=f"shapes {rollout.shapes()}",
                    expected=f"the values of world 0, {self.shapes, self.results}",
                    hint="use another call for scenes with other meshes",
                )
        self.context = kernel.context()  # frameworks may call from threads of their own
        self._trajectories: dict[Key, Any] = {}

    def is_shared(self, name: str, shape: tuple[int, ...]) -> bool:
        """Return whether an argument of this shape is one value for all scenes.

        Raises:
            SceneError: another shape than that of the parameter, or of one for each scene.
        """
        own = self.shapes[self.names.index(name)]
        if shape == own:
            return True
        if self.many and shape == (len(self.each), *own):
            return False
        expected = f"{own}" + (f", or {(len(self.each), *own)}" if self.many else "")
        raise SceneError(f"parameter {name}", got=f"shape {shape}", expected=f"shape {expected}")

    def run(self, keep: bool, *values: Floats) -> list[Floats]:
        """Return the results; ``keep`` the states for ``pull_back``."""
        rows = self._rows(values)
        found = self._call(_run, [(self.each[k], row, len(rows), keep) for (k, _), row in rows])
        if keep:
            now = {key: trajectory for (key, _), (_, trajectory) in zip(rows, found)}
            every = self._trajectories | now
            size = sum(trajectory.checkpoints.bytes for trajectory in every.values())
            self._trajectories = every if size <= self.each[0].memory else now
        return _stack([results for results, _ in found])

    def pull_back(self, *arrays: Floats) -> list[Floats]:
        """Return the derivatives by the arguments; ``arrays``: these, and those by the results.

        A warning is given if a run that checks them does not confirm them.
        """
        count = len(self.names)
        rows, by = self._rows(arrays[:count]), zip(*arrays[count:], strict=True)
        if any(key not in self._trajectories for key, _ in rows):
            self.run(True, *arrays[:count])
        pairs = zip(rows, by, strict=True)
        calls = [(self._trajectories[key], each, self.check) for (key, _), each in pairs]
        found = self._call(_pull_back, calls)
        for k, (_, check) in enumerate(found):
            if check is not None and not check.confirms:
                world = f" of world {k % len(self.each)}" if len(found) > 1 else ""
                warnings.warn(f"gradient{world} {check}", stacklevel=2)
        return _stack([[gradient[n] for n in self.names] for gradient, _ in found])

    def forget(self) -> None:
        """Forget the states that ``run`` kept; ``pull_back`` computes them again."""
        self._trajectories = {}

    def _call(self, function: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> list[T]:
        with kernel.use(device=self.context.device, threads=self.context.threads):
            return call_side_by_side(function, calls, self.processes)

    def _rows(self, values: Sequence[Floats]) -> list[tuple[Key, dict[str, Floats]]]:
        """Return the arguments of every run, with the key by which its states are kept."""
        every = [np.asarray(a, dtype=np.float64) for a in values]
        rows = [dict(zip(self.names, row, strict=True)) for row in zip(*every, strict=True)]
        keys = [b"".join(a.tobytes() for a in row.values()) for row in rows]
        return [((k % len(self.each), key), row) for k, (key, row) in enumerate(zip(keys, rows))]


def _stack(rows: Sequence[Sequence[Any]]) -> list[Floats]:
    return [np.stack(each) for each in zip(*rows, strict=True)]


def _run(
    rollout: Rollout, values: Mapping[str, Floats], share: int, keep: bool
) -> tuple[tuple[Any, ...], Trajectory | None]:
    """Run a scene with other values; return the results, and the states for ``_pull_back``."""
    moved = rollout.with_values(values)
    moved.memory /= share
    found = moved.run(keep)
    return moved.answer(found), found if keep else None


def _pull_back(
    trajectory: Trajectory, by: Sequence[Floats], check: bool
) -> tuple[dict[str, Floats], RunCheck | None]:
    return trajectory.rollout.multiply(trajectory, by, check)
