"""Why is a stretched sheet's wavelength below Cerda & Mahadevan's (2003), and where is it theirs?

Sheets between two clamps: aspect ratio, stretch, Poisson's ratio, thickness and control points are
changed one at a time. A sheet whose sides are held, too, is compressed alike everywhere, as the
formula assumes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from studies.study import INK, Say, Study, StudyTable
from weft.fabric.folds import fold_length
from weft.plugins.lab.validate.strip import settle
from weft.plugins.lab.validate.wrinkles import (
    LENGTH,
    POINTS,
    SHEET,
    STRETCH,
    WIDE,
    WIDE_LENGTH,
    WIDE_TENSION,
    WIDTH,
    stretched_sheet,
    wide_sheet,
)


def _long(ratio: float) -> dict[str, Any]:
    """A sheet so many times as long as wide, with control points as far apart as the first's."""
    return {"length": ratio * WIDTH, "points": (round(POINTS[0] * ratio / 2.5), POINTS[1])}


SHEETS: dict[str, dict[str, Any]] = {
    "2.5 : 1": {},
    "stretched by 5 %": {"stretch": 0.05},
    "Poisson's ratio 0.5": {"poisson": 0.5},
    "thinner": {"material": replace(SHEET, bending=2e-7)},
    "2 : 1": _long(2.0),
    "4 : 1": _long(4.0),
    "2.5 : 1, 24 x 30 points": {"points": (24, 30)},
    "2.5 : 1, 32 x 58 points": {"points": (32, 58)},
}
HELD = (3.0, 30.0)  # compression of held sheets, over that at which they buckle
WAVES = 4.4  # width of held sheets, over the wavelength of the formula
SEED = 1


@dataclass
class _Rows:
    """Rows of the table, and what is drawn of them."""

    table: list[list[float | str]] = field(default_factory=list)
    off: dict[str, tuple[float, float]] = field(default_factory=dict)  # [%] with L, and with L_f


def study(
    say: Say, sheets: dict[str, dict[str, Any]] = SHEETS, held: Sequence[float] = HELD
) -> Study:
    """Wavelengths of all sheets beside the formula."""
    rows = _Rows()
    for label, changes in sheets.items():
        found = stretched_sheet(**changes)
        length = changes.get("length", LENGTH) * (1 + changes.get("stretch", STRETCH))
        B = changes.get("material", SHEET).bending
        formula, own = (fold_length(B, found.tension, L) for L in (length, found.length))
        off = tuple(100 * (found.wavelength / each - 1) for each in (formula, own))
        rows.off[label] = off[0], off[1]
        numbers = [1e3 * found.wavelength, 1e3 * formula, off[0], found.length / length, off[1]]
        rows.table.append([label, *numbers])
        say(f"{label}: {off[0]:+.0f} % with L, {off[1]:+.0f} % with L_f = {numbers[3]:.2f} L")
    for over in held:
        formula, wavelength = held_sheet(over)
        label, short = f"sides held, {over:g} times the threshold", 100 * (wavelength / formula - 1)
        rows.off[label] = short, short
        rows.table.append([label, 1e3 * wavelength, 1e3 * formula, short, 1.0, short])
        say(f"{label}: {short:+.0f} %")
    columns = (
        "sheet",
        "wavelength [mm]",
        "formula [mm]",
        "off [%]",
        "L_f/L",
        "off with L_f [%]",
    )
    findings = [
        f"{label}: the wavelength is {a:+.0f} % off the formula with the sheet's length, and "
        f"{b:+.0f} % with that of the wrinkles."
        for label, (a, b) in rows.off.items()
    ]
    return Study(
        "wrinkles",
        "Wavelength of the wrinkles of stretched sheets, against Cerda & Mahadevan (2003)",
        StudyTable(columns, rows.table),
        findings,
        lambda figure: _draw(figure, rows),
    )


def held_sheet(over: float) -> tuple[float, float]:
    """The formula's wavelength, and that of a wide sheet whose sides and ends are held [m].

    Args:
        over: compression across, over that at which the sheet buckles.
    """
    strain = WIDE_TENSION / WIDE.stretch
    tension = WIDE_TENSION / (1 + strain)
    formula = fold_length(WIDE.bending, tension, WIDE_LENGTH)
    wave = np.pi / WIDE_LENGTH
    load = 2 * wave * np.sqrt(WIDE.bending * tension) + 2 * WIDE.bending * wave**2
    shortened = over * load / WIDE.stretch
    model, ids = wide_sheet(WAVES * formula, strain, shortened)
    assert model.start is not None
    x, rng = np.array(model.start), np.random.default_rng(SEED)
    along, across = (np.linspace(0, np.pi, n) for n in ids.shape)
    waves = [rng.normal() * np.sin(k * across) for k in range(2, int(4 * WAVES))]
    height = np.outer(np.sin(along), np.sum(waves, axis=0))
    x[ids, 1] += height * formula * np.sqrt(shortened) / np.pi / np.abs(height).max()
    middle = settle(model, x, 1e-7, 1e-6).x[ids[len(ids) // 2]]
    y, z = middle[:, 2], middle[:, 1]
    i = np.flatnonzero(z[1:] * z[:-1] < 0)
    zeros = np.sort(y[i] + (y[i + 1] - y[i]) * z[i] / (z[i] - z[i + 1]))
    return formula, float(2 * np.mean(np.diff(zeros[1:-1])))


def _draw(figure: Any, rows: _Rows) -> None:
    axes = figure.subplots()
    at = np.arange(len(rows.off))
    for k, label in enumerate(("L of the sheet", "L_f of the wrinkles")):
        values = [off[k] for off in rows.off.values()]
        axes.barh(at + 0.4 * k, values, 0.4, color=INK[k], label=label)
    axes.set_yticks(at + 0.2, list(rows.off), fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("wavelength against the formula [%]")
    axes.axvline(0, color="black", lw=0.8)
    axes.grid(alpha=0.25, axis="x")
    axes.legend(fontsize=8)
