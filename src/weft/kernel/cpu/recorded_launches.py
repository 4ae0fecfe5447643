"""Sequences of launches that are replayed by one native call on the CPU, like a CUDA graph.

An iteration of conjugate gradients on a small mesh is a dozen kernels of a few microseconds each,
and Python takes 1.5 us for a launch. A sequence is written to memory once, and only changed
arguments are written again. Several threads share those of its launches that are large enough, and
wait for one another after each.
"""

from collections.abc import Sequence

import warp as wp

from weft.kernel.context import device, is_cpu, threads
from weft.kernel.cpu.launching import Recorded, most_helping, worth_sharing
from weft.kernel.cpu.thread_pool import HEAD, ROOM, launch_places, team, write_launch
from weft.kernel.memory import empty, view
from weft.kernel.types import WarpArray


class RecordedLaunches:
    """Sequence of launches, any contiguous range of which can be replayed."""

    def __init__(self, launches: Sequence[Recorded]) -> None:
        self._launches = tuple(launches)
        self._longest = max(launches, key=lambda one: one.n / one.least)
        self._places: list[int] = []
        self._written: WarpArray = None
        self._plain = is_cpu()  # whether native code can run them

    def __len__(self) -> int:
        return len(self._launches)

    def set(self, launch: int, index: int, value: object) -> None:
        """Replace an argument of a launch, as ``Recorded.set`` does."""
        one = self._launches[launch]
        if one.argument(index) is not value:
            one.set(index, value)
            if self._written is not None:
                self._plain = self._write(launch, self._places[launch])

    def replay(self, begin: int = 0, end: int | None = None, condition: WarpArray = None) -> None:
        """Run the launches from ``begin`` to before ``end``; None: to the last one.

        With a ``condition``, (1,) int32, they are repeated while it is not 0, several times at
        most.
        """
        end = len(self._launches) if end is None else end
        if self._plain and self._written is None:
            self._plain = self._write_all()
        if self._plain and team.replay(self._written, begin, end, self._threads(), condition):
            return
        for one in self._launches[begin:end]:
            one.launch()

    def _threads(self) -> int:
        """Return the number of threads for a replay; only large launches wake sleeping threads."""
        one = self._longest
        return threads() if one.n >= worth_sharing(one.least) else 1

    def _write_all(self) -> bool:
        """Write all launches to memory; return False if native code cannot run one of them."""
        stages = [stage for one in self._launches if (stage := one.pack()) is not None]
        if len(stages) < len(self) or any(len(packed) > 8 * ROOM for _, packed in stages):
            return False
        *self._places, size = launch_places(stages)
        self._written = empty(size, wp.int64)
        view(self._written)[HEAD : HEAD + len(self)] = self._places
        return all(self._write(k, place) for k, place in enumerate(self._places))

    def _write(self, k: int, place: int) -> bool:
        """Write launch k to its place in memory; return False if native code cannot run it."""
        one = self._launches[k]
        stage = one.pack()
        if stage is None:
            return False
        threads = most_helping(one.n, one.least)
        write_launch(self._written, place, stage, one.n, threads)
        return True


class RecordedLoop:
    """Launches of which some are repeated while an integer on the device is not 0.

    On CUDA they are one captured graph. On the CPU they are replayed by native code, which several
    threads share; ``run_graph`` runs the CPU's graph of Warp in one thread, with the same result.

    Args:
        before: launches that run once, first.
        body: launches that are repeated; their last round is the one that sets the condition to 0.
        after: launches that run once, last.
        condition: (1,) int32.
    """

    def __init__(
        self,
        before: Sequence[Recorded],
        body: Sequence[Recorded],
        after: Sequence[Recorded],
        condition: WarpArray,
    ) -> None:
        self._before, self._body, self._after = tuple(before), tuple(body), tuple(after)
        self._condition = condition
        launches = [*before, *body, *after]
        self._launches = RecordedLaunches(launches)
        self._index = {id(one): k for k, one in enumerate(launches)}
        self._graph: wp.Graph | None = None

    def set(self, launch: Recorded, index: int, value: object) -> None:
        """Replace an argument of a launch, as ``Recorded.set`` does."""
        if launch.argument(index) is not value:
            self._launches.set(self._index[id(launch)], index, value)
            self._graph = None

    def run(self) -> None:
        """Run the loop."""
        if not is_cpu():
            self.run_graph()
            return
        first, last = len(self._before), len(self._before) + len(self._body)
        go = view(self._condition)
        self._launches.replay(0, first)
        while go[0]:
            self._launches.replay(first, last, self._condition)
        self._launches.replay(last)

    def run_graph(self) -> None:
        """Run the loop as a captured graph of Warp."""
        if self._graph is None:
            with wp.ScopedCapture(device=device()) as capture:
                for one in self._before:
                    one.launch_plainly()
                wp.capture_while(self._condition, self._launch_body)
                for one in self._after:
                    one.launch_plainly()
            self._graph = capture.graph
        wp.capture_launch(self._graph)

    def _launch_body(self) -> None:
        """Launch one round."""
        for one in self._body:
            one.launch_plainly()
