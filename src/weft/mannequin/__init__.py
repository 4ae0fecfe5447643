"""A body that weft makes itself: a parametric mannequin with skeleton, skin, poses and motions.

``measures`` -> ``solids`` united (``torso``, ``limbs``, ``fit``) -> ``contour`` -> ``weights`` ->
``stance`` and ``motions`` -> ``skinning``. It knows nothing of cloth or contact.
"""

from weft.mannequin.figure import Mannequin, MotionFrames, mannequin
from weft.mannequin.measurements import Measurements
from weft.mannequin.measures import FIGURES, Measures, measures_of
from weft.mannequin.motions import MOTIONS, POSES, MotionSettings

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
