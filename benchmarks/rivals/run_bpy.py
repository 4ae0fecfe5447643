"""The drape in Blender: the cloth modifier at its default quality and material, with
self-collision, and collision with meshes of the sphere and the floor.

Blender's units of stiffness and mass are its own: they are left as they are.
"""

import bpy
import numpy as np
from exchange import read

d = read()


def turned(x: np.ndarray) -> np.ndarray:
    """z is up in Blender."""
    return np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)


def thing(name: str, x: np.ndarray, faces: np.ndarray) -> bpy.types.Object:
    """An object in the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(turned(x).tolist(), [], faces.tolist())
    made = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(made)
    return made


bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps, scene.gravity = round(d.fps), (0.0, 0.0, -9.81)
scene.frame_start, scene.frame_end = 1, d.n_frames + 1
for name, x, faces in (("sphere", d.sphere, d.sphere_faces), ("floor", d.floor, d.floor_faces)):
    body = thing(name, x, faces)
    body.modifiers.new("Collision", "COLLISION")
    if d.options["gap"] is not None:
        body.collision.thickness_outer = d.options["gap"] / 2
sheet = thing("sheet", d.cloth, d.faces)
cloth = sheet.modifiers.new("Cloth", "CLOTH")
cloth.collision_settings.use_self_collision = True
if d.options["gap"] is not None:
    cloth.collision_settings.distance_min = d.options["gap"] / 2
    cloth.collision_settings.self_distance_min = d.options["gap"]
cloth.point_cache.frame_start, cloth.point_cache.frame_end = 1, d.n_frames + 1
scene.frame_set(1)
for k in range(d.n_frames):
    with d:
        scene.frame_set(k + 2)
    shown = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty(d.cloth.size)
    shown.vertices.foreach_get("co", x)
    x = x.reshape(-1, 3)
    d.frame(np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1))
quality = cloth.settings.quality
d.write(bpy.app.version_string, quality * d.n_frames, f"quality {quality}")
