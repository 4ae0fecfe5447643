"""A round membrane under pressure, held at its border: Hencky's solution.

A flat disc of the radius a, stiffness E h per width and Poisson's ratio nu, with no tension at rest
and with its border held, is blown up by the pressure q. With rho = r/a, the height w = a (q
a/(E h))^(1/3) W and the radial tension N_r = 1/4 (E h q^2 a^2)^(1/3) N obey, for small strains and
moderate slopes,

    N W' = -2 rho                            (balance across)
    rho (2 N + rho N')' = -8 rho^2/N^2       (compatibility, N_theta = (rho N)' put in)
    (rho N)' = nu N at rho = 1,  W(1) = 0    (the border does not move)

whose solution is the series N = sum b_k rho^(2k), 4 k (k + 1) b_k = -8 g_(k-1), g those of 1/N^2;
the condition at the border gives b_0 (Hencky 1915, *Z. Math. Phys.* 63:311, whose own numbers have
an error of arithmetic that Chien 1948 and Alekseev 1953 corrected). With the correction b_0 is
1.6827, 1.7244 and 1.7769 for nu = 0.2, 0.3 and 0.4 (Fichter 1997, NASA TP-3658, as it is quoted).

Two laws that are isotropic where strains are small: Baraff-Witkin's with the shear stiffness k/2
has no Poisson's ratio (E h = k, G = E/2, so nu = 0); St. Venant-Kirchhoff's has nu = lambda/(lambda
+ 2 mu), here 0.3. The pressure stretches them by less than 0.04 %, and slopes are below 0.03, so
that terms that the theory leaves out are below 0.1 %.
"""

import numpy as np

from weft.base.arrays import Floats
from weft.bodies.motion.pins import Pin
from weft.energies.loads.pressure import Pressure
from weft.laws import BaraffWitkin, StVK
from weft.laws.base import Law
from weft.plugins.lab.validate.check import Rows, attempt, compare
from weft.plugins.lab.validate.strip import membrane_model, round_sheet, settle

RADIUS, STIFFNESS, PRESSURE = 0.2, 1000.0, 0.05  # [m], [N/m] E h, [Pa]
TERMS = 60  # terms of the series
PUBLISHED = {0.2: 1.6827, 0.3: 1.7244, 0.4: 1.7769}  # nu -> b_0
CORNERS = 96  # of the polygon that is the border; elements are as long as its sides
POISSON = 0.3
LAWS: dict[str, tuple[float, Law]] = {  # by name, nu and the law
    "baraff-witkin, nu = 0": (0.0, BaraffWitkin((STIFFNESS, STIFFNESS), STIFFNESS / 2)),
    f"stvk, nu = {POISSON:g}": (
        POISSON,
        StVK(STIFFNESS / (2 * (1 + POISSON)), STIFFNESS * POISSON / (1 - POISSON**2)),
    ),
}


def checks() -> Rows:
    """Compare the series with published digits; height and pull at the border of two laws, to 0.5
    %.
    """
    yield from attempt("hencky/theory", _theory)
    for name, (poisson, law) in LAWS.items():
        yield from attempt(f"hencky/{name}", _membrane, f"hencky/{name}", poisson, law)


def _theory() -> Rows:
    for poisson, published in PUBLISHED.items():
        name = f"hencky/theory, b_0 of nu = {poisson:g}"
        yield compare(name, published, border_series(poisson)[0], 6e-5 / published)


def _membrane(name: str, poisson: float, law: Law) -> Rows:
    height, border = hencky(poisson)
    load = PRESSURE * RADIUS / STIFFNESS
    got_height, got_pull = inflate_membrane(law)
    yield compare(f"{name}: height [m]", height * RADIUS * load ** (1 / 3), got_height, 5e-3)
    pull = border * STIFFNESS * load ** (2 / 3)
    yield compare(f"{name}: pull at the border [N/m]", pull, got_pull, 5e-3)


def hencky(poisson: float) -> tuple[float, float]:
    """Return W(0), and N/4 at the border, for a Poisson's ratio."""
    b = border_series(poisson)
    rho, weight = np.polynomial.legendre.leggauss(64)
    rho, weight = (rho + 1) / 2, weight / 2
    N = np.polynomial.polynomial.polyval(rho**2, b)
    return float(weight @ (2 * rho / N)), float(b.sum() / 4)


def border_series(poisson: float) -> Floats:
    """Return the series of N (TERMS,) that meets the condition at the border."""
    from scipy.optimize import brentq

    k = np.arange(TERMS)

    def missing(b0: float) -> float:
        """Return N_theta - nu N_r at the border."""
        return float((2 * k + 1 - poisson) @ series(b0))

    return series(float(brentq(missing, 1.4, 2.5, xtol=1e-14)))


def series(b0: float) -> Floats:
    """Return the coefficients b_k (TERMS,) of N in powers of rho^2."""
    b, inverse = np.zeros(TERMS), np.zeros(TERMS)  # coefficients of N and of 1/N
    b[0], inverse[0] = b0, 1 / b0
    for k in range(1, TERMS):
        g = inverse[:k] @ inverse[:k][::-1]  # coefficient of rho^(2k-2) in 1/N^2
        b[k] = -2 * g / (k * (k + 1))
        inverse[k] = -(b[1 : k + 1] @ inverse[:k][::-1]) / b0
    return b


def inflate_membrane(law: Law) -> tuple[float, float]:
    """Return the height [m] of the middle of an inflated disc, and its radial pull at the border
    [N/m].

    Raises:
        SimulationError: no equilibrium.
    """
    mesh = round_sheet(RADIUS, CORNERS)
    start = np.array(mesh.vertices)
    r = np.hypot(start[:, 0], start[:, 2])
    start[:, 1] = 0.05 * (RADIUS - r**2 / RADIUS)
    start[mesh.boundary, 1] = 0.0
    pressure = Pressure(mesh.faces, PRESSURE, mesh.n_vertices)
    found = settle(membrane_model(mesh, law, 0.1, [Pin(mesh.boundary)], pressure), start)
    force = found.phi.reaction(found.x)
    radial = (force[:, [0, 2]] * mesh.vertices[:, [0, 2]]).sum() / RADIUS
    middle = np.argsort(r)[:3]  # around the center: the height there from a parabola r^2
    fit = np.linalg.lstsq(np.stack([np.ones(3), r[middle] ** 2], 1), found.x[middle, 1], rcond=None)
    return float(fit[0][0]), float(radial / (2 * np.pi * RADIUS))
