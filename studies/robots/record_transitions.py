"""A data set of random steps as Zarr, one transition a chunk, and how fast a loader reads it."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import zarr
from numpy.typing import ArrayLike

import weft
from weft.base.arrays import AnyArray

Transition = tuple[AnyArray, AnyArray, AnyArray]  # states before and after, action, reward
HOLDS = 6  # steps for which a random action is kept


def record(path: Path, count: int = 10_000, worlds: int = 20, size: int = 7) -> None:
    """Write ``count`` transitions of random grippers that fold a towel.

    ``state`` (count,2,k): what is observed before and after; ``action``, ``reward`` and ``solved``.
    """
    envs = weft.robotics.vector_env("fold", worlds, set={"variables.size": size})
    random = np.random.default_rng(0)
    before = np.asarray(envs.reset(seed=0)[0])
    over = np.zeros(worlds, dtype=bool)
    rows: tuple[list[AnyArray], ...] = ([], [], [], [])
    while len(rows[0]) < count:
        if len(rows[0]) // worlds % HOLDS == 0:
            actions = random.uniform(-1, 1, envs.action_space.shape)
            actions[:, 3::4] += 0.5  # grippers are mostly closed
        seen, reward, solved, cut, _ = envs.step(actions)
        states = np.stack([before, np.asarray(seen)], axis=1)
        for row, values in zip(rows, (states, actions, reward, solved)):
            row.extend(values[~over])  # a world that was over has begun anew in this step
        before, over = states[:, 1], solved | cut
    envs.close()
    state, *others = (np.array(row[:count]) for row in rows)
    group = zarr.open_group(path, mode="w", zarr_format=2)
    stored = group.create_array(
        "state", shape=state.shape, chunks=(1, *state.shape[1:]), dtype="f4", compressors=None
    )
    stored[:] = state
    for name, values in zip(("action", "reward", "solved"), others):
        group[name] = values


class Transitions:
    """A data set for PyTorch's ``DataLoader``, which asks ``__getitems__`` for a batch."""

    def __init__(self, path: Path) -> None:
        group = zarr.open_group(path, mode="r")
        self.state = group["state"]
        self.action, self.reward = group["action"][:], group["reward"][:]

    def __len__(self) -> int:
        return len(self.reward)

    def __getitem__(self, k: int) -> Transition:
        return self.state[k], self.action[k], self.reward[k]

    def __getitems__(self, ids: ArrayLike) -> Sequence[Transition]:
        order = np.sort(ids)  # Zarr reads chunks in order twice as fast
        return list(zip(self.state.oindex[order], self.action[order], self.reward[order]))


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("transitions.zarr")
    began = time.perf_counter()
    record(out, int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
    data, wrote = Transitions(out), time.perf_counter()
    ids = np.random.default_rng(1).permutation(len(data))
    for first in range(0, len(ids), 64):
        data.__getitems__(ids[first : first + 64])
    seconds = time.perf_counter() - wrote
    print(
        f"{len(data)} transitions in {wrote - began:.0f} s; {len(data) / seconds:.0f} read a second"
    )
