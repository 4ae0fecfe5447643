"""Energies that act on the points of a scene: elastic energies; pressure, air and gravity.

Pins, contact, attachments and the user's energies are not among them.
"""

from collections.abc import Iterator

import numpy as np

from weft.base.arrays import Floats
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.loads.pressure import Pressure
from weft.scene.air import air_energies
from weft.scene.elastic import elastic_energies
from weft.scene.regions import border_energies
from weft.scene.scene import Scene


def build_elastic(scene: Scene) -> tuple[Energy, ...]:
    """Build the elastic energies of a scene's cloth: of its parts, then of borders of regions."""
    elastic: tuple[Energy, ...] = ()
    for k, (fabric, surface) in enumerate(scene.cloth.elements):
        number = "" if k == 0 else f" {k + 1}"
        elastic = (*elastic, *elastic_energies(scene, fabric, surface, number))
    return (*elastic, *border_energies(scene))


def build_loads(scene: Scene, mass: Floats) -> tuple[Energy, ...]:
    """Build the energies of pressure, air, plugins and gravity, gravity last.

    Args:
        scene: what is simulated, with the numbers of the time at which the loads act.
        mass: (n,) [kg] of every point.
    """
    inside: tuple[Energy, ...] = ()
    if scene.pressure is not None:
        inside = (Pressure.of(scene.cloth.mesh, scene.pressure),)
    onset = scene.gravity_from
    if np.ndim(onset) == 2:
        onset = np.pad(np.asarray(onset), ((0, len(mass) - len(onset)), (0, 0)))
    weight = Gravity(mass, scene.gravity, onset)
    return (*inside, *air_energies(scene), *_of_plugins(scene), weight)


def _of_plugins(scene: Scene) -> Iterator[Energy]:
    """Yield the energies of the scene blocks that plugins have registered."""
    for block in scene.plugin_blocks.values():
        yield from block.energies(scene)
