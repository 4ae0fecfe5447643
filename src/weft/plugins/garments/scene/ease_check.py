"""A check of scenes: the ease of garments on the person who wears them."""

from typing import Any

from weft.base.errors import MeshError
from weft.plugins.garments.bodies.landmarks import Landmarks, find_landmarks
from weft.plugins.garments.patterns.ease import ease_warnings, measure_ease
from weft.plugins.garments.patterns.garment import Garment
from weft.plugins.garments.patterns.spline_panels import SplineGarment
from weft.plugins.garments.scene.garments import wearer_of


def add_ease(builder: Any, found: Any) -> None:
    """Add a table of the ease of garments on the person who wears them, and warnings about it.

    Args:
        builder: of a scene, with its bodies and garments.
        found: findings (``weft.run.check_scene.Findings``).
    """
    made = (t.garment if isinstance(t, SplineGarment) else t for t in builder.made)
    garments, wearer = [t for t in made if isinstance(t, Garment)], wearer_of(builder)
    marks: Landmarks | None = None
    for body in wearer.bodies if garments else ():
        try:
            marks = marks or find_landmarks(body)
        except MeshError as error:
            told = error.hint is None or wearer.reasons
            if error.what == "body: height" and not told:
                found.warnings.append(f"{body.name}: {error}")  # a unit, or it lies
    if marks is None:
        return
    for garment in garments:
        name, faces = garment.pattern.name, garment.faces.values()
        parts = [slice(own.start, own.stop) for own in faces]
        seams = [s.pairs for s in garment.seams]
        eases = measure_ease(garment.mesh, parts, seams, marks, garment.folded)
        if eases:
            found.facts += [f"{name + ', cm':<15}  garment     body     ease"]
            found.facts += [f"  {ease}" for ease in eases]
        found.warnings += ease_warnings(name, eases)
