"""Contact: what is near, how near, and what must not pass through what. One notion per file.

Cloth meets itself (``SelfContact``) and bodies, with friction.
"""

from weft.contact.body import Body, plate, sphere
from weft.contact.intersections import intersections

__all__ = ["Body", "intersections", "plate", "sphere"]
