"""What the air does to a scene's cloth: lift and drag of every fabric, and added mass of all."""

from weft.cloth import Cloth
from weft.energies.added_mass import AddedMass
from weft.energies.air import Wind
from weft.energies.base import Energy
from weft.energies.wind import AirForce


def air_energies(cloth: Cloth, wind: Wind | None) -> tuple[Energy, ...]:
    """None without a wind; added mass only where the wind has a ``span``."""
    if wind is None:
        return ()
    surfaces = [surface for _, surface in cloth.elements]
    names = ["wind" if k == 0 else f"wind {k + 1}" for k in range(len(surfaces))]
    pushed = tuple(AirForce(s.samples(), wind, name) for s, name in zip(surfaces, names))
    return pushed if wind.span is None else (*pushed, AddedMass(cloth.mesh, wind))
