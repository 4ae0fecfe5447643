"""Sources of bodies: the parametric mannequin, and people of models in SMPL's layout."""

from weft.plugins.garments.scene.mannequin_schema import MannequinBlock
from weft.plugins.garments.scene.smpl_schema import SmplBlock
from weft.scene.body_source import BodySource

MANNEQUIN = BodySource(
    MannequinBlock,
    "a person, standing or moving",
    "a figure is fixed; it moves with its motion",
)
SMPL = BodySource(
    SmplBlock,
    "a person from a model in the layout of SMPL, from files",
    "a person is fixed; it moves with its motion",
)
