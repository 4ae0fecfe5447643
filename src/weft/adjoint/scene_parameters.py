"""The parameters of a ``weft.Scene`` by name.

Names are ``fabric.shear``, ``contact.friction``, ``pins.NAME.keyframes``,
``attachments.NAME.length``; ``gravity.1.keys`` are the values of a number at its keyframes
(``weft.Keys``). Positions, velocities and material coordinates are whole arrays, differentiated in
closed form.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from weft import extensions
from weft.adjoint.array_derivatives import PositionDerivative, TargetDerivative, VelocityDerivative
from weft.adjoint.joint_derivative import JointDerivative
from weft.adjoint.material import cut, material_points, recut
from weft.adjoint.parameters import Parameter, Place, object_at
from weft.adjoint.rest import RestDerivative
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.keyframes import Keys
from weft.base.settings import settings_by_field
from weft.bodies.body import Body, arms_of, on_arms
from weft.bodies.joints.arm import Arm
from weft.bodies.motion.pins import Keyframe, Path
from weft.cloth.attachments.build import name_of
from weft.cloth.cloth import Cloth
from weft.contact.settings import Friction
from weft.fabric.fabric import HYSTERESIS, UNITS

NEAR = 1e-7  # [m] step of positions in differences: less than the elastic slip of friction
KEYS = ".keys"  # after the name of a number
TARGETS = ".targets"  # after the name of a pin: its points at the end of each step
# Fields that are numbers, or several, and that runs depend on smoothly.
WIND, GAS = ("velocity", "density", "drag", "lift"), ("pressure", "volume", "ambient")
ATTACHMENT = ("length", "stiffness", "stiffness_per_area", "damping", "radius")
RIGID = ("mass", "density", "velocity", "spin", "stiffness")


def scene_parameters(scene: Any) -> dict[str, Parameter]:
    """Return all parameters of a scene by name.

    They come from functions of a scene that are registered by name (``weft.extensions``, kind
    ``parameters``). A number that has keyframes is listed by its keyframes only. Whole arrays
    come last; ``rest`` comes before ``positions``, because cutting cloth anew keeps its positions.

    Args:
        scene: a ``weft.Scene``.
    """
    kinds = extensions.Registry[Any]("parameters").values()
    known = {p.name: p for kind in kinds for p in kind(scene)}
    keyed = {p.name: p for p in _list_keyframes(scene, known)}
    known = {n: p for n, p in known.items() if f"{n}{KEYS}" not in keyed} | keyed
    return known | {p.name: p for p in _arrays(scene)}


def _numbers(
    scene: Any, name: str, path: tuple[str | int, ...], fields: Sequence[str], **more: Any
) -> Iterator[Parameter]:
    """Yield the fields of the object at a path, as far as it has numbers there."""
    for field in fields:
        value = getattr(object_at(scene, path), field, None)
        if isinstance(value, int | float | tuple):
            place = Place((*path, field))
            yield Parameter(f"{name}.{field}", value, place, place.unit_in(scene), **more)


def fabrics_parameters(scene: Any) -> Iterator[Parameter]:
    """Yield the numbers of fabrics, and the damping of the scene."""
    straight = _is_straight(scene)
    for k, (fabric, prefix) in enumerate(zip(scene.cloth.fabrics, fabric_prefixes(scene))):
        for key, unit in {**UNITS, **HYSTERESIS}.items():
            if getattr(fabric, key) is None or (key == "damping" and scene.damping is not None):
                continue
            linear = key == "damping" or (straight and not key.startswith(("rest", "thick")))
            if key == "density":
                linear = scene.contact is None
            place, value = Place(("cloth", "fabrics", k, key)), getattr(fabric, key)
            yield Parameter(f"{prefix}.{key}", value, place, unit, linear=linear)
            if key in (fabric.maps or {}):
                to = Place(("cloth", "fabrics", k, "maps", key, "to"))
                yield Parameter(f"{prefix}.{key}.to", to.of(scene), to, unit, linear=linear)
    if scene.damping is not None:
        yield Parameter("damping", scene.damping, Place(("damping",)), "s", 0.01, True)


def fabric_prefixes(scene: Any) -> list[str]:
    """Return the beginning of the parameter names of each fabric.

    It is ``fabric`` for the only fabric, else ``fabric NAME``, or ``fabric NUMBER`` if a name
    occurs twice.
    """
    fabrics = scene.cloth.fabrics
    names = [f.name for f in fabrics]
    if len(fabrics) == 1:
        return ["fabric"]
    return [f"fabric {n}" if names.count(n) == 1 else f"fabric {k}" for k, n in enumerate(names)]


def _is_straight(scene: Any) -> bool:
    """Return whether forces are linear in stiffness: plain hinges, and the default law."""
    plain = scene.law is None and scene.bending in (None, "hinges") and scene.buckling is None
    fabrics = scene.cloth.fabrics
    return bool(
        plain
        and scene.cloth.embedding is None
        and scene.conditions is None
        and not any(f.is_measured or f.is_limited for f in fabrics)
    )


def forces_parameters(scene: Any) -> Iterator[Parameter]:
    """Yield the numbers of gravity, wind, pressure, and of the energies of plugins."""
    yield Parameter("gravity", scene.gravity, Place(("gravity",)), "m/s^2", 9.81, True)
    if scene.wind is not None:
        yield from _numbers(scene, "wind", ("wind",), WIND)
    if isinstance(scene.pressure, int | float):
        yield Parameter("pressure", scene.pressure, Place(("pressure",)), "Pa", 1.0, True)
    elif scene.pressure is not None:
        yield from _numbers(scene, "gas", ("pressure",), GAS)
    for name, block in scene.plugin_blocks.items():
        yield from _numbers(scene, name, (name,), tuple(settings_by_field(type(block))))


def contact_parameters(scene: Any) -> Iterator[Parameter]:
    """Yield the numbers of contact."""
    if scene.contact is None:
        return
    friction = Place(("contact", "friction"), _with_static_friction)
    yield Parameter("contact.friction", scene.contact.friction.static, friction, "1", 0.1)
    yield from _numbers(scene, "contact", ("contact",), ("gap",))
    gap = scene.contact.gap
    yield from _numbers(scene, "contact", ("contact",), ("thickness",), scale=gap)
    yield from _numbers(scene, "contact", ("contact",), ("stick",))


def _with_static_friction(friction: Friction, static: float) -> Friction:
    """Return another coefficient of static friction; the kinetic one stays the same part of it."""
    part = friction.sliding / friction.static if friction.static > 0 else 1.0
    return dataclasses.replace(friction, static=static, kinetic=part * static)


def holders_parameters(scene: Any) -> Iterator[Parameter]:
    """Yield the parameters of pins, bodies and attachments."""
    for k, name in enumerate(pin_names(scene.pins)):
        yield from _offset(f"pins.{name}", ("pins", k), scene.pins[k].path)
        yield from _keyframes(f"pins.{name}", ("pins", k), scene.pins[k].path)
    for k, body in enumerate(scene.bodies):
        name, place = f"bodies.{body.name}", Place(("bodies", k), _move_body)
        rigid = body.rigid is not None
        near = {"linear": True} if rigid else {"near": NEAR}
        if body.link is None:  # joints move a link
            yield Parameter(f"{name}.translation", np.zeros(3), place, "m", 0.01, **near)
        yield from _keyframes(name, ("bodies", k), body.path)
        for field in RIGID if rigid else ():
            linear = field in ("velocity", "spin")
            yield from _numbers(scene, name, ("bodies", k, "rigid"), (field,), linear=linear)
    for k, attachment in enumerate(scene.attachments):
        name, at = f"attachments.{name_of(attachment, k)}", ("attachments", k)
        yield from _numbers(scene, name, at, ATTACHMENT)
        path = getattr(attachment, "path", None)
        if path is not None:
            yield from _offset(name, at, path)
            yield from _keyframes(name, at, path)


def _joints(scene: Any) -> Iterator[Parameter]:
    """Yield the targets of the joints of arms, or their values at keyframes."""
    for arm in arms_of(scene.bodies):
        for joint in arm.leaders:
            keys = arm.targets[joint.name]
            several = len(keys.points) > 1
            name = f"bodies.{arm.name}.joints.{joint.name}" + KEYS * several
            value = np.array(keys.values if several else keys.values[0])
            aim = partial(_aim, arm, joint.name)
            found = partial(JointDerivative, arm, joint.name)
            yield Parameter(name, value, aim, joint.unit, 0.1, closed_form=found)


def _aim(arm: Arm, joint: str, scene: Any, value: Any) -> Any:
    """Return the scene with other targets of a joint of an arm."""
    (now,) = (a for a in arms_of(scene.bodies) if a.name == arm.name)
    aimed = now.with_targets({joint: arm.targets[joint].with_values(value)})
    return scene.with_(bodies=on_arms(scene.bodies, [aimed]))


def pin_names(pins: Any) -> list[str]:
    """Return the names of pins; a pin gets its number if several have one name."""
    names = [p.name for p in pins]
    return [n if names.count(n) == 1 else str(k) for k, n in enumerate(names)]


def _move_body(body: Body, shift: Floats) -> Body:
    x, y, z = (float(a) for a in shift)
    return body.move((x, y, z))


def _offset(name: str, at: tuple[str | int, ...], path: Path | None) -> Iterator[Parameter]:
    """Yield the parameter that moves a whole path; without one, its object stays where it is."""
    straight = path is None or path.interpolation == "linear"
    place = Place((*at, "path"), _shift_path)
    yield Parameter(f"{name}.translation", np.zeros(3), place, "m", 0.01, straight, NEAR)


LEVEL = (
    "the smooth path is level beside a keyframe, so that its derivative differs to each side; "
    "use `interpolation: linear`, or more keyframes"
)


def _keyframes(name: str, at: tuple[str | int, ...], path: Path | None) -> Iterator[Parameter]:
    """Yield positions and rotations at the keyframes of a path."""
    if path is None:
        return
    straight = path.interpolation == "linear"
    translations = np.array([k.translation for k in path.keyframes])
    rotations = np.array([k.rotation for k in path.keyframes])
    placed, turned = Place((*at, "path"), _set_translations), Place((*at, "path"), _set_rotations)
    moved, spun = (LEVEL * path.has_kink(c) for c in (slice(0, 3), slice(3, 4)))
    yield Parameter(
        f"{name}.keyframes", translations, placed, "m", 0.01, straight, NEAR, doubt=moved
    )
    yield Parameter(f"{name}.rotations", rotations, turned, "rad", 0.1, doubt=spun)


def _shift_path(path: Path | None, shift: Floats) -> Path:
    path = path or Path((Keyframe(0.0),), hold=True)
    return _set_translations(path, np.array([k.translation for k in path.keyframes]) + shift)


def _set_translations(path: Path, translations: Floats) -> Path:
    return _with_keyframes(path, "translation", [tuple(v) for v in translations.tolist()])


def _set_rotations(path: Path, rotations: Floats) -> Path:
    return _with_keyframes(path, "rotation", rotations.tolist())


def _with_keyframes(path: Path, field: str, values: Sequence[Any]) -> Path:
    """Return the path with other values of a field of its keyframes."""
    pairs = zip(path.keyframes, values, strict=True)
    keys = tuple(dataclasses.replace(key, **{field: value}) for key, value in pairs)
    return dataclasses.replace(path, keyframes=keys)


def _list_keyframes(scene: Any, constant: Mapping[str, Parameter]) -> Iterator[Parameter]:
    """Yield the values of numbers at their keyframes.

    A parameter is linear in its values if it is linear in the number, unless the interpolation is
    smooth.

    Args:
        scene: a ``weft.Scene``.
        constant: parameters by name as if nothing changed in time; units and sizes are theirs.
    """
    for path, keys in scene.keyed.items():
        name = path.replace("pressure.", "gas.")
        like = constant.get(name) or constant.get(path.rsplit(".", 1)[0])
        yield _keys(name, keys, Place(("keyed", path), Keys.with_values), like)


def _keys(name: str, keys: Keys, place: Place, like: Parameter | None) -> Parameter:
    values, unit = np.array(keys.values), "" if like is None else like.unit
    scale = float(np.abs(values).max()) or (None if like is None else like.scale)
    linear = like is not None and like.linear and keys.between != "smooth"
    return Parameter(f"{name}{KEYS}", values, place, unit, scale, linear)


def _arrays(scene: Any) -> Iterator[Parameter]:
    """Yield the whole arrays of a scene, which are differentiated in closed form."""
    points, uv = scene.cloth.points, _material_points(scene.cloth)
    velocities = np.broadcast_to(scene.velocity, points.shape)
    yield from _joints(scene)
    fast = Place(("velocity",), _as_array)
    yield Parameter("rest", uv, _with_material_points, "m", 0.01, closed_form=RestDerivative)
    yield Parameter("positions", points, _with_points, "m", 0.01, closed_form=PositionDerivative)
    yield Parameter("velocities", velocities, fast, "m/s", 0.1, closed_form=VelocityDerivative)
    for k, name in enumerate(pin_names(scene.pins)):
        title = f"pins.{name}{TARGETS}"
        of_pin = partial(TargetDerivative, k)
        # A run knows the number of steps, and so the shape of the value.
        yield Parameter(title, np.zeros((0, 3)), _with_targets, "m", closed_form=of_pin)


def _material_points(cloth: Cloth) -> Floats:
    """Return the material points (k,2) [m]; none of triangles beside splines."""
    try:
        return material_points(cloth)[0]
    except SceneError:
        return np.zeros((0, 2))


def _with_material_points(scene: Any, points: Floats) -> Any:
    return recut(scene, cut(scene.cloth, points))


def _with_points(scene: Any, points: Floats) -> Any:
    return scene.with_(cloth=scene.cloth.with_points(points))


def _as_array(old: Any, value: Floats) -> Floats:
    return value


def _with_targets(scene: Any, value: Floats) -> Any:
    """Raise an error: a scene moves its pins along paths.

    Raises:
        SceneError: always.
    """
    raise SceneError(
        "targets of pins",
        got="other values",
        expected="parameters of a scene",
        hint="for example pins.NAME.translation",
    )
