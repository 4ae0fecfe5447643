"""Shear of a square in a frame of four hinged bars (picture frame; KES-FB4's range of angles).

The bars keep their length and lie along warp and weft, so the threads are not stretched, and the
angle between them falls from 90 degrees by gamma. The shear force per width is the work of the
frame per area and angle, T = dW/dgamma; Baraff & Witkin's law gives ks sin(gamma) cos(gamma).
Kawabata's G is the slope from 0.5 to 2.5 degrees, in gf/(cm deg).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import WeftError
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.elastic.hinge_bending import HingeBending
from weft.fabric.fabric import Fabric
from weft.laws.base import Law
from weft.plugins.lab.laboratory.loop import HysteresisLoop, around, lead
from weft.plugins.lab.laboratory.specimen import require

SIDE, CELLS = 0.1, 8  # [m]; elements along a side
ANGLES = (0.5, 1.0, 2.0, 2.5, 4.0, 6.0, 8.0)  # [degrees]
KES = (0.5, 2.5)  # [degrees] between which G is measured
GF_PER_CM = 0.980665  # [N/m]
MOST, AT = 8.0, 0.5  # [degrees] of the loop, and where Kawabata reads 2HG


@dataclass(frozen=True, eq=False)
class Shear:
    """Result of the shear test."""

    angle: Floats  # (k,) [degrees] gamma
    force: Floats  # (k,) [N/m] per width
    loop: HysteresisLoop | None = None  # over angles [rad], of fabrics with internal friction

    @property
    def hysteresis(self) -> float:
        """Kawabata's 2HG [N/m], at 0.5 degrees."""
        return 0.0 if self.loop is None else self.loop.width(float(np.radians(AT)))

    @property
    def modulus(self) -> float:
        """The shear modulus [N/m] per radian, from 0.5 to 2.5 degrees."""
        low, high = np.interp(KES, self.angle, self.force)
        return float((high - low) / np.radians(KES[1] - KES[0]))

    @property
    def kawabata(self) -> float:
        """Kawabata's shear stiffness G [gf/(cm deg)]."""
        return self.modulus / GF_PER_CM * float(np.radians(1.0))


def shear(fabric: Fabric, angles: Sequence[float] = ANGLES, law: Law | None = None) -> Shear:
    """Shear a square in the frame.

    Args:
        fabric: what to test.
        angles: gamma [degrees], above 0 and below 60, growing.
        law: of the membrane; None: the fabric's (``fabric.law.default_law``).

    Returns:
        Angles and forces.

    Raises:
        WeftError: angles out of range. FabricError: no shear stiffness.
        SimulationError: no equilibrium.
    """
    if law is None:
        require(fabric, "shear", "a shear frame", "its threads would turn freely")
    given = np.array(angles, dtype=np.float64)
    grows = given.ndim == 1 and len(given) > 0 and (np.diff(given, prepend=0.0) > 0).all()
    if not (grows and given[-1] < 60):
        raise WeftError(
            "angles", got=given.tolist(), expected="above 0 and below 60 degrees, growing"
        )
    mesh = grid(CELLS + 1, CELLS + 1, SIDE, SIDE, "alternating")
    bending = HingeBending.of(mesh, (fabric.bending_warp, fabric.bending_weft))

    def place(gamma: float) -> Positions:
        return _frame(mesh, gamma)

    force = lead(fabric, mesh, [bending], place, np.radians(given), SIDE**2, law)
    if fabric.shear_hysteresis is None:
        return Shear(given, np.abs(force))
    path = around(float(np.radians(MOST)))
    loop = HysteresisLoop(path, lead(fabric, mesh, [bending], place, path, SIDE**2, law))
    return Shear(given, np.abs(force), loop)


def _frame(mesh: TriangleMesh, gamma: float) -> Positions:
    """Return (n,3) [m] vertices sheared symmetrically by gamma [rad]."""
    u, v = mesh.vertices[:, [0]], mesh.vertices[:, [2]]
    c, s = np.cos(gamma / 2), np.sin(gamma / 2)
    return np.asarray(u * [c, 0.0, s] + v * [s, 0.0, c])
