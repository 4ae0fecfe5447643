"""Membrane laws: strain energy densities psi(F) of the deformation gradient, one law per file.

A law knows no mesh and no loop over elements; ``energies/elastic/membrane.py`` evaluates it at
samples. Laws can be added. Read in this order: ``base`` (what a law consists of), ``fiber`` and
``baraff_witkin`` (the default law), ``skewed`` (fibers in any two directions), ``quartic`` and
``shear`` (its variants), ``immediate_buckling`` (tension only), ``measured`` (stress-strain
curves), ``data_driven`` (tables of ARCSim), ``strain_limit`` (a barrier). ``isotropic`` has the
eigensystem of ``arap``, ``stvk`` and ``neo_hookean``. ``own`` and ``generated`` are for laws that a
user writes, ``viscous`` is the law of damping, ``mixed`` differentiates laws by their parameters,
``spectra`` has closed forms for tests.
"""

from weft.kernel import Scalar, mat32, mat33, vec2, vec3
from weft.laws.arap import Arap
from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.base import Law, SingleLaw
from weft.laws.data_driven import DataDriven
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
    "DataDriven",
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
