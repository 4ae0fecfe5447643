"""``weft.batch``: many small cloths in one go, each as it would be alone, to the last bit."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions, Velocities
from weft.base.errors import SceneError, SimulationError
from weft.base.runtime_types import checked
from weft.base.settings import Count, Rate, Time
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepReport
from weft.run.simulation import MOST_FRAMES
from weft.run.step_record import SceneLike
from weft.solve.linear.batched_cholesky import Symbolic
from weft.worlds.actions import checked_holds, checked_moves, checked_start, checked_world
from weft.worlds.compatibility import kinds
from weft.worlds.group import WorldGroup
from weft.worlds.lockstep import step_all
from weft.worlds.worker_processes import WorkerProcesses
from weft.worlds.world import Hold, World

TOGETHER = 8  # worlds of a group: their arrays stay in the caches (docs/batch.md)


@checked(SceneError)
def batch(
    scenes: Sequence[SceneLike],
    *,
    fps: Rate = 30.0,
    together: Count = TOGETHER,
    processes: Count = 1,
) -> "Batch":
    """Many independent cloths as one block system, stepped together.

    Every world is what it is alone: its frames are those of ``weft.simulate(scene, fps=fps)``, bit
    by bit. Worlds never meet. They may differ in everything; those with the same mesh, the same
    kinds of energies and the same settings of a step share launches.

    Args:
        scenes: one for each world; the same one may stand there many times.
        fps: frames a second; ``step`` goes on by one frame.
        together: worlds that share launches, at most.
        processes: among which worlds are divided, each with one thread; 1: this one alone, with the
            threads of its context. Small cloths on many cores want as many as there are cores. They
            end with ``close``, or with the batch.

    Raises:
        SceneError: no scenes, or one with an integrator other than ``backward_euler``, with
            ``adaptive`` or with a stepper of your own; with processes, a scene with functions made
            on the spot.
    """
    return Batch(scenes, fps=fps, together=together, processes=processes)


@checked(SceneError, unchecked=("frame", "release", "advance"))
class Batch:
    """Worlds that are stepped together; see ``batch``. ``numbers`` are theirs in messages and
    folders.
    """

    def __init__(
        self,
        scenes: Sequence[SceneLike],
        *,
        fps: Rate = 30.0,
        together: Count = TOGETHER,
        processes: Count = 1,
        numbers: Sequence[int] | None = None,
    ) -> None:
        if not scenes:
            raise SceneError("batch of scenes", got="none", expected="at least one")
        self.fps = fps
        named = range(len(scenes)) if numbers is None else numbers
        self.worlds = tuple(_world(k, scene, fps) for k, scene in zip(named, scenes, strict=True))
        self.failed: dict[int, SimulationError] = {}  # worlds that wait for ``reset``
        self._groups: tuple[WorldGroup, ...] | None = None
        self._together, self._warm = together, False
        self.crew = (
            None if processes == 1 else WorkerProcesses(self.worlds, fps, together, processes)
        )

    def close(self) -> None:
        """End the processes of the batch, where it has any."""
        if self.crew is not None:
            self.crew.close()

    def __len__(self) -> int:
        """Worlds."""
        return len(self.worlds)

    def __repr__(self) -> str:
        if self.crew is not None:
            where = f"{len(self.crew.shares)} processes"
        else:
            where = f"{len(self.groups)} groups"
        return f"Batch: {len(self)} worlds in {where}, {self.fps:g} frames a second"

    @property
    def groups(self) -> tuple[WorldGroup, ...]:
        """Worlds that share launches."""
        if self._groups is None:
            found = kinds(self.worlds)
            # Groups are equally large, and as many as threads where there are enough worlds.
            made: list[WorldGroup] = []
            for alike in found:
                most = min(self._together, math.ceil(len(alike) / kernel.threads()))
                parts = math.ceil(len(alike) / most)
                model, settings = alike[0].model, alike[0].stepper.settings
                lanes = settings.linear == "lanes"
                symbolic = Symbolic.of(model.assembly.pattern) if lanes else None
                made += [WorldGroup(p, symbolic) for p in _divided(alike, parts)]
            self._groups = tuple(made)
        return self._groups

    @property
    def state(self) -> tuple[State, ...]:
        """Of every world: positions and velocities of its points, and its time."""
        return tuple(w.place.state for w in self.worlds)

    @property
    def time(self) -> Floats:
        """(N,) [s] since each world's start."""
        return np.array([s.t for s in self.state])

    def positions(self) -> Positions:
        """(N,n,3) [m] of the vertices of the surfaces.

        Raises:
            SceneError: worlds with different numbers of vertices; ``state`` has each one's.
        """
        found: Positions = self._stacked([w.model.vertices(w.place.state.x) for w in self.worlds])
        return found

    def velocities(self) -> Velocities:
        """(N,n,3) [m/s] of the same vertices."""
        found: Velocities = self._stacked([w.model.vertices(w.place.state.v) for w in self.worlds])
        return found

    @property
    def reports(self) -> tuple[tuple[StepReport, ...], ...]:
        """Of every world, how its last step went: one report, or those of its parts."""
        return tuple(tuple(p.report for p in w.parts) for w in self.worlds)

    def reset(self, world: int | None = None, positions: Positions | None = None) -> None:
        """Begin one world anew, or all; the others are not touched.

        Args:
            world: which; None: all.
            positions: (n,3) [m] of the points, where they are at rest at first; None: as the scene
                says.

        Raises:
            SceneError: no such world; positions of another shape, that are not finite, that
            intersect where there is contact, or of a scene with pins.
        """
        which = range(len(self)) if world is None else [checked_world(world, len(self))]
        for k in which:
            given = None if positions is None else checked_start(positions, self.worlds[k])
            if self.crew is not None:
                self.crew.reset(k, given, self.failed)
                continue
            self.worlds[k].reset(given)
            self.failed.pop(self.worlds[k].number, None)

    def step(
        self, actions: Any = None, *, holds: Sequence[Sequence[Hold]] | None = None
    ) -> Positions:
        """Go on by one frame; returns ``positions()``.

        Args:
            actions: (N,p,3) [m] by which each of the p pins of each scene moves during the frame,
                in a straight line, and from then on is moved; None: not at all.
            holds: for every world, vertices that are held during this frame, and how they move.

        Raises:
            SceneError: actions of another shape, that are not finite, or of a pin with a path of
            its own; vertices that there are not. SimulationError: worlds with a step that does not
            converge, however short; all others have gone on, and these wait for ``reset``.
        """
        moves = checked_moves(actions, self.worlds)
        held = checked_holds(holds, self.worlds)
        self.frame(held, moves)
        return self.positions()

    def frame(self, holds: Sequence[Sequence[Hold]], moves: Sequence[Floats]) -> None:
        """``step``, of holds and moves that are right."""
        if self.crew is not None:
            with self._raising():
                self.crew.frame(holds, moves, self.failed)
            return
        for world, move, hold in zip(self.worlds, moves, holds):
            world.grip(hold, move)
        self._frame(energies=False)

    def warm(self) -> None:
        """One frame, whose kernels are compiled where this machine has not done so; raises
        nothing.
        """
        with suppress(SimulationError):
            self._frame(energies=True)

    def run(
        self,
        seconds: Time | None = None,
        *,
        frames: int | None = None,
        out: str | os.PathLike[str] | None = None,
        on_frame: Callable[[int], None] | None = None,
    ) -> list[Path] | list[Positions]:
        """Go on for some time, with nothing but what the scenes say.

        Args:
            seconds: [s], or text with a unit; or give ``frames``.
            frames: how many.
            out: a folder; every world's frames go into a run of its own there (``0000``, ...), the
                same as ``weft.simulate`` writes. None: nothing is written.
            on_frame: called with the number of frames done.

        Returns:
            Folders of the runs; without ``out`` of every world its frames, (F+1,n,3) [m], the one
            it stands at first.

        Raises:
            SceneError: neither or both of seconds and frames, or too many; with ``out``, worlds
            that do not stand at their start. RunError: folders that are not new. SimulationError:
            as ``step``.
        """
        if (seconds is None) == (frames is None):
            got = f"seconds={seconds}, frames={frames}"
            raise SceneError("length of a batch", got=got, expected="one of the two")
        if frames is None:
            frames = round(float(seconds or 0) * self.fps)
        if not 0 <= frames <= MOST_FRAMES:
            raise SceneError("frames", got=frames, expected=f"from 0 to {MOST_FRAMES}")
        if out is not None:
            from weft.worlds.folders import check_at_start, written

            check_at_start(self.worlds)
            if self.crew is None:
                return written(self, frames, Path(out), on_frame)
        if self.crew is not None:
            with self._raising():
                return self.crew.run(frames, out, self.failed, on_frame)
        seen = [[w.model.vertices(w.place.state.x)] for w in self.worlds]
        for k in range(frames):
            self.release()
            self._frame(energies=False)
            for kept, world in zip(seen, self.worlds):
                kept.append(world.model.vertices(world.place.state.x))
            if on_frame is not None:
                on_frame(k + 1)
        return [np.stack(kept) for kept in seen]

    def release(self) -> None:
        """Nothing is held but by the scenes' own pins, from now on."""
        for world in self.worlds:
            world.grip((), np.zeros_like(world.shift))

    def advance(self, after_step: Callable[[World], None]) -> None:
        """Go on by one frame, with reports that say energies; ``after_step`` is called with every
        world after each of its steps, by the thread that took it.
        """
        self.release()
        self._frame(energies=True, after_step=after_step)

    def _frame(self, energies: bool, after_step: Callable[[World], None] | None = None) -> None:
        """All worlds to the end of their frame; groups on as many threads as the context has."""

        def go(group: WorldGroup) -> None:
            with kernel.use(threads=1):
                for _ in range(group.worlds[0].steps):
                    here = [w for w in group.worlds if w.number not in self.failed]
                    self.failed.update(step_all(group, here, energies))
                    for world in here:
                        if after_step is not None and world.number not in self.failed:
                            after_step(world)

        threads = min(kernel.threads(), len(self.groups))
        with self._raising():
            if threads == 1 or not self._warm:  # modules are loaded by the thread that asks
                for group in self.groups:
                    go(group)
                self._warm = True
            else:
                with ThreadPoolExecutor(threads, thread_name_prefix="weft-worlds") as pool:
                    jobs = [pool.submit(copy_context().run, go, group) for group in self.groups]
                    for job in jobs:
                        job.result()

    @contextmanager
    def _raising(self) -> Iterator[None]:
        """Raise why the first world failed that fails within the block."""
        waiting = set(self.failed)
        yield
        new = sorted(set(self.failed) - waiting)
        if new:
            raise self.failed[new[0]]

    def _stacked(self, every: Sequence[Any]) -> Any:
        if any(len(x) != len(every[0]) for x in every):
            raise SceneError(
                "positions of all worlds",
                got=f"meshes of {', '.join(sorted({str(len(x)) for x in every}))} vertices",
                expected="the same mesh in all",
                hint="`batch.state` has those of each world",
            )
        return np.stack(every)


def _world(number: int, scene: SceneLike, fps: float) -> World:
    stepper = scene.stepper()
    if type(stepper) is not BackwardEuler:
        raise SceneError(
            f"integrator of world {number}",
            got=getattr(stepper, "name", type(stepper).__name__),
            expected="backward_euler, undivided (no `adaptive`)",
            hint="worlds of a batch take their steps together; run this scene with weft.simulate, "
            "or as a sweep",
        )
    model, alone = scene.model(), "run this scene with weft.simulate, or as a sweep"
    if model.changes:
        raise SceneError(
            f"world {number}",
            got="numbers that change in time (`keys`)",
            expected="the same numbers all along",
            hint=alone,
        )
    if model.loose:
        raise SceneError(
            f"world {number}", got="rigid bodies", hint=alone, expected="bodies that nothing moves"
        )
    steps = max(1, math.ceil(1 / (fps * scene.step) - 1e-9))
    return World(scene, stepper, fps, steps, number)


def _divided(worlds: Sequence[World], parts: int) -> list[Sequence[World]]:
    cut = [len(worlds) * k // parts for k in range(parts + 1)]
    return [worlds[a:b] for a, b in pairwise(cut)]
