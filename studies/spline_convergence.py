"""How fast do triangles and splines approach a smooth bent state (the heavy elastica, Gamma = 8)?

The shape of the strip's middle line is compared with the inextensible elastica, integrated to
round-off, and its energy with the elastica's. Triangles are a regular grid with as many segments as
splines have spans; k L^2/D = 1e5.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_bvp

from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Floats
from weft.discretization.basis import basis
from weft.discretization.quadrature import Rule
from weft.discretization.spline_surface import Bending
from weft.plugins.lab.validate.elastica import LENGTH, spline_strip, strip_at_rest
from weft.plugins.lab.validate.strip import GRAVITY

GAMMA, RATIO, DENSITY = 8, 1e5, 0.1
SPANS = (10, 20, 40, 80)
KINDS = {
    "triangles": None,
    "spline, reduced": (Rule.REDUCED, Bending.PLATE),
    "spline, alternating": (Rule.ALTERNATING, Bending.PLATE),
    "spline, full": (Rule.FULL, Bending.PLATE),
    "spline, reduced, mean curvature": (Rule.REDUCED, Bending.MEAN),
}


def elastica(gamma: float) -> Any:
    """theta(s), x(s), y(s) of the inextensible strip of length 1, and the energy times Gamma/D.

    D theta'' = rho g (L - s) cos theta, clamped level at s = 0, free at s = 1; y is up.
    """
    s = np.linspace(0, 1, 400)

    def slope(s: Floats, y: Floats) -> Floats:
        return np.stack(
            [
                y[1],
                gamma * (1 - s) * np.cos(y[0]),
                np.cos(y[0]),
                np.sin(y[0]),
                0.5 * y[1] ** 2 + gamma * y[3],
            ]
        )

    def ends(a: Floats, b: Floats) -> Floats:
        return np.array([a[0], b[1], a[2], a[3], a[4]])

    guess = np.zeros((5, len(s)))
    guess[2] = s
    found = solve_bvp(slope, ends, s, guess, tol=1e-10, max_nodes=100_000)
    assert found.success, found.message
    return found.sol


def study(say: Say, spans: Sequence[int] = SPANS) -> Study:
    """Errors of all kinds at every number of spans, and the rates between the last two."""
    exact = elastica(GAMMA)
    D = DENSITY * GRAVITY * LENGTH**3 / GAMMA
    rows: list[list[float | str]] = []
    for m in spans:
        for kind, settings in KINDS.items():
            if settings is None:
                x, mesh, energy = strip_at_rest(GAMMA, RATIO, "regular", m)
                uv = mesh.vertex_uv
                assert uv is not None
                # The clamp is in the middle of the first cell (``validate.elastica``).
                cell = LENGTH / (m - 0.5)
                row = np.flatnonzero(np.abs(uv[:, 1] - cell) < 1e-9)
                s, line = uv[row, 0] - 0.5 * cell, x[row, :2] - [x[row[0], 0] + 0.5 * cell, 0.0]
                width = 3 * cell
            else:
                net, energy = spline_strip(GAMMA, RATIO, m, *settings)
                s = np.linspace(0, 1, 4 * m + 1)
                b = basis(m + 2, s * m)
                middle = net[:, 2, :2] - [net[0, 2, 0], 0.0]
                line = np.einsum("qa,qai->qi", b.value, middle[b.first[:, None] + np.arange(3)])
                width = 3 * LENGTH / m
            on = s >= 0
            error = np.sqrt(((line[on] - exact(s[on])[2:4].T) ** 2).sum(1).mean())
            whole = energy / width / D
            off = abs(whole / float(exact(1.0)[4]) - 1)
            rows.append([kind, float(m), float(error), float(off)])
        listed = ", ".join(f"{r[0]} {r[2]:.1e}" for r in rows[-len(KINDS) :])
        say(f"{m} spans: L2 error {listed}")
    table = StudyTable(
        ("kind", "spans", "L2 error of the shape [L]", "relative error of energy"), rows
    )

    def draw(figure: Any) -> None:
        for k, (axes, label) in enumerate(zip(figure.subplots(1, 2), table.columns[2:])):
            for kind, ink in zip(KINDS, INK):
                curve = np.array([[float(v) for v in r[1:]] for r in rows if r[0] == kind])
                axes.loglog(curve[:, 0], curve[:, 1 + k], "o-", color=ink, ms=4, label=kind)
            axes.set(xlabel="spans (segments)", ylabel=label)
            axes.grid(alpha=0.25, which="both")
        axes.legend(fontsize=7)

    title = f"Heavy elastica, Gamma = {GAMMA}: convergence"
    return Study("spline-convergence", title, table, _findings(rows), draw)


def _findings(rows: Sequence[Sequence[float | str]]) -> list[str]:
    found = []
    for kind in KINDS:
        m, shape, energy = np.array([[float(v) for v in r[1:]] for r in rows if r[0] == kind]).T
        step = np.log(m[-1] / m[-2])
        a, b = (float(np.log(e[-2] / e[-1]) / step) for e in (shape, energy))
        found.append(
            f"{kind}: shape off by {shape[0]:.1e} to {shape[-1]:.1e} L (order {a:.1f} at the end), "
            f"energy by {energy[0]:.1e} to {energy[-1]:.1e} (order {b:.1f})."
        )
    return found
