"""The membrane laws of a scene: of a fabric, and of the faces of its cloth."""

import dataclasses
from functools import partial
from typing import Any

from weft.base.arrays import Ints
from weft.base.errors import SceneError
from weft.base.runtime_types import check_value, checked
from weft.cloth.fields import Physics
from weft.fabric.fabric import Fabric
from weft.fabric.law import default_law
from weft.laws.base import Law
from weft.scene.painted import paint_law
from weft.scene.scene import Scene


def membrane_law(scene: Scene, fabric: Fabric) -> Law:
    """Return the membrane law of one of a scene's fabrics.

    Raises:
        SceneError: the scene's function of a fabric returns something else than a law.
    """
    if scene.law is None:
        return default_law(fabric)
    if isinstance(scene.law, Law):
        return scene.law
    made: Law = check_value(
        scene.law(fabric), Law, "scene.law: what the function returns", SceneError
    )
    return made


def laws_of(scene: Scene) -> list[tuple[Law, Any]]:
    """Return the membrane laws, each with the faces that it applies to.

    The second entry of a pair is the number of consecutive faces, or face ids if the cloth has
    regions.
    """
    parts = scene.cloth.parts
    if not any(part.regions for part in parts):
        return [(_law_at(scene, p.fabric, p.faces), len(p.faces)) for p in parts]
    return [(_law_at(scene, r.fabric, r.faces), r.faces) for r in scene.cloth.regions]


def _law_at(scene: Scene, fabric: Fabric, faces: Ints) -> Law:
    """Return the law of a fabric at some faces."""
    weights = partial(scene.cloth.face_weights, faces=faces)
    return paint_law(fabric, partial(membrane_law, scene), len(faces), weights)


@checked(SceneError)
def physics(scene: Scene) -> Physics:
    """Return the laws and the wind from which the stress and air fields of a scene's runs are
    computed."""
    made = _physics_at(scene, 0.0)
    return dataclasses.replace(made, changing=partial(_physics_at, scene)) if scene.keyed else made


def _physics_at(scene: Scene, t: float) -> Physics:
    """Return laws and wind at the time t [s]; laws are None with the conditions of 1998."""
    plain = scene.conditions is not None or scene.is_1998
    wind = scene.at_keys(t).wind if scene.keyed else scene.wind
    return Physics(None if plain else laws_of(scene), wind)
