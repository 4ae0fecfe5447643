"""Uniaxial tension on the bias: a strip whose fibers run at 45 degrees to the pull.

With stretches l1 along the pull and l2 across it, both fibers have length s = sqrt((l1^2 + l2^2)/2)
and I6 = (l1^2 - l2^2)/2, so psi = k (s - 1)^2 + ks/2 I6^2 in our convention (k of warp and weft).
The sides are free, d psi/d l2 = 0, which gives

    k (s - 1)/s = ks I6           (lateral balance)
    f = d psi/d l1 = 2 l1 ks I6   (axial force per width, with the balance put in)

The strip is held at its ends, where the balance says that it is; the equilibrium in between must be
homogeneous and pull with f. On the bias a woven strip narrows far more than any isotropic one.
"""

import numpy as np
from scipy.optimize import brentq

from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.elastic.hinge_bending import HingeBending
from weft.laws.baraff_witkin import BaraffWitkin
from weft.plugins.lab.validate.check import Rows, attempt, compare
from weft.plugins.lab.validate.strip import membrane_model, rest

STRETCH, SHEAR, DENSITY, BENDING = 100.0, 20.0, 0.1, 1e-3  # [N/m], [N/m], [kg/m^2], [N m]
LENGTH, WIDTH = 0.4, 0.2  # [m]
PULLS = (1.02, 1.1, 1.3)  # l1
TOLERANCE = 1e-6


def checks() -> Rows:
    """Compare force and homogeneity at three pulls, with fibers turned in the law and in the
    mesh.
    """
    for pull in PULLS:
        for fibers in ("law", "mesh"):
            yield from attempt(f"bias/{pull:g}-fibers-in-{fibers}", _pull, pull, fibers)


def _pull(pull: float, fibers: str) -> Rows:
    lateral = lateral_stretch(pull)
    force, spread = equilibrium(pull, lateral, fibers)
    expected = axial_force(pull, lateral)
    yield compare(f"bias/{pull:g}-fibers-in-{fibers}", expected, force, TOLERANCE)
    yield compare(f"bias/{pull:g}-homogeneous-{fibers}", 0.0, spread, TOLERANCE)


def lateral_stretch(pull: float) -> float:
    """Return the stretch l2 that follows from the lateral balance."""

    def balance(l2: float) -> float:
        s = np.sqrt((pull**2 + l2**2) / 2)
        return float(STRETCH * (s - 1) / s - SHEAR * (pull**2 - l2**2) / 2)

    return float(brentq(balance, 0.3, pull, xtol=1e-15))


def axial_force(pull: float, lateral: float) -> float:
    """Return the axial force per width [N/m], f = 2 l1 ks I6."""
    return pull * SHEAR * (pull**2 - lateral**2)


def equilibrium(pull: float, lateral: float, fibers: str) -> tuple[float, float]:
    """Return the pull on the right end [N/m], and the largest distance from the homogeneous state
    [m].

    ``fibers`` are turned in the ``law``'s directions, or in the ``mesh``'s material coordinates.
    """
    mesh = grid(13, 7, LENGTH, WIDTH, "random", 4)
    x = np.array(mesh.vertices)
    c = np.sqrt(0.5)
    if fibers == "law":
        law = BaraffWitkin((STRETCH, STRETCH), SHEAR, warp=(c, c), weft=(-c, c))
    else:
        turn = np.array([[c, -c], [c, c]])
        mesh = TriangleMesh(mesh.vertices, mesh.faces, mesh.corner_uv @ turn.T, mesh.groups)
        law = BaraffWitkin((STRETCH, STRETCH), SHEAR)
    homogeneous = x * [pull, 1.0, lateral]
    bending = HingeBending.of(mesh, (BENDING, BENDING))
    ends = Pin(np.union1d(mesh.groups["left"], mesh.groups["right"]))
    model = membrane_model(mesh.with_vertices(homogeneous), law, DENSITY, [ends], bending)
    start = homogeneous + 1e-3 * np.random.default_rng(0).normal(size=x.shape) * [1, 0, 1]
    found = rest(model, start, tolerance=1e-11)
    force = float(found.reaction(found.start)[mesh.groups["right"], 0].sum())
    return force / WIDTH, float(np.abs(found.start - homogeneous).max())
