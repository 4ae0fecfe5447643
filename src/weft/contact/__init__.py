"""Contact: what is near, how near, and what must not pass through what. One notion per file.

So far the parts that a contact energy is made of; it does not act in scenes yet.
"""

from weft.contact.intersections import intersections

__all__ = ["intersections"]
