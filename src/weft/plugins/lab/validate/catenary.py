"""An inextensible strip hung by its ends: the catenary.

With span D, length L and a = H/(rho g): D = 2 a asinh(L/(2a)), sag = sqrt(a^2 + L^2/4) - a. For D/L
= 0.9: sag/L = 0.19071 and horizontal pull over weight H/W = a/L = 0.56009.
"""

import numpy as np

from weft.base.arrays import Positions
from weft.discretization.mesh import grid
from weft.plugins.lab.validate.check import Rows, compare
from weft.plugins.lab.validate.strip import GRAVITY, Material, lengthwise_pins, rest, strip_model

LENGTH, WIDTH, SPAN = 1.0, 0.05, 0.9  # [m]
SAG, PULL = 0.19071, 0.56009  # sag over length; horizontal pull over weight
SEGMENTS = 80
MATERIAL = Material(stretch=2e4, shear=2e2, bending=0.0, density=0.1)  # strain H/k: 3e-5


def checks() -> Rows:
    """Compare sag and horizontal pull, to 0.5 %."""
    mesh = grid(SEGMENTS + 1, 3, LENGTH, WIDTH)
    mesh = mesh.with_vertices(_arc(mesh.vertices))
    model = strip_model(mesh, MATERIAL, lengthwise_pins(mesh, "left", "right"))
    phi = rest(model, mesh.vertices)
    x = phi.start
    weight = MATERIAL.density * GRAVITY * LENGTH * WIDTH
    pull = phi.reaction(x)[mesh.groups["right"], 0].sum()
    yield compare("catenary/sag", SAG, -x[:, 1].min() / LENGTH, 5e-3)
    yield compare("catenary/pull", PULL, pull / weight, 5e-3)


def _arc(flat: Positions) -> Positions:
    """Return a circular arc of the right length and span to start from.

    Its radius r and half angle satisfy 2 r sin(angle) = span, 2 r angle = length.
    """
    from scipy.optimize import brentq

    angle = float(brentq(lambda a: np.sin(a) / a - SPAN / LENGTH, 0.1, 2.0))
    radius = LENGTH / (2 * angle)
    phi = flat[:, 0] / radius
    return np.stack(
        [radius * np.sin(phi), radius * (np.cos(angle) - np.cos(phi)), flat[:, 2]], axis=1
    )
