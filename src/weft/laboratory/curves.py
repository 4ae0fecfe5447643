"""Curves of a data sheet, drawn with matplotlib if it is installed."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.io.files import atomic_write
from weft.laboratory.cusick import DISK, SPECIMEN
from weft.laboratory.elastica import PLANE
from weft.laboratory.shadow import ray_angles, unit_vectors
from weft.laboratory.sheet import FabricSheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = {"warp": "#1f4e79", "weft": "#c0504d", "bias": "#2e8b57"}


def missing_library(what: str = "curves") -> str:
    """Return a message if matplotlib is not installed; else an empty text."""
    if importlib.util.find_spec("matplotlib") is None:
        return f"no {what}: these need matplotlib, pip install 'weft[plots]'"
    return ""


def draw(sheet: FabricSheet, path: Path) -> None:
    """Write a PNG with a panel for every test that was run.

    Raises:
        RunError: the file cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = []
    if sheet.tensile:
        panels.append(_tensile)
    if sheet.shear is not None:
        panels.append(_shear)
    if sheet.cantilever:
        panels.append(_cantilever)
    if sheet.cusick is not None:
        panels.append(_outlines)
    figure = Figure(figsize=(4.2 * len(panels), 3.8), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    for panel, axes in zip(panels, np.atleast_1d(figure.subplots(1, len(panels)))):
        panel(sheet, axes)
    figure.suptitle(f"{sheet.fabric.name}: {sheet.fabric.title}", fontsize=11)
    with atomic_write(path) as file:
        figure.savefig(file, format="png")


def _tensile(sheet: FabricSheet, axes: "Axes") -> None:
    for r in sheet.tensile:
        axes.plot(100 * r.strain, r.force, "o-", ms=3, color=INK[r.cut], label=r.cut)
    axes.set(xlabel="strain [%]", ylabel="force per width [N/m]", title="tensile", yscale="log")
    axes.legend(frameon=False)


def _shear(sheet: FabricSheet, axes: "Axes") -> None:
    assert sheet.shear is not None
    axes.plot(sheet.shear.angle, sheet.shear.force, "o-", ms=3, color=INK["bias"])
    axes.set(xlabel="shear angle [deg]", ylabel="force per width [N/m]", title="shear frame")


def _cantilever(sheet: FabricSheet, axes: "Axes") -> None:
    reach = 0.0
    for r in sheet.cantilever:
        line = 100 * r.profile
        axes.plot(
            *line.T, color=INK[r.direction], label=f"{r.direction}, L = {100 * r.overhang:.2f} cm"
        )
        reach = max(reach, float(line[-1, 0]))
    axes.plot([0, reach], [0, -reach * np.tan(PLANE)], "k:", lw=1, label="41.5°")
    axes.set(xlabel="[cm]", ylabel="[cm]", title="cantilever", aspect="equal")
    axes.legend(frameon=False, fontsize=8)


def _outlines(sheet: FabricSheet, axes: "Axes") -> None:
    assert sheet.cusick is not None
    for d in sheet.cusick.drapings:
        at = 100 * d.shadow.radius[:, None] * unit_vectors(d.shadow.angle)
        axes.plot(*_closed(at), lw=1, label=f"{d.coefficient:.1%}, {d.shadow.nodes} folds")
    for radius in (DISK, SPECIMEN):
        axes.plot(*_closed(100 * radius * unit_vectors(ray_angles())), "k:", lw=0.8)
    axes.set(xlabel="warp [cm]", ylabel="weft [cm]", title="shadow", aspect="equal")
    axes.legend(frameon=False, fontsize=7, loc="center")


def _closed(points: Floats) -> Floats:
    """Return the two rows of coordinates of a closed line through points (k,2), (2,k+1)."""
    return np.concatenate([points, points[:1]]).T
