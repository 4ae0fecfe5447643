"""Membrane laws: psi(F), one per file. No mesh, no loop over elements. Laws add."""

from weft.kernel import Scalar, mat32, mat33, vec2, vec3
from weft.laws.arap import Arap
from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.base import Law, SingleLaw
from weft.laws.immediate_buckling import ImmediateBuckling
from weft.laws.measured import Measured
from weft.laws.neo_hookean import NeoHookean
from weft.laws.own import OwnLaw
from weft.laws.quartic import StvkShear, StvkStretch
from weft.laws.shear import AngleShear, DotShear
from weft.laws.strain_limit import StrainLimit
from weft.laws.stvk import StVK
from weft.solve.newton.psd import Psd

__all__ = [
    "AngleShear",
    "Arap",
    "BaraffWitkin",
    "DotShear",
    "ImmediateBuckling",
    "Law",
    "Measured",
    "NeoHookean",
    "OwnLaw",
    "Psd",
    "Scalar",
    "SingleLaw",
    "StVK",
    "StrainLimit",
    "StvkShear",
    "StvkStretch",
    "mat32",
    "mat33",
    "vec2",
    "vec3",
]
