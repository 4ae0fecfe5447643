"""``weft.batch``: many small cloths stepped frame by frame, with the same bits as alone."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from weft.base.arrays import AnyArray, ArrayArgument, Floats, Positions, Velocities
from weft.base.errors import SceneError, SimulationError
from weft.base.runtime_types import checked
from weft.base.settings import Count, Rate, Time
from weft.energies.state import State
from weft.integrators.base import StepReport
from weft.plugins.robots.batch.actions import (
    check_holds,
    check_moves,
    check_start,
    check_targets,
    check_world,
)
from weft.plugins.robots.batch.worker_processes import WorkerProcesses
from weft.plugins.robots.batch.world import Hold, World
from weft.scene.prepare import make_stepper
from weft.scene.scene import MOST_FRAMES, Scene


@checked(SceneError)
def batch(
    scenes: Sequence[Scene],
    *,
    fps: Rate = 30.0,
    processes: Count = 1,
) -> "Batch":
    """Step many independent cloths frame by frame.

    Every world has the same result as alone: its frames are those of ``weft.simulate(scene,
    fps=fps)``, bit by bit. Worlds never meet, and may differ in everything.

    Args:
        scenes: one for each world; a scene may occur several times.
        fps: frames per second; ``step`` advances by one frame.
        processes: number of processes that the worlds are divided among, each with one thread.
            With 1, this process steps the worlds one after another, with the threads of its
            context. Small cloths are fastest with one process for each core. The processes end
            with ``close``, or with the batch.

    Returns:
        The batch, with all worlds at their start.

    Raises:
        SceneError: no scenes, or one with ``changes``; with processes, a scene with lambdas or
            local functions.
    """
    return Batch(scenes, fps=fps, processes=processes)


@checked(SceneError, unchecked=("frame", "release", "advance", "link_loads"))
class Batch:
    """Worlds that are stepped frame by frame; ``batch`` creates one.

    ``numbers`` are the numbers of the worlds in messages and folders.
    """

    def __init__(
        self,
        scenes: Sequence[Scene],
        *,
        fps: Rate = 30.0,
        processes: Count = 1,
        numbers: Sequence[int] | None = None,
    ) -> None:
        if not scenes:
            raise SceneError("batch of scenes", got="none", expected="at least one")
        self.fps = fps
        named = range(len(scenes)) if numbers is None else numbers
        self.worlds = tuple(_world(k, scene, fps) for k, scene in zip(named, scenes, strict=True))
        self.failed: dict[int, SimulationError] = {}  # by number, worlds that wait for ``reset``
        self.workers = (
            None if processes == 1 else WorkerProcesses(self.worlds, fps, processes, self.failed)
        )

    def close(self) -> None:
        """End the processes of the batch, if it has any."""
        if self.workers is not None:
            self.workers.close()

    def __len__(self) -> int:
        """Return the number of worlds."""
        return len(self.worlds)

    def __repr__(self) -> str:
        count = 1 if self.workers is None else len(self.workers.shares)
        where = "1 process" if count == 1 else f"{count} processes"
        return f"Batch: {len(self)} worlds in {where}, {self.fps:g} frames a second"

    @property
    def state(self) -> tuple[State, ...]:
        """States of all worlds: positions and velocities of their points, and their times."""
        return tuple(w.place.state for w in self.worlds)

    @property
    def time(self) -> Floats:
        """Time (N,) [s] since the start of each world."""
        return np.array([s.t for s in self.state])

    def positions(self) -> Positions:
        """Return the vertices (N,n,3) [m] of all surfaces.

        Raises:
            SceneError: worlds with different numbers of vertices; ``state`` has those of each one.
        """
        found: Positions = self._stack([w.model.vertices(w.place.state.x) for w in self.worlds])
        return found

    def velocities(self) -> Velocities:
        """Return the velocities (N,n,3) [m/s] of the vertices of all surfaces.

        Raises:
            SceneError: worlds with different numbers of vertices; ``state`` has those of each one.
        """
        found: Velocities = self._stack([w.model.vertices(w.place.state.v) for w in self.worlds])
        return found

    @property
    def reports(self) -> tuple[tuple[StepReport, ...], ...]:
        """Reports of the last step of every world: one, or one for each part of a divided step."""
        return tuple(tuple(p.report for p in w.parts) for w in self.worlds)

    def reset(self, world: int | None = None, positions: Positions | None = None) -> None:
        """Start one world again, or all of them; other worlds are not changed.

        A world that failed goes on after this call. If its process has ended, a new process
        starts, and the other worlds of that process wait for their own ``reset``.

        Args:
            world: number of the world; None: all.
            positions: (n,3) [m] of the points, at rest; None: the start of the scene.

        Raises:
            SceneError: no such world; positions of another shape, that are not finite, that
                intersect in a scene with contact, or of a scene with pins.
            SimulationError: a process that ends again.
        """
        which = range(len(self)) if world is None else [check_world(world, len(self))]
        for k in which:
            given = None if positions is None else check_start(positions, self.worlds[k])
            if self.workers is not None:
                self.workers.reset(k, given)
                continue
            self.worlds[k].reset(given)
            self.failed.pop(self.worlds[k].number, None)

    def step(
        self,
        actions: ArrayArgument = None,
        *,
        holds: Sequence[Sequence[Hold]] | None = None,
        joints: ArrayArgument = None,
    ) -> Positions:
        """Advance all worlds by one frame.

        Args:
            actions: (N,p,3) [m] displacement of each of the p pins of each scene during the frame,
                in a straight line; it is kept in later frames. None: no displacement.
            holds: for every world, vertices that are held during this frame, and how they move.
            joints: (N,j) [rad or m] targets of the joints of arms (``joints``), which they reach
                at the end of the frame and keep. None: as before, or as the scenes say.

        Returns:
            ``positions()``, (N,n,3) [m].

        Raises:
            SceneError: actions of another shape, that are not finite, or of a pin with a path of
                its own; vertices that do not exist; targets out of the range of a joint.
            SimulationError: worlds with a step that does not converge, however short, or worlds
                whose process has ended; all other worlds have advanced, and these wait for
                ``reset``.
        """
        moves = check_moves(actions, self.worlds)
        held = check_holds(holds, self.worlds)
        self.frame(held, moves, check_targets(joints, self.worlds))
        return self.positions()

    @property
    def joints(self) -> Sequence[str]:
        """The names of the joints of a world that have targets: ``ARM.JOINT``."""
        return [f"{arm.name}.{joint.name}" for arm, joint in self.worlds[0].joints]

    def link_loads(self) -> Floats:
        """Return force [N] and torque [N m] about the origin of contact and friction on the links
        of all arms, (N,l,6), at the end of the last step (``Arm.links`` has their names).
        """
        found: Floats = self._stack([w.link_loads for w in self.worlds])
        return found

    def frame(
        self,
        holds: Sequence[Sequence[Hold]],
        moves: Sequence[Floats],
        targets: Sequence[Floats | None],
    ) -> None:
        """Advance all worlds by one frame, with arguments that are checked already."""
        if self.workers is not None:
            with self._raising():
                self.workers.frame(holds, moves, targets)
            return
        for world, move, hold, target in zip(self.worlds, moves, holds, targets):
            world.grip(hold, move)
            if target is not None:
                world.drive(target)
        self.advance()

    def run(
        self,
        seconds: Time | None = None,
        *,
        frames: int | None = None,
        out: str | os.PathLike[str] | None = None,
        on_frame: Callable[[int], None] | None = None,
    ) -> list[Path] | list[Positions]:
        """Advance all worlds for some time, without actions and holds.

        Args:
            seconds: [s], or text with a unit; or give ``frames``.
            frames: number of frames.
            out: a folder; the frames of every world are written to a run folder of its own in it
                (``0000``, ...), as ``weft.simulate`` writes them. None: nothing is written.
            on_frame: called with the number of frames done.

        Returns:
            Folders of the runs; without ``out`` the frames of every world, (F+1,n,3) [m], beginning
            with the present one.

        Raises:
            SceneError: neither or both of seconds and frames, or too many; with ``out``, worlds
                that are not at their start.
            RunError: folders that are not new.
            SimulationError: see ``step``.
        """
        if (seconds is None) == (frames is None):
            got = f"seconds={seconds}, frames={frames}"
            raise SceneError("length of a batch", got=got, expected="one of the two")
        if frames is None:
            frames = round(float(seconds or 0) * self.fps)
        if not 0 <= frames <= MOST_FRAMES:
            raise SceneError("frames", got=frames, expected=f"from 0 to {MOST_FRAMES}")
        if out is not None:
            from weft.plugins.robots.batch.folders import check_at_start, write_worlds

            check_at_start(self.worlds)
            if self.workers is None:
                return write_worlds(self, frames, Path(out), on_frame)
        if self.workers is not None:
            with self._raising():
                return self.workers.run(frames, out, on_frame)
        seen = [[w.model.vertices(w.place.state.x)] for w in self.worlds]
        for k in range(frames):
            self.release()
            self.advance()
            for kept, world in zip(seen, self.worlds):
                kept.append(world.model.vertices(world.place.state.x))
            if on_frame is not None:
                on_frame(k + 1)
        return [np.stack(kept) for kept in seen]

    def release(self) -> None:
        """Let go of all vertices that are not held by the pins of the scenes."""
        for world in self.worlds:
            world.grip((), np.zeros_like(world.shift))

    def advance(self, after_step: Callable[[World], None] | None = None) -> None:
        """Advance all worlds of this process by one frame, one after another.

        Args:
            after_step: called with a world after each of its steps; None: nothing is called.

        Raises:
            SimulationError: see ``step``.
        """
        with self._raising():
            for world in self.worlds:
                if world.number in self.failed:
                    continue
                try:
                    for _ in range(world.steps):
                        world.step()
                        if after_step is not None:
                            after_step(world)
                except SimulationError as error:
                    self.failed[world.number] = error

    @contextmanager
    def _raising(self) -> Iterator[None]:
        """Raise the error of the first world that fails within the block."""
        waiting = set(self.failed)
        yield
        new = sorted(set(self.failed) - waiting)
        if new:
            raise self.failed[new[0]]

    def _stack(self, every: Sequence[AnyArray]) -> AnyArray:
        if any(len(x) != len(every[0]) for x in every):
            raise SceneError(
                "positions of all worlds",
                got=f"meshes of {', '.join(sorted({str(len(x)) for x in every}))} vertices",
                expected="the same mesh in all worlds",
                hint="`batch.state` has those of each world",
            )
        return np.stack(every)


def _world(number: int, scene: Scene, fps: float) -> World:
    stepper = make_stepper(scene)
    scene.check_unchanged(f"world {number}", "run this scene with weft.simulate, or as a sweep")
    return World(scene, stepper, fps, number)
