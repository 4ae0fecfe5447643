"""Identity of a simulation, as a plain tree of numbers, names and digests of arrays.

A run may be resumed only with a scene of the same identity.
"""

import dataclasses
import enum
import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.bodies.body import Body
from weft.bodies.joints.settings import Joint
from weft.bodies.motion.pins import Path
from weft.bodies.rigid.settings import Rigid
from weft.cloth.cloth import ClothPart
from weft.cloth.regions import Region
from weft.laws.base import Law

if TYPE_CHECKING:
    from weft.scene.scene import Scene

_DEEPEST = 8  # deepest level of nested objects that is described


def identity(scene: "Scene") -> Mapping[str, Any]:
    """Return a plain tree that two scenes share only if they simulate the same.

    Fields that were added later are left out while they have their default, so that older runs can
    still be resumed.
    """
    cloth = scene.cloth
    shape = [cloth.vertices, cloth.faces, cloth.corner_uv]
    if cloth.embedding is not None:
        shape.append(np.frombuffer(repr(described(cloth.surfaces)).encode(), np.uint8))
    tree = {
        "mesh": digest(*shape),
        "parts": [_part(p) for p in cloth.parts],
        "pins": [
            {"vertices": p.vertices.tolist(), "until": p.until, "path": _motion(p.path)}
            for p in scene.pins
        ],
        "gravity": list(scene.gravity),
        "damping": scene.damping,
        "step": scene.step,
        "rest_angles": described(scene.rest_angles),
        "integrator": scene.integrator,
        "law": None if scene.law is None else [law(scene.law_of(f)) for f in cloth.fabrics],
        "buckling": plain(scene.buckling),
        "pressure": plain(scene.pressure),
        "settings": plain(scene.stepper.settings),
        "conditions": plain(scene.conditions),
        "contact": plain(scene.contact),
        "bodies": [_body(b) for b in scene.bodies],
        "adaptive": plain(scene.adaptive),
        "velocity": np.asarray(scene.velocity).tolist(),
    }
    if scene.record:
        tree["record"] = list(scene.record)
    if scene.bending is not None:
        tree["bending"] = scene.bending
    if np.any(np.asarray(scene.gravity_from) != 0):
        own = np.ndim(scene.gravity_from) == 2
        tree["gravity_from"] = digest(scene.gravity_from) if own else list(scene.gravity_from)
    if scene.keyed:
        tree["keyed"] = {path: plain(keys) for path, keys in scene.keyed.items()}
    if scene.pressed:
        tree["pressed"] = [plain(p) for p in scene.pressed]
    if cloth.sewn is not None:
        tree["sewn"] = digest(cloth.sewn)
    if cloth.seams:
        tree["seams"] = [{"name": name, "pairs": len(pairs)} for name, pairs in cloth.seams]
    if scene.wind is not None:
        wind, later = described(scene.wind).items(), {"span": None, "crossflow": False}
        new = object()  # equals no value: only the two later fields are left out at their default
        tree["wind"] = {k: v for k, v in wind if v != later.get(k, new)}
    if scene.attachments:
        tree["attachments"] = [described(a) for a in scene.attachments]
    if scene.energies:
        tree["energies"] = [described(e) for e in scene.energies]
    if scene.stepper.given is not None:
        tree["stepper"] = described(scene.stepper.given)
    return tree


def _part(part: ClothPart) -> Mapping[str, Any]:
    """Return name, fabric and size of a cloth."""
    given = dataclasses.asdict(part.fabric).items()
    fabric = {k: v for k, v in given if k != "sources" and v is not None}
    size = {"faces": len(part.faces), "thickness": plain(part.thickness)}
    about: dict[str, Any] = {"name": part.name, "fabric": fabric, **size}
    if part.regions:
        about["regions"] = [_region(r) for r in part.regions]
    return about


def _region(region: Region) -> Mapping[str, Any]:
    """Return name, fabric and faces of a region."""
    whole = ClothPart(region.name, region.fabric, region.faces, region.faces, region.thickness)
    return {**_part(whole), "digest": digest(region.faces)}


