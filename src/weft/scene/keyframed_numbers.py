"""Keyframed numbers of a scene: which ones are allowed, and the scene at a time.

A number is named by its path among the scene's objects: ``gravity.1``, ``wind.velocity.0``,
``contact.friction.static``. Whether a number may change is declared with it
(``Setting.keyframes``); others are refused by name, with the reason that the declaration gives
(``Setting.constant``).
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from weft.base.arrays import Vector
from weft.base.errors import SceneError
from weft.base.keyframes import Keys, quotient_integral
from weft.base.settings import Setting, settings_by_field
from weft.base.trees import Json
from weft.contact.settings import Friction
from weft.energies.air.wind import Wind


def check_keyed_numbers(scene: object, keyed: Mapping[str, Keys]) -> None:
    """Check that keyframes belong to numbers that a scene has and that may change.

    Args:
        scene: object whose numbers change.
        keyed: keyframes by the path of the number.

    Raises:
        SceneError: a number that is not there or stays constant, or a spacing of 0.
    """
    for path, keys in keyed.items():
        given: object = keys
        if not isinstance(given, Keys):
            got = type(given).__name__
            raise SceneError(f"keyed {path}", got=got, expected="weft.Keys")
        _check_number_at(scene, path)
    for path, keys in keyed.items():
        if path.endswith(".spacing") and not min(keys.values) > 0:
            raise SceneError(
                path, got="keyframes from or to 0", expected="a value above 0 at every key"
            )


def value_at(scene: object, path: str, what: str) -> tuple[Any, Setting]:
    """Return the value at a path among the scene's objects, and the declaration of its field.

    Raises:
        SceneError: there is no such place, or a block on the way is not there; ``what`` names it.
    """
    thing: Any = scene
    about = Setting()
    names = path.split(".")
    for k, name in enumerate(names):
        if name.isdigit():
            found = isinstance(thing, Sequence) and int(name) < len(thing)
            thing = thing[int(name)] if found else None
        else:
            known = settings_by_field(type(thing)) if dataclasses.is_dataclass(thing) else {}
            about = known.get(name, Setting())
            found = hasattr(thing, name)
            thing = getattr(thing, name, None)
        if not found or (thing is None and k + 1 < len(names)):
            raise _missing_error(what, name)
    return thing, about


def _missing_error(what: str, name: str) -> SceneError:
    return SceneError(what, got=f"a scene without {name}", expected="a number")


def _check_number_at(scene: object, path: str) -> None:
    """Raise unless the path leads to a number of the scene that may have keyframes."""
    thing, about = value_at(scene, path, f"keyed {path}")
    if thing is None:
        raise _missing_error(f"keyed {path}", path.rpartition(".")[2])
    if not about.keyframes:
        raise constant_number_error(path, about.constant)
    if not isinstance(thing, int | float | Friction):
        raise SceneError(
            f"keyed {path}",
            got=type(thing).__name__,
            expected="the path of a number",
            hint="of a gas, pressure.pressure; of a list, gravity.1",
        )


def constant_number_error(path: str, reason: str) -> SceneError:
    """Return the error of keyframes of a number that does not change in time."""
    return SceneError(
        path, got="keyframes", expected="a number without keyframes", hint=reason or None
    )


def gust_offset(wind: Wind | None, keyed: Mapping[str, Keys], t: float) -> Vector | None:
    """Return the distance (3,) [m] that a changing wind has carried its gusts until t [s].

    Waves of gusts of the length L have wave numbers k/L; the wind moves their phases by U.k/L per
    second. If L changes as well, the distance is therefore L(t) times the integral of U/L.

    Returns:
        The distance; None if neither velocity nor length change, or without gusts.
    """
    if wind is None or wind.gusts is None:
        return None
    keys = [keyed.get(f"wind.velocity.{k}") for k in range(3)]
    length = keyed.get("wind.gusts.length")
    if length is not None:
        moves = [Keys(((0.0, v),)) if k is None else k for k, v in zip(keys, wind.velocity)]
        x, y, z = (length.at(t) * quotient_integral(k, length, t) for k in moves)
        return x, y, z
    if not any(keys):
        return None
    x, y, z = (v * t if k is None else k.integral(t) for k, v in zip(keys, wind.velocity))
    return x, y, z


def tree_of(values: Mapping[str, Any]) -> Json:
    """Return a tree of values that are given by their paths."""
    tree: Json = {}
    for path, value in values.items():
        *names, last = path.split(".")
        inside = tree
        for name in names:
            inside = inside.setdefault(name, {})
        inside[last] = value
    return tree


def with_changes(thing: Any, changes: Any) -> Any:
    """Return a copy of an object, with the numbers of a tree of changes, all replaced at once.

    Replacing them one by one could pass through combinations that the object's checks refuse.
    """
    if not isinstance(changes, Mapping):
        return Friction(changes) if isinstance(thing, Friction) else changes
    if isinstance(thing, Sequence):
        return tuple(
            with_changes(v, changes[str(k)]) if str(k) in changes else v
            for k, v in enumerate(thing)
        )
    new = {name: with_changes(getattr(thing, name), inside) for name, inside in changes.items()}
    if isinstance(thing, Wind) and not any(new.get("velocity", thing.velocity)):
        new["gusts"] = None  # a wind of zero velocity refuses gusts
    return dataclasses.replace(thing, **new)
