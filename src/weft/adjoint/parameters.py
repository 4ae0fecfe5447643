"""Parameters: numbers that a scene is made from, each with a function that gives the scene others.

A ``Parameter`` has a name, a value and ``apply(scene, value)``, which returns a scene with that
value. Every number in a scene can be one: those with names (``keyframed_parameters.named``), and
your own, such as a constant of a law, the width of a hoop, an angle of a path.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from weft.base.arrays import ArrayOf, Floats
from weft.base.errors import SceneError, check_known
from weft.base.runtime_types import checked
from weft.bodies.motion.pins import Keyframe, Path
from weft.fabric.fabric import UNITS, Fabric

# Parameters that are whole arrays, differentiated in closed form: three of the cloth, and the
# positions of a pin in every step (``pins.NAME`` + TARGETS).
ARRAYS = ("positions", "velocities", "rest")
NEAR = 1e-7  # [m] step of positions in differences: less than the elastic slip of friction
TARGETS = ".targets"


@checked(SceneError, "parameter", unchecked=("at",))
@dataclass(frozen=True, eq=False)
class Parameter:
    """Numbers of a scene that derivatives are taken by.

    Args:
        name: name of the parameter and of its gradient.
        value: a number, or an array of any shape.
        apply: ``apply(scene, value)`` returns the scene with that value.
        unit: unit of the value, for messages.
        scale: a change of the value that is not small; None: the largest of its numbers, or 1.
        linear: whether forces are linear in it; then difference quotients use a large step and are
            exact.
        near: a change of the value that is small; None: a thousandth of its numbers.

    Raises:
        SceneError: a value that is not finite.
    """

    name: str
    value: Annotated[Any, ArrayOf("numbers")]
    apply: Callable[[Any, Any], Any]
    unit: str = ""
    scale: float | None = None
    linear: bool = False
    near: float | None = None

    def at(self, scene: Any, value: Floats) -> Any:
        """Return the scene with a value of the same shape."""
        plain: Any = float(value) if np.ndim(value) == 0 else np.asarray(value)
        return self.apply(scene, plain)

    @property
    def size(self) -> float:
        """A change of the value that is not small, in its unit."""
        return self.scale or float(np.abs(self.value).max(initial=0.0)) or 1.0


def named_parameters(scene: Any) -> dict[str, Parameter]:
    """Return the named parameters of a scene, as if nothing changed in time.

    Args:
        scene: a ``weft.Scene``.
    """
    made = [*_fabrics(scene), *_forces(scene), *_contact(scene), *_pins(scene), *_bodies(scene)]
    return {p.name: p for p in made}


def _fabrics(scene: Any) -> list[Parameter]:
    found = []
    straight = _is_straight(scene)
    for k, (fabric, prefix) in enumerate(zip(scene.cloth.fabrics, fabric_prefixes(scene))):
        for key, unit in UNITS.items():
            if key == "damping" and scene.damping is not None:
                continue
            linear = key == "damping" or (straight and not key.startswith(("rest", "thick")))
            if key == "density":
                linear = scene.contact is None
            apply = with_fabric(k, key)
            value = getattr(fabric, key)
            found.append(Parameter(f"{prefix}.{key}", value, apply, unit, linear=linear))
    if scene.damping is not None:
        found.append(
            Parameter("damping", scene.damping, lambda s, v: s.with_(damping=v), "s", 0.01, True)
        )
    return found


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


def with_fabric(number: int, key: str) -> Callable[[Any, Any], Any]:
    """Return a function that gives a scene another value of a field of its fabric ``number``."""

    def apply(scene: Any, value: Any) -> Any:
        cloth = scene.cloth
        old: Fabric = cloth.fabrics[number]
        changes: dict[str, Any] = {key: value}
        new = dataclasses.replace(old, **changes)
        parts = [p.with_fabric(old, new) for p in cloth.parts]
        first = new if cloth.fabric is old else cloth.fabric
        given = tuple(parts) if cloth.given else ()
        return scene.with_(cloth=dataclasses.replace(cloth, fabric=first, given=given))

    return apply


def _forces(scene: Any) -> list[Parameter]:
    def gravity(s: Any, v: Floats) -> Any:
        return s.with_(gravity=tuple(float(a) for a in v))

    found = [Parameter("gravity", scene.gravity, gravity, "m/s^2", 9.81, True)]
    if scene.wind is not None:
        for key, unit in (("velocity", "m/s"), ("density", "kg/m^3"), ("drag", "1"), ("lift", "1")):
            found.append(Parameter(f"wind.{key}", getattr(scene.wind, key), _wind(key), unit))
        if scene.wind.span is not None:
            found.append(Parameter("wind.span", scene.wind.span, _wind("span"), "m"))
    if isinstance(scene.pressure, int | float):
        found.append(
            Parameter("pressure", scene.pressure, lambda s, v: s.with_(pressure=v), "Pa", 1.0, True)
        )
    elif scene.pressure is not None:
        for key, unit in (("pressure", "Pa"), ("volume", "m^3"), ("ambient", "Pa")):
            value = getattr(scene.pressure, key)
            found.append(Parameter(f"gas.{key}", value, _gas(key), unit))
    return found


def _wind(key: str) -> Callable[[Any, Any], Any]:
    def apply(scene: Any, value: Any) -> Any:
        plain = tuple(float(v) for v in value) if np.ndim(value) else float(value)
        return scene.with_(wind=dataclasses.replace(scene.wind, **{key: plain}))

    return apply


def _gas(key: str) -> Callable[[Any, float], Any]:
    def apply(scene: Any, value: float) -> Any:
        return scene.with_(pressure=dataclasses.replace(scene.pressure, **{key: value}))

    return apply


def _contact(scene: Any) -> list[Parameter]:
    if scene.contact is None:
        return []
    friction = scene.contact.friction

    def settings(key: str) -> Callable[[Any, float], Any]:
        return lambda s, v: s.with_(contact=dataclasses.replace(s.contact, **{key: v}))

    def both(s: Any, v: float) -> Any:
        f = s.contact.friction
        part = f.sliding / f.static if f.static > 0 else 1.0
        new = dataclasses.replace(f, static=v, kinetic=part * v)
        return s.with_(contact=dataclasses.replace(s.contact, friction=new))

    return [
        Parameter("contact.friction", friction.static, both, "1", 0.1),
        Parameter("contact.gap", scene.contact.gap, settings("gap"), "m"),
        Parameter(
            "contact.thickness",
            scene.contact.thickness,
            settings("thickness"),
            "m",
            scene.contact.gap,
        ),
        Parameter("contact.stick", scene.contact.stick, settings("stick"), "m/s"),
    ]


def _pins(scene: Any) -> list[Parameter]:
    found = []
    for k, name in enumerate(pin_names(scene.pins)):
        found += moving(f"pins.{name}", scene.pins[k].path, Mover("pins", k))
    return found


def _bodies(scene: Any) -> list[Parameter]:
    found: list[Parameter] = []
    for k, body in enumerate(scene.bodies):
        mover = Mover("bodies", k)

        def shift(s: Any, v: Floats, k: int = k, mover: "Mover" = mover) -> Any:
            return mover.put(s, s.bodies[k].moved(tuple(float(a) for a in v)))

        found.append(
            Parameter(f"bodies.{body.name}.translation", np.zeros(3), shift, "m", 0.01, near=NEAR)
        )
        found += [
            p
            for p in moving(f"bodies.{body.name}", body.path, mover)
            if not p.name.endswith("translation")
        ]
    return found


def pin_names(pins: Any) -> list[str]:
    """Return the names of pins; a pin gets its number if several have one name."""
    names = [p.name for p in pins]
    return [n if names.count(n) == 1 else str(k) for k, n in enumerate(names)]


@dataclass(frozen=True)
class Mover:
    """A pin, body or attachment of a scene, whose path can be replaced."""

    kind: str  # ``pins``, ``bodies`` or ``attachments``
    number: int

    def put(self, scene: Any, thing: Any) -> Any:
        """Return the scene with ``thing`` in its place."""
        things = list(getattr(scene, self.kind))
        things[self.number] = thing
        return scene.with_(**{self.kind: things})

    def along(self, scene: Any, change: Callable[[int, Keyframe], Keyframe]) -> Any:
        """Return the scene with changed keyframes; a path without any gets one, at time 0."""
        thing = getattr(scene, self.kind)[self.number]
        path = thing.path or Path((Keyframe(0.0),), hold=True)
        keys = tuple(change(i, key) for i, key in enumerate(path.keyframes))
        path = dataclasses.replace(path, keyframes=keys)
        return self.put(scene, dataclasses.replace(thing, path=path))


def moving(name: str, path: Path | None, mover: Mover) -> list[Parameter]:
    """Return the parameters of a path: an offset, and position and rotation at its keyframes."""

    def moved(s: Any, v: Floats) -> Any:
        return mover.along(s, lambda i, k: _at(k, np.asarray(k.translation) + v))

    def placed(s: Any, v: Floats) -> Any:
        return mover.along(s, lambda i, k: _at(k, v[i]))

    def turned(s: Any, v: Floats) -> Any:
        return mover.along(s, lambda i, k: dataclasses.replace(k, rotation=float(v[i])))

    straight = path is None or path.interpolation == "linear"
    near: dict[str, Any] = {"scale": 0.01, "near": NEAR, "linear": straight}
    found = [Parameter(f"{name}.translation", np.zeros(3), moved, "m", **near)]
    if path is not None:
        translations = np.array([k.translation for k in path.keyframes])
        rotations = np.array([k.rotation for k in path.keyframes])
        found.append(Parameter(f"{name}.keyframes", translations, placed, "m", **near))
        found.append(Parameter(f"{name}.rotations", rotations, turned, "rad", 0.1))
    return found


def _at(key: Keyframe, v: Floats) -> Keyframe:
    x, y, z = (float(a) for a in v)
    return dataclasses.replace(key, translation=(x, y, z))


def check_names(asked: Mapping[str, Any], known: list[str]) -> None:
    """Raise a SceneError with all known names for one that is not.

    Raises:
        SceneError: an unknown name.
    """
    for name in asked:
        check_known(name, known, "parameter", SceneError)
