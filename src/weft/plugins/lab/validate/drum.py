"""Frequencies of membranes under tension: a rectangular drum and a round one.

A flat sheet is stretched by s_u along the warp and s_v along the weft and held at its border. In
material coordinates u, v the stretch energy of a small height z over the plane is 1/2 (T_u/s_u
z_u^2 + T_v/s_v z_v^2) per area, T = k (s - 1) the tension per width at rest, to which neither the
stiffness k itself nor that of shear adds. With the density rho the angular frequencies are

    w^2 = (pi^2/rho) (T_u/s_u (m/a)^2 + T_v/s_v (n/b)^2),   m, n = 1, 2, ...

of a sheet of a by b (Rayleigh, *The Theory of Sound*, vol. 1, section 199) and, where tension and
stretch are the same in all directions, w^2 = (j/R)^2 T/(s rho) of a round one of radius R, j the
zeros of the Bessel functions J_0, J_1, ... (section 206), each twice but those of J_0.

The eigenvalues of the exact Hessian with lumped masses must be these. On linear triangles their
error is of second order in the size of elements.
"""

import numpy as np

from weft.base.arrays import Floats
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import TriangleMesh, grid
from weft.laws.baraff_witkin import BaraffWitkin
from weft.plugins.lab.validate.check import Rows, attempt, compare
from weft.plugins.lab.validate.modes import normal_modes
from weft.plugins.lab.validate.strip import membrane_model, round_sheet

DENSITY = 0.1  # [kg/m^2]
STIFFNESS, SHEAR = (1000.0, 600.0), 200.0  # [N/m] of warp and weft; of shear
STRETCH = (1.02, 1.05)  # of warp and weft of the rectangle; the round drum has the first one
SIZE, RADIUS = (0.5, 0.3), 0.2  # [m]
CELLS, CORNERS = (60, 36), 120  # of the rectangle; of the polygon that is the round drum
MODES = 5  # the round drum's are those of J_0, J_1 (two), J_2 (two)


def checks() -> Rows:
    """Compare five frequencies of each drum, to 0.5 %."""
    yield from attempt("drum/rectangular", _rectangular)
    yield from attempt("drum/round", _round)


def _rectangular() -> Rows:
    mesh = grid(CELLS[0] + 1, CELLS[1] + 1, *SIZE, "alternating")
    got = frequencies(mesh, STIFFNESS, STRETCH)
    m, n = np.meshgrid(np.arange(1, MODES + 1), np.arange(1, MODES + 1))
    c = [k * (s - 1) / s / DENSITY for k, s in zip(STIFFNESS, STRETCH)]  # [m^2/s^2]
    square = np.pi**2 * (c[0] * (m / SIZE[0]) ** 2 + c[1] * (n / SIZE[1]) ** 2)
    for at in np.argsort(square, axis=None)[:MODES]:
        name = f"drum/rectangular, {m.flat[at]} by {n.flat[at]} half waves"
        rank = int((square < square.flat[at]).sum())
        yield compare(name, np.sqrt(square.flat[at]), got[rank], 5e-3)


def _round() -> Rows:
    from scipy.special import jn_zeros

    k, s = STIFFNESS[0], STRETCH[0]
    got = frequencies(round_sheet(RADIUS, CORNERS), (k, k), (s, s))
    speed = np.sqrt(k * (s - 1) / s / DENSITY)  # [m/s] of waves
    for order, first, count in ((0, 0, 1), (1, 1, 2), (2, 3, 2)):
        expected = float(jn_zeros(order, 1)[0]) * speed / RADIUS
        for i in range(count):
            name = f"drum/round, J_{order}" + (f" ({i + 1})" if count > 1 else "")
            yield compare(name, expected, got[first + i], 5e-3)


def frequencies(
    mesh: TriangleMesh, stiffness: tuple[float, float], stretch: tuple[float, float]
) -> Floats:
    """Return the lowest angular frequencies (MODES,) [1/s] of a sheet held at its border.

    Args:
        mesh: flat on y = 0, at rest.
        stiffness: [N/m] of warp and weft.
        stretch: of warp and weft, by which it is held.
    """
    mesh = mesh.with_vertices(np.array(mesh.vertices) * [stretch[0], 1.0, stretch[1]])
    law = BaraffWitkin(stiffness, SHEAR)
    model = membrane_model(mesh, law, DENSITY, [Pin(mesh.boundary)])
    squares, _ = normal_modes(model, mesh.vertices, 0.0, MODES)
    return np.sqrt(squares)
