"""Does internal friction in bending explain measured drape coefficients (Matsudaira et al. 2015)?

Four fabrics whose weight, rigidity and 2HB were measured by KES, and whose drape was measured too,
on Cusick's test with and without friction. 2HB is measured; the curvature over which a loop changes
sides is not in the paper, so it is varied. Nothing is fitted.
"""

import dataclasses
from typing import Any

import numpy as np

from studies.study import INK, Cell, Say, Several, Study, StudyTable
from weft.fabric.fabric import Fabric, fabric
from weft.plugins.lab.laboratory.cusick import Cusick, cusick
from weft.plugins.lab.laboratory.pictures import drape_picture
from weft.plugins.lab.laboratory.reference_values import DRAPE_COEFFICIENTS

FABRICS = ("broadcloth", "wool-tropical", "poly-tropical", "faille")
SIZE, SEEDS, SLIPS = 6e-3, 6, (None, 25.0, 15.0, 5.0)  # [m]; drapings; [1/m], None: no friction
LABORATORIES = 5.0  # [%] by which laboratories differ
COLUMNS = (
    "fabric",
    "slip [1/m]",
    "drape coefficient [%]",
    "folds",
    "measured [%]",
    "folds measured",
)


def study(say: Say, seeds: int = SEEDS, size: float = SIZE) -> Study:
    """Drape the fabrics without friction, and with slips from slow to sudden."""
    found: dict[tuple[str, float | None], Cusick] = {}
    rows: list[list[Cell]] = []
    for name in FABRICS:
        known = DRAPE_COEFFICIENTS[name]
        for slip in SLIPS:
            result = found[name, slip] = cusick(rubbing(name, slip), size, seeds)
            several = [100 * d.coefficient for d in result.drapings]
            folds = [float(d.shadow.nodes) for d in result.drapings]
            numbers = Several.of(several), Several.of(folds)
            shown = "none" if slip is None else f"{slip:g}"
            rows.append([name, shown, *numbers, 100 * known.low, float(known.nodes or 0)])
            say(f"{name}, slip {shown}: {numbers[0].mean:.1f} %, {numbers[1].mean:.1f} folds")
    pictures = {
        f"{name}-{word}": np.hstack(
            [drape_picture(r.mesh, r.typical, view, 480, 480) for view in ("above", "perspective")]
        )
        for (name, slip), r in found.items()
        for word in ({None: "elastic", 15.0: "friction"}.get(slip),)
        if word and name in ("broadcloth", "wool-tropical")
    }

    def draw(figure: Any) -> None:
        _draw(figure, rows)

    title = "Cusick's drape test with internal friction in bending, and measured"
    table = StudyTable(COLUMNS, rows)
    return Study("drape-friction", title, table, findings(rows), draw, pictures)


def rubbing(name: str, slip: float | None) -> Fabric:
    """Return a preset without friction (None), or with its friction and another slip [1/m]."""
    one = fabric(name)
    return one.without_friction if slip is None else dataclasses.replace(one, bending_slip=slip)


def findings(rows: list[list[Cell]]) -> list[str]:
    """Say for each fabric how far it is from its measured coefficient."""
    out = []
    for name in FABRICS:
        own = {str(row[1]): row for row in rows if row[0] == name}
        measured, folds = (float(own["none"][k]) for k in (4, 5))  # type: ignore[arg-type]
        words = []
        for word in ("none", "15"):
            coefficient, counted = own[word][2:4]
            assert isinstance(coefficient, Several) and isinstance(counted, Several)
            off = coefficient.mean - measured
            which = "without" if word == "none" else "with"
            words.append(
                f"{coefficient.mean:.1f} % and {counted.mean:.1f} folds {which} friction "
                f"({off:+.1f})"
            )
        out.append(f"{name}: measured {measured:.1f} % and {folds:.0f} folds; {'; '.join(words)}.")
    return out


def _draw(figure: Any, rows: list[list[Cell]]) -> None:
    axes = figure.subplots(1, 2)
    for k, slip in enumerate(SLIPS):
        word = "none" if slip is None else f"{slip:g}"
        own = [row for row in rows if row[1] == word]
        at = np.arange(len(own)) + 0.15 * (k - 1.5)
        label = "no friction" if slip is None else f"slip {word} 1/m"
        for panel, column in zip(axes, (2, 3)):
            values = [row[column] for row in own]
            assert all(isinstance(v, Several) for v in values)
            means, spreads = np.array(values).T
            panel.errorbar(at, means, spreads, fmt="o", color=INK[k], label=label, capsize=2)
    for panel, column, label in zip(axes, (4, 5), COLUMNS[2:4]):
        own = [row for row in rows if row[1] == "none"]
        for x, row in enumerate(own):
            y = float(row[column])  # type: ignore[arg-type]
            band = LABORATORIES if column == 4 else 0.0
            panel.fill_between([x - 0.35, x + 0.35], y - band, y + band, color="#dddddd")
            panel.plot([x - 0.35, x + 0.35], [y, y], "k-", lw=1.5)
        panel.set_xticks(range(len(own)), [str(row[0]) for row in own], fontsize=8)
        panel.set_ylabel(label)
        panel.grid(alpha=0.25)
    axes[0].legend(fontsize=8)
