"""Air energies of a scene: lift and drag of every fabric and of rigid bodies.

Rigid bodies have air forces only if their settings ask for them (``Rigid.air``).
"""

from weft.energies.air.lift_and_drag import AirForce
from weft.energies.energy import Energy
from weft.scene.points import rigid_bodies
from weft.scene.scene import Scene


def air_energies(scene: Scene) -> tuple[Energy, ...]:
    """Build the energies of the air; none without a wind.

    Args:
        scene: cloth, bodies and wind.

    Returns:
        Lift and drag of every surface, then of rigid bodies.
    """
    if scene.wind is None:
        return ()
    surfaces = [surface for _, surface in scene.cloth.elements]
    names = ["wind" if k == 0 else f"wind {k + 1}" for k in range(len(surfaces))]
    pushed = (AirForce(s.samples(), scene.wind, name) for s, name in zip(surfaces, names))
    return (*pushed, *_on_bodies(scene))


def _on_bodies(scene: Scene) -> tuple[Energy, ...]:
    """Build lift and drag of rigid bodies.

    Every face counts by half, because the two sides of a plate are one sheet in the air.
    """
    assert scene.wind is not None
    if not any(b.rigid is not None and b.rigid.air for b in scene.bodies):
        return ()
    samples = rigid_bodies(scene).blown
    return () if samples is None else (AirForce(samples, scene.wind, "wind on bodies"),)
