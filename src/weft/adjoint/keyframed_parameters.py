"""Parameters that change in time (``weft.Keys``): the values of a number at its keys."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weft.adjoint.bodies import body_parameters
from weft.adjoint.parameters import Parameter, fabric_prefixes, named_parameters, with_fabric
from weft.base.keyframes import Keys

KEYS = ".keys"  # after the name of a number


def named(scene: Any) -> dict[str, Parameter]:
    """Return all parameters of a scene by name, without those that are whole arrays.

    A number that has keys is listed by its keys only.

    Args:
        scene: a ``weft.Scene``.
    """
    plain = named_parameters(scene) | body_parameters(scene)
    keyed = with_keys(scene, plain)
    return {n: p for n, p in plain.items() if f"{n}{KEYS}" not in keyed} | keyed


def with_keys(scene: Any, plain: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Return the numbers that change in time as parameters, each with the values at its keys.

    Names are ``gravity.1.keys`` or ``fabric.shear.keys``. A parameter is linear in its values if it
    is linear in the number, unless the interpolation is smooth.

    Args:
        scene: a ``weft.Scene`` with keyframes.
        plain: parameters by name as if nothing changed in time; units and sizes are theirs.
    """
    found = []
    for path, keys in scene.keyed.items():
        name = path.replace("pressure.", "gas.")
        like = plain.get(name) or plain.get(path.rsplit(".", 1)[0])
        found.append(_keys(name, keys, _with_scene_keys(path), like))
    fabrics = scene.cloth.fabrics
    for k, prefix in enumerate(fabric_prefixes(scene)):
        for name, keys in (fabrics[k].keyed or {}).items():
            path = f"{prefix}.{name}"
            found.append(_keys(path, keys, _with_fabric_keys(k, name), plain.get(path)))
    return {p.name: p for p in found}


def _keys(name: str, keys: Keys, apply: Any, like: Parameter | None) -> Parameter:
    values, unit = np.array(keys.values), "" if like is None else like.unit
    scale = float(np.abs(values).max()) or (None if like is None else like.scale)
    linear = like is not None and like.linear and keys.between != "smooth"
    return Parameter(f"{name}{KEYS}", values, apply, unit, scale, linear)


def _other(keys: Keys, values: Any) -> Keys:
    """Return keys at the same times with other values."""
    given = np.broadcast_to(np.asarray(values, dtype=np.float64), (len(keys.points),))
    return Keys([(t, float(v)) for (t, _), v in zip(keys.points, given)], keys.between)


def _with_scene_keys(path: str) -> Callable[[Any, Any], Any]:
    return lambda s, v: s.with_(keyed={**s.keyed, path: _other(s.keyed[path], v)})


def _with_fabric_keys(number: int, name: str) -> Callable[[Any, Any], Any]:
    def apply(scene: Any, values: Any) -> Any:
        keyed = scene.cloth.fabrics[number].keyed
        return with_fabric(number, "keyed")(scene, {**keyed, name: _other(keyed[name], values)})

    return apply
