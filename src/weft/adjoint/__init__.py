"""Derivatives of whole runs: of a loss of the result, by everything that the run was made from.

``reverse_step`` is the idea. ``lagged_terms``, ``membranes``, ``air``, ``contact`` and
``sliding_pairs`` differentiate what single terms of the potential take from the start of a step.
``recorded_run`` keeps the run in memory. ``parameter_directions``, ``array_parameters`` and
``rest`` (``rest_terms``, ``rest_triangles``, ``rest_splines``) are the parameters;
``constant_changes`` and ``contact_numbers`` say which constants of energies and contact a number
changes. ``adjoint`` puts them together.
"""

from weft.adjoint import air, carried_air, membranes
from weft.adjoint import attachments as tied
from weft.adjoint import contact as touching
from weft.adjoint.adjoint import Adjoint, AdjointReport, Derivative
from weft.adjoint.frameworks import Flat, batched, jax_function, torch_function
from weft.adjoint.lagged_terms import pulls
from weft.adjoint.losses import EnergyLoss, Mean, Strain, Sum, Target
from weft.adjoint.material import cut, material_points, recut
from weft.adjoint.outline import Outline
from weft.adjoint.parameters import Parameter
from weft.energies.by_constants import along_constants, by_constants

__all__ = [
    "Adjoint",
    "AdjointReport",
    "Derivative",
    "EnergyLoss",
    "Flat",
    "Mean",
    "Outline",
    "Parameter",
    "Strain",
    "Sum",
    "Target",
    "air",
    "along_constants",
    "batched",
    "by_constants",
    "carried_air",
    "cut",
    "jax_function",
    "material_points",
    "membranes",
    "pulls",
    "recut",
    "tied",
    "torch_function",
    "touching",
]
