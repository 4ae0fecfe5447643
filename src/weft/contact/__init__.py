"""Contact: what is near, how near, and what must not pass through what. One notion per file.

Cloth meets itself (``SelfContact``) and bodies, with friction.
"""

from weft.contact.body import Body
from weft.contact.body_frames import BodyFrames, load_frames
from weft.contact.body_motion import load_animated, load_cached
from weft.contact.contact import Between
from weft.contact.intersections import intersections
from weft.contact.shapes import box, capsule, load_body, plate, ring, sphere
from weft.contact.sides import Friction

__all__ = [
    "Between",
    "Body",
    "BodyFrames",
    "Friction",
    "box",
    "capsule",
    "intersections",
    "load_animated",
    "load_body",
    "load_cached",
    "load_frames",
    "plate",
    "ring",
    "sphere",
]
