"""The parametric mannequin: a body that weft generates, with skeleton, skin, poses and motions.

Read in this order: ``measures`` (girths and lengths that the user gives) and ``joints`` (the
skeleton); ``solids`` with ``torso`` and ``limbs`` (the shape as a smooth union of signed
distances), ``girth_fit`` (their girths), ``contour`` (the mesh); ``skinning`` (vertices that follow
joints); ``stance``, ``gait`` and ``motions`` (poses and walking); ``measurements`` (measures of the
finished mesh); ``figure`` joins all of these in ``Mannequin``. ``smpl`` reads bodies of SMPL's
layout. Nothing here depends on cloth or contact.
"""

from weft.plugins.garments.mannequin.figure import Mannequin, MotionFrames, mannequin
from weft.plugins.garments.mannequin.measurements import Measurements
from weft.plugins.garments.mannequin.measures import FIGURES, Measures, measures_of
from weft.plugins.garments.mannequin.motions import MOTIONS, POSES, MotionSettings

__all__ = [
    "FIGURES",
    "MOTIONS",
    "POSES",
    "Mannequin",
    "Measurements",
    "Measures",
    "MotionFrames",
    "MotionSettings",
    "mannequin",
    "measures_of",
]
