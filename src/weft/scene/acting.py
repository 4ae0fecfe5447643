"""What acts on the cloth of a scene, as energies of its points, at a time."""

from typing import TYPE_CHECKING

import numpy as np

from weft.arrays import Floats
from weft.energies.base import Energy
from weft.energies.gravity import Gravity
from weft.energies.pressure import Pressure
from weft.energies.wind import AirForce
from weft.scene.elastic import elastic_energies

if TYPE_CHECKING:
    from weft.scene.scene import Scene


def made_of(
    scene: "Scene", mass: Floats, t: float = 0.0, carried: tuple[float, float, float] | None = None
) -> tuple[Energy, ...]:
    """What acts on a scene's points of these masses (n,) [kg] besides pins, contact and the user's
    energies, gravity last: with the numbers of the scene, and of its fabrics at the time t [s],
    until which its wind has ``carried`` its gusts so far [m].
    """
    elastic: tuple[Energy, ...] = ()
    blown: tuple[Energy, ...] = ()
    for k, (fabric, surface) in enumerate(scene.cloth.elements):
        number = "" if k == 0 else f" {k + 1}"
        elastic = (*elastic, *elastic_energies(scene, fabric, surface, number, t))
        if scene.wind is not None:
            blown = (*blown, AirForce(surface.samples(), scene.wind, "wind" + number, carried))
    inside: tuple[Energy, ...] = ()
    if scene.pressure is not None:
        inside = (Pressure.of(scene.cloth.mesh, scene.pressure),)
    onset = scene.gravity_from
    if np.ndim(onset) == 2:
        onset = np.pad(np.asarray(onset), ((0, len(mass) - len(onset)), (0, 0)))
    return (*elastic, *inside, *blown, Gravity(mass, scene.gravity, onset))
