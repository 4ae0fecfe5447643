"""What the air does in a scene: lift and drag of every fabric, and of rigid bodies that ask for it;
added mass of the cloth.
"""

from typing import TYPE_CHECKING

from weft.energies.air.added_mass import AddedMass
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.base import Energy

if TYPE_CHECKING:
    from weft.scene.scene import Scene


Carried = tuple[float, float, float] | None  # [m] by which a wind has carried its gusts so far


def air_energies(scene: "Scene", carried: Carried = None) -> tuple[Energy, ...]:
    """None without a wind; added mass only where the wind has a ``span``."""
    if scene.wind is None:
        return ()
    surfaces = [surface for _, surface in scene.cloth.elements]
    names = ["wind" if k == 0 else f"wind {k + 1}" for k in range(len(surfaces))]
    pushed = tuple(
        AirForce(s.samples(), scene.wind, name, carried) for s, name in zip(surfaces, names)
    )
    added: tuple[Energy, ...] = ()
    if scene.wind.span is not None:
        added = (AddedMass(scene.cloth.mesh, scene.wind, carried=carried),)
    return (*pushed, *added, *_on_bodies(scene, carried))


def _on_bodies(scene: "Scene", carried: Carried) -> tuple[Energy, ...]:
    """On the faces of rigid bodies, half of each: a plate's two sides are one sheet."""
    assert scene.wind is not None
    if not any(b.rigid is not None and b.rigid.air for b in scene.bodies):
        return ()
    samples = scene.loose.blown
    return () if samples is None else (AirForce(samples, scene.wind, "wind on bodies", carried),)
