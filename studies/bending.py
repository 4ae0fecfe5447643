"""Which bending energy depends least on the mesh, and what does it cost?

Energies of the literature on five kinds of triangles: energies of given surfaces, a clamped plate,
the load at which a strip on edge buckles sideways (an experiment of Romero et al. 2021, repeated by
Chen, Kaufman & Vouga 2026), and a strip that bends under its weight. Every number is over its
closed form.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from studies.bending_meshes import KINDS
from studies.bending_models import MODELS, Model, pairs
from studies.bending_plates import (
    NARROW_LOAD,
    clamped_plate,
    lateral_buckling,
    surface_energy,
)
from studies.bending_splines import clamped_spline, spline_buckling, spline_surface_energy
from studies.bending_strips import heavy_strip, strip_of_pairs, strip_of_splines
from studies.study import INK, Cell, Say, Study, StudyTable
from weft.base.errors import SimulationError

GRIDS = ("parallel", "stretched")  # kinds that are grids of rectangles all alike
TURNED = ("turned 30", "turned 45")  # strips cut at an angle [deg] from a grid
NARROW, WIDE = 0.05, 0.5  # width over length of strips on edge
# The simulated threshold of Chen, Kaufman & Vouga with midedge normals, Poisson's ratio 0.35:
# between 21.0 and 21.5 of a strip of which they fix 1 to 1.5 % of the length.
WIDE_LOAD = 21.25 * 0.99**3


class Experiment(NamedTuple):
    """A number that every model and mesh should give alike."""

    measure: Callable[[Model, str, int], float]  # of a model, a kind of mesh and a resolution
    sizes: Sequence[int]  # resolutions, coarse to fine
    exact: float
    kinds: Sequence[str]
    spline: Callable[[str, int], float]  # of B-splines, in place of ``measure``


def _surface(surface: str, exact: float) -> Experiment:
    measure = partial(_surface_energy, surface=surface)
    spline = partial(spline_surface_energy, surface=surface)
    return Experiment(measure, (16, 32), exact, KINDS, spline)


def _surface_energy(model: Model, kind: str, k: int, surface: str) -> float:
    return surface_energy(model, kind, k, surface)


def _drop(model: Model, kind: str, k: int) -> float:
    return heavy_strip(model, kind, k).ratio


def _drop_of_pairs(_: Model, kind: str, k: int) -> float:
    return strip_of_pairs(kind, k).ratio


def _drop_of_splines(_: str, k: int) -> float:
    return strip_of_splines(k // 2)


def _without_model(_: Model, kind: str, k: int, measure: Callable[[str, int], float]) -> float:
    return measure(kind, k)


EXPERIMENTS: Mapping[str, Experiment] = {
    "cylinder along x": _surface("cylinder 0", 1.0),
    "cylinder at 30 deg": _surface("cylinder 30", 1.0),
    "cylinder at 135 deg": _surface("cylinder 135", 1.0),
    "saddle": _surface("saddle", 2.0),
    "cap": _surface("cap", 2.0),
    "clamped plate": Experiment(clamped_plate, (16, 32), 1.0, KINDS, clamped_spline),
    "narrow strip on edge": Experiment(
        partial(lateral_buckling, width=NARROW, poisson=0.0),
        (2, 4),
        NARROW_LOAD,
        KINDS,
        partial(spline_buckling, width=NARROW),
    ),
    "wide strip on edge": Experiment(
        partial(lateral_buckling, width=WIDE, poisson=0.35),
        (8, 16),
        WIDE_LOAD,
        KINDS,
        partial(spline_buckling, width=WIDE),
    ),
    "heavy strip": Experiment(_drop, (20, 40), 1.0, (*KINDS, *TURNED), _drop_of_splines),
}
STRIP = EXPERIMENTS["heavy strip"]
COSTS = {"Newton iterations": 1, "processor time [s]": 2, "blocks per vertex": 3}


def study(say: Say, models: Mapping[str, Model] = MODELS) -> Study:
    """Run all experiments with all models."""
    columns = (*KINDS, *TURNED)
    rows = []
    for name, experiment in EXPERIMENTS.items():
        rows += [_row(name, label, experiment, model, say) for label, model in models.items()]
        others = {"pairs": _with_pairs(experiment), "B-splines": _with_splines(experiment)}
        rows += [_row(name, label, other, pairs, say) for label, other in others.items()]
    for label, model in models.items():
        runs = [heavy_strip(model, kind, STRIP.sizes[-1]) for kind in columns]
        for cost, place in COSTS.items():
            values = [float(run[place]) for run in runs]
            rows.append([cost, label, *values, "", float(np.ptp(values)), ""])
    table = StudyTable(("experiment", "model", *columns, "worst error", "spread", "order"), rows)
    title = "Bending energies: results over the closed form, by the kind of triangles"
    return Study("bending", title, table, findings(rows), partial(draw, rows), height=7.5)


def _with_pairs(experiment: Experiment) -> Experiment:
    """Return the experiment with pairs: large deflections need their own law, not the form."""
    return STRIP._replace(measure=_drop_of_pairs) if experiment is STRIP else experiment


def _with_splines(experiment: Experiment) -> Experiment:
    """Return the experiment with B-splines, which have grids in place of triangles."""
    measure = partial(_without_model, measure=experiment.spline)
    kinds = GRIDS[:1] if experiment is STRIP else GRIDS
    return experiment._replace(measure=measure, kinds=kinds)


def _row(name: str, label: str, experiment: Experiment, model: Model, say: Say) -> list[Cell]:
    """Return the results of a model for every kind of mesh, their range, and order of error."""
    found = np.array([_series(experiment, model, kind) for kind in experiment.kinds])
    fine, error = found[:, -1], np.abs(found - 1)
    say(f"{name}, {label}: {', '.join(f'{v:.3f}' for v in fine)}")
    values = dict(zip(experiment.kinds, fine))
    cells: list[Cell] = [float(values[k]) if k in values else "" for k in (*KINDS, *TURNED)]
    with np.errstate(divide="ignore", invalid="ignore"):
        order = float(np.median(np.log2(error[:, -2] / error[:, -1])))
    return [name, label, *cells, float(error[:, -1].max()), float(np.ptp(fine)), order]


def _series(experiment: Experiment, model: Model, kind: str) -> list[float]:
    """Return the results over the exact one for every resolution; nan without an equilibrium."""
    try:
        return [experiment.measure(model, kind, k) / experiment.exact for k in experiment.sizes]
    except SimulationError:
        return [np.nan] * len(experiment.sizes)


def findings(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Say the range of every model's results in every experiment."""
    out = []
    for name in EXPERIMENTS:
        ranges = []
        for row in (r for r in rows if r[0] == name):
            values = [v for v in row[2:-3] if isinstance(v, float)]
            ranges.append(f"{row[1]} {min(values):.2f} to {max(values):.2f}")
        out.append(f"{name}: {'; '.join(ranges)}.")
    return out


