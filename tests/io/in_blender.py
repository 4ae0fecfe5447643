"""What runs inside of Blender (or bpy) for ``test_addon``: a scene, the add-on, what is seen."""

import json
import shutil
import sys
from pathlib import Path

import bpy
import numpy as np

ADDONS, COMMAND, OUT = sys.argv[-3:]
sys.path.insert(0, ADDONS)
import weft_blender  # noqa: E402
from weft_blender import cloth, meshes, operators, settings  # noqa: E402


def seen(thing):
    """(n,3) in the world, as modifiers leave it at the present frame."""
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    x = meshes.points(mesh)
    return x @ np.array(shown.matrix_world)[:3, :3].T + np.array(shown.matrix_world)[:3, 3]


def make():
    """A cloth of two materials that is turned, scaled and subdivided; a ball that comes up."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 10, 14, 25
    bpy.ops.mesh.primitive_uv_sphere_add(segments=12, ring_count=8, radius=0.2)
    ball = bpy.context.object
    ball.name = "ball"
    for frame, height in ((10, 0.6), (14, 0.66)):
        ball.location.z = height
        ball.keyframe_insert("location", frame=frame)
    bodies = bpy.data.collections.new("bodies")
    bodies.objects.link(ball)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=7, size=0.5)
    thing = bpy.context.object
    thing.name = "Table cloth"
    thing.location, thing.rotation_euler, thing.scale = (0.1, 0, 0.9), (0, 0, 0.5), (1.5, 1, 1)
    for k, name in enumerate(("inner", "outer #2")):
        thing.data.materials.append(bpy.data.materials.new(name))
        thing.data.materials[k].weft_fabric = ("", "denim")[k]
    for face in thing.data.polygons:
        face.material_index = int(face.center.x > 0.1)
    group = thing.vertex_groups.new(name="held")
    for v in thing.data.vertices:
        group.add([v.index], 1.0 if v.co.y > 0.24 else 0.3, "REPLACE")
    thing.modifiers.new("subdivided", "SUBSURF")
    thing.weft.fabric, thing.weft.pins = "silk", "held"
    scene.weft.bodies = bodies
    bpy.context.view_layer.update()
    return scene, thing


def said(action):
    """The words of the error that an operator reports."""
    try:
        action()
    except RuntimeError as error:
        return str(error)
    return ""


def main():
    """All of it; what is found goes to a file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    weft_blender.register()
    settings.said_command = lambda _context: COMMAND
    found = {"nothing": said(bpy.ops.weft.simulate)}
    scene, thing = make()
    bpy.ops.weft.fabrics()
    found["fabrics"] = [name for name, _ in settings.KNOWN]
    bpy.ops.weft.simulate()
    thing.modifiers["subdivided"].show_viewport = False
    found["order"] = [m.name for m in thing.modifiers]
    found["frames"] = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        found["frames"].append(seen(thing).tolist())
    found["files"] = str(Path(OUT).with_name("files"))
    shutil.copytree(cloth.folder_of(thing), found["files"])  # Blender's own ends with it
    if "--picture" in sys.argv:
        picture(scene, Path(OUT).with_suffix(".png"))
    errors(scene, thing, found)
    weft_blender.unregister()
    found["left"] = [n for n in dir(bpy.types) if n.startswith("WEFT_")] + [
        n for n in ("weft",) if hasattr(bpy.types.Object, n)
    ]
    Path(OUT).write_text(json.dumps(found))


def errors(scene, thing, found):
    """What goes wrong, in words; a run that is stopped, and read as far as it is."""
    thing.weft.pins = "nobody"
    found["group"] = said(bpy.ops.weft.simulate)
    thing.weft.pins = ""
    thing.weft.fabric = "slik"
    thing.data.materials[1].weft_fabric = ""
    found["fabric"] = said(bpy.ops.weft.simulate)
    thing.weft.fabric = "silk"
    settings.said_command = lambda _context: "/nowhere/weft"
    found["command"] = said(bpy.ops.weft.simulate)
    settings.said_command = lambda _context: COMMAND
    scene.frame_end = 1000
    path = cloth.write_cloth(thing, scene)
    going = operators.Going(operators.command_of(COMMAND), path, path.with_name("run"))
    while going.running() and going.frame < 2:
        pass
    going.stop()
    found["stopped"] = [going.process.returncode is not None, going.frames]
    bpy.ops.weft.read()
    found["cache"] = len(meshes.read_pc2(path.with_name("cloth.pc2")))


def picture(scene, path):
    """A quick look, where this Blender can render without a window."""
    from mathutils import Vector

    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location = (1.3, -1.5, 1.5)
    way = Vector((0.05, 0, 0.7)) - Vector(camera.location)
    camera.rotation_euler = way.to_track_quat("-Z", "Y").to_euler()
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.rotation_euler, sun.data.energy = (0.6, 0.3, 0), 3.0
    for thing in (camera, sun):
        scene.collection.objects.link(thing)
    for name, color in (("inner", (0.1, 0.3, 0.7, 1)), ("outer #2", (0.8, 0.3, 0.1, 1))):
        bpy.data.materials[name].diffuse_color = color
        bpy.data.materials[name].use_nodes = True
        bpy.data.materials[name].node_tree.nodes["Principled BSDF"].inputs[0].default_value = color
    scene.camera, scene.render.engine, scene.cycles.samples = camera, "CYCLES", 4
    scene.world = bpy.data.worlds.new("sky")
    scene.render.resolution_x, scene.render.resolution_y = 320, 240
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)


main()