def _body(body: Body) -> Mapping[str, Any]:
    """Return a body's motion, and its shape as a digest."""
    shape = [body.vertices, body.faces]
    if body.frames is not None:
        shape += [body.frames.times, body.frames.positions]
    about: dict[str, Any] = {"path": _motion(body.path), "thickness": body.thickness}
    if body.rigid is not None:
        about["rigid"] = _rigid(body.rigid)
    return {"name": body.name, "shape": digest(*shape), **about}


def _rigid(rigid: Rigid) -> Mapping[str, Any]:
    """Return the settings of a rigid body; those that were added later only if not the default."""
    joints = [{k: v for k, v in plain(j).items() if k in _FIRST} | _later(j) for j in rigid.joints]
    tree = {k: v for k, v in plain(rigid).items() if k != "air"}
    return {**tree, "joints": joints, **({"air": True} if rigid.air else {})}


_FIRST = ("kind", "point", "axis", "stiffness")


def _later(joint: Joint) -> dict[str, Any]:
    """Return the fields of a joint besides the first four that differ from their defaults."""
    later = (f for f in dataclasses.fields(joint) if f.name not in _FIRST)
    said = {f.name: getattr(joint, f.name) for f in later if getattr(joint, f.name) != f.default}
    return {name: described(value) for name, value in said.items()}


def _motion(path: Path | None) -> str | None:
    """Return a path as text, which is the same for keyframes in a list or a tuple."""
    if path is None:
        return None
    return repr(dataclasses.replace(path, keyframes=list(path.keyframes)))


def digest(*arrays: Any) -> str:
    """Return the SHA-256 digest of the bytes of arrays."""
    made = hashlib.sha256()
    for array in arrays:
        made.update(np.ascontiguousarray(array).tobytes())
    return made.hexdigest()


def plain(settings: Any) -> Any:
    """Return a dataclass of settings as a tree of numbers and names; other values as they are."""
    if dataclasses.is_dataclass(settings):
        return {f.name: plain(getattr(settings, f.name)) for f in dataclasses.fields(settings)}
    if isinstance(settings, tuple | list):
        return [plain(v) for v in settings]
    return settings.name if isinstance(settings, enum.Enum) else settings


def law(made: Law) -> list[Mapping[str, Any]]:
    """Return names and parameters of a law's parts."""
    return [
        {"name": part.name, **{k: np.asarray(v).tolist() for k, v in part.parameters().items()}}
        for part in made.parts
    ]


def described(thing: Any, depth: int = 0) -> Any:
    """Return an object of the user's as a plain tree: its class and its public parts.

    Dataclasses are described by their fields, arrays by a digest, functions by name. At the level
    ``_DEEPEST`` only the class is named, so that cyclic objects end.
    """
    if depth > _DEEPEST:
        return type(thing).__qualname__
    if isinstance(thing, Law):
        return law(thing)
    if isinstance(thing, enum.Enum):
        return thing.name
    if thing is None or isinstance(thing, str | bool | int | float):
        return thing
    if isinstance(thing, Mapping):
        return {str(k): described(v, depth + 1) for k, v in thing.items()}
    if isinstance(thing, tuple | list):
        return [described(v, depth + 1) for v in thing]
    if callable(getattr(thing, "numpy", None)):
        thing = thing.numpy()
    if isinstance(thing, np.ndarray | np.generic):
        return {"shape": list(thing.shape), "dtype": str(thing.dtype), "digest": digest(thing)}
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    name = {"class": f"{kind.__module__}.{kind.__qualname__}"}
    if kind is thing:
        return name
    if dataclasses.is_dataclass(thing):
        # fields that are not compared say how the object was made, not what it is
        told = (f for f in dataclasses.fields(thing) if f.compare)
        parts = {f.name: getattr(thing, f.name) for f in told}
    else:
        parts = {k: v for k, v in getattr(thing, "__dict__", {}).items() if not k.startswith("_")}
    return {**name, **{k: described(v, depth + 1) for k, v in parts.items()}}
