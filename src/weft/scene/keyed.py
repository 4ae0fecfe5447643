"""Which numbers of a scene may change in time, and the scene as it is at a time.

A number is named by its path among the scene's objects: ``gravity.1``, ``wind.velocity.0``,
``contact.friction``. Fabrics have keyframes of their own (``Fabric.keyed``). What is not listed
here stays as it is and is refused by name: the mesh and its mass, steps, and what they begin with.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weft.arrays import Floats
from weft.assembly import Changed
from weft.contact.sides import Friction
from weft.errors import SceneError
from weft.keys import Keys

if TYPE_CHECKING:
    from weft.scene.scene import Scene

CHANGING = (  # patterns of paths
    r"gravity\.[0-2]",
    r"damping",
    r"pressure(\.(pressure|volume|ambient))?",
    r"wind\.velocity\.[0-2]",
    r"wind\.(density|drag|lift)",
    r"contact\.friction(\.(static|kinetic))?",
    r"contact\.pairs\.[0-9]+\.friction(\.(static|kinetic))?",
    r"contact\.stick",
    r"buckling\.compression",
)
WHY: Mapping[str, str] = {  # by the first word: what is done in its place
    "cloth": "the mesh and its mass stay; numbers of its fabric may change",
    "cloths": "the mesh and its mass stay; numbers of its fabric may change",
    "pins": "pins move along a path: pins.path.keyframes",
    "bodies": "bodies move along a path: bodies.path.keyframes",
    "contact": "of contact, friction and stick may change",
    "gravity": "give it for each component: gravity: [0, {keys: ...}, 0]",
    "wind": "of the wind, velocity (by component), density, drag and lift may change; a field of "
    "velocities has times of its own",
    "step": "`adaptive` divides steps",
    "velocity": "it is that of the start",
    "sewing": "seams have times of their own: sewing.closing, close_at and open_at of patterns",
}


def may_change(path: str) -> bool:
    """Whether a number at a path may have keyframes."""
    return any(re.fullmatch(pattern, path) for pattern in CHANGING)


def check_may_change(path: str) -> None:
    """Raise unless a number may have keyframes.

    Raises:
        SceneError: it may not.
    """
    if not may_change(path):
        raise SceneError(
            path, got="keyframes", expected="a number that stays as it is",
            hint=WHY.get(path.split(".")[0]),
        )  # fmt: skip


def check_keyed(scene: "Scene") -> None:
    """That a scene's keyframes are of numbers that it has and that may change, each with values
    that it takes.

    Raises:
        SceneError: they are not.
    """
    for path, keys in scene.keyed.items():
        check_may_change(path)
        given: object = keys
        if not isinstance(given, Keys):
            got = type(given).__name__
            raise SceneError(f"keyed {path}", got=got, expected="weft.Keys")
        _check_number_at(scene, path)
    gusts = scene.wind is not None and scene.wind.gusts is not None
    moving = [p for p in scene.keyed if p.startswith("wind.velocity")]
    if moving and gusts:
        raise SceneError(
            moving[0], got="keyframes, with gusts", expected="a steady wind, which carries them"
        )
    for t in sorted({t for keys in scene.keyed.values() for t, _ in keys.points}):
        try:
            at(scene, t)
        except SceneError as error:
            error.hint = " ".join(filter(None, (error.hint, f"(at the key of t = {t:g} s)")))
            raise


def _check_number_at(thing: Any, path: str) -> None:
    for name in path.split("."):
        if name.isdigit():
            found = int(name) < len(thing)
            thing = thing[int(name)] if found else None
        else:
            found = hasattr(thing, name)
            thing = getattr(thing, name, None)
        if not found or (thing is None and path != "damping"):
            raise SceneError(f"keyed {path}", got=f"a scene without {name}", expected="a number")
    if thing is not None and not isinstance(thing, int | float | Friction):
        raise SceneError(
            f"keyed {path}", got=type(thing).__name__, expected="the path of a number",
            hint="of a gas, pressure.pressure",
        )  # fmt: skip


def at(scene: "Scene", t: float) -> "Scene":
    """The scene with the numbers of the time t [s]; fabrics apart.

    Raises:
        SceneError: numbers that do not go together at this time.
    """
    made = dataclasses.replace(scene, keyed={})
    for path, keys in scene.keyed.items():
        made = _with(made, path.split("."), keys.at(t))
    return made


def _with(thing: Any, names: Sequence[str], value: float) -> Any:
    """A copy with the number at a path in the place of what was there."""
    if not names:
        return Friction(value) if isinstance(thing, Friction) else value
    first, *rest = names
    if first.isdigit():
        k = int(first)
        return tuple(_with(v, rest, value) if i == k else v for i, v in enumerate(thing))
    return dataclasses.replace(thing, **{first: _with(getattr(thing, first), rest, value)})


class ChangingScene:
    """Energies and friction of a scene by time: ``Model.changing``."""

    def __init__(self, scene: "Scene", mass: Floats, places: Sequence[int]) -> None:
        self.scene, self.mass = scene, mass
        self.places = places  # of what ``made_of`` makes, among the model's energies
        self._last: tuple[float, ...] = ()
        self._made = Changed({})

    def __call__(self, t: float) -> Changed:
        """What is there at the time t [s], made anew only where a number is another."""
        fabrics = self.scene.cloth.fabrics
        own = [keys for f in fabrics for keys in (f.keyed or {}).values()]
        numbers = tuple(keys.at(t) for keys in (*self.scene.keyed.values(), *own))
        if numbers != self._last:
            self._made, self._last = self._at(t), numbers
        return self._made

    def _at(self, t: float) -> Changed:
        from weft.scene.scene import made_of

        now = at(self.scene, t)
        energies = made_of(now, self.mass, t)
        if len(energies) != len(self.places):
            raise SceneError(
                f"damping at t = {t:g} s", got="keyframes from or to 0",
                expected="more than 0 at every key, with splines",
            )  # fmt: skip
        changed = {k: e for k, e in zip(self.places, energies) if not e.name.startswith(FIXED)}
        return Changed(changed, now.contact)


FIXED = ("strain limit",)  # energies whose constants stay


def heaviest(scene: "Scene") -> float:
    """[m/s^2] largest gravity at a key."""
    times = {t for p, k in scene.keyed.items() if p.startswith("gravity") for t, _ in k.points}
    return max((sum(g * g for g in at(scene, t).gravity) ** 0.5 for t in times), default=0.0)
