"""Batched worlds beside processes: the same samples of a sweep, and the same runs on disk.

17 x 17 sheets that hang for a second. Processes are those of ``weft sweep`` with one thread each,
as many as there are cores, and the samples with which they start are not counted; the batch has as
many, and what they start with is not counted either. Both in turn, several times: ratios hold on a
machine that others use as well.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from benchmarks.measure import BenchMeasure, at_least, info
from benchmarks.sweep import SCENE, SWEEP, timed
from weft.base.machine import cores
from weft.scene.build import load_scene
from weft.scene.scene import Scene
from weft.sweep.file import read_sweep
from weft.sweep.folder import prepare
from weft.worlds.batch import Batch

SAMPLES = 16
ROUNDS = 3
SOLVERS = ("lanes", "auto")  # of the batch; processes have theirs, and the default one


def batch() -> Iterator[BenchMeasure]:
    """Samples a second of both, and how many times more the batch makes."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as place, ExitStack() as ending:
        paths = {name: _written(Path(place) / name, name) for name in SOLVERS}
        made = {
            name: Batch(_scenes(path), fps=10, processes=cores()) for name, path in paths.items()
        }
        for worlds in made.values():
            ending.callback(worlds.close)
            worlds.run(frames=2)  # kernels
        for k in range(ROUNDS):
            for name in SOLVERS:
                folder = paths[name].parent / f"round-{k}"
                statuses, wall = timed(paths[name], folder / "processes", cores())
                _add(found, f"processes, {name}", len(statuses) / wall)
                for kind, out in (("batch", folder / "batch"), ("batch in memory", None)):
                    _add(found, f"{kind}, {name}", _batched(paths[name], made[name], out))
    for name, rates in found.items():
        yield info(f"batch/{name}", float(np.median(rates)), "samples/s")
    best = [max(pair) for pair in zip(*(found[f"processes, {name}"] for name in SOLVERS))]
    for name in SOLVERS:
        for kind in ("batch", "batch in memory"):
            ratio = float(np.median(np.array(found[f"{kind}, {name}"]) / best))
            what = f"batch/{kind}, {name}, over the better processes"
            if name == "lanes":
                yield at_least(what, ratio, "x", 3.0)
            else:
                yield info(what, ratio, "x")


def _add(found: dict[str, list[float]], name: str, rate: float) -> None:
    found.setdefault(name, []).append(rate)


def _written(place: Path, linear: str) -> Path:
    place.mkdir()
    scene = SCENE.replace("33", "17") + f"integrator: {{backward_euler: {{linear: {linear}}}}}\n"
    (place / "scene.yaml").write_text(scene)
    path = place / "sweep.yaml"
    path.write_text(SWEEP.format(samples=SAMPLES))
    return path


def _scenes(path: Path) -> list[Scene]:
    planned = prepare(read_sweep(path), path.parent / "planned")
    return [
        load_scene(planned.scene, [*planned.common, *sample.overrides]).scene
        for sample in planned.plan[:SAMPLES]
    ]


def _batched(path: Path, worlds: Batch, out: Path | None) -> float:
    """Samples a second, with what is read for them, from the scene file on."""
    clock = time.perf_counter()
    _scenes(path)
    worlds.reset()
    worlds.run(seconds=1.0, out=out)
    return SAMPLES / (time.perf_counter() - clock)
