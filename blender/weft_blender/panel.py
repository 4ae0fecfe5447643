# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel: physics properties of a mesh."""

import bpy


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
        """Fabric, pins, bodies, buttons."""
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
        layout.prop(own, "uv_length" if thing.data.uv_layers.active else "warp")
        layout.separator()
        layout.prop(common, "bodies")
        for name in ("contact", "gap", "friction", "step"):
            layout.prop(common, name)
        layout.operator("weft.simulate", icon="PLAY")
        row = layout.row(align=True)
        row.operator("weft.export")
        row.operator("weft.read")


def register():
    """The panel."""
    bpy.utils.register_class(WEFT_PT_cloth)


def unregister():
    """The other way round."""
    bpy.utils.unregister_class(WEFT_PT_cloth)
