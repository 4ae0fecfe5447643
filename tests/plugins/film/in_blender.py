"""What runs inside of Blender (or bpy) for ``test_addon``: a scene, the add-on, what is seen."""

import json
import shutil
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import numpy as np

ADDONS, COMMAND, OUT = sys.argv[-3:]
sys.path.insert(0, ADDONS)
import weft_blender  # noqa: E402
from weft_blender import cloth, meshes, operators, panel, settings  # noqa: E402


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
    thing.weft.fabric, thing.weft.pins, thing.weft.rest = "silk", "held", "UV"
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
    errors(scene, thing, found)
    animated(found)
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


def banner(scene):
    """A cape on an armature whose bone turns and whose object moves; weights for pins, goals and
    maps; a subdivision above. It starts posed.
    """
    scene.frame_start, scene.frame_end, scene.render.fps = 101, 106, 25
    bpy.ops.object.armature_add(location=(0, 0, 1))
    rig = bpy.context.object
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=0.4)
    thing = bpy.context.object
    thing.name = "cape"
    thing.rotation_euler, thing.parent, thing.location = (0, 0, 0.3), rig, (0, 0, 0.2)
    x = meshes.points(thing.data)
    for name, weight in (
        ("Bone", np.ones(len(x))),
        ("top", (x[:, 1] > 0.19).astype(float)),
        ("pose", (x[:, 1] + 0.2) / 0.4),
    ):
        group = thing.vertex_groups.new(name=name)
        for k, w in enumerate(weight.tolist()):
            group.add([k], w, "REPLACE")
    thing.modifiers.new("thick", "SOLIDIFY")
    thing.modifiers.new("rig", "ARMATURE").object = rig
    thing.modifiers.move(1, 0)
    bone = rig.pose.bones["Bone"]
    bone.rotation_mode = "XYZ"
    for frame, angle, side in ((101, 0.2, 0.0), (106, 0.6, 0.08)):
        bone.rotation_euler.x, rig.location.x = angle, side
        bone.keyframe_insert("rotation_euler", frame=frame)
        rig.keyframe_insert("location", frame=frame)
    own = thing.weft
    own.fabric, own.pins, own.goals, own.goal_stiffness = "cotton", "top", "pose", 3000.0
    for frame, stiffness in ((101, 3000.0), (106, 1000.0)):
        own.goal_stiffness = stiffness
        own.keyframe_insert("goal_stiffness", frame=frame)
    for number, low, high in (("bending", 5e-6, 4e-5), ("friction", 0.1, 0.5)):
        bpy.ops.weft.map()
        own.maps[-1].number, own.maps[-1].group = number, "pose"
        own.maps[-1].low, own.maps[-1].high = low, high
    scene.weft.bodies = None
    scene.frame_set(103)
    return thing


def in_a_window(thing, scene):
    """Stand-ins for an operator that runs in a window, and for its context."""

    class Watch:
        going, timer, shown, cloth = None, None, 0, thing.name
        look, _end = operators.WEFT_OT_simulate.look, operators.WEFT_OT_simulate._end
        said = ()

        def report(self, kind, text):
            self.said += (sorted(kind)[0], text)

    quiet = MagicMock()
    quiet.scene, quiet.screen.areas = scene, []
    # `modal` finds the run at the class
    Watch.__setattr__ = lambda self, name, value: setattr(Watch, name, value)
    return Watch(), quiet


def drawn(thing):
    """Names of the properties that the panel draws, each of which is there."""
    names = []

    class Layout(MagicMock):
        def prop(self, owner, name, **_more):
            getattr(owner, name)
            names.append(name)

        def prop_search(self, owner, name, *_more):
            self.prop(owner, name)

        def box(self):
            return self

        def row(self, **_more):
            return self

    kind = panel.WEFT_PT_cloth
    parts = {name: partial(getattr(kind, name), None) for name in ("_goals", "_maps", "_run")}
    context = SimpleNamespace(object=thing, scene=bpy.context.scene)
    kind.draw(SimpleNamespace(layout=Layout(), **parts), context)
    return names


def animated(found):
    """A cape that follows its animation: what it would be without weft, and what weft makes of it;
    a run that is stopped, watched and continued.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    thing = banner(scene)
    path = cloth.write_cloth(thing, scene)
    command = operators.command_of(COMMAND)
    found["again"] = said(lambda: bpy.ops.weft.simulate(go_on=True))
    found["drawn"] = drawn(thing)
    watch, context = in_a_window(thing, scene)
    watch.going = operators.Going(command, path, path.with_name("run"))
    timer, esc = (SimpleNamespace(type=t, value="PRESS") for t in ("TIMER", "ESC"))
    kind, result = operators.WEFT_OT_simulate, {"PASS_THROUGH"}
    while watch.shown < 3 and result == {"PASS_THROUGH"}:
        result = kind.modal(watch, context, timer)
    found["live"], found["shown"] = [watch.shown], scene.frame_current
    kind.modal(watch, context, esc)
    while result == {"PASS_THROUGH"}:
        result = kind.modal(watch, context, timer)
    found["ended"], going = [sorted(result), *watch.said], watch.going
    scene.frame_set(103)
    found["live"] += [cloth.read_back(thing, anew=False), going.words()]
    bpy.ops.weft.simulate(go_on=True)
    found["now"], found["cape order"] = scene.frame_current, [m.name for m in thing.modifiers]
    found["animated"], found["cape"] = [], []
    thing.modifiers["thick"].show_viewport = False
    for frame in range(scene.frame_start, scene.frame_end + 1):
        for name, shown in (("animated", False), ("cape", True)):
            thing.modifiers["Weft"].show_viewport = shown
            scene.frame_set(frame)
            found[name].append(seen(thing).tolist())
    found["cape files"] = str(Path(OUT).with_name("cape"))
    shutil.copytree(cloth.folder_of(thing), found["cape files"])
    part = meshes.read_pc2(path.with_name("cloth.pc2"))
    meshes.write_pc2(path.with_name("half.pc2"), part[:2])
    meshes.append_pc2(path.with_name("half.pc2"), part[2:])
    found["appended"] = bool((meshes.read_pc2(path.with_name("half.pc2")) == part).all())
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3, size=0.4)
    thing.weft.guide = bpy.context.object
    thing.weft.guide.matrix_world = thing.matrix_world
    cloth.write_cloth(thing, scene)
    found["guided files"] = str(Path(OUT).with_name("guided"))
    shutil.copytree(path.parent, found["guided files"])
    bpy.context.view_layer.objects.active = thing
    bpy.ops.weft.map()
    thing.weft.maps[-1].number = "friction"
    found["twice"] = said(bpy.ops.weft.export)
    thing.weft.maps[-1].number, thing.weft.maps[-1].group = "shear", "nobody"
    found["no group"] = said(bpy.ops.weft.export)
    bpy.ops.weft.map(index=2)
    bpy.ops.weft.map(index=0)
    found["maps"] = [m.number for m in thing.weft.maps]


main()
