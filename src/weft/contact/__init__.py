"""Contact: what is near, how near, and what must not pass through what. One notion per file.

Cloth meets itself (``SelfContact``) and bodies, with friction.
"""

from weft.contact.body import Body
from weft.contact.body_frames import BodyFrames, load_frames
from weft.contact.body_motion import load_animated, load_cached
from weft.contact.contact import Between
from weft.contact.fields import (
    distance_grid,
    height_field,
    read_distance_grid,
    read_heights,
)
from weft.contact.intersections import intersections
from weft.contact.joint import Joint
from weft.contact.rigid import Rigid
from weft.contact.shapes import box, capsule, load_body, plate, ring, sphere
from weft.contact.sides import Friction
from weft.contact.turned import cone, cylinder, disk, plane

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
