"""Scenes with keyframes, evaluated at the time of a step (``Model.changing``)."""

from collections.abc import Sequence
from functools import cached_property

from weft.base.arrays import Floats
from weft.bodies.body import Body
from weft.bodies.motion.prescribed import drive_motion
from weft.bodies.motion.step_division import KinematicMotion
from weft.bodies.rigid.energies import rigid_energies
from weft.cloth.attachments.build import updated_energies
from weft.energies.energy import Energy
from weft.integrators.assembly import Changed
from weft.scene.build_energies import build_loads
from weft.scene.keyframed_numbers import gust_offset
from weft.scene.points import attached_points, rigid_bodies
from weft.scene.scene import Scene


class ChangingScene:
    """Loads, attachments, joints and friction of a scene by time.

    Args:
        scene: with its keyframes.
        mass: (n,) [kg] of every point.
    """

    def __init__(self, scene: Scene, mass: Floats) -> None:
        self.scene, self.mass = scene, mass
        self.times = sorted({t for keys in scene.keyed.values() for t, _ in keys.points})
        self._ties = any(path.startswith("attachments") for path in scene.keyed)
        self._joints = any(".rigid." in path for path in scene.keyed)
        self._last: tuple[float, ...] = ()
        self._made = Changed({})

    @cached_property
    def motions(self) -> Sequence[KinematicMotion]:
        """The motions of motors and drives whose angle, place or speed has keyframes."""
        found = []
        for path, keys in self.scene.keyed.items():
            match path.split("."):
                case ["bodies", k, "rigid", "joints", joint, ("motor" | "drive") as kind, field]:
                    if field in ("angle", "place", "speed"):
                        body, speed = self.scene.bodies[int(k)], field == "speed"
                        found.append(drive_motion(body, int(joint), kind, keys, speed))
        return found

    def __call__(self, t: float) -> Changed:
        """Return what changes, with its values at the time t [s].

        The energies are rebuilt only if a number has changed since the last call.
        """
        numbers = tuple(keys.at(t) for keys in self.scene.keyed.values())
        numbers += gust_offset(self.scene.wind, self.scene.keyed, t) or ()
        if numbers != self._last:
            self._made, self._last = self._at(t), numbers
        return self._made

    def _at(self, t: float) -> Changed:
        now = self.scene.at_keys(t)
        made = list(build_loads(now, self.mass))
        if self._ties:
            made += updated_energies(attached_points(self.scene), now.attachments)
        if self._joints:
            made += self._rejoin(now.bodies)
        return Changed({energy.name: energy for energy in made}, now.contact)

    def _rejoin(self, bodies: Sequence[Body]) -> Sequence[Energy]:
        """Rebuild the joints with the numbers of ``bodies``; their anchors stay those of the
        start.
        """
        still = [b for b in bodies if b.rigid is None]
        return rigid_energies(rigid_bodies(self.scene).now(bodies), still, starts=False)
