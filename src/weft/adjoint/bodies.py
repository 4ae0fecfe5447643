"""Parameters of rigid bodies and of attachments."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.adjoint.parameters import Mover, Parameter, moving
from weft.base.arrays import Floats
from weft.cloth.attachments.build import called

NUMBERS = {"length": "m", "stiffness": "N/m", "damping": "s", "radius": "m"}  # of attachments
RIGID = {"mass": "kg", "density": "kg/m^3", "velocity": "m/s", "spin": "rad/s", "stiffness": "Pa"}


def body_parameters(scene: Any) -> dict[str, Parameter]:
    """Return the parameters of rigid bodies and attachments of a ``weft.Scene`` by name.

    Names are ``attachments.NAME.length``, ``bodies.NAME.velocity`` and the like.
    """
    found: list[Parameter] = []
    for k, body in enumerate(scene.bodies):
        if body.rigid is not None:
            found += _rigid(k, body)
    for k, a in enumerate(scene.attachments):
        name, mover = f"attachments.{called(a, k)}", Mover("attachments", k)
        found += [
            Parameter(f"{name}.{key}", getattr(a, key), _changed(mover, key), unit)
            for key, unit in NUMBERS.items()
            if isinstance(getattr(a, key, None), float | int)
        ]
        if getattr(a, "path", None) is not None:
            found += moving(name, a.path, mover)
    return {p.name: p for p in found}


def _rigid(number: int, body: Any) -> list[Parameter]:
    """Return the parameters of a rigid body: place and motion at the start, mass, stiffness."""
    mover, name = Mover("bodies", number), f"bodies.{body.name}"

    def shift(s: Any, v: Floats) -> Any:
        return mover.put(s, s.bodies[number].moved(tuple(float(a) for a in v)))

    def changed(key: str) -> Callable[[Any, Any], Any]:
        def apply(s: Any, v: Any) -> Any:
            old, value = s.bodies[number], v if np.ndim(v) == 0 else tuple(v.tolist())
            rigid = dataclasses.replace(old.rigid, **{key: value})
            return mover.put(s, dataclasses.replace(old, rigid=rigid))

        return apply

    found = [Parameter(f"{name}.translation", np.zeros(3), shift, "m", 0.01, linear=True)]
    for key, unit in RIGID.items():
        value = getattr(body.rigid, key)
        if value is not None:
            linear = key in ("velocity", "spin")
            found.append(Parameter(f"{name}.{key}", value, changed(key), unit, linear=linear))
    return found


def _changed(mover: Mover, key: str) -> Callable[[Any, Any], Any]:
    def apply(scene: Any, value: float) -> Any:
        old = getattr(scene, mover.kind)[mover.number]
        return mover.put(scene, dataclasses.replace(old, **{key: value}))

    return apply
