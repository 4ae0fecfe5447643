"""Identity of a simulation, as a plain tree of numbers, names and digests of arrays.

A run may be resumed only with a scene of the same identity.
"""

import dataclasses
import enum
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray
from weft.base.settings import settings_by_field
from weft.base.trees import Yaml, YamlMapping
from weft.cloth.cloth import ClothPart
from weft.cloth.regions import Region
from weft.contact.settings import Friction
from weft.fabric.fabric import Fabric
from weft.laws.base import Law
from weft.scene.membrane_law import membrane_law
from weft.scene.scene import Scene

_DEEPEST = 8  # deepest level of nested objects that is described
_SMALL = 3  # numbers of an array that is described by them: a vector
# fields that ``identity`` describes itself
_OF_ITS_OWN = {"cloth", "pins", "law", "integrator", "settings"}
_NO_PART = {"description", "scene_file"}  # fields that say where the scene comes from


def identity(scene: Scene) -> YamlMapping:
    """Return a plain tree that two scenes share only if they simulate the same.

    Every field of the scene is part of it; what is None or empty is left out, so that a field that
    is added later does not change the identity of scenes that do not use it.
    """
    cloth = scene.cloth
    shape: list[AnyArray] = [cloth.vertices, cloth.faces, cloth.corner_uv]
    if cloth.embedding is not None:
        shape.append(np.frombuffer(repr(describe(cloth.surfaces)).encode(), np.uint8))
    names = [f.name for f in dataclasses.fields(scene)]
    tree = {
        "mesh": digest(*shape),
        "parts": [_part(p) for p in cloth.parts],
        "painted": {name: digest(cloth.mesh.weights[name]) for name in _painted(scene)},
        "sewn": None if cloth.sewn is None else digest(cloth.sewn),
        "seams": [{"name": name, "pairs": len(pairs)} for name, pairs in cloth.seams],
        "pins": [
            {"vertices": p.vertices.tolist(), "until": p.until, "path": describe(p.path)}
            for p in scene.pins
        ],
        "law": None if scene.law is None else [_law(membrane_law(scene, f)) for f in cloth.fabrics],
        "integrator": scene.integrator_name,
        "settings": describe(scene.step_settings),
        "stepper": None if isinstance(scene.integrator, str) else describe(scene.integrator),
        **{n: describe(getattr(scene, n)) for n in names if n not in _OF_ITS_OWN | _NO_PART},
    }
    return {name: value for name, value in tree.items() if not _is_empty(value)}


def _painted(scene: Scene) -> list[str]:
    """Return the names of the painted weights that fabrics and friction have."""
    found = {m.weights for f in scene.cloth.fabrics for m in (f.maps or {}).values()}
    friction = None if scene.contact is None else scene.contact.friction
    if isinstance(friction, Friction) and friction.map is not None:
        found.add(friction.map)
    return sorted(found & scene.cloth.mesh.weights.keys())


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, list | dict) and not value)


def _part(part: ClothPart | Region) -> YamlMapping:
    """Return name, fabric, thickness and faces of a cloth or of one of its regions."""
    given = describe({f: getattr(part.fabric, f) for f in _fabric_fields(part.fabric)})
    about = {"name": part.name, "fabric": given, "faces": len(part.faces)}
    about["thickness"] = describe(part.thickness)
    if isinstance(part, Region):
        return {**about, "digest": digest(part.faces)}
    if part.regions:
        about["regions"] = [_part(r) for r in part.regions]
    return about


def _fabric_fields(fabric: Fabric) -> list[str]:
    """Return the fields of a fabric that have a value and are part of its identity."""
    names = [f.name for f in dataclasses.fields(fabric) if f.compare and f.name != "sources"]
    return [name for name in names if getattr(fabric, name) is not None]


def digest(*arrays: ArrayLike) -> str:
    """Return the SHA-256 digest of the bytes of arrays."""
    made = hashlib.sha256()
    for array in arrays:
        made.update(np.ascontiguousarray(array).tobytes())
    return made.hexdigest()


def _law(made: Law) -> list[YamlMapping]:
    """Return names and parameters of a law's parts."""
    return [
        {"name": part.name, **{k: np.asarray(v).tolist() for k, v in part.parameters().items()}}
        for part in made.parts
    ]


def describe(thing: Any, depth: int = 0) -> Yaml:
    """Return an object as a plain tree.

    Settings are described by their values, other objects by their class and their public parts,
    small arrays by their numbers and large ones by a digest, functions by name. At the level
    ``_DEEPEST`` only the class is named, so that cyclic objects end.
    """
    if depth > _DEEPEST:
        return type(thing).__qualname__
    if isinstance(thing, Law):
        return _law(thing)
    if isinstance(thing, enum.Enum):
        return thing.name
    if thing is None or isinstance(thing, str | bool | int | float):
        return thing
    if isinstance(thing, Mapping):
        return {str(k): describe(v, depth + 1) for k, v in thing.items()}
    if isinstance(thing, tuple | list):
        return [describe(v, depth + 1) for v in thing]
    if callable(getattr(thing, "numpy", None)):
        thing = thing.numpy()
    if isinstance(thing, np.ndarray | np.generic):
        if thing.size <= _SMALL:
            return thing.tolist()
        return {"shape": list(thing.shape), "dtype": str(thing.dtype), "digest": digest(thing)}
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    name = {"class": f"{kind.__module__}.{kind.__qualname__}"}
    if kind is thing:
        return name
    if dataclasses.is_dataclass(thing):
        # fields that are not compared say how the object was made, not what it is
        parts = {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing) if f.compare}
        name = {} if settings_by_field(type(thing)) else name
    else:
        parts = {k: v for k, v in getattr(thing, "__dict__", {}).items() if not k.startswith("_")}
    plain = {k: describe(v, depth + 1) for k, v in parts.items()}
    return {**name, **{k: v for k, v in plain.items() if not (name == {} and _is_empty(v))}}
