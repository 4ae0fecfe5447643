"""How many Newton iterations do converged steps take, over scenes of every kind?

Each kind is an example scene; every run of it draws another fabric, fineness, friction, step and
integrator. A step that ends at the limit of iterations counts as given up, also if halves of it
converge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import weft
from studies.study import INK, Say, Study, StudyTable
from weft.base.errors import check_known
from weft.run.drive import Driver, StepFailed
from weft.run.run_state import StepTimes
from weft.scene.build import load_scene
from weft.solve.linear.solver import Outcome

ROOT = Path(__file__).parents[1] / "examples"
FABRICS = ("silk", "cotton", "linen", "denim", "wool", "jersey", "felt")
STEPS = (0.01, 0.02, 0.03)  # [s]
INTEGRATORS = ("backward_euler", "bdf2")
SEEDS = 10


@dataclass(frozen=True)
class Kind:
    """A kind of scene: its file, its length, and what of it is drawn.

    Args:
        file: of an example, or of a scene of weft's.
        seconds: that are simulated.
        sides: least and most vertices along the first side of the sheet; None: as in the file.
        sheet: vertices along its second side, over those along the first one.
        fabric: field that takes a drawn fabric; empty: as in the file.
        friction: whether friction is drawn, from 0 to 0.6.
        more: changes of the file.
    """

    file: Path
    seconds: float
    sides: tuple[int, int] | None = None
    sheet: float = 1.0
    fabric: str = "cloth.fabric"
    friction: bool = True
    more: Sequence[str] = ()

    def draw(self, rng: np.random.Generator) -> list[str]:
        """Return the changes of one run."""
        changes = [f"step={rng.choice(STEPS):g}", *self.more]
        if self.sides is not None:
            n = int(rng.integers(*self.sides, endpoint=True))
            changes += [f"cloth.sheet.nx={n}", f"cloth.sheet.ny={max(5, round(n * self.sheet))}"]
        if self.fabric:
            changes.append(f"{self.fabric}={rng.choice(FABRICS)}")
        if self.friction:
            changes.append(f"contact.friction={rng.uniform(0.0, 0.6):.2f}")
        return changes


SCENES = Path(weft.__file__).parent / "scenes"
KINDS: Mapping[str, Kind] = {
    "drape": Kind(SCENES / "drape.yaml", 1.2, (21, 41)),
    "fine drape": Kind(SCENES / "drape.yaml", 0.6, (60, 80)),
    "ball": Kind(ROOT / "contact" / "sphere.yaml", 1.0, (21, 41)),
    "hanging": Kind(ROOT / "two_corners.yaml", 1.0, (21, 60), more=("contact.gap=4 mm",)),
    "spline on a ball": Kind(ROOT / "splines" / "sphere.yaml", 0.8, (15, 24)),
    "spline panel": Kind(ROOT / "splines" / "panel.yaml", 0.6, friction=False),
    "twist": Kind(ROOT / "contact" / "twist.yaml", 2.4, (21, 41), 0.4),
    "pile": Kind(ROOT / "contact" / "pile.yaml", 0.6, fabric=""),
    "gathered": Kind(ROOT / "contact" / "gathered.yaml", 1.2),
    "grasp": Kind(ROOT / "contact" / "grasp.yaml", 1.2, (13, 25)),
    "pressed": Kind(ROOT / "contact" / "pressed.yaml", 0.6, (11, 21)),
    "ring": Kind(ROOT / "contact" / "ring.yaml", 1.2, (21, 31)),
    "shot": Kind(ROOT / "contact" / "shot.yaml", 0.4, (15, 31)),
    "pillow": Kind(ROOT / "forces" / "pillow.yaml", 0.8),
    "limits": Kind(ROOT / "forces" / "jersey_limits.yaml", 1.0, fabric="", friction=False),
    "tablecloth": Kind(ROOT / "forces" / "tablecloth.yaml", 0.7, (17, 33), 0.75),
    "clothes line": Kind(ROOT / "forces" / "clothes_line.yaml", 1.0, fabric=""),
    "buttoned": Kind(ROOT / "forces" / "banner.yaml", 1.0, fabric=""),
    "regions": Kind(ROOT / "regions" / "scarf.yaml", 1.0, fabric=""),
    "garment": Kind(ROOT / "garments" / "skirt_at_rest.yaml", 2.0, fabric=""),
}


@dataclass(frozen=True)
class Counted:
    """What one run took."""

    iterations: Sequence[int]  # of every step
    given_up: int  # steps that ended at the limit of iterations
    halved: int
    failed: str = ""


def study(say: Say, only: Sequence[str] = (), seeds: int = SEEDS) -> Study:
    """Run every kind, from ``seeds`` draws.

    Args:
        say: called with a line for every run.
        only: names of kinds, if not all of them.
        seeds: draws of each kind.
    """
    for name in only:
        check_known(name, list(KINDS), "--only")
    found: dict[str, list[Counted]] = {}
    for name in only or KINDS:
        for seed in range(seeds):
            changes = KINDS[name].draw(np.random.default_rng(seed))
            integrator = INTEGRATORS[seed % 2]
            counted = count(KINDS[name], changes, integrator)
            found.setdefault(name, []).append(counted)
            most = max(counted.iterations, default=0)
            mean, most = np.mean(counted.iterations or [0]), max(counted.iterations, default=0)
            lost = f"given up {counted.given_up} {counted.failed}".rstrip()
            about = f"mean {mean:.1f}, most {most}, {lost}"
            say(f"{name} {seed}, {integrator}: {about} ({', '.join(changes)})")
    rows = [_row(name, runs) for name, runs in found.items()]
    every = _row("all", [run for runs in found.values() for run in runs])
    columns = ("scenes", "runs", "steps", "mean", "median", "p99", "most", "given up", "halved")
    findings = [
        f"{every[1]} runs, {every[2]} steps: {every[3]:.1f} iterations in the mean, 99th "
        f"percentile {every[5]:.0f}, most {every[6]}; {every[7]} steps given up, {every[8]} halved"
    ]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        counts = [k for runs in found.values() for run in runs for k in run.iterations]
        axes.hist(counts, bins=range(max(counts) + 2), color=INK[0], log=True)
        axes.set_xlabel("Newton iterations of a step")
        axes.set_ylabel("steps")

    title = "Newton iterations of converged steps"
    return Study("iterations", title, StudyTable(columns, [*rows, every]), findings, draw)


def count(kind: Kind, changes: Sequence[str], integrator: str) -> Counted:
    """Run one scene and count."""
    loaded = load_scene(kind.file, [*changes, f"seconds={kind.seconds}"], integrator)
    simulation = weft.prepare(loaded.scene)
    times = StepTimes.of(1 / loaded.scene.step, loaded.scene.step)
    driver = Driver(simulation.model, simulation.stepper, times)
    place, iterations, given_up, halved = driver.begin(simulation.state), list[int](), 0, 0
    for _ in range(round(kind.seconds / loaded.scene.step)):
        try:
            place, parts = driver.step(place)
        except StepFailed as error:
            return Counted(iterations, given_up, halved, error.report.outcome.name)
        tries = [t.outcome for p in parts for t in p.report.rejected]
        given_up += tries.count(Outcome.MAX_ITERATIONS)
        halved += bool(tries)
        iterations.append(sum(p.report.iterations for p in parts))
    return Counted(iterations, given_up, halved)


def _row(name: str, runs: Sequence[Counted]) -> list[float | str]:
    counts = np.concatenate([r.iterations for r in runs])
    p50, p99, most = np.percentile(counts, [50, 99, 100])
    lost = sum(r.given_up for r in runs) + sum(bool(r.failed) for r in runs)
    halved = sum(r.halved for r in runs)
    return [name, len(runs), len(counts), float(counts.mean()), p50, p99, int(most), lost, halved]
