"""Derivatives of whole runs: of a loss of what a simulation does, by everything it was made from.

``step_back`` is the idea; ``lagged``, ``membranes``, ``air``, ``touching`` and ``slides`` are what
single terms of the potential take from the start of a step; ``forward`` keeps the run,
``directions``, ``fields`` and ``rest`` (``rest_terms``, ``rest_triangles``, ``rest_splines``) are
parameters (``changes`` and ``contact_numbers``: what numbers change), and ``adjoint`` puts them
together.
"""

from weft.adjoint import (  # they register what their terms pass back
    air,
    carried_air,
    membranes,
    tied,
    touching,
)
from weft.adjoint.adjoint import Adjoint, AdjointReport, Derivative
from weft.adjoint.doors import Flat, batched, jax_function, torch_function
from weft.adjoint.lagged import pulls
from weft.adjoint.losses import Energy, Mean, Strain, Sum, Target
from weft.adjoint.material import cut, material_points, recut
from weft.adjoint.outline import Outline
from weft.adjoint.parameters import Parameter
from weft.energies.mixed import along_constants, by_constants

__all__ = [
    "Adjoint",
    "AdjointReport",
    "Derivative",
    "Energy",
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
