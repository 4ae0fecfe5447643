"""Sources of bodies: the parametric mannequin, and people of models in SMPL's layout."""

from weft.plugins.garments.scene.mannequin_schema import MannequinBlock
from weft.plugins.garments.scene.smpl_schema import SmplBlock
from weft.scene.body_source import BodySource

MANNEQUIN = BodySource(
    MannequinBlock,
    "a person, who may move",
    "a figure stays who it is; it moves as its motion says",
)
SMPL = BodySource(
    SmplBlock,
    "a person of a model in SMPL's layout, from files",
    "a person stays who they are; they move as the motion says",
)
