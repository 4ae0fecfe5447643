# SPDX-License-Identifier: GPL-3.0-or-later
"""What buttons do: ask for fabrics, write files, simulate, read a run back."""

import bpy

from . import settings
from .cloth import folder_of, frames_of, read_back, write_cloth
from .meshes import Problem
from .process import Going, command_of, fabrics

INTERVAL = 0.2  # [s] between two looks at a run


def _command(context) -> list[str]:
    return command_of(settings.said_command(context))


class _Said(bpy.types.Operator):
    """An operator that tells the user about problems."""

    def execute(self, context):
        """What it does, or why not."""
        try:
            return self.act(context)
        except (Problem, OSError) as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}


class WEFT_OT_fabrics(_Said):
    """Ask weft which fabrics it knows"""

    bl_idname, bl_label = "weft.fabrics", "Fabrics"

    def act(self, context):
        """A list for the fields of fabrics."""
        settings.KNOWN[:] = fabrics(_command(context))
        self.report({"INFO"}, ", ".join(name for name, _ in settings.KNOWN))
        return {"FINISHED"}


class WEFT_OT_export(_Said):
    """Write the cloth, its pins and its bodies as a scene of weft"""

    bl_idname, bl_label = "weft.export", "Write Scene"

    def act(self, context):
        """Files alone."""
        self.report({"INFO"}, f"wrote {write_cloth(context.object, context.scene)}")
        return {"FINISHED"}


class WEFT_OT_read(_Said):
    """Read the run of the cloth as a mesh cache, as far as it is"""

    bl_idname, bl_label = "weft.read", "Read Run"

    def act(self, context):
        """A modifier."""
        self.report({"INFO"}, f"{read_back(context.object)} frames")
        return {"FINISHED"}


class WEFT_OT_map(_Said):
    """Add a number that a vertex group changes, or remove one"""

    bl_idname, bl_label, bl_options = "weft.map", "Map", frozenset({"UNDO"})
    index: bpy.props.IntProperty(default=-1)  # which is removed; -1: one is added

    def act(self, context):
        """One more, or one less."""
        thing = context.object
        if self.index >= 0:
            thing.weft.maps.remove(self.index)
        else:
            active = thing.vertex_groups.active
            thing.weft.maps.add().group = active.name if active is not None else ""
        return {"FINISHED"}


class WEFT_OT_simulate(_Said):
    """Simulate the selected mesh with weft; Esc stops it and keeps what is there"""

    bl_idname, bl_label = "weft.simulate", "Simulate"
    going: Going | None = None  # of the window: one at a time
    go_on: bpy.props.BoolProperty(
        name="Go On", description="Continue the run that was stopped, with the files as they are"
    )

    def _start(self, context) -> Going:
        kind, thing = type(self), context.object
        if kind.going is not None and kind.going.running():
            raise Problem("weft simulates already: Esc stops it")
        command = _command(context)
        if self.go_on:
            scene = folder_of(thing) / "scene.yaml" if thing is not None else None
            if scene is None or not (scene.with_name("run") / "manifest.json").exists():
                raise Problem("no run that was stopped: simulate first")
        else:
            scene = write_cloth(thing, context.scene)
        kind.going = Going(command, scene, scene.with_name("run"), resume=self.go_on)
        self.cloth, self.shown = thing.name, 0
        return kind.going

    def act(self, context):
        """All of it at once, where there is no window."""
        going = self._start(context)
        going.process.wait()
        return self._end(context, going)

    def invoke(self, context, _event):
        """In the background, with a look at it now and then."""
        try:
            self._start(context)
        except (Problem, OSError) as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        self.timer = context.window_manager.event_timer_add(INTERVAL, window=context.window)
        context.window_manager.progress_begin(0, 1)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        """How far it is, with the frames that are there; the result, once it is over."""
        going = type(self).going
        if event.type == "ESC" and event.value == "PRESS" and going is not None:
            going.ask()
        if event.type not in {"TIMER", "ESC"}:
            return {"PASS_THROUGH"}
        if going is not None and going.running():
            text = (
                f"weft: frame {going.frame} of {going.frames}, {going.left:.0f} s left; Esc stops"
            )
            context.workspace.status_text_set("weft ends" if going.asked else text)
            context.window_manager.progress_update(going.frame / max(going.frames, 1))
            self.look(context.scene)
            for area in context.screen.areas:
                area.tag_redraw()
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self.timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        return self._end(context, going)

    def look(self, scene):
        """Frames that are new go into the cache, and the last of them is shown."""
        thing = bpy.data.objects.get(self.cloth)  # found anew: Undo makes other objects
        if thing is None or len(frames_of(folder_of(thing))) <= self.shown:
            return
        try:
            self.shown = read_back(thing, anew=self.shown == 0)
        except (Problem, OSError):
            return  # the end says what is wrong
        if scene.weft.follow:
            scene.frame_set(min(scene.frame_start + self.shown - 1, scene.frame_end))

    def _end(self, _context, going):
        """The cache; where weft failed its words, with the frames that it had."""
        if going is None:
            return {"CANCELLED"}
        going.running()
        try:
            thing = bpy.data.objects.get(self.cloth)
            if thing is None:
                raise Problem(f"{self.cloth} is gone; the run is there")
            count = read_back(thing)
            stopped = ": stopped, Go On continues" if going.asked else ""
            self.report({"INFO"}, f"{count} frames{stopped}")
            going.check()
        except (Problem, OSError) as problem:
            self.report({"ERROR"}, going.words() or str(problem))
            return {"CANCELLED"}
        return {"FINISHED"}


class WEFT_OT_stop(_Said):
    """Stop the run and keep its frames; a second time: at once"""

    bl_idname, bl_label = "weft.stop", "Stop"

    def act(self, _context):
        """As Esc does."""
        if WEFT_OT_simulate.going is not None:
            WEFT_OT_simulate.going.ask()
        return {"FINISHED"}


CLASSES = (
    WEFT_OT_fabrics,
    WEFT_OT_export,
    WEFT_OT_read,
    WEFT_OT_map,
    WEFT_OT_simulate,
    WEFT_OT_stop,
)


def register():
    """The operators."""
    for kind in CLASSES:
        bpy.utils.register_class(kind)


def unregister():
    """The other way round; a run that goes on is stopped."""
    if WEFT_OT_simulate.going is not None:
        WEFT_OT_simulate.going.stop()
        WEFT_OT_simulate.going = None
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