def draw(rows: Sequence[Sequence[Cell]], figure: Any) -> None:
    """Draw a panel for every experiment: results over the exact one, a row for every model."""
    panels = figure.subplots(3, 3, sharey=True).reshape(-1)
    names = list(dict.fromkeys(str(r[1]) for r in rows))
    for axes, name in zip(panels, EXPERIMENTS):
        for row in (r for r in rows if r[0] == name):
            for k, value in enumerate(row[2:-3]):
                if not isinstance(value, float):
                    continue
                ink, mark = INK[k % len(INK)], "os^Dv<>"[k]
                at = float(np.clip(value, 0.1, 10))
                axes.semilogx(at, names.index(str(row[1])), mark, color=ink, ms=4, alpha=0.8)
        axes.axvline(1.0, color="k", lw=0.8)
        axes.set(xlim=(0.09, 11), ylim=(len(names) - 0.5, -0.5), title=name)
        axes.set_yticks(range(len(names)), names, fontsize=7)
        axes.title.set_fontsize(9)
        axes.grid(alpha=0.25)
    kinds = (*KINDS, *TURNED)
    for k, kind in enumerate(kinds):
        panels[-1].plot([], [], "os^Dv<>"[k], color=INK[k % len(INK)], ms=4, label=kind)
    figure.legend(
        *panels[-1].get_legend_handles_labels(), loc="outside lower center", ncols=7, fontsize=7
    )
