"""What acts on a scene's points: its fabrics, pressure, air and weight."""

from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.energies.base import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.loads.pressure import Pressure
from weft.scene.air import Carried, air_energies
from weft.scene.elastic import elastic_energies
from weft.scene.regions import border_energies

if TYPE_CHECKING:
    from weft.scene.scene import Scene


def made_of(
    scene: "Scene", mass: Floats, t: float = 0.0, carried: Carried = None
) -> tuple[Energy, ...]:
    """What acts on a scene's points of these masses (n,) [kg] besides pins, contact and the user's
    energies, gravity last: with the numbers of the scene, and of its fabrics at the time t [s],
    until which its wind has ``carried`` its gusts so far [m].
    """
    elastic: tuple[Energy, ...] = ()
    for k, (fabric, surface) in enumerate(scene.cloth.elements):
        number = "" if k == 0 else f" {k + 1}"
        elastic = (*elastic, *elastic_energies(scene, fabric, surface, number, t))
    elastic = (*elastic, *border_energies(scene, t))
    inside: tuple[Energy, ...] = ()
    if scene.pressure is not None:
        inside = (Pressure.of(scene.cloth.mesh, scene.pressure),)
    onset = scene.gravity_from
    if np.ndim(onset) == 2:
        onset = np.pad(np.asarray(onset), ((0, len(mass) - len(onset)), (0, 0)))
    around = air_energies(scene, carried)
    return (*elastic, *inside, *around, Gravity(mass, scene.gravity, onset))
