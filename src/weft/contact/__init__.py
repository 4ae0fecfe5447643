"""Contact: what is near, how near, and what must not pass through what. One notion per file.

Cloth meets itself (``SelfContact``) and bodies, with friction.
"""

from weft.bodies.body import Body
from weft.bodies.joints.settings import Joint
from weft.bodies.motion.animated_files import load_animated, load_cached
from weft.bodies.motion.point_sequence import BodyFrames, load_frames
from weft.bodies.rigid.settings import Rigid
from weft.bodies.shapes.grids import (
    distance_grid,
    height_field,
    read_distance_grid,
    read_heights,
)
from weft.bodies.shapes.primitives import box, capsule, load_body, plate, ring, sphere
from weft.bodies.shapes.revolved import cone, cylinder, disk, plane
from weft.contact.collision_groups import Friction
from weft.contact.contact import Between
from weft.contact.exact.intersections import intersections

__all__ = [
    "Between",
    "Body",
    "BodyFrames",
    "Friction",
    "Joint",
    "Rigid",
    "box",
    "capsule",
    "cone",
    "cylinder",
    "disk",
    "distance_grid",
    "height_field",
    "intersections",
    "load_animated",
    "load_body",
    "load_cached",
    "load_frames",
    "plane",
    "plate",
    "read_distance_grid",
    "read_heights",
    "ring",
    "sphere",
]
