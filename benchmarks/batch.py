"""Batches on processes beside single runs, and beside the workers of a sweep.

17 x 17 sheets that hang for a second; sheets of 17 x 17 and 25 x 25 vertices that are grasped on a
table with friction and lifted; the environment ``grasp`` with a random policy. Single runs are made
one after another by ``weft.simulate``, with one thread. A batch has one process for each core, and
so has the sweep. The time in which processes start is not counted. All take turns, several times:
ratios hold on a machine that others use as well.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from benchmarks.measure import BenchMeasure, at_least, info
from benchmarks.sweep import SCENE, SWEEP, timed
from weft import kernel
from weft.base.machine import cores
from weft.plugins.lab.sweep.file import read_sweep
from weft.plugins.lab.sweep.folder import prepare
from weft.plugins.robots import learning as robotics
from weft.plugins.robots.batch.batch import Batch
from weft.run.simulate import simulate
from weft.scene.build import load_scene
from weft.scene.scene import Scene

SAMPLES = 16
ROUNDS = 3
ENVIRONMENTS, ENVIRONMENT_STEPS = 16, 40
HANGING = SCENE.replace("33", "17")
GRASP = """cloth:
  sheet: {{nx: {size}, ny: {size}, width: 40 cm, height: 40 cm, pattern: alternating}}
  fabric: cotton
  translation: [0, 3.5 mm, 0]
bodies:
  - {{name: table, plate: {{width: 1.4 m, depth: 1.4 m, size: 70 cm}}}}
pins:
  - vertices: {held}
    path:
      hold: true
      keyframes: [{{time: 0}}, {{time: 0.5 s, translation: [3 cm, 18 cm, 0]}}]
contact: {{gap: 4 mm, friction: 0.4}}
step: 25 ms
seconds: 0.6 s
fps: 10
"""
MORE = """  cloth.fabric: [cotton, silk, denim]
  contact.friction: {from: 0.2, to: 0.6}
  bodies.0.translation: [[0, 0, 0], [0, -1 mm, 0]]
"""
FILLED = 0.7  # least part of the cores that a batch fills
SINGLE = 4  # samples that are run one after another


def batch() -> Iterator[BenchMeasure]:
    """Samples a second of each, and how many times more the batch makes than single runs."""
    yield from _compare("batch", HANGING, SAMPLES, 1.0)
    for size in (17, 25):
        yield from _compare(f"batch/grasp and lift {size} x {size}", _grasped(size), 8, 0.6)
    yield from _environments()


def _compare(title: str, scene: str, samples: int, seconds: float) -> Iterator[BenchMeasure]:
    """Compare single runs, workers of a sweep and a batch, in memory and on disk."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as place, ExitStack() as ending:
        path = _written(Path(place) / "sweep", scene, samples)
        worlds = Batch(_scenes(path), fps=10, processes=cores())
        ending.callback(worlds.close)
        worlds.run(frames=2)  # kernels
        for k in range(ROUNDS):
            folder = path.parent / f"round-{k}"
            _add(found, "single runs", _single(path, seconds, folder / "single"))
            statuses, wall = timed(path, folder / "sweep", cores())
            _add(found, "sweep", len(statuses) / wall)
            for kind, out in (("batch", folder / "batch"), ("batch in memory", None)):
                _add(found, kind, _batched(path, worlds, seconds, out))
    for name, rates in found.items():
        yield info(f"{title}/{name}", float(np.median(rates)), "samples/s")
    single = np.array(found["single runs"])
    for kind in ("batch", "batch in memory"):
        ratio = float(np.median(np.array(found[kind]) / single))
        yield at_least(f"{title}/{kind} over single runs", ratio, "x", FILLED * cores())


def _single(path: Path, seconds: float, folder: Path) -> float:
    """Samples a second of runs on disk, one after another."""
    clock = time.perf_counter()
    scenes = _scenes(path)[:SINGLE]
    with kernel.use(threads=1):
        for k, scene in enumerate(scenes):
            simulate(scene, seconds=seconds, fps=10, out=folder / str(k), progress=False)
    return len(scenes) / (time.perf_counter() - clock)


def _grasped(size: int) -> str:
    """Return a scene: vertices within 3 cm of a place are gripped and lifted from the table."""
    at = np.linspace(-0.2, 0.2, size)
    x, z = np.meshgrid(at, at)
    held = np.flatnonzero(np.hypot(x - 0.05, z - 0.1) < 0.03).tolist()
    return GRASP.format(size=size, held=held)


def _environments() -> Iterator[BenchMeasure]:
    """Compare a vector of environments, with random actions, with some of them one by one."""
    one, many = robotics.env("grasp"), robotics.vector_env("grasp", ENVIRONMENTS)
    rates: dict[str, list[float]] = {}
    for k in range(ROUNDS + 1):
        many.action_space.seed(k)
        actions = [many.action_space.sample() for _ in range(ENVIRONMENT_STEPS)]
        some = range(0, ENVIRONMENTS, 4)
        clock = time.perf_counter()
        for w in some:
            one.reset(seed=100 * k + w)
            for action in actions:
                one.step(action[w])
        steps = len(some) * ENVIRONMENT_STEPS
        _add(rates, "one", steps / (time.perf_counter() - clock))
        clock = time.perf_counter()
        many.reset(seed=100 * k)
        for action in actions:
            many.step(action)
        steps = ENVIRONMENTS * ENVIRONMENT_STEPS
        _add(rates, "vector", steps / (time.perf_counter() - clock))
    many.close()
    warm = {name: np.array(found[1:]) for name, found in rates.items()}
    for name, found in warm.items():
        yield info(f"batch/environments, {name}", float(np.median(found)), "steps/s")
    ratio = float(np.median(warm["vector"] / warm["one"]))
    yield at_least(f"batch/{ENVIRONMENTS} environments over one", ratio, "x", 2.5)


def _add(found: dict[str, list[float]], name: str, rate: float) -> None:
    found.setdefault(name, []).append(rate)


def _written(place: Path, scene: str, samples: int) -> Path:
    place.mkdir()
    (place / "scene.yaml").write_text(scene)
    path = place / "sweep.yaml"
    text = SWEEP.format(samples=samples)
    if "contact" in scene:
        text = text.replace("80 cm, to: 120 cm", "38 cm, to: 42 cm") + MORE
    path.write_text(text)
    return path


def _scenes(path: Path) -> list[Scene]:
    planned = prepare(read_sweep(path), path.parent / "planned")
    return [
        load_scene(planned.scene, [*planned.common, *sample.overrides]).scene
        for sample in planned.plan
    ]


def _batched(path: Path, worlds: Batch, seconds: float, out: Path | None) -> float:
    """Samples a second, with what is read for them, from the scene file on."""
    clock = time.perf_counter()
    _scenes(path)
    worlds.reset()
    worlds.run(seconds=seconds, out=out)
    return len(worlds) / (time.perf_counter() - clock)
