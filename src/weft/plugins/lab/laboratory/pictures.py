"""Pictures of a draped specimen under its disk, and curves of a data sheet (with matplotlib)."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Faces, Floats, Positions
from weft.discretization.mesh import TriangleMesh
from weft.discretization.polygon import close_polygon, unit_vectors
from weft.io.files import atomic_write
from weft.plugins.lab.laboratory.cantilever import Cantilever
from weft.plugins.lab.laboratory.cusick import DISK, SPECIMEN, Cusick, Draping
from weft.plugins.lab.laboratory.elastica import PLANE
from weft.plugins.lab.laboratory.loop import HysteresisLoop
from weft.plugins.lab.laboratory.shadow import ray_angles
from weft.plugins.lab.laboratory.shear import Shear
from weft.plugins.lab.laboratory.sheet import FabricSheet
from weft.plugins.lab.laboratory.tensile import Tensile
from weft.show.picture.renderer import Image, Renderer, Style

ABOVE_CLOTH, CORNERS = 1e-3, 96  # [m] height, and number of corners, of the drawn disk
VIEWS = {"above": (0.0, 89.0), "perspective": (28.0, 24.0)}  # azimuth, elevation [degrees]
if TYPE_CHECKING:
    from matplotlib.axes import Axes
INK = {"warp": "#1f4e79", "weft": "#c0504d", "bias": "#2e8b57"}


def drape_pictures(result: Cusick, width: int = 720, height: int = 720) -> Mapping[str, Image]:
    """Return pictures of the typical draping: ``above`` (warp to the right) and ``perspective``."""
    return {view: drape_picture(result.mesh, result.typical, view, width, height) for view in VIEWS}


def drape_picture(
    mesh: TriangleMesh, draping: Draping, view: str, width: int, height: int
) -> Image:
    """Return a picture (h,w,3) of one draping, from one of ``VIEWS``."""
    azimuth, elevation = VIEWS[view]
    style = Style(width=width, height=height, azimuth=azimuth, elevation=elevation)
    points, faces = upper_disk()
    x = np.concatenate([draping.x, points])
    return Renderer(mesh, [x], style, body_faces=faces).image(x)


def upper_disk() -> tuple[Positions, Faces]:
    """Return points and faces of the upper disk of the tester, a little above the cloth."""
    turn = 2 * np.pi * np.arange(CORNERS) / CORNERS
    rim = DISK * np.stack([np.cos(turn), 0 * turn, -np.sin(turn)], axis=1)
    points = np.concatenate([rim, [[0.0, 0.0, 0.0]]]) + [0.0, ABOVE_CLOTH, 0.0]
    ids = np.arange(CORNERS)
    faces = np.stack([ids, np.roll(ids, -1), np.full(CORNERS, CORNERS)], axis=1)
    return points, faces.astype(np.int32)


def missing_library(what: str = "curves") -> str:
    """Return a message if matplotlib is not installed; else an empty text."""
    if importlib.util.find_spec("matplotlib") is None:
        return f"no {what}: these need matplotlib, pip install 'weft[plots]'"
    return ""


Panel = Callable[["Axes"], None]


def draw_panels(path: Path, panels: Sequence[Panel], across: int, title: str = "") -> None:
    """Write a PNG of panels, ``across`` in a row.

    Raises:
        RunError: the file cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across = min(across, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(4.2 * across, 3.7 * down), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    every = np.atleast_1d(figure.subplots(down, across)).ravel()
    for panel, axes in zip(panels, every):
        panel(axes)
    for axes in every[len(panels) :]:
        axes.set_axis_off()
    figure.suptitle(title, fontsize=11)
    with atomic_write(path) as file:
        figure.savefig(file, format="png")


def draw_sheet(sheet: FabricSheet, path: Path) -> None:
    """Write a PNG with a panel for every test that was run.

    Raises:
        RunError: the file cannot be written.
    """
    tests: Sequence[tuple[Callable[..., None], object]] = (
        (_tensile, sheet.tensile),
        (_shear, sheet.shear),
        (_bending, sheet.bending),
        (_cantilever, sheet.cantilever),
        (_outlines, sheet.cusick),
    )
    panels = [partial(panel, result) for panel, result in tests if result]
    draw_panels(path, panels, len(panels), f"{sheet.fabric.name}: {sheet.fabric.title}")


def _tensile(results: Sequence[Tensile], axes: "Axes") -> None:
    for r in results:
        axes.plot(100 * r.strain, r.force, "o-", ms=3, color=INK[r.cut], label=r.cut)
    axes.set(xlabel="strain [%]", ylabel="force per width [N/m]", title="tensile", yscale="log")
    axes.legend(frameon=False)


def _shear(result: Shear, axes: "Axes") -> None:
    axes.plot(result.angle, result.force, "o-", ms=3, color=INK["bias"])
    if result.loop is not None:
        axes.plot(np.degrees(result.loop.strain), result.loop.load, color=INK["bias"], lw=1)
    axes.set(xlabel="shear angle [deg]", ylabel="force per width [N/m]", title="shear frame")


def _bending(loops: Mapping[str, HysteresisLoop], axes: "Axes") -> None:
    for direction, loop in loops.items():
        axes.plot(loop.strain / 100, 1e3 * loop.load, lw=1, color=INK[direction], label=direction)
    axes.set(xlabel="curvature [1/cm]", ylabel="moment per width [mN]", title="pure bending")
    axes.legend(frameon=False)


def _cantilever(results: Sequence[Cantilever], axes: "Axes") -> None:
    reach = 0.0
    for r in results:
        line = 100 * r.profile
        axes.plot(
            *line.T, color=INK[r.direction], label=f"{r.direction}, L = {100 * r.overhang:.2f} cm"
        )
        reach = max(reach, float(line[-1, 0]))
    axes.plot([0, reach], [0, -reach * np.tan(PLANE)], "k:", lw=1, label="41.5°")
    axes.set(xlabel="[cm]", ylabel="[cm]", title="cantilever", aspect="equal")
    axes.legend(frameon=False, fontsize=8)


def _outlines(result: Cusick, axes: "Axes") -> None:
    for d in result.drapings:
        at = 100 * d.shadow.radius[:, None] * unit_vectors(d.shadow.angle)
        axes.plot(*_closed(at), lw=1, label=f"{d.coefficient:.1%}, {d.shadow.nodes} folds")
    for radius in (DISK, SPECIMEN):
        axes.plot(*_closed(100 * radius * unit_vectors(ray_angles())), "k:", lw=0.8)
    axes.set(xlabel="warp [cm]", ylabel="weft [cm]", title="shadow", aspect="equal")
    axes.legend(frameon=False, fontsize=7, loc="center")


def _closed(points: Floats) -> Floats:
    """Return the two rows of coordinates of a closed line through points (k,2), (2,k+1)."""
    return close_polygon(points).T
