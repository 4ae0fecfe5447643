"""Air energies of a scene: lift and drag of every fabric and of rigid bodies, and added mass.

Rigid bodies have air forces only if their settings ask for them (``Rigid.air``).
"""

from typing import TYPE_CHECKING

from weft.base.arrays import Vector
from weft.energies.air.added_mass import AddedMass
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.base import Energy

if TYPE_CHECKING:
    from weft.scene.scene import Scene


GustOffset = Vector | None  # [m] distance that a wind has carried its gusts


def air_energies(scene: "Scene", gust_offset: GustOffset = None) -> tuple[Energy, ...]:
    """Build the energies of the air; none without a wind.

    Args:
        scene: cloth, bodies and wind.
        gust_offset: [m] distance that the wind has carried its gusts so far; None: a steady wind.

    Returns:
        Lift and drag of every surface, added mass if the wind has a ``span``, then lift and drag
        of rigid bodies.
    """
    if scene.wind is None:
        return ()
    surfaces = [surface for _, surface in scene.cloth.elements]
    names = ["wind" if k == 0 else f"wind {k + 1}" for k in range(len(surfaces))]
    pushed = tuple(
        AirForce(s.samples(), scene.wind, name, gust_offset) for s, name in zip(surfaces, names)
    )
    added: tuple[Energy, ...] = ()
    if scene.wind.span is not None:
        added = (AddedMass(scene.cloth.mesh, scene.wind, carried=gust_offset),)
    return (*pushed, *added, *_on_bodies(scene, gust_offset))


def _on_bodies(scene: "Scene", gust_offset: GustOffset) -> tuple[Energy, ...]:
    """Build lift and drag of rigid bodies.

    Every face counts by half, because the two sides of a plate are one sheet in the air.
    """
    assert scene.wind is not None
    if not any(b.rigid is not None and b.rigid.air for b in scene.bodies):
        return ()
    samples = scene.loose.blown
    return (
        () if samples is None else (AirForce(samples, scene.wind, "wind on bodies", gust_offset),)
    )
