"""A strip clamped at one end that bends under its own weight: the heavy elastica.

``Gamma = rho g L^3 / D`` decides alone how far the tip drops. D is the flexural rigidity given to
the hinges (``docs/bending.md`` derives what it means). The clamp is in the middle of the pinned row
of elements: the hinge at its edge then stands for the curvature of one whole element, as the others
do.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from weft.base.arrays import Positions
from weft.bodies.motion.pins import Pin
from weft.discretization.bspline import rectangle
from weft.discretization.mesh import Pattern, TriangleMesh, grid
from weft.discretization.quadrature import Rule
from weft.discretization.spline_surface import Bending, SplineSurface
from weft.energies.elastic.quadratic_bending import QuadraticBending
from weft.validate.check import Check, attempt, compare
from weft.validate.strip import (
    GRAVITY,
    Material,
    rest,
    spline_strip_model,
    strip_model,
    tip,
)

LENGTH = 1.0  # [m]
SEGMENTS = 80  # of the free length
ROUNDING = 1e-15  # [m] per k L^2/D: increments of a stiff strip of splines at round-off
STIFFNESS_RATIO = 1e5  # k L^2/D: extension is negligible
DROPS = {1: 0.12347, 8: 0.64063, 50: 0.90792, 200: 0.95677}  # Gamma -> drop/L


def checks() -> Iterator[Check]:
    """Compare the drop of the tip at four loads, to 2 %.

    Strips are of triangles with both energies of bending, and of splines with half as many points
    along the strip.
    """
    kinds = {"": drop, "quadratic-": partial(drop, quadratic=True), "spline-": spline_drop}
    for kind, dropped in kinds.items():
        for gamma in DROPS:
            name = f"elastica/{kind}gamma-{gamma}"
            yield from attempt(name, _drop, name, dropped, gamma)


def _drop(name: str, dropped: Callable[[float], float], gamma: int) -> Iterator[Check]:
    yield compare(name, DROPS[gamma], dropped(gamma), 2e-2)


def spline_drop(
    gamma: float,
    stiffness_ratio: float = STIFFNESS_RATIO,
    spans: int = SEGMENTS // 2,
    rule: Rule = Rule.REDUCED,
) -> float:
    """Return the drop of the tip over the length, of a strip of splines."""
    x, _ = spline_strip(gamma, stiffness_ratio, spans, rule)
    return float(-x[-1, :, 1].mean() / LENGTH)


def spline_strip(
    gamma: float,
    stiffness_ratio: float,
    spans: int,
    rule: Rule,
    bend: Bending = Bending.PLATE,
    start: Positions | None = None,
) -> tuple[Positions, float]:
    """Return (n,5,3) [m] control points of the strip at rest, and its energy [J] without inertia.

    The first two columns are fixed: the strip begins level. ``start`` (n,5,3) [m] is the initial
    guess.
    """
    patch = rectangle(spans + 2, 5, LENGTH, 3 * LENGTH / spans)
    surface = SplineSurface.of([patch], rule=rule, bending=bend)
    flat = patch.rest.reshape(-1, 2)
    x = np.stack([flat[:, 0], np.zeros(len(flat)), -flat[:, 1]], axis=1)
    density = 0.1
    bending = density * GRAVITY * LENGTH**3 / gamma
    stretch = stiffness_ratio * bending / LENGTH**2
    material = Material(stretch, stretch / 4, bending, density)
    clamp = Pin(surface.ids[0][:2].reshape(-1), name="clamp")
    model = spline_strip_model(surface, x, material, [clamp])
    begin = x if start is None else start.reshape(-1, 3)
    found = rest(model, begin, tolerance=max(1e-9, ROUNDING * stiffness_ratio), most=5000)
    energy = sum(v for name, v in found.terms(found.start).items() if name != "inertia")
    return np.asarray(found.start[surface.ids[0]]), energy


def drop(
    gamma: float,
    stiffness_ratio: float = STIFFNESS_RATIO,
    pattern: Pattern = "regular",
    segments: int = SEGMENTS,
    quadratic: bool = False,
) -> float:
    """Return the drop of the tip over the length, of a strip of triangles."""
    x, mesh, _ = strip_at_rest(gamma, stiffness_ratio, pattern, segments, quadratic)
    return float(np.mean(-tip(x, mesh)[1]) / LENGTH)


def strip_at_rest(
    gamma: float, stiffness_ratio: float, pattern: Pattern, segments: int, quadratic: bool = False
) -> tuple[Positions, TriangleMesh, float]:
    """Return (n,3) [m] of a strip of triangles at rest, its mesh, and its energy [J] without
    inertia.
    """
    cell = LENGTH / (segments - 0.5)
    mesh = grid(segments + 1, 4, cell * segments, 3 * cell, pattern)
    clamped = mesh.corner_uv[..., 0] < 1.5 * cell
    density = 0.1
    bending = density * GRAVITY * LENGTH**3 / gamma
    stretch = stiffness_ratio * bending / LENGTH**2
    material = Material(stretch, stretch / 4, bending, density)
    bent = (QuadraticBending.of(mesh, (bending, bending)),) if quadratic else None
    model = strip_model(mesh, material, [Pin(mesh.faces[clamped], name="clamp")], bending=bent)
    found = rest(model, mesh.vertices)
    energy = sum(v for name, v in found.terms(found.start).items() if name != "inertia")
    return found.start, mesh, energy
