"""A strip that hangs under its own weight: the tip sinks by rho g L^2 / (2 k).

Tension at material height s below the top is T = rho g (L - s) and T = k (stretch - 1), so the tip
moves by the integral of T/k. Linear elements are exact at the vertices when the load is uniform; an
irregular mesh is not.
"""

from weft.discretization.mesh import Pattern
from weft.plugins.lab.validate.check import Rows, measure
from weft.plugins.lab.validate.strip import (
    GRAVITY,
    Material,
    lengthwise_pins,
    rest,
    strip_model,
    tip,
    upright_grid,
)

LENGTH, WIDTH = 1.0, 0.25  # [m]
MATERIAL = Material(stretch=100.0, shear=20.0, bending=1e-5, density=0.2)
CASES: tuple[tuple[int, Pattern], ...] = (
    (8, "regular"),
    (16, "regular"),
    (32, "alternating"),
    (64, "regular"),
    (48, "random"),
)


def checks() -> Rows:
    """Compare four resolutions and an irregular mesh, to 0.1 %."""
    expected = MATERIAL.density * GRAVITY * LENGTH**2 / (2 * MATERIAL.stretch)
    for n, pattern in CASES:
        yield from measure(f"hanging-strip/{pattern}-{n}", expected, 1e-3, extension, n, pattern)


def extension(n: int, pattern: Pattern) -> float:
    """Return the displacement [m] by which the tip of a strip of n elements sinks."""
    mesh = upright_grid(n // 4 + 1, n + 1, WIDTH, LENGTH, pattern)
    model = strip_model(mesh, MATERIAL, lengthwise_pins(mesh, "top"))
    x = rest(model, mesh.vertices).start
    return float(tip(mesh.vertices, mesh, "bottom")[1] - tip(x, mesh, "bottom")[1])
