"""Sweeps: how well workers fill the cores, how soon a sample starts, how fast folders are read.

The work is that of 33 x 33 sheets that hang for a second. What 200 samples would take follows from
fewer: efficiency is the sum of the samples' times, each on one worker that runs alone, over cores
times wall clock.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import BenchMeasure, at_least, at_most, info
from weft.base.machine import cores
from weft.plugins.lab.sweep.file import read_sweep
from weft.plugins.lab.sweep.folder import SweepFolder, open_sweep, prepare
from weft.plugins.lab.sweep.runner import run_sweep, to_do
from weft.plugins.lab.sweep.status import SAMPLES, STATUS, Status
from weft.plugins.lab.sweep.tasks import Hooks

SAMPLES_TIMED = 24  # of the 200
MANY = 10_000
SCENE = """cloth:
  sheet: {nx: 33, ny: 33, width: 1 m, height: 1 m}
  fabric: cotton
pins:
  - corners: top
step: 20 ms
seconds: 1 s
fps: 10
"""
SWEEP = """scene: scene.yaml
design: random
samples: {samples}
seed: 0
threads: 1
vary:
  cloth.sheet.width: {{from: 80 cm, to: 120 cm}}
"""


def sweep() -> Iterator[BenchMeasure]:
    """Efficiency and latency of processes, and a folder of many samples."""
    with tempfile.TemporaryDirectory() as place:
        yield from _efficiency(Path(place))
        yield from _many(Path(place))


def _efficiency(place: Path, samples: int = SAMPLES_TIMED) -> Iterator[BenchMeasure]:
    """The same samples on one worker and on all cores; the first samples of workers start them and
    are not counted.
    """
    path = _written(place, samples)
    alone, _ = timed(path, place / "alone", 1)
    all_, wall = timed(path, place / "all", cores())
    work = sum(s.seconds for s in alone)
    starts = [s.start for s in (*alone, *all_)]
    yield info(f"sweep/{samples} samples, sum of times alone", work, "s")
    yield info(f"sweep/{samples} samples, wall clock on {cores()} cores", wall, "s")
    busy = sum(s.seconds for s in all_) / (cores() * wall)
    yield info("sweep/part of the workers' time that is samples", busy, "of all cores")
    yield at_least("sweep/efficiency", work / (cores() * wall), "of all cores", 0.9)
    yield at_most("sweep/start with first step, median", float(np.median(starts)), "s", 0.3)


def timed(path: Path, out: Path, workers: int) -> tuple[list[Status], float]:
    """Statuses of all samples but each worker's first, and [s] of wall clock that they took."""
    told: list[tuple[float, Status]] = []
    hooks = Hooks(report=lambda _, status: told.append((time.perf_counter(), status)))
    run_sweep(read_sweep(path), out=out, workers=workers, hooks=hooks)
    warm = [s for k, (_, s) in enumerate(told) if k >= workers]
    return warm, told[-1][0] - told[workers - 1][0]


def _many(place: Path, samples: int = MANY) -> Iterator[BenchMeasure]:
    """A folder of many samples, nine tenths of them done: planned, looked at, planned again."""
    path, out = _written(place, samples), place / "many"
    clock = time.perf_counter()
    folder = prepare(read_sweep(path), out)
    planned = time.perf_counter() - clock
    _pretend(folder, samples - samples // 10)
    clock = time.perf_counter()
    open_sweep(out).look()
    listed = time.perf_counter() - clock
    clock = time.perf_counter()
    left = len(to_do(prepare(read_sweep(path), out).look()))
    resumed = time.perf_counter() - clock
    assert left == samples // 10
    yield info(f"sweep/{samples} samples planned", planned, "s")
    yield info(f"sweep/{samples} samples listed", listed, "s")
    yield info(f"sweep/{samples} samples resumed", resumed, "s")
    yield at_most(f"sweep/{samples} samples, all three", planned + listed + resumed, "s", 5.0)


def _pretend(folder: SweepFolder, count: int) -> None:
    """Statuses of samples as they are when they are done."""
    status = Status("done", digest="0" * 64, measures={"strain_end": 0.01, "converged": True})
    text = json.dumps(vars(status))
    for sample in folder.plan[:count]:
        place = folder.path / SAMPLES / sample.id
        place.mkdir()
        (place / STATUS).write_text(text)


def _written(place: Path, samples: int) -> Path:
    (place / "scene.yaml").write_text(SCENE)
    path = place / f"sweep-{samples}.yaml"
    path.write_text(SWEEP.format(samples=samples))
    return path
