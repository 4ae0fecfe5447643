"""A standing body in a frame of its own, beside which the panels of a garment start."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats
from weft.bodies.body import Body
from weft.plugins.garments.bodies.landmarks import Landmarks, find_landmarks
from weft.plugins.garments.patterns.body_depth import BodyDepth

MARGIN = 0.01  # [m] distance from the body that ways and panels keep


@dataclass(frozen=True, eq=False)
class Figure:
    """A standing body in a frame of its own: floor at y = 0, crotch at x = z = 0, looking along z.

    Args:
        depth: of the body, in its frame.
        landmarks: of the body, in its frame.
        turn: (3,3) rotation from the frame into the scene.
        origin: (3,) [m] the frame's origin in the scene.
    """

    depth: BodyDepth
    landmarks: Landmarks
    turn: Floats
    origin: Floats

    @property
    def crotch(self) -> float:
        """Return the height [m] of the crotch."""
        return float(self.landmarks.points["crotch"][1])

    @property
    def armpit(self) -> float:
        """Return the height [m] of the lower armpit."""
        return float(min(self.landmarks.points[f"armpit_{s}"][1] for s in ("left", "right")))

    @cached_property
    def kept_clear(self) -> BodyDepth:
        """The depth of the body, grown by the distance that ways and panels keep."""
        return self.depth.grow(MARGIN)

    @staticmethod
    def of(body: Body) -> "Figure":
        """Return the figure of a body at the start, y up.

        Raises:
            MeshError: landmarks that cannot be found.
        """
        found, vertices = find_landmarks(body), body.at(0.0)
        turn = found.axes.T.copy()
        origin = np.array(found.points["crotch"])
        origin[1] = vertices[:, 1].min()
        points = {name: (p - origin) @ turn for name, p in found.points.items()}
        own = (vertices - origin) @ turn
        marks = replace(found, points=points, forward=np.array([0.0, 0.0, 1.0]))
        return Figure(BodyDepth.of(own, body.faces), marks, turn, origin)
