"""Keyframed numbers of a scene: which ones are allowed, and the scene at a time.

A number is named by its path among the scene's objects: ``gravity.1``, ``wind.velocity.0``,
``contact.friction.static``. Fabrics have keyframes of their own (``Fabric.keyed``), and so has
the thickness of a cloth in contact (``ClothPart.thickness``). Whether a number may change is
declared with it (``Setting.keyframes``); others are refused by name, with the reason that the
declaration gives (``Setting.constant``).
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weft.base.errors import SceneError
from weft.base.keyframes import Keys
from weft.base.settings import Setting, settings_by_field
from weft.base.trees import Json
from weft.cloth.cloth import Cloth
from weft.contact.collision_groups import Friction
from weft.contact.contact import SelfContact
from weft.energies.air.wind import Wind

if TYPE_CHECKING:
    from weft.scene.scene import Scene


def check_keyframes(scene: "Scene") -> None:
    """Check that keyframes belong to numbers that the scene has and that may change, within bounds.

    Raises:
        SceneError: a number that is not there or stays constant, or a value that its field refuses.
    """
    for path, keys in scene.keyed.items():
        given: object = keys
        if not isinstance(given, Keys):
            got = type(given).__name__
            raise SceneError(f"keyed {path}", got=got, expected="weft.Keys")
        if path.startswith("cloth"):
            raise SceneError(
                f"keyed {path}",
                got="a scene, which has one cloth of several parts",
                expected="weft.joined([...], thickness=[weft.Keys(...)])",
            )
        _check_number_at(scene, path)
    _check_thickness(scene)
    for path, keys in scene.keyed.items():
        if path.endswith(".spacing") and not min(keys.values) > 0:
            raise SceneError(
                path, got="keyframes from or to 0", expected="more than 0 at every key"
            )
    for t in sorted({t for keys in scene.keyed.values() for t, _ in keys.points}):
        try:
            scene_at(scene, t)
        except SceneError as error:
            error.hint = " ".join(filter(None, (error.hint, f"(at the key of t = {t:g} s)")))
            raise


def _check_number_at(scene: "Scene", path: str) -> None:
    """Raise unless the path leads to a number of the scene that may have keyframes."""
    thing: Any = scene
    about = Setting()
    for name in path.split("."):
        if name.isdigit():
            found = isinstance(thing, Sequence) and int(name) < len(thing)
            thing = thing[int(name)] if found else None
        else:
            known = settings_by_field(type(thing)) if dataclasses.is_dataclass(thing) else {}
            about = known.get(name, Setting())
            found = hasattr(thing, name)
            thing = getattr(thing, name, None)
        if not found or (thing is None and path != "damping"):
            raise SceneError(f"keyed {path}", got=f"a scene without {name}", expected="a number")
    if not about.keyframes:
        raise constant_number_error(path, about.constant)
    if thing is not None and not isinstance(thing, int | float | Friction):
        raise SceneError(
            f"keyed {path}",
            got=type(thing).__name__,
            expected="the path of a number",
            hint="of a gas, pressure.pressure; of a list, gravity.1",
        )


def constant_number_error(path: str, reason: str) -> SceneError:
    """Return the error of keyframes of a number that does not change in time."""
    return SceneError(
        path, got="keyframes", expected="a number that stays as it is", hint=reason or None
    )


def _check_thickness(scene: "Scene") -> None:
    """Raise unless keyframes of thickness are used by their cloth and are at least 0."""
    for part in scene.cloth.regions:
        if "thickness" in (part.fabric.keyed or {}) and part.thickness != "fabric":
            raise SceneError(
                f"fabric {part.fabric.name}.thickness",
                got=f"keyframes, in {part.name}, which does not keep its fabric's",
                expected="`thickness: fabric`, of that cloth",
                hint="or keyframes of contact.thickness",
            )
        own = part.thickness.values if isinstance(part.thickness, Keys) else ()
        if min(own, default=0.0) < 0:
            raise SceneError(f"thickness of {part.name}", got=min(own), expected="must be >= 0 [m]")


def scene_at(scene: "Scene", t: float) -> "Scene":
    """Return the scene with the numbers of the time t [s]; fabrics stay as they are.

    Raises:
        SceneError: numbers that do not go together at this time.
    """
    changes: Json = {}
    for path, keys in scene.keyed.items():
        *names, last = path.split(".")
        inside = changes
        for name in names:
            inside = inside.setdefault(name, {})
        inside[last] = keys.at(t)
    made: Scene = _with(dataclasses.replace(scene, keyed={}), changes)
    return made


def _with(thing: Any, changes: Any) -> Any:
    """Return a copy of an object, with the numbers of a tree of changes, all replaced at once.

    Replacing them one by one could pass through combinations that the object's checks refuse.
    """
    if not isinstance(changes, Mapping):
        return Friction(changes) if isinstance(thing, Friction) else changes
    if isinstance(thing, Sequence):
        return tuple(
            _with(v, changes[str(k)]) if str(k) in changes else v for k, v in enumerate(thing)
        )
    new = {name: _with(getattr(thing, name), inside) for name, inside in changes.items()}
    if isinstance(thing, Wind) and not any(new.get("velocity", thing.velocity)):
        new["gusts"] = None  # a wind of zero velocity refuses gusts
    return dataclasses.replace(thing, **new)


def has_keyframes(scene: "Scene") -> bool:
    """Return whether any number of a scene has keyframes."""
    return len(all_keyframes(scene)) > 0


def all_keyframes(scene: "Scene") -> Sequence[Keys]:
    """Return all keyframes of a scene, of its fabrics and of the thickness of its cloth."""
    fabrics = [keys for f in scene.cloth.fabrics for keys in (f.keyed or {}).values()]
    return [*scene.keyed.values(), *fabrics, *thickness_keyframes(scene.cloth)]


def thickness_keyframes(cloth: Cloth) -> Sequence[Keys]:
    """Return the keyframes of the thickness of a cloth's parts and regions."""
    kept = [part.thickness for part in cloth.parts]
    kept += [region.thickness for part in cloth.parts for region in part.regions]
    return [keys for keys in kept if isinstance(keys, Keys)]


def contact_at_start(scene: "Scene") -> SelfContact:
    """Return the contact settings at t = 0: with the gap of the first key, if the gap changes."""
    assert scene.contact is not None
    gap = scene.keyed.get("contact.gap")
    return scene.contact if gap is None else dataclasses.replace(scene.contact, gap=gap.at(0.0))


def largest_gap(scene: "Scene") -> float | None:
    """Return the largest gap [m] of contact at any time; None: it does not change."""
    keys = scene.keyed.get("contact.gap")
    return None if keys is None else max(keys.values)


def largest_gravity(scene: "Scene") -> float:
    """Return the largest magnitude of gravity [m/s^2] at a key; 0 if gravity does not change."""
    times = {t for p, k in scene.keyed.items() if p.startswith("gravity") for t, _ in k.points}
    return max((sum(g * g for g in scene_at(scene, t).gravity) ** 0.5 for t in times), default=0.0)
