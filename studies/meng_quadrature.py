"""What do quadrature points of splines cost, and what accuracy do they keep (Meng et al. 2025)?

Rules of the membrane on both control nets: points, time of the matrix, motions without energy, the
sag of a cloth that hangs by a whole border (whose exact shape splines hold), and the drape test,
whose elastic energy is compared with that of all points, and of all points on twice as many spans.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.meng import STEP, SplineGrid, scene
from studies.study import INK, Say, Study, StudyTable
from weft import kernel
from weft.base.arrays import Positions
from weft.bodies.motion.pins import Pin
from weft.cloth.create import spline_sheet
from weft.discretization.bspline import rectangle
from weft.discretization.quadrature import Rule
from weft.discretization.spline_surface import SplineSurface
from weft.energies.elastic.membrane import Membrane
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.kernel import vec3
from weft.laws import BaraffWitkin
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr

N, STEPS = 50, 40  # control points a side, steps of the drape test
SMALL, SAGGING = 8, 17  # control points a side, of the modes and of the sag
RULES = (Rule.FULL, Rule.GAUSS2, Rule.REDUCED, Rule.ALTERNATING, Rule.GAUSS1)


def study(say: Say, n: int = N, steps: int = STEPS) -> Study:
    """All rules on both nets."""
    rows: list[list[float | str]] = []
    _, finer = _drape(Rule.FULL, "greville", 2 * n - 2, steps)
    say(f"twice as many spans, full: {finer:.4f} J")
    for net in ("greville", "uniform"):
        reference: tuple[Positions, float] | None = None
        for rule in RULES:
            points, ms = _cost(rule, net)
            modes = free_modes(rule, net)
            if rule is Rule.GAUSS1:  # its modes leave nothing to solve
                rows.append([net, rule.value, points, ms, float(modes), *[float("nan")] * 5])
                continue
            low, high = _sag(rule, net)
            x, energy = _drape(rule, net, n, steps)
            if reference is None:
                reference = x, energy
            apart = float(np.linalg.norm(x - reference[0], axis=1).max())
            off = 100 * (energy / reference[1] - 1)
            beside = 100 * (energy / finer - 1)
            rows.append(
                [net, rule.value, points, ms, float(modes), low, high, 1e3 * apart, off, beside]
            )
            say(
                f"{net}, {rule.value}: {ms:.1f} ms, sag {low:+.2f} to {high:+.2f} %, drape off "
                f"by {1e3 * apart:.1f} mm and {off:+.2f} % of the energy; {beside:+.2f} % of the "
                "finer one"
            )
    columns = (
        "net",
        "rule",
        "points a control point",
        f"matrix at {2 * N}² [ms]",
        "motions in the plane without energy",
        "sag off, least [%]",
        "most [%]",
        "drape: farthest from full [mm]",
        "energy off full [%]",
        "off full on twice as many spans [%]",
    )

    def draw(figure: Any) -> None:
        for axes, column in zip(figure.subplots(1, 2), (6, 9)):
            for net, ink in zip(("greville", "uniform"), INK):
                shown = [r for r in rows if r[0] == net and r[1] != "1x1"]
                x = [float(r[3]) for r in shown]
                y = [max(abs(float(r[column])), 1e-3) for r in shown]
                axes.loglog(x, y, "o", color=ink, label=f"{net} net")
                for a, b, r in zip(x, y, shown):
                    axes.annotate(
                        str(r[1]), (a, b), fontsize=7, xytext=(4, 3), textcoords="offset points"
                    )
            axes.set(xlabel=columns[3], ylabel=f"{columns[column]}, absolute")
            axes.grid(alpha=0.25, which="both")
        axes.legend(fontsize=8)

    title = "Quadrature of the membrane: cost and error"
    return Study("meng2025-quadrature", title, StudyTable(columns, rows), _findings(rows), draw)


def _cost(rule: Rule, net: str) -> tuple[float, float]:
    """Points a control point, and milliseconds of the projected matrix, at 100 x 100."""
    made = scene("hanging", SplineGrid("spline", 2 * N, rule.value, net))
    assembly = prepare(made).model.assembly
    A = BlockCsr.zeros(assembly.pattern)
    x = kernel.array(prepare(made).state.x, vec3)
    bound = assembly.bound[0]
    times = []
    for _ in range(10):
        clock = time.perf_counter()
        bound.add_hessian(x, Psd.PROJECTED, A.begin())
        times.append(time.perf_counter() - clock)
    return len(made.cloth.samples().weight) / (4 * N * N), 1e3 * min(times)


def free_modes(rule: Rule, net: str, n: int = SMALL) -> int:
    """Motions in the plane that the membrane does not feel at rest: rigid ones are three."""
    patch = rectangle(n, n, 1.0, 1.0, net)
    samples = SplineSurface.of([patch], rule=rule).samples()
    x = np.column_stack([patch.rest.reshape(-1, 2), np.zeros(n * n)])
    H = Membrane(samples, BaraffWitkin((500.0, 300.0), 80.0)).hessian(x, Psd.EXACT)
    K = np.zeros((n * n, 2, n * n, 2))
    i, j = samples.stencil[:, :, None], samples.stencil[:, None, :]
    np.add.at(K.transpose(0, 2, 1, 3), (i, j), H[..., :2, :2])
    values = np.linalg.eigvalsh(K.reshape(2 * n * n, -1))
    return int((values < 1e-9 * values.max()).sum())


def _sag(rule: Rule, net: str) -> tuple[float, float]:
    """[%] of the sag by which the free border is off, least and most."""
    sheet = spline_sheet(SAGGING, SAGGING, 0.5, 0.5, "cotton", rule=rule.value, net=net)
    cloth = sheet.move((0, 0, 0), (90, 0, 0))
    made = Scene(cloth, [Pin(cloth.border("top"))])
    model = prepare(made).model
    found = QuasiStatic(QuasiStaticSettings(tolerance=1e-7)).solve(model, prepare(made).state.x)
    y = model.vertices(found.x)[cloth.border("bottom"), 1]
    exact = 0.5 * cloth.fabric.density * 9.81 * 0.5**2 / cloth.fabric.stretch_weft
    off = 100 * ((-0.25 - y) / exact - 1)
    return float(off.min()), float(off.max())


def _drape(rule: Rule, net: str, n: int, steps: int) -> tuple[Positions, float]:
    """Samples [m] and elastic energy [J] at the end of the drape test."""
    made = scene("drape", SplineGrid("spline", n, rule.value, net))
    ready = prepare(made)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    for _ in range(steps):
        state, memory, report = stepper.step(model, state, memory, STEP)
        assert report.outcome.ok, report.outcome
    return model.vertices(state.x), report.terms["membrane"] + report.terms["bending"]


def _findings(rows: Sequence[Sequence[float | str]]) -> list[str]:
    found = []
    for net in ("greville", "uniform"):
        by = {str(r[1]): [float(v) for v in r[2:]] for r in rows if r[0] == net}
        full = by["full"]
        listed = "; ".join(
            f"{name}: {full[1] / v[1]:.1f} times as fast, sag {v[3]:+.2f} to {v[4]:+.2f} %, "
            f"energy {v[6]:+.2f} % ({v[7]:+.1f} % beside twice as many spans)"
            for name, v in by.items()
            if name not in ("full", "1x1")
        )
        found.append(
            f"{net} net, against 3 x 3 points a span (energy {full[7]:+.1f} % beside twice as many "
            f"spans): {listed}."
        )
    one = next(r for r in rows if r[1] == "1x1")
    found.append(
        f"One point a span leaves {float(one[4]):.0f} motions without energy; all others the three "
        "rigid ones."
    )
    return found
