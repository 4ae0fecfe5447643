"""Do strips of triangles or splines lock as their membrane stiffens (heavy elastica, Gamma = 50)?

A cantilever bends under its own weight on one fixed mesh, while its membrane stiffness k L^2/D goes
from 1e2 to 1e8. Stretching is negligible from 1e4 on; what happens above that is the mesh's doing.
Meshes whose elements must stretch where the strip bends stay up. Splines have half as many spans as
triangles have segments.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Positions
from weft.discretization.mesh import Pattern
from weft.discretization.quadrature import Rule
from weft.plugins.lab.validate.elastica import DROPS, LENGTH, drop, spline_strip

GAMMA = 50
RATIOS = tuple(10.0**k for k in range(2, 9))
PATTERNS: tuple[Pattern, ...] = ("regular", "alternating", "random")
RULES = (Rule.REDUCED, Rule.FULL)
NAMES = (*PATTERNS, *(f"spline, {rule.value}" for rule in RULES))


def study(say: Say, ratios: Sequence[float] = RATIOS, segments: int = 40) -> Study:
    """Drop of the tip for every stiffness and pattern."""
    rows: list[list[float | str]] = []
    starts: dict[Rule, Positions] = {}
    for ratio in ratios:
        drops = [drop(GAMMA, ratio, pattern, segments) for pattern in PATTERNS]
        for rule in RULES:
            starts[rule], _ = spline_strip(
                GAMMA, ratio, segments // 2, rule, start=starts.get(rule)
            )
            drops.append(float(-starts[rule][-1, :, 1].mean() / LENGTH))
        rows.append([ratio, *drops])
        listed = ", ".join(f"{p} {d:.4f}" for p, d in zip(NAMES, drops))
        say(f"k L^2/D = {ratio:g}: drop {listed}")
    expected = DROPS[GAMMA]
    table = StudyTable(("k L^2/D", *(f"drop/L, {p}" for p in NAMES)), rows)

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        values = np.array([[float(v) for v in r] for r in rows])
        for i, (pattern, ink) in enumerate(zip(NAMES, INK)):
            mark = "o-" if i < len(PATTERNS) else "s--"
            axes.semilogx(values[:, 0], values[:, i + 1], mark, color=ink, ms=5, label=pattern)
        axes.axhline(expected, color="k", lw=1, ls="--", label="inextensible elastica")
        axes.set(xlabel="membrane stiffness k L²/D", ylabel="drop of the tip over the length")
        axes.legend(fontsize=8)
        axes.grid(alpha=0.25)

    title = f"Heavy elastica, Gamma = {GAMMA}, {segments} segments: membrane stiffness"
    return Study("locking", title, table, findings(rows, expected), draw)


def findings(rows: Sequence[Sequence[float | str]], expected: float) -> list[str]:
    """The drop at the stiffest, beside that of the inextensible elastica."""
    last = rows[-1]
    return [
        f"{pattern}: at k L^2/D = {float(last[0]):g} the drop is {float(last[i + 1]):.4f}, "
        f"{100 * (float(last[i + 1]) / expected - 1):+.1f} % of the elastica's {expected}."
        for i, pattern in enumerate(NAMES)
    ]
