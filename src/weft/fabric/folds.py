"""Estimates of the folds of cloth: how long they are, and the mesh edges that they need.

Cloth of bending rigidity B under the tension T along y that is compressed along x folds with the
wavelength 2 sqrt(pi) (B/T)^(1/4) L^(1/2), where L is the distance along y in which the folds grow
and end: the one with the least sum of bending energy and work against the tension (Cerda and
Mahadevan 2003, equation 6; the certificate measures it). Three causes give T and L:

- **weight**: cloth of the length L hangs with the mean tension rho g L/2, so that a fold is
  4.2 c (L/c)^(1/4) long, c = (B/(rho g))^(1/3) its bending length;
- **pull**: the two pinned points that are moved apart by the largest strain e have T = E e between
  them, E the stiffness along their line, and L is their distance. In a sheet of the height H that
  is sheared by the angle g, points at 45 degrees to it have e = g/2 and L = sqrt(2) H: half of that
  wavelength is the one of Wong & Pellegrino (2006);
- **gathers** (``garment.gathers``).

Rigidity across a direction is that of hinges, D_warp cos^2 + D_weft sin^2
(docs/explanations/bending.md), and stiffness along it that of an orthotropic sheet without
Poisson's ratio that is free to contract, 1/E = cos^4/k_warp + sin^4/k_weft + sin^2 cos^2/k_shear.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.fabric.fabric import Fabric

# Mesh edges along a fold: measured by ``studies/resolution.py`` (docs/explanations/resolution.md).
RESOLVED = 6  # with which its length and depth are right to some percent
EDGES = 4  # that gathers get
FEWEST = 3  # below which it is warned of: it is more than a quarter too long
FEWEST_POINTS = 4  # control points of splines, for the same


@dataclass(frozen=True)
class FoldEstimate:
    """Folds that a cause makes.

    Args:
        cause: in words.
        length: [m] their wavelength.
        across: unit vector (warp, weft) of the material plane across them.
    """

    cause: str
    length: float
    across: tuple[float, float]


def fold_length(rigidity: float, tension: float, length: float | None = None) -> float:
    """Return Cerda and Mahadevan's wavelength [m] of folds.

    Args:
        rigidity: [N m] of bending.
        tension: [N/m].
        length: [m] in which the folds grow and end; None: as long as they are, the shortest that
            the cloth takes by itself.
    """
    if length is None:
        return float(4 * np.pi * np.sqrt(rigidity / tension))
    return float(2 * np.sqrt(np.pi * length) * (rigidity / tension) ** 0.25)


def bending_length(fabric: Fabric, gravity: float) -> float:
    """Return (B/(rho g))^(1/3) [m] of the direction in which a fabric bends more easily."""
    rigidity = min(fabric.bending_warp, fabric.bending_weft)
    return float((rigidity / (fabric.density * gravity)) ** (1 / 3))


def weight_fold(fabric: Fabric, weight: float, size: tuple[float, float]) -> FoldEstimate | None:
    """Return the shorter of the folds that a piece's weight makes along its warp and its weft.

    Args:
        fabric: of the piece.
        weight: [N/m^2] of the cloth that hangs.
        size: [m] of that cloth along warp and weft.

    Returns:
        None if the piece is too small for a fold, or has no weight or no rigidity.
    """
    found = []
    for rigidity, length, across in (
        (fabric.bending_weft, size[0], (0.0, 1.0)),
        (fabric.bending_warp, size[1], (1.0, 0.0)),
    ):
        wave = fold_length(rigidity, weight * length / 2, length) if weight > 0 else 0.0
        if 0 < wave <= min(size):
            found.append(FoldEstimate("its weight", wave, across))
    return min(found, key=lambda fold: fold.length, default=None)


def pull_fold(fabric: Fabric, rest: Floats, strain: float) -> FoldEstimate | None:
    """Return the folds between two points that are pulled apart; None: cloth without rigidity.

    Args:
        fabric: between the points.
        rest: (2,) [m] distances of the points along warp and weft.
        strain: of the line between them, above 0.
    """
    length = float(np.linalg.norm(rest))
    cosine, sine = (rest / length).tolist()
    c2, s2 = cosine**2, sine**2
    compliance = c2**2 / fabric.stretch_warp + s2**2 / fabric.stretch_weft
    if s2 * c2 > 1e-12:
        compliance += s2 * c2 / max(fabric.shear, 1e-12)
    rigidity = fabric.bending_warp * s2 + fabric.bending_weft * c2
    if not rigidity > 0:
        return None
    wave = fold_length(rigidity, strain / compliance, length)
    return FoldEstimate(f"a pull of {100 * strain:.2g} % between pins", wave, (-sine, cosine))


def millimeters(length: float) -> str:
    """Return a length [m] as text in millimeters, with two digits or as a whole number."""
    return f"{1e3 * length:.{0 if length >= 0.01 else 1}f} mm"
