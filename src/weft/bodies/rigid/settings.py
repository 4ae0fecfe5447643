"""Settings of a rigid body: its mass, its velocity at the start, and its joints."""

from collections.abc import Sequence
from dataclasses import dataclass

from weft.base.arrays import Vector
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.bodies.joints.settings import Joint

INERTIA = "its mass and inertia stay; a rope, a spring or gravity may change"


@checked(SceneError, "rigid")
@documented
@dataclass(frozen=True)
class Rigid:
    """A rigid body, moved by forces and contacts. Its mesh has to be closed."""

    density: float | None = setting(
        None, "density of the material; or give the mass", "kg/m^3", above=0, constant=INERTIA
    )
    mass: float | None = setting(
        None, "mass of the whole body; or give the density", "kg", above=0, constant=INERTIA
    )
    velocity: Vector = setting(
        (0.0, 0.0, 0.0), "velocity of the center at the start", "m/s", constant="that of the start"
    )
    spin: Vector = setting(
        (0.0, 0.0, 0.0), "angular velocity at the start", "rad/s", constant="that of the start"
    )
    stiffness: float = setting(
        1e8,
        "Young's modulus against a change of shape: a strain is about pressure over modulus",
        "Pa",
        above=0,
        constant="this number keeps the body's shape; nothing else depends on it",
    )
    joints: Sequence[Joint] = setting((), "joints to the world or to other bodies")
    air: bool = setting(
        False,
        "the scene's wind acts on the surface, with half of its force per face, because "
        "a plate has two faces",
    )

    def __post_init__(self) -> None:
        if (self.density is None) == (self.mass is None):
            raise SceneError(
                "rigid.mass, rigid.density",
                got="neither" if self.mass is None else "both",
                expected="one of the two",
                hint="wood is about 600 kg/m^3, water 1000, steel 7800",
            )
