"""Bodies of people, and patterns that start on them, for tests of garments."""

import numpy as np

from weft.bodies.body import Body
from weft.contact import intersections
from weft.plugins.garments.mannequin import mannequin
from weft.plugins.garments.patterns.cutting import cut


def person(figure, **measures):
    """Return a mannequin as a body."""
    made = mannequin(figure, **measures)
    return Body(made.vertices, made.faces)


def crossings(pattern, body, figure):
    """Return the number of pairs of faces of panels, or of a panel and the body, that intersect."""
    mesh = cut(pattern, 0.04).mesh
    own = (body.vertices - figure.origin) @ figure.turn
    n = len(mesh.vertices)
    of_body = np.arange(len(mesh.faces) + len(body.faces)) >= len(mesh.faces)
    x, faces = np.concatenate([mesh.vertices, own]), np.concatenate([mesh.faces, body.faces + n])
    return len(intersections(x, faces, of_body))
