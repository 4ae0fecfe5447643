"""Running one of Meng et al.'s tests on several grids, and comparing what comes out."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.meng import STEP, SplineGrid, scene
from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Bools, Floats, Positions
from weft.contact.exact.intersections import intersections
from weft.discretization.mesh import TriangleMesh
from weft.integrators.base import StepReport
from weft.scene.prepare import prepare
from weft.show.picture.renderer import Image, Renderer, Style

PAIRS = ((75, 115), (100, 175), (125, 200))  # control points and vertices a side: the paper's
SMOOTH = 3  # samples a span of splines in pictures
PIXELS = 400  # a side, of silhouettes


@dataclass(frozen=True, eq=False)
class GridResult:
    """A test on one grid."""

    grid: SplineGrid
    mesh: TriangleMesh  # as drawn
    shape: Positions  # (n,3) [m] at the end
    unknowns: int
    seconds: dict[str, float]  # a step, by phase; "all" is the whole
    iterations: float  # Newton's, a step
    energies: dict[str, float]  # [J] at the end
    crossing: int  # pairs of faces that intersect at the end

    @property
    def label(self) -> str:
        """For tables and legends."""
        return f"{self.grid.kind} {self.grid.n}"

    @property
    def elastic(self) -> float:
        """[J] of membrane and bending."""
        return self.energies["membrane"] + self.energies["bending"]

    @property
    def potential(self) -> float:
        """[J] elastic and of weight."""
        return self.elastic + self.energies.get("gravity", 0.0)


def run(test: str, grid: SplineGrid, seconds: float, say: Say) -> GridResult:
    """A test for so many seconds of its time [s]; the first step loads kernels and is not timed."""
    made = scene(test, grid)
    ready = prepare(made)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    reports: list[StepReport] = []
    clock = time.perf_counter()
    stepper.step(model, state, memory, STEP)
    for _ in range(round(seconds / STEP)):
        state, memory, report = stepper.step(model, state, memory, STEP)
        assert report.outcome.ok, (test, grid, report.outcome)
        reports.append(report)
    phases = {"all": float(np.mean([r.seconds for r in reports]))}
    for name in ("elastic", "solve"):
        phases[name] = float(np.mean([r.phases.get(name, 0.0) for r in reports]))
    iterations = float(np.mean([r.iterations for r in reports]))
    crossing = len(intersections(model.vertices(state.x), made.cloth.faces))
    fine = made.cloth.surfaces.tessellate(SMOOTH)
    mesh, shape = fine.mesh(made.cloth.points, grid.kind), fine.embedding.of(state.x)
    unknowns, energies = 3 * len(model.mass), dict(reports[-1].terms)
    found = GridResult(grid, mesh, shape, unknowns, phases, iterations, energies, crossing)
    took = f"{phases['all']:.2f} s and {iterations:.1f} iterations a step"
    say(f"{found.label}: {took}, {time.perf_counter() - clock:.0f} s")
    return found


def silhouette(outcome: GridResult, axis: int, low: Floats, high: Floats) -> Bools:
    """(p,p) pixels that the cloth covers, seen along an axis, in a window of the other two."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    keep = [k for k in range(3) if k != axis]
    p = (outcome.shape[:, keep] - low[keep]) / (high - low)[keep].max() * (PIXELS - 1)
    image = Pillow.new("1", (PIXELS, PIXELS))
    pen = ImageDraw.Draw(image)
    for triangle in p[outcome.mesh.faces].reshape(-1, 6).tolist():
        pen.polygon(triangle, fill=1)
    return np.asarray(image)


def compared(
    test: str,
    name: str,
    title: str,
    seconds: float,
    style: Style,
    axis: int,
    say: Say,
    pairs: Sequence[tuple[int, int]] = PAIRS,
) -> Study:
    """A test on pairs of grids: table, and pictures of every grid with one camera.

    ``axis`` is what silhouettes are seen along; errors are against the finest splines.
    """
    found: list[GridResult] = []
    for n, other in pairs:
        found += [
            run(test, g, seconds, say)
            for g in (SplineGrid("spline", n), SplineGrid("triangles", other))
        ]
    finest = found[-2]
    every = np.concatenate([o.shape for o in found])
    low, high = every.min(0), every.max(0)
    shadow = silhouette(finest, axis, low, high)
    rows: list[list[float | str]] = []
    for o in found:
        differs = silhouette(o, axis, low, high) ^ shadow
        rows.append(
            [
                o.label,
                float(o.unknowns),
                o.seconds["all"],
                o.seconds["elastic"],
                o.seconds["solve"],
                o.iterations,
                100 * float(differs.sum() / shadow.sum()),
                o.elastic,
                o.potential,
                100 * (o.elastic / finest.elastic - 1),
                float(o.crossing),
            ]
        )
    columns = (
        "grid",
        "unknowns",
        "s a step",
        "of it elastic",
        "of it solve",
        "Newton iterations",
        "silhouette differs [%]",
        "elastic [J]",
        "with weight [J]",
        "elastic off [%]",
        "pairs of faces that intersect",
    )
    images = [_picture(o, found, style) for o in found]

    def draw(figure: Any) -> None:
        panels = figure.subplots(2, len(pairs), squeeze=False)
        for k, (o, image) in enumerate(zip(found, images)):
            axes = panels[k % 2, k // 2]
            axes.imshow(np.asarray(image))
            title = f"{o.label}², {o.seconds['all']:.2f} s a step"
            axes.set_title(title, fontsize=8, color=INK[k % 2])
            axes.axis("off")

    pictures = {o.label.replace(" ", "-"): i for o, i in zip(found[:2], images)}
    return Study(name, title, StudyTable(columns, rows), findings(found, rows), draw, pictures, 6.0)


def _picture(o: GridResult, found: Sequence[GridResult], style: Style) -> Image:
    every = np.concatenate([other.shape for other in found])
    corners = np.array([every.min(0), every.max(0)])
    frame = np.concatenate([o.shape[: -len(corners)], corners])  # the same camera for all
    return Renderer(o.mesh, [frame], style).image(o.shape)


def findings(found: Sequence[GridResult], rows: Sequence[Sequence[float | str]]) -> list[str]:
    """Ratios of seconds, and how far the grids are apart."""
    ratios = [b.seconds["all"] / a.seconds["all"] for a, b in zip(found[::2], found[1::2])]
    listed = ", ".join(
        f"{b.grid.n}² over {a.grid.n}²: {r:.2f}" for a, b, r in zip(found[::2], found[1::2], ratios)
    )
    off = {str(r[0]): (float(r[6]), float(r[9])) for r in rows}
    apart = ", ".join(f"{k} {s:.1f} % ({e:+.1f} %)" for k, (s, e) in off.items())
    return [
        f"Seconds a step, triangles over splines: {listed}; mean {np.mean(ratios):.2f} "
        "(the paper: 2.17).",
        f"Silhouette (and elastic energy) beside the finest splines: {apart}.",
    ]
