"""Bodies of people, for tests of garments on them."""

from weft.bodies.body import Body
from weft.mannequin import mannequin


def person(figure, **measures):
    """Return a mannequin as a body."""
    made = mannequin(figure, **measures)
    return Body(made.vertices, made.faces)
