# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel: physics properties of a mesh."""

import bpy

from .operators import WEFT_OT_simulate


class WEFT_PT_cloth(bpy.types.Panel):
    """A mesh as cloth of weft"""

    bl_idname, bl_label = "WEFT_PT_cloth", "Weft Cloth"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"
    bl_options = frozenset({"DEFAULT_CLOSED"})

    @classmethod
    def poll(cls, context):
        """Meshes alone."""
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context):
        """Fabric, pins, goals, maps, bodies, buttons."""
        thing, own, common = context.object, context.object.weft, context.scene.weft
        layout = self.layout
        layout.use_property_split = True
        row = layout.row(align=True)
        row.prop(own, "fabric")
        row.operator("weft.fabrics", text="", icon="FILE_REFRESH")
        if len(thing.material_slots) > 1:
            for slot in thing.material_slots:
                if slot.material is not None:
                    layout.prop(slot.material, "weft_fabric", text=slot.material.name)
        layout.prop_search(own, "pins", thing, "vertex_groups")
        layout.prop(own, "above")
        self._goals(layout, thing)
        self._maps(layout, thing)
        if thing.data.uv_layers.active:
            layout.prop(own, "rest")
            if own.rest == "UV":
                layout.prop(own, "uv_length")
        else:
            layout.prop(own, "warp")
        layout.separator()
        layout.prop(common, "bodies")
        for name in ("contact", "gap", "friction", "step", "follow"):
            layout.prop(common, name)
        self._run(layout)

    def _goals(self, layout, thing):
        own = thing.weft
        layout.prop_search(own, "goals", thing, "vertex_groups")
        if own.goals:
            for name in ("guide", "goal_stiffness", "goal_damping"):
                layout.prop(own, name)

    def _maps(self, layout, thing):
        layout.operator("weft.map", text="Add Map", icon="ADD").index = -1
        for k, m in enumerate(thing.weft.maps):
            box = layout.box()
            row = box.row(align=True)
            row.prop(m, "number")
            row.operator("weft.map", text="", icon="X").index = k
            box.prop_search(m, "group", thing, "vertex_groups")
            box.prop(m, "low")
            box.prop(m, "high")

    def _run(self, layout):
        going = WEFT_OT_simulate.going
        if going is not None and going.process.poll() is None:
            done = going.frame / max(going.frames, 1)
            layout.progress(factor=done, text=f"frame {going.frame} of {going.frames}")
            layout.operator("weft.stop", icon="CANCEL")
        else:
            row = layout.row(align=True)
            row.operator("weft.simulate", icon="PLAY").go_on = False
            row.operator("weft.simulate", text="Go On", icon="FF").go_on = True
        row = layout.row(align=True)
        row.operator("weft.export")
        row.operator("weft.read")


def register():
    """The panel."""
    bpy.utils.register_class(WEFT_PT_cloth)


def unregister():
    """The other way round."""
    bpy.utils.unregister_class(WEFT_PT_cloth)
