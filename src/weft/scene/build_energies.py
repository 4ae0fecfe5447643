"""Energies that act on the points of a scene: elastic energies, pressure, air and gravity."""

from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.energies.base import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.loads.pressure import Pressure
from weft.scene.air import GustOffset, air_energies
from weft.scene.elastic import elastic_energies
from weft.scene.regions import border_energies

if TYPE_CHECKING:
    from weft.scene.scene import Scene


def build_energies(
    scene: "Scene", mass: Floats, t: float = 0.0, gust_offset: GustOffset = None
) -> tuple[Energy, ...]:
    """Build the elastic, pressure, air and gravity energies of a scene.

    Pins, contact, attachments and the user's energies are not included.

    Args:
        scene: what is simulated, with the numbers of the time t.
        mass: (n,) [kg] of every point.
        t: [s] time at which keyframes of the fabrics are evaluated.
        gust_offset: [m] distance that the wind has carried its gusts until t; None: a steady wind,
            whose distance follows from its velocity.

    Returns:
        The energies in the order elastic, bending between regions, pressure, air, gravity.
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
    around = air_energies(scene, gust_offset)
    return (*elastic, *inside, *around, Gravity(mass, scene.gravity, onset))
