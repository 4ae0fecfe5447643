"""Checks of scenes and runs: the ease of garments on the person who wears them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from weft.base.errors import MeshError
from weft.bodies.body import Body
from weft.cloth.cloth import Cloth
from weft.plugins.garments.bodies.landmarks import Landmarks, find_landmarks
from weft.plugins.garments.patterns.ease import ease_warnings, measure_ease, measure_garments
from weft.plugins.garments.patterns.garment import Garment
from weft.plugins.garments.patterns.spline_panels import SplineGarment


def add_ease(builder: Any, found: Any) -> None:
    """Add a table of the ease of garments on the person who wears them, and warnings about it.

    Args:
        builder: of a scene, with its bodies and garments.
        found: findings (``weft.run.check_scene.Findings``).
    """
    made = (t.garment if isinstance(t, SplineGarment) else t for t in builder.made)
    garments = [t for t in made if isinstance(t, Garment)]
    marks: Landmarks | None = None
    for body in builder.bodies if garments else ():
        with suppress(MeshError):
            marks = marks or find_landmarks(body)
    if marks is None:
        if garments:
            found.facts.append("ease: not measured, because no body is a standing person")
        return
    for garment in garments:
        name, faces = garment.pattern.name, garment.faces.values()
        parts = [slice(own.start, own.stop) for own in faces]
        seams = [s.pairs for s in garment.seams]
        eases = measure_ease(garment.mesh, parts, seams, marks, garment.folded, list(garment.faces))
        if eases:
            found.facts += [f"{name + ', cm':<15}  garment     body     ease"]
            found.facts += [f"  {ease}" for ease in eases]
        found.warnings += ease_warnings(name, eases)


def explain_tight(cloth: Cloth, name: str, bodies: Sequence[Body]) -> str:
    """Return whether the garment of a tight panel is smaller than the person who wears it.

    Args:
        cloth: at the start.
        name: of the panel.
        bodies: of the scene.

    Returns:
        The comparison of girths and heights in words; empty if there is nothing to compare.
    """
    for body in bodies:
        with suppress(MeshError):
            marks = find_landmarks(body)
            break
    else:
        return ""
    parts, seams = [part.faces for part in cloth.parts], [pairs for _, pairs in cloth.seams]
    panel = [part.name for part in cloth.parts].index(name)
    found = measure_garments(cloth.mesh, parts, seams, marks, cloth.folded)
    own = next((eases for panels, eases in found if panels[panel]), [])
    tight = [e for e in own if e.ratio < 1]
    shown = [
        f"{e.what} {100 * e.garment:.1f} cm, the body's {100 * e.body:.1f} cm" for e in tight or own
    ]
    if tight:
        return f"the garment is smaller than the body: {'; '.join(shown)}"
    if not own:
        return ""
    return (
        f"the garment is not smaller than the body ({'; '.join(shown)}): a seam or a body holds it"
    )
