"""How many edges does a fold need: wavelength, depth and drape coefficient under refinement?

A strip in shear (``spline_wrinkles``) on a grid of triangles, on irregular triangles and on
splines, and Cusick's drape of silk, each against its own finest mesh. Edges are counted along the
fold that theory, or the estimate of ``weft check``, expects.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from studies.spline_wrinkles import (
    BENDING,
    HEIGHT,
    WIDTH,
    half_wavelength,
    middle_tension,
    sheared,
    strip,
)
from studies.study import INK, Say, Study, StudyTable
from weft.fabric.fabric import fabric
from weft.fabric.folds import weight_fold
from weft.plugins.lab.laboratory.cusick import SPECIMEN, cusick

STRIPS = {  # points along the strip; the last mesh is what the others are compared with
    "triangles": (25, 33, 41, 49, 73, 97),
    "irregular": (25, 33, 41, 49, 73, 97),
    "spline": (17, 25, 33, 41, 49, 73),
}
SIZES = (15e-3, 10.7e-3, 7.5e-3, 5e-3, 4e-3)  # [m] edges of the specimens
DRAPINGS = 3


def study(
    say: Say,
    strips: Mapping[str, Sequence[int]] = STRIPS,
    sizes: Sequence[float] = SIZES,
    fabrics: Sequence[str] = ("silk",),
) -> Study:
    """Errors against the finest mesh by edges along a fold."""
    rows: list[list[float | str]] = []
    for kind, counts in strips.items():
        own = [_sheared(kind, n) for n in counts]
        rows += _compare(f"shear, {kind}", own, say)
    for name in fabrics:
        made = fabric(name)
        wave = weight_fold(made, made.density * 9.81, (2 * SPECIMEN, 2 * SPECIMEN))
        assert wave is not None
        drapes: list[tuple[float, float, float]] = []
        for size in sizes:
            found = cusick(made, size, DRAPINGS)
            around = 2 * np.pi * SPECIMEN / found.nodes
            drapes.append((wave.length / size, around, 100 * found.coefficient))
        rows += _compare(f"drape, {name}", drapes, say) if drapes else []
    columns = (
        "test",
        "edges along a fold",
        "fold [mm]",
        "fold, off [%]",
        "depth [mm], or drape coefficient [%]",
        "off [%]",
    )
    findings = [
        f"{r[0]}, {float(r[1]):.1f} edges: the fold is {float(r[3]):+.0f} % off that of the finest "
        f"mesh, depth or drape coefficient {float(r[5]):+.0f} %."
        for r in rows
    ]
    return Study(
        "resolution",
        "Folds against the edges that they have",
        StudyTable(columns, rows),
        findings,
        lambda figure: _draw(figure, rows),
    )


def _sheared(kind: str, n: int) -> tuple[float, float, float]:
    """Edges along the expected wrinkle, wavelength [m], and depth [mm]."""
    cloth = strip(kind, n)
    model, x, law = sheared(cloth)
    tension = middle_tension(cloth, model, x, law)
    half, profile = half_wavelength(cloth, model.vertices(x))
    expected = 2 * (2 * np.pi**2 * HEIGHT**2 * BENDING / tension) ** 0.25
    return expected / (WIDTH / (n - 1)), 2 * half, 1e3 * float(np.ptp(profile[1]))


def _compare(
    label: str, found: Sequence[tuple[float, float, float]], say: Say
) -> list[list[float | str]]:
    """Rows of a test: edges, fold and depth, with what they are off the last one."""
    rows: list[list[float | str]] = []
    *_, (_, fold, depth) = found
    for edges, own, deep in found:
        off = 100 * (own / fold - 1), 100 * (deep / depth - 1)
        rows.append([label, edges, 1e3 * own, off[0], deep, off[1]])
        say(f"{label}: {edges:.1f} edges, fold {off[0]:+.0f} %, depth {off[1]:+.0f} %")
    return rows


def _draw(figure: Any, rows: Sequence[Sequence[float | str]]) -> None:
    for axes, column, title in zip(
        figure.subplots(1, 2, sharex=True), (3, 5), ("fold", "depth, or drape coefficient")
    ):
        for label, ink in zip(dict.fromkeys(r[0] for r in rows), INK):
            own = [r for r in rows if r[0] == label]
            axes.plot([r[1] for r in own], [r[column] for r in own], "o-", color=ink, label=label)
        axes.set_xlabel("edges along a fold")
        axes.set_ylabel(f"{title}: off the finest mesh [%]")
        axes.grid(alpha=0.25)
        axes.legend(fontsize=8)
