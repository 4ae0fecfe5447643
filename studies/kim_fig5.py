"""Does the analytic projection converge faster than Gauss-Newton (Kim 2020, figure 5)?

The stretched sheet without gravity, from the same start with the same bumps: energy and force
against iteration, and the cloth after 1, 2, 3 and 4 of them; k = 100, k_theta = 1e-4.
"""

import dataclasses
import re
from functools import partial
from typing import Any

import numpy as np

from studies.kim import (
    SETTINGS,
    VERTICES,
    model,
    pictures,
    relief,
    settle,
    show_rows,
    stretched,
)
from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Positions
from weft.laws import BaraffWitkin, Psd
from weft.solve.newton.minimize import Iterate

K, K_THETA = 100.0, 1e-4  # [N/m], [J]
LOOK = (1, 2, 3, 4)  # iterations that are drawn
MOST = 60
LABELS = {"energy": "energy above the least [J]", "force": "largest force over the pins'"}
METHODS = {"Gauss-Newton": Psd.GAUSS_NEWTON, "projected": Psd.PROJECTED}


def study(say: Say, n: int = VERTICES, most: int = MOST) -> Study:
    """Both matrices, iteration by iteration."""
    where = stretched(n)
    what = model(where, BaraffWitkin((K, K), K), K_THETA, gravity=0.0)
    histories: dict[str, list[Iterate]] = {}
    shapes: dict[str, list[Positions]] = {}
    for label, psd in METHODS.items():
        settings = dataclasses.replace(SETTINGS, psd=psd, max_iterations=most, try_exact=False)
        seen: list[Positions] = []
        found = settle(what, where, label, say, settings, partial(_keep, seen))
        histories[label], shapes[label] = found.history, seen
    least = min(i.energy for h in histories.values() for i in h)
    rows: list[list[float | str]] = []
    for label, history in histories.items():
        for k, i in enumerate(history):
            deep = relief(where, shapes[label][k])
            rows.append([label, k, i.energy - least, i.force, i.step, i.linear_iterations, deep])
    columns = (
        "matrix",
        "iteration",
        "energy above the least [J]",
        "largest force over the pins'",
        "step",
        "linear iterations",
        "relief after it [m]",
    )
    drawn = [s[k - 1] for s in shapes.values() for k in LOOK if k <= len(s)]
    images = pictures(where, drawn)
    titles = [f"{label}, {k}" for label, s in shapes.items() for k in LOOK if k <= len(s)]

    def draw(figure: Any) -> None:
        top, bottom = figure.subfigures(2, 1, height_ratios=[1.6, 1])
        show_rows(top.subplots(2, len(LOOK)), images, titles)
        for axes, quantity in zip(bottom.subplots(1, 2), LABELS):
            for (label, history), ink in zip(histories.items(), INK):
                values = np.array([getattr(i, quantity) for i in history])
                if quantity == "energy":
                    values = np.where(values > least, values - least, np.nan)
                axes.semilogy(values, "o-", ms=3, lw=1, color=ink, label=label)
            axes.set(xlabel="iteration")
            axes.grid(alpha=0.25)
            axes.set_ylabel(
                {"energy": "energy above the least [J]", "force": "largest force"}[quantity]
            )
        axes.legend(fontsize=8)

    title = "Stretch test without gravity: projected Newton and Gauss-Newton"
    named = {re.sub(r"[^a-z0-9]+", "-", k.lower()): image for k, image in zip(titles, images)}
    table = StudyTable(columns, rows)
    words = findings(histories, least)
    return Study("kim2020-fig5", title, table, words, draw, named, 7.0)


def _keep(seen: list[Positions], _: Iterate, x: Positions) -> None:
    seen.append(x)


def findings(histories: dict[str, list[Iterate]], least: float) -> list[str]:
    """Iterations until the energy is close to the least one found."""
    out = []
    for label, history in histories.items():
        start = history[0].energy - least
        left = np.array([i.energy - least for i in history]) / start
        needed = {
            share: int(np.argmax(left < share))
            for share in (1e-1, 1e-2, 1e-3)
            if (left < share).any()
        }
        listed = ", ".join(f"{share:g} after {k}" for share, k in needed.items())
        full = sum(i.step == 1.0 for i in history)
        out.append(
            f"{label}: energy above the least falls to {listed}; {full} of {len(history)} steps "
            f"were full ones; one iteration leaves {100 * left[min(1, len(left) - 1)]:.3g} %."
        )
    return out
