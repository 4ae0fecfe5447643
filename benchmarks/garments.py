"""Garments: processor seconds until they are sewn and at rest, or until the walk ends."""

import json
from collections.abc import Iterator
from pathlib import Path

import weft
from benchmarks.measure import BenchMeasure, at_most, info
from benchmarks.programs import run_program

EXAMPLES = Path(__file__).parents[1] / "examples" / "garments"
PROGRAM = """
import json, sys, time
from weft import kernel
kernel.configure(threads=1)
import weft
from weft.run.drive import Driver
from weft.run.run_state import StepTimes
from weft.scene.build import load_scene
loaded = load_scene(sys.argv[1], json.loads(sys.argv[2]))
simulation = weft.prepare(loaded.scene)
times = StepTimes.of(loaded.fps, loaded.scene.step)
driver = Driver(simulation.model, simulation.stepper, times)
place, begin = driver.begin(simulation.state), time.process_time()
while place.frame < round(loaded.seconds * loaded.fps):
    place, _ = driver.step(place)
print(json.dumps([time.process_time() - begin, len(place.state.x)]))
"""


def garments() -> Iterator[BenchMeasure]:
    """A two-piece that walks, a tee and a dress that settle; each in a process of its own."""
    patterns = EXAMPLES / "garmentcode"
    scenes = {
        "two-piece, 2 cm, walks to 6 s": (EXAMPLES / "skirt_and_top.yaml", [], 120.0),
        "tee, 3 cm, at rest": _worn(patterns / "tee_specification.json", 18.0),
        "dress, 3 cm, at rest": _worn(patterns / "aline_dress_specification.json", 40.0),
    }
    for name, (file, changes, target) in scenes.items():
        # The kernels of the scene are compiled by a first run that ends at once.
        run_program(PROGRAM, str(file), json.dumps([*changes, "seconds=0.05", "fps=20"]))
        done = run_program(PROGRAM, str(file), json.dumps(changes))
        seconds, points = json.loads(done.stdout.splitlines()[-1])
        yield at_most(f"garments/{name}", seconds, "s of the processor", target)
        yield info(f"garments/{name}, points", points, "")


def _worn(pattern: Path, target: float) -> tuple[Path, list[str], float]:
    """A pattern on the mannequin, as ``weft run PATTERN`` dresses it, until it is at rest."""
    scene = Path(weft.__file__).parent / "scenes" / "worn.yaml"
    return scene, [f"cloth.garment.pattern={pattern}", "seconds=2"], target
