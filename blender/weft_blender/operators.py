# SPDX-License-Identifier: GPL-3.0-or-later
"""What buttons do: ask for fabrics, write files, simulate, read a run back."""

import bpy

from . import settings
from .cloth import read_back, write_cloth
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
        count = read_back(context.object, context.scene, _command(context))
        self.report({"INFO"}, f"{count} frames")
        return {"FINISHED"}


class WEFT_OT_simulate(_Said):
    """Simulate the selected mesh with weft; Esc stops it and keeps what is there"""

    bl_idname, bl_label = "weft.simulate", "Simulate"
    going: Going | None = None  # of the window: one at a time

    def _start(self, context) -> Going:
        kind = type(self)
        if kind.going is not None and kind.going.running():
            raise Problem("weft simulates already: Esc stops it")
        command = _command(context)
        scene = write_cloth(context.object, context.scene)
        kind.going = Going(command, scene, scene.with_name("run"))
        self.thing = context.object
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
        """How far it is; the result, once it is over."""
        going = type(self).going
        if event.type == "ESC" and event.value == "PRESS":
            going.stop()
        if event.type not in {"TIMER", "ESC"}:
            return {"PASS_THROUGH"}
        if going.running():
            text = (
                f"weft: frame {going.frame} of {going.frames}, {going.left:.0f} s left; Esc stops"
            )
            context.workspace.status_text_set(text)
            context.window_manager.progress_update(going.frame / max(going.frames, 1))
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self.timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        return self._end(context, going)

    def _end(self, context, going):
        """The cache; where weft failed its words, with the frames that it had."""
        going.running()
        try:
            count = read_back(self.thing, context.scene, _command(context))
            self.report({"INFO"}, f"{count} frames")
            going.check()
        except (Problem, OSError) as problem:
            self.report({"ERROR"}, going.words() or str(problem))
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (WEFT_OT_fabrics, WEFT_OT_export, WEFT_OT_read, WEFT_OT_simulate)


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
