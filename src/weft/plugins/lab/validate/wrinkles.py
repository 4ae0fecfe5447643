"""Wavelength of the wrinkles of a stretched sheet (Cerda & Mahadevan 2003).

A sheet of the length L and the bending stiffness B is pulled along x by the tension T per width and
wrinkles across, z = f(x) cos(k y), f = 0 at its ends. Bending resists short waves and tension long
ones: where the sheet carries the compression b across,

    B k^4 f - T f'' = b k^2 f.                                                              (1)

If b is the same everywhere, f = sin(pi x/L) and b = B k^2 + c/k^2 with c = T (pi/L)^2. The least
b, 2 sqrt(B c), is that of k^4 = c/B, which is the wavelength of Cerda & Mahadevan (2003, *Phys.
Rev. Lett.* 90:074302),

    lambda = 2 sqrt(pi) (B/T)^(1/4) sqrt(L).                                                (2)

**Threshold.** For a flat sheet with these two loads (1) is exact up to terms of (pi/(k L))^2, the
largest of which, 2 B (pi/L)^2 of twist, is added to b here. The frequencies of its lowest modes are
rho w^2 = B k^4 - b k^2 + c; a fit over the modes gives lambda, and the load at which the lowest
frequency is zero gives b.

**Stretched sheet.** Between clamps, (2) is a scaling law: Poisson's contraction makes b, which is
largest in the middle and turns into tension at the clamps, so that f is narrower than a sine. From
(1), for the f that there is, k^4 = (T/B) int f'^2/int f^2: (2) with the length pi sqrt(int f^2/int
f'^2) in place of L. docs/explanations/wrinkles.md has the numbers.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.bodies.motion.pins import Pin
from weft.fabric.folds import fold_length
from weft.integrators.model import Model
from weft.integrators.quasi_static import Equilibrium
from weft.laws import StVK
from weft.plugins.lab.validate.check import RowBasis, Rows, attempt, compare
from weft.plugins.lab.validate.modes import critical_load, normal_modes
from weft.plugins.lab.validate.strip import (
    NO_WEIGHT,
    Material,
    settle,
    spline_sheet,
    spline_strip_model,
)

# Threshold: a wide sheet whose border is held in place and free to turn.
WIDE = Material(stretch=2e4, shear=1e4, bending=1e-4, density=0.1)
WIDE_LENGTH, WIDE_TENSION = 1.0, 10.0  # [m], [N/m]
HALF_WAVES, SPANS_EACH, SPANS_ALONG, MODES = 6, 10, 24, 5
AROUND = 0.05  # the two loads are this part below and above the closed form
# Stretched sheet: isotropic, clamped at both ends.
YOUNG, POISSON = 2000.0, 0.3  # [N/m] E h
SHEET = Material(stretch=YOUNG, shear=YOUNG / 2, bending=5e-7, density=0.05)
LENGTH, WIDTH, STRETCH = 0.25, 0.1, 0.1  # [m], [m], strain
POINTS = (44, 86)  # control points along and across
COMPRESSION = 1.0  # [N/m] bound of the compression anywhere in the flat sheet
HEIGHT = 2e-4  # [m] height of the mode that is the initial guess of the wrinkles


def checks() -> Rows:
    """Compare the threshold to 1 %, and a stretched sheet, which is indicative."""
    yield from attempt("wrinkles/threshold", _threshold)
    yield from attempt("wrinkles/stretched", _stretch)


def _threshold() -> Rows:
    B, strain = WIDE.bending, WIDE_TENSION / WIDE.stretch
    # In material coordinates a height is resisted by the tension over the stretch (``drum``).
    tension = WIDE_TENSION / (1 + strain)
    expected = fold_length(B, tension, WIDE_LENGTH)
    width = HALF_WAVES * expected / 2
    c = tension * (np.pi / WIDE_LENGTH) ** 2
    load = 2 * np.sqrt(B * c) + 2 * B * (np.pi / WIDE_LENGTH) ** 2
    below, above = (1 - AROUND) * load, (1 + AROUND) * load
    squares = []
    for compression in (below, above):
        model, ids = wide_sheet(width, strain, compression / WIDE.stretch)
        assert model.start is not None
        found, modes = normal_modes(model, model.start, -c / WIDE.density, MODES)
        squares.append(float(found[0]))
    critical = critical_load(below, above, (squares[0], squares[1]))
    yield compare("wrinkles/threshold, compression [N/m]", load, critical, 1e-2)
    middle = modes[ids[len(ids) // 2]]  # heights across the sheet, a column each mode
    q = np.array([(np.pi * half_waves(z) / width) ** 2 for z in middle.T])  # k^2
    B_fit, _, c_fit = np.polyfit(q, found, 2)
    got = 2 * np.pi * (B_fit / c_fit) ** 0.25
    yield compare("wrinkles/threshold, wavelength [m]", expected, got, 1e-2)


def wide_sheet(width: float, stretched: float, shortened: float) -> tuple[Model, Ints]:
    """Return the flat sheet with these strains along and across, and its grid of control points."""
    points = (SPANS_ALONG + 2, HALF_WAVES * SPANS_EACH + 2)
    surface, flat, ids = spline_sheet(points, WIDE_LENGTH, width)
    x = flat * [1 + stretched, 1.0, 1 - shortened]
    border = np.unique(np.concatenate([ids[0], ids[-1], ids[:, 0], ids[:, -1]]))
    return spline_strip_model(surface, x, WIDE, [Pin(border)], NO_WEIGHT), ids


def half_waves(z: Floats) -> int:
    """Return the number of half waves of heights z (k,) between two zeros."""
    sign = np.sign(z[np.abs(z) > 1e-2 * np.abs(z).max()])
    return int((sign[1:] != sign[:-1]).sum()) + 1


def _stretch() -> Rows:
    found = stretched_sheet()
    length = LENGTH * (1 + STRETCH)
    for name, L, allowed in (("sheet", length, 0.25), ("length of f", found.length, 0.15)):
        expected = fold_length(SHEET.bending, found.tension, L)
        row = f"wrinkles/stretched 2.5 : 1, L of the {name} [m]"
        yield compare(row, expected, found.wavelength, allowed, RowBasis.INDICATIVE)


@dataclass(frozen=True)
class Wrinkles:
    """Wrinkles of a stretched sheet, measured in the middle of its length, except for
    ``length``.
    """

    wavelength: float  # [m]
    tension: float  # [N/m] pull over the contracted width
    length: float  # [m] pi sqrt(int f^2/int f'^2)


def stretched_sheet(
    material: Material = SHEET,
    length: float = LENGTH,
    stretch: float = STRETCH,
    poisson: float = POISSON,
    points: tuple[int, int] = POINTS,
) -> Wrinkles:
    """Compute the wrinkles of a sheet that is pulled by its clamped ends; its law is St.
    Venant-Kirchhoff's.

    Args:
        material: its bending stiffness and density.
        length: [m].
        stretch: strain between the clamps.
        poisson: Poisson's ratio.
        points: control points along and across.

    Raises:
        SimulationError: no equilibrium.
    """
    surface, flat, ids = spline_sheet(points, length, WIDTH)
    law = StVK(YOUNG / (2 * (1 + poisson)), YOUNG * poisson / (1 - poisson**2))
    clamps = [Pin(np.concatenate([ids[0], ids[-1]]))]
    start = flat * [1 + stretch, 1.0, 1.0]
    model = spline_strip_model(surface, start, material, clamps, NO_WEIGHT, law)
    x = settle(model, start, 1e-6, 1e-5).x
    # min of B k^4 - b k^2
    lowest = -(COMPRESSION**2) / (4 * material.bending * material.density)
    mode = normal_modes(model, x, lowest)[1][:, 0]
    x = x + np.stack([0 * mode, HEIGHT * mode / np.abs(mode).max(), 0 * mode], axis=1)
    return _measure(settle(model, x, 1e-6, 1e-5), ids)


def _measure(found: Equilibrium, ids: Ints) -> Wrinkles:
    """Measure wrinkles of a sheet in equilibrium."""
    x = found.x
    at = x[ids]  # (along, across, 3)
    middle = at[len(at) // 2]
    y, z = middle[:, 2], middle[:, 1]
    width = float(np.ptp(y))
    i = np.flatnonzero(z[1:] * z[:-1] < 0)
    zeros = y[i] + (y[i + 1] - y[i]) * z[i] / (z[i] - z[i + 1])
    # leave out zeros near the free borders
    zeros = np.sort(zeros[np.abs(zeros - y.mean()) < 0.4 * width])
    pull = abs(float(found.phi.reaction(x)[ids[-1], 0].sum()))
    quarter = len(middle) // 4
    inner = at[:, quarter:-quarter]
    dx = np.diff(inner[..., 0], axis=0)
    heights, slopes = inner[..., 1], np.diff(inner[..., 1], axis=0) / dx
    square = float(((heights[1:] ** 2 + heights[:-1] ** 2) / 2 * dx).sum())
    length = np.pi * np.sqrt(square / float((slopes**2 * dx).sum()))
    return Wrinkles(float(2 * np.mean(np.diff(zeros))), pull / width, float(length))
