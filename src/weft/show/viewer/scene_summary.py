"""Summaries of a scene for people: a table and a picture in notebooks."""

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from weft.scene.scene import Scene

if TYPE_CHECKING:
    from weft.show.picture.renderer import Image


def summary_rows(scene: Scene) -> Mapping[str, str]:
    """Return the rows of the table that a notebook shows of a scene."""
    cloth = scene.cloth
    contact = "none" if scene.contact is None else "itself" + " and bodies" * bool(scene.bodies)
    return {
        "cloths": ", ".join(p.name for p in cloth.parts),
        "vertices": f"{cloth.n_vertices}, {len(cloth.mesh.faces)} triangles",
        "fabric": f"{cloth.fabric_names}, {cloth.mass.sum():.4g} kg",
        "pinned": f"{_count_pinned(scene)} points",
        "bodies": ", ".join(b.name for b in scene.bodies) or "none",
        "contact": contact,
        "integrator": f"{scene.integrator_name}, steps of {scene.step:g} s",
    }


def _count_pinned(scene: Scene) -> int:
    return len({int(v) for pin in scene.pins for v in pin.vertices})


def start_picture(scene: Scene) -> "Image":
    """Return a picture (h,w,3) of the start of a scene, before anything is untangled."""
    from weft.bodies.body import join_faces, join_positions
    from weft.show.viewer.notebook import draw_cloth

    mesh, bodies = scene.cloth.mesh, scene.bodies
    ends = accumulate((len(body.vertices) for body in bodies), initial=0)
    own = [slice(*pair) for pair in pairwise(ends)]
    return draw_cloth(mesh, mesh.vertices, join_positions(bodies, 0.0), join_faces(bodies), own)
