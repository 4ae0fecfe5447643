"""Which weight alpha = a^p makes cloth independent of its mesh (Pritchard 2012, section 5.2)?

A 1 m sheet hangs by its whole top edge. A stiffness k with weight a^p is a membrane of stiffness
k a^(2p-1) [N/m], so it stretches by rho g L^2/(2 k a^(2p-1)): the closed form beside which the
equilibria are put, on regular meshes and on irregular ones, which the notes left open. The same
sheet, held at two corners for two seconds with Table 1, shows what that looks like.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.drape import DENSITY, GRAVITY, conditions, model, outline, square, step_for
from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Floats
from weft.bodies.motion.pins import Pin
from weft.cloth.create import sheet
from weft.discretization.mesh import Pattern
from weft.energies.elastic.condition import POWERS, Conditions, Variant, condition_energies
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.integrators.model import Model
from weft.plugins.lab.validate.strip import rest

SIDES = (10, 20, 40, 80)  # vertices
SECONDS = 2.0
STRETCH = 5000.0  # Table 1
LOWEST = -1.5  # [m] where the plot of outlines ends


def study(say: Say, sides: Sequence[int] = SIDES, seconds: float = SECONDS) -> Study:
    """Elongation of every weight on every mesh, and outlines of the drape."""
    rows: list[list[float | str]] = []
    outlines: dict[tuple[float, int], Floats] = {}
    for p in POWERS:
        for n in sides:
            regular, irregular = elongation(n, p), elongation(n, p, "random")
            cloth = square(n)
            c = Conditions(p=p)
            drape, _ = step_for(
                model(cloth, conditions(cloth, c)), State.at_rest(cloth.vertices), seconds
            )
            outlines[p, n] = outline(cloth, drape.x)
            lowest = float(drape.x[:, 1].min() - cloth.vertices[:, 1].max())
            rows.append([p, n, regular, closed_form(n, p), irregular, -lowest])
            say(f"p = {p}, {n} x {n}: stretches by {100 * regular:.4g} %")
    columns = (
        "p",
        "vertices a side",
        "elongation [m]",
        "closed form [m]",
        "elongation, irregular mesh [m]",
        "lowest point of the drape [m below its corners]",
    )
    table = StudyTable(columns, rows)

    def draw(figure: Any) -> None:
        _draw(figure, rows, outlines, sides)

    return Study(
        "pritchard-scale", "Sag of a hanging sheet under refinement", table, findings(rows), draw
    )


def closed_form(n: int, p: float) -> float:
    """[m] rho g L^2/(2 k a^(2p-1)) with a the area of a triangle of the regular mesh."""
    area = 0.5 / (n - 1) ** 2
    return float(DENSITY * GRAVITY / (2 * STRETCH * area ** (2 * p - 1)))


def elongation(n: int, p: float, pattern: Pattern = "regular") -> float:
    """[m] by which the bottom of a sheet of unit length sinks, in equilibrium."""
    cloth = sheet(n, n, fabric="freecloth", pattern=pattern).move((0, 0, 0), (90, 0, 0))
    energies = condition_energies(cloth.mesh, Conditions(p=p, variant=Variant.EXACT))
    mass = DENSITY * cloth.mesh.vertex_area
    m = Model(mass, (*energies, Gravity(mass)), [Pin(cloth.mesh.groups["top"])], cloth.vertices)
    x = rest(m, np.array(cloth.vertices), tolerance=1e-7).start
    bottom = cloth.mesh.groups["bottom"]
    return float(np.mean(cloth.vertices[bottom, 1] - x[bottom, 1]))


def findings(rows: Sequence[Sequence[float | str]]) -> list[str]:
    """The growth of the elongation with each refinement, and how irregular meshes differ."""
    out = []
    for p in POWERS:
        mine = np.array([[float(v) for v in r] for r in rows if r[0] == p])
        growth = (mine[-1, 2] / mine[0, 2]) ** (1 / max(len(mine) - 1, 1))
        expected = (mine[-1, 3] / mine[0, 3]) ** (1 / max(len(mine) - 1, 1))
        irregular = np.abs(mine[:, 4] / mine[:, 2] - 1).max()
        out.append(
            f"p = {p:g}: each refinement multiplies the elongation by {growth:.3f} (closed form "
            f"{expected:.3f}); irregular meshes differ by up to {100 * irregular:.2g} %."
        )
    return out


def _draw(
    figure: Any,
    rows: Sequence[Sequence[float | str]],
    outlines: dict[tuple[float, int], Floats],
    sides: Sequence[int],
) -> None:
    left, *others = figure.subplots(1, 4, width_ratios=[2.2, 1, 1, 1])
    for p, ink in zip(POWERS, INK):
        mine = np.array([[float(v) for v in r] for r in rows if r[0] == p])
        left.loglog(mine[:, 1], mine[:, 3], "-", color=ink, lw=1, label=f"p = {p:g}, closed form")
        left.loglog(mine[:, 1], mine[:, 2], "o", color=ink, ms=5)
        left.loglog(mine[:, 1], mine[:, 4], "x", color=ink, ms=6)
    left.plot([], [], "ko", ms=5, label="regular mesh")
    left.plot([], [], "kx", ms=6, label="irregular mesh")
    left.set(xlabel="vertices a side", ylabel="elongation of a 1 m sheet [m]")
    left.legend(fontsize=7, loc=(0.55, 0.08))
    left.set_xticks(list(sides), [str(n) for n in sides])
    left.minorticks_off()
    for axes, p in zip(others, POWERS):
        for n, ink in zip(sides, INK):
            o = outlines[p, n]
            axes.plot(o[:, 0], o[:, 1], color=ink, lw=1, label=f"{n} x {n}")
        axes.set(title=f"p = {p:g}", xlim=(-0.6, 0.6), ylim=(LOWEST, 0.6))
        axes.title.set_fontsize(9)
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.tick_params(labelsize=7)
    others[0].set_ylabel("two corners held, after 2 s [m]", fontsize=8)
    others[-1].legend(fontsize=6, loc="lower center")
