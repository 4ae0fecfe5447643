"""Scenes with keyframes, evaluated at the time of a step (``Model.changing``)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.keyframes import Keys, quotient_integral
from weft.bodies.body import Body
from weft.bodies.rigid.energies import rigid_energies
from weft.energies.base import Energy
from weft.integrators.assembly import Changed
from weft.scene.build_energies import build_energies
from weft.scene.keyframed_numbers import all_keyframes, scene_at, thickness_keyframes
from weft.scene.regions import kept_at

if TYPE_CHECKING:
    from weft.scene.scene import Scene


class ChangingScene:
    """Energies, masses, friction and thickness of a scene by time.

    Args:
        scene: with its keyframes.
        mass: (n,) [kg] at the start.
        places: indices, among the model's energies, of those that ``build_energies`` builds.
        tied: indices of the energies of attachments among the model's.
        rigid: indices of those of rigid bodies among the model's.
    """

    def __init__(
        self,
        scene: "Scene",
        mass: Floats,
        places: Sequence[int],
        tied: Sequence[int],
        rigid: Sequence[int] = (),
    ) -> None:
        self.scene, self.mass, self.places, self.tied = scene, mass, places, tied
        self.rigid = rigid
        keyed = [f.keyed or {} for f in scene.cloth.fabrics]
        every = [*scene.keyed.values(), *(keys for own in keyed for keys in own.values())]
        self.times = sorted({t for keys in every for t, _ in keys.points})
        self._weighs = any("density" in keys for keys in keyed)
        self._ties = any(path.startswith("attachments") for path in scene.keyed)
        self._joints = any(".rigid." in path for path in scene.keyed)
        self._last: tuple[float, ...] = ()
        self._made = Changed({})

    def __call__(self, t: float) -> Changed:
        """Return what changes, with its values at the time t [s].

        The energies are rebuilt only if a number has changed since the last call.
        """
        numbers = tuple(keys.at(t) for keys in all_keyframes(self.scene))
        numbers += gust_offset(self.scene, t) or ()
        if numbers != self._last:
            self._made, self._last = self._at(t), numbers
        return self._made

    def mass_at(self, t: float) -> Floats:
        """Return (n,) [kg] masses at the time t [s]; rigid bodies and anchors keep theirs."""
        if not self._weighs:
            return self.mass
        own = self.scene.cloth.mass_at(t)
        return np.concatenate([own, self.mass[len(own) :]])

    def _at(self, t: float) -> Changed:
        now, mass = scene_at(self.scene, t), self.mass_at(t)
        energies = build_energies(now, mass, t, gust_offset(self.scene, t))
        if len(energies) != len(self.places):
            raise SceneError(
                f"damping at t = {t:g} s",
                got="keyframes from or to 0",
                expected="more than 0 at every key, with splines",
            )
        changed = dict(zip(self.places, energies))
        if self._ties:
            changed.update(zip(self.tied, self.scene.attached.updated(now.attachments)))
        if self._joints:
            changed.update(self._rejoined(now.bodies))
        kept = thickness_at(self.scene, t) if thickness_changes(self.scene) else None
        return Changed(changed, now.contact, mass if self._weighs else None, kept)

    def _rejoined(self, bodies: Sequence[Body]) -> dict[int, Energy]:
        """Rebuild the joints with the numbers of ``bodies``; their anchors stay those of the
        start.
        """
        loose, still = self.scene.loose.now(bodies), [b for b in bodies if b.rigid is None]
        return dict(zip(self.rigid, rigid_energies(loose, still, starts=False), strict=True))


def gust_offset(scene: "Scene", t: float) -> tuple[float, float, float] | None:
    """Return the distance (3,) [m] that a changing wind has carried its gusts until t [s].

    Waves of gusts of the length L have wave numbers k/L; the wind moves their phases by U.k/L per
    second. If L changes as well, the distance is therefore L(t) times the integral of U/L.

    Returns:
        The distance; None if neither velocity nor length change, or without gusts.
    """
    wind = scene.wind
    if wind is None or wind.gusts is None:
        return None
    keys = [scene.keyed.get(f"wind.velocity.{k}") for k in range(3)]
    length = scene.keyed.get("wind.gusts.length")
    if length is not None:
        moves = [Keys(((0.0, v),)) if k is None else k for k, v in zip(keys, wind.velocity)]
        x, y, z = (length.at(t) * quotient_integral(k, length, t) for k in moves)
        return x, y, z
    if not any(keys):
        return None
    x, y, z = (v * t if k is None else k.integral(t) for k, v in zip(keys, wind.velocity))
    return x, y, z


def thickness_changes(scene: "Scene") -> bool:
    """Return whether the thickness of any cloth or body changes in time."""
    own = any("thickness" in (f.keyed or {}) for f in scene.cloth.fabrics)
    of_scene = any(path.endswith("thickness") for path in scene.keyed)
    return own or of_scene or len(thickness_keyframes(scene.cloth)) > 0


def thickness_at(scene: "Scene", t: float) -> Floats:
    """Return (k,) [m] contact thickness of pieces of cloth and then bodies, rigid ones
    first, at t.
    """
    now = scene_at(scene, t) if scene.keyed else scene
    assert now.contact is not None
    bodies = sorted(now.bodies, key=lambda b: b.rigid is None)
    own = [*kept_at(now.cloth, t), *(b.thickness for b in bodies)]
    return np.array([now.contact.thickness if kept is None else kept for kept in own])


def largest_thickness(scene: "Scene") -> float:
    """Return the largest thickness [m] at any time.

    The largest one is at a keyframe, because interpolation does not overshoot.
    """
    times = {t for keys in all_keyframes(scene) for t, _ in keys.points}
    return max(float(thickness_at(scene, t).max()) for t in (0.0, *times))
