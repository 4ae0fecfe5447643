"""Linear solvers and stiffness under contact (docs/decisions/appendix/0011-contact.md).

    python -m benchmarks.contact_solvers [SCENE ...]

prints a line for every scene, solver and load: Newton iterations a step, linear iterations and
milliseconds a Newton iteration, solves that another solver had to finish, and steps that failed.
"""

import sys
import time
from pathlib import Path

from weft.contact import contact as settings
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

SCENES = Path(__file__).parents[1] / "examples" / "contact"
STEPS = {
    "sphere": 40,
    "gathered": 60,
    "twist": 120,
    "ring": 60,
    "grasp": 90,
    "pressed": 60,
    "pile": 25,
    "shot": 30,
}
CASES = [(s, 10.0) for s in ("pardiso", "multigrid", "pcg")] + [
    (s, load) for load in (1.0, 100.0) for s in ("pardiso", "multigrid")
]


def measure(name: str, solver: str, load: float) -> str:
    """One line of the table."""
    settings.LOAD = load
    overrides = [f"solver.linear={solver}"] + (["step=1 ms"] if name == "shot" else [])
    scene = load_scene(SCENES / f"{name}.yaml", overrides).scene
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    newton = linear = rescues = failed = done = 0
    solve, start = 0.0, time.perf_counter()
    for _ in range(STEPS[name]):
        state, memory, report = stepper.step(model, state, memory, scene.step)
        newton, linear = newton + report.iterations, linear + report.linear_iterations
        rescues, done = rescues + report.rescues, done + 1
        solve += report.phases.get("solve", 0.0)
        if not report.outcome.ok:
            failed = 1
            break
    seconds = (time.perf_counter() - start) / done
    return (
        f"| {name} | {solver} | {load:g} | {newton / done:.1f} | {linear / max(newton, 1):.1f} | "
        f"{1e3 * solve / max(newton, 1):.0f} | {seconds:.2f} | {rescues} | {failed} |"
    )


if __name__ == "__main__":
    print("| scene | solver | load | Newton | linear | ms | s/step | rescues | failed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or STEPS:
        for solver, load in CASES:
            print(measure(name, solver, load), flush=True)
