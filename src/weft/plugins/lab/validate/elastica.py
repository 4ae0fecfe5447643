"""A strip clamped at one end that bends under its own weight: the heavy elastica.

``Gamma = rho g L^3 / D`` decides alone how far the tip drops. D is the flexural rigidity given to
the hinges (``docs/explanations/bending.md`` derives what it means).
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from weft.base.arrays import Positions
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import Pattern, TriangleMesh
from weft.discretization.quadrature import Rule
from weft.discretization.spline_surface import Bending
from weft.energies.elastic.quadratic_bending import QuadraticBending
from weft.integrators.potential import Potential
from weft.plugins.lab.validate.check import Rows, measure
from weft.plugins.lab.validate.strip import (
    GRAVITY,
    Material,
    clamped_strip,
    rest,
    spline_sheet,
    spline_strip_model,
    strip_model,
    tip,
)

LENGTH = 1.0  # [m]
SEGMENTS = 80  # of the free length
ROUNDING = 1e-15  # [m] per k L^2/D: increments of a stiff strip of splines at round-off
STIFFNESS_RATIO = 1e5  # k L^2/D: extension is negligible
DROPS = {1: 0.12347, 8: 0.64063, 50: 0.90792, 200: 0.95677}  # Gamma -> drop/L


def checks() -> Rows:
    """Compare the drop of the tip at four loads, to 2 %.

    Strips are of triangles with both energies of bending, and of splines with half as many points
    along the strip.
    """
    kinds: dict[str, Callable[[float], float]] = {
        "": drop,
        "quadratic-": partial(drop, quadratic=True),
        "spline-": spline_drop,
    }
    for kind, dropped in kinds.items():
        for gamma, expected in DROPS.items():
            yield from measure(f"elastica/{kind}gamma-{gamma}", expected, 2e-2, dropped, gamma)


def material(gamma: float, stiffness_ratio: float = STIFFNESS_RATIO) -> Material:
    """Return the material of a strip with the load ``gamma`` and k L^2/D = ``stiffness_ratio``."""
    density = 0.1
    bending = density * GRAVITY * LENGTH**3 / gamma
    stretch = stiffness_ratio * bending / LENGTH**2
    return Material(stretch, stretch / 4, bending, density)


def spline_drop(gamma: float) -> float:
    """Return the drop of the tip over the length, of a strip of splines."""
    x, _ = spline_strip(gamma, STIFFNESS_RATIO, SEGMENTS // 2, Rule.REDUCED)
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
    surface, x, ids = spline_sheet((spans + 2, 5), LENGTH, 3 * LENGTH / spans, rule, bend)
    clamp = Pin(ids[:2].reshape(-1), name="clamp")
    model = spline_strip_model(surface, x, material(gamma, stiffness_ratio), [clamp])
    begin = x if start is None else start.reshape(-1, 3)
    found = rest(model, begin, max(1e-9, ROUNDING * stiffness_ratio), most=5000)
    return np.asarray(found.start[ids]), _energy(found)


def drop(
    gamma: float,
    stiffness_ratio: float = STIFFNESS_RATIO,
    pattern: Pattern = "regular",
    segments: int = SEGMENTS,
    quadratic: bool = False,
) -> float:
    """Return the drop of the tip over the length, of a strip of triangles."""
    x, mesh, _ = strip_at_rest(gamma, stiffness_ratio, pattern, segments, quadratic)
    return float(-tip(x, mesh)[1] / LENGTH)


def strip_at_rest(
    gamma: float, stiffness_ratio: float, pattern: Pattern, segments: int, quadratic: bool = False
) -> tuple[Positions, TriangleMesh, float]:
    """Return (n,3) [m] of a strip of triangles at rest, its mesh, and its energy [J] without
    inertia.
    """
    mesh, clamp = clamped_strip(LENGTH, segments, pattern=pattern)
    cloth = material(gamma, stiffness_ratio)
    bent = QuadraticBending.of(mesh, (cloth.bending, cloth.bending)) if quadratic else None
    found = rest(strip_model(mesh, cloth, [clamp], bending=bent), mesh.vertices)
    return found.start, mesh, _energy(found)


def _energy(found: Potential) -> float:
    return sum(v for name, v in found.terms(found.start).items() if name != "inertia")
