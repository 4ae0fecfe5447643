"""Plots of a fit: data and model of measured curves, all residuals, and the cloth found in
photographs.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.plugins.lab.fitting.fit import Fit
from weft.plugins.lab.fitting.measurement import Comparison
from weft.plugins.lab.fitting.picture import ClothPicture
from weft.plugins.lab.laboratory.pictures import Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DATA, MODEL = "#c0504d", "#1f4e79"
ACROSS = 3  # panels in a row
LEAST = 2  # points that make a curve
MOST = 6  # photographs that are shown
WIDE = 400  # [pixels] largest side of a photograph in the plot


def draw(found: Fit, path: Path) -> None:
    """Write a PNG with a panel for each curve, one for all residuals, and one for each photograph.

    A photograph shows the outline of the cloth, and doubtful pixels in red.

    Raises:
        RunError: the file cannot be written.
    """
    pairs = [(m.name, m.comparison(found.fabric)) for m in found.measurements]
    curves = [(name, c) for name, c in pairs if c is not None and len(c.x) >= LEAST]
    photographs = [p for m in found.measurements for p in m.pictures][:MOST]
    panels: list[Panel] = [partial(_curve, name, c) for name, c in curves]
    panels += [partial(_residuals, found), *(partial(_photograph, p) for p in photographs)]
    draw_panels(path, panels, ACROSS)


def _curve(name: str, c: Comparison, axes: "Axes") -> None:
    axes.errorbar(c.x, c.data, yerr=2 * c.sigma, fmt="o", ms=3, color=DATA, lw=1, label="data, 2 σ")
    axes.plot(c.x, c.model, "-", color=MODEL, label="fitted")
    axes.set(title=name, xlabel=c.x_label, ylabel=c.y_label)
    axes.legend(frameon=False, fontsize=8)


def _photograph(cloth: ClothPicture, axes: "Axes") -> None:
    step = -(-max(cloth.mask.shape) // WIDE)
    shown = np.clip(cloth.color[::step, ::step], 0, 1) ** (1 / 2.2)
    if cloth.unsure is not None:
        shown[cloth.unsure[::step, ::step]] = [1.0, 0.0, 0.0]
    axes.imshow(shown)
    axes.contour(cloth.mask[::step, ::step], levels=[0.5], colors=DATA, linewidths=1)
    doubt = f", {cloth.doubt:.0%} more in doubt (red)" if cloth.doubt else ""
    axes.set_title(f"{Path(cloth.where).name}: cloth{doubt}", fontsize=8)
    axes.set_axis_off()


def _residuals(found: Fit, axes: "Axes") -> None:
    names = [m.name for m in found.measurements]
    for k, r in enumerate(found.residuals):
        axes.plot(
            r,
            np.full(len(r), k) + np.linspace(-0.2, 0.2, len(r)) * (len(r) > 1),
            "o",
            ms=3,
            color=DATA,
        )
    for bound in (-2, 0, 2):
        axes.axvline(bound, color=MODEL, lw=1, ls="-" if bound == 0 else ":")
    reach = max(2.5, 1.1 * max(float(np.abs(r).max()) for r in found.residuals))
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set(title="residuals", xlabel="(fitted - data)/standard deviation", xlim=(-reach, reach))
    axes.invert_yaxis()
