"""Sources of bodies: robot arms, of which every link is a body."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.bodies.body import Body
from weft.plugins.robots.arms.read_arm import load_arm
from weft.scene.body_source import LINKS_STAY, BodySource


def _links(path: Path, block: Any, name: str) -> Sequence[Body]:
    place = block.translation, block.rotation
    return load_arm(path, block.joints, *place, size=block.size, name=name)


URDF = BodySource(
    str, "a robot arm: a URDF file, relative to the scene file; its z is up", LINKS_STAY, _links
)
MJCF = BodySource(
    str, "a robot arm: an MJCF file, relative to the scene file; its z is up", LINKS_STAY, _links
)
