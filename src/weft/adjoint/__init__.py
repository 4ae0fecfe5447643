"""Derivatives of a loss of a whole run with respect to everything the run was made from.

One run forwards and one pass backwards give the derivative by all parameters
(``docs/explanations/gradients.md``). "Derivative by p" is short for the derivative with respect to
p. In the order of reading:

- ``reverse_step``: the implicit function theorem for one step, which is the idea; then ``hessian``,
  its linear solve. How a term depends on the start of a step, the term says itself
  (``energies.derivative.DifferentiableTerm``).
- ``recorded_run`` keeps the forward run in memory; ``rollout`` has its frames and the loop
  backwards; ``adjoint`` adds a loss, and is the public class; ``tangent`` goes forwards;
  ``run_check`` compares a gradient with another run.
- ``parameters``: a place in a scene, and its values; ``scene_parameters`` names those of a scene.
  ``parameter_directions``: the derivative by one number; ``array_derivatives`` and ``rest`` (with
  ``rest_splines``): by whole arrays, in closed form.
- ``losses``; ``flat`` with losses of one vector, for SciPy; ``host_function``, which ``weft.torch``
  and ``weft.jax`` call; ``material`` for pattern shapes and their outlines.
"""

from weft.adjoint.adjoint import Adjoint, AdjointReport, Derivative
from weft.adjoint.flat import Flat, batched
from weft.adjoint.losses import EnergyLoss, Mean, Strain, Sum, Target
from weft.adjoint.material import Outline, cut, material_points, recut
from weft.adjoint.parameters import Parameter
from weft.adjoint.rollout import Rollout
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
    "Rollout",
    "Strain",
    "Sum",
    "Target",
    "along_constants",
    "batched",
    "by_constants",
    "cut",
    "material_points",
    "recut",
]
