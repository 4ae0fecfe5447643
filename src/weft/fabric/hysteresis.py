"""The internal friction that a fabric's numbers are of."""

import numpy as np

from weft.energies.elastic.internal_friction import BENDING_SLIP, SHEAR_SLIP
from weft.fabric.fabric import Fabric
from weft.laws import DotShear


def bending_friction(fabric: Fabric) -> tuple[tuple[float, float], float]:
    """Return 2HB along warp and weft [N], and the curvature of slip [1/m]."""
    hysteresis = fabric.bending_hysteresis_warp or 0.0, fabric.bending_hysteresis_weft or 0.0
    return hysteresis, fabric.bending_slip or BENDING_SLIP


def slipping_shear(fabric: Fabric) -> DotShear:
    """Return the law of friction in shear."""
    slip = float(np.sin(fabric.shear_slip or SHEAR_SLIP))
    return DotShear((fabric.shear_hysteresis or 0.0) / (2 * slip), slip)
