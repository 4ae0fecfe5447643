"""Air of a scene: on its cloth, and on rigid bodies that ask for it."""

from typing import TYPE_CHECKING

from weft.energies.base import Energy
from weft.energies.wind import AirForce

if TYPE_CHECKING:
    from weft.scene.scene import Scene


Carried = tuple[float, float, float] | None  # [m] by which a wind has carried its gusts so far


def air_on_cloth(scene: "Scene", carried: Carried = None) -> tuple[Energy, ...]:
    """Lift and drag on every cloth of a scene with a wind."""
    if scene.wind is None:
        return ()
    numbers = ["", *(f" {k}" for k in range(2, 1 + len(scene.cloth.elements)))]
    return tuple(
        AirForce(surface.samples(), scene.wind, "wind" + number, carried)
        for number, (_, surface) in zip(numbers, scene.cloth.elements)
    )


def air_on_bodies(scene: "Scene", carried: Carried = None) -> tuple[Energy, ...]:
    """The same on the faces of rigid bodies, half of each: a plate's two sides are one sheet."""
    asked = any(b.rigid is not None and b.rigid.air for b in scene.bodies)
    if scene.wind is None or not asked:
        return ()
    samples = scene.loose.blown
    return () if samples is None else (AirForce(samples, scene.wind, "wind on bodies", carried),)
