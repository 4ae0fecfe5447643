"""What `benchmarks/peers.py` and its runners say to each other: a scene in, frames and seconds out.

Needs NumPy alone, so that it runs in an environment without weft.

    python run_X.py SCENE.npz RESULT.npz '{"option": value}'
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Drape:
    """The scene (y is up, SI), and what a runner notes while it simulates.

    Frame 0 is the start; ``frame`` adds the next one, 1/fps later.
    """

    cloth: np.ndarray  # (n,3) [m]
    cloth_uv: np.ndarray  # (n,2) [m] in the flat sheet
    faces: np.ndarray  # (m,3)
    sphere: np.ndarray  # (b,3) [m]
    sphere_faces: np.ndarray
    floor: np.ndarray  # (f,3) [m]
    floor_faces: np.ndarray
    held: np.ndarray  # (h,) grasped vertices; (0,): none
    numbers: Mapping[str, float]  # named in `peers.numbers`
    options: Mapping[str, Any]
    frames: list[np.ndarray] = field(default_factory=list)
    cpu: float = 0.0  # [s] inside ``timed`` blocks
    wall: float = 0.0

    def __getattr__(self, name: str) -> float:
        try:
            return self.numbers[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def n_frames(self) -> int:
        """Frames after the start."""
        return round(self.seconds * self.fps)

    def way(self, t: float) -> float:
        """How far [m] grasped vertices are up at a time [s]: evenly by ``lift`` in a second."""
        return self.lift * min(t, 1.0)

    def frame(self, x: Any) -> None:
        """Note the positions (n,3) of a frame."""
        self.frames.append(np.array(x, dtype=np.float64).reshape(self.cloth.shape))

    def __enter__(self) -> "Drape":
        """Time what is inside: processor seconds of the whole process, and wall time."""
        self._started = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu += time.process_time() - self._started[0]
        self.wall += time.perf_counter() - self._started[1]

    def write(self, version: str, steps: int, note: str = "") -> None:
        """Leave the result where the caller asked for it."""
        said = json.dumps(
            {"version": version, "steps": steps, "note": note, "cpu": self.cpu, "wall": self.wall}
        )
        np.savez(sys.argv[2], frames=np.array([self.cloth, *self.frames]), said=said)


def read() -> Drape:
    """The scene of the command line; pins the process to as many cores as it is to use."""
    with np.load(sys.argv[1]) as file:
        arrays = {name: file[name] for name in file.files if name != "numbers"}
        numbers = json.loads(str(file["numbers"]))
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, set(allowed[-int(numbers["cores"]) :]))
    return Drape(**arrays, numbers=numbers, options=json.loads(sys.argv[3]))


def save(path: Any, arrays: Mapping[str, Any], numbers: Mapping[str, float]) -> None:
    """Write a scene for ``read``."""
    np.savez(path, numbers=json.dumps(dict(numbers)), **arrays)
