"""A plugin for weft in one file: a torus that cloth falls on, without a mesh.

``pip install ./examples/plugin_torus``, then ``weft run examples/plugin_torus/scene.yaml``.
"""

from weft.extensions import Plugin

# Declared before other modules of weft are imported, because they may ask for it.
plugin = Plugin(
    "torus", weft="0.1", version="0.1.0", entries={"energies": {"torus": "weft_torus:Torus"}}
)

from collections.abc import Sequence
from dataclasses import dataclass

import warp as wp
from implicit_collider import ColliderPoint, ColliderShape, ImplicitCollider

from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, vec3


@wp.func
def outwards(x: vec3, p: ColliderPoint):
    """Return the vector from the axis of the circle to x, at a right angle to the axis."""
    n = wp.normalize(p.axis)
    r = x - p.place
    return r - wp.dot(r, n) * n


@wp.func
def nearest_on_circle(x: vec3, p: ColliderPoint):
    """Return the point of the circle that is nearest to x."""
    u = outwards(x, p)
    return p.place + (p.size / wp.max(wp.length(u), Scalar(1e-12))) * u


@wp.func
def turning_of_circle(x: vec3, p: ColliderPoint):
    """Return dc/dx = R/|u| t t^T, with the direction t of the circle."""
    u = outwards(x, p)
    t = wp.normalize(wp.cross(wp.normalize(p.axis), u))
    return (p.size / wp.max(wp.length(u), Scalar(1e-12))) * wp.outer(t, t)


CIRCLE = ColliderShape("circle", nearest_on_circle, turning_of_circle)


@documented
@dataclass(frozen=True)
class Torus:
    """A torus that does not move, without a mesh."""

    radius: float = setting(REQUIRED, "of the circle in its middle", "m", above=0)
    thickness: float = setting(REQUIRED, "radius of its cross section", "m", above=0)
    place: tuple[float, float, float] = setting((0.0, 0.0, 0.0), "of its middle", "m")
    axis: tuple[float, float, float] = setting((0.0, 1.0, 0.0), "of the circle")
    gap: float = setting(1e-3, "from which on cloth is pushed away", "m", above=0)
    friction: float = setting(0.0, "coefficient with the cloth", least=0, keyframes=True)

    def energies(self, scene: object) -> Sequence[ImplicitCollider]:
        """Return the collider of the scene's cloth."""
        cloth = scene.cloth  # type: ignore[attr-defined]
        return [
            ImplicitCollider.of(
                CIRCLE,
                cloth.mesh,
                cloth.mass,
                place=self.place,
                axis=self.axis,
                size=self.radius,
                radius=self.thickness,
                gap=self.gap,
                friction=self.friction,
                name="torus",
            )
        ]
