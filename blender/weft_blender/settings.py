# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept with the .blend: of a cloth, of the scene; and the command, in the preferences."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

KNOWN: list[tuple[str, str]] = []  # name and title of fabrics, once weft was asked


def _fabrics(_self, _context, text):
    """Fabrics that begin as what is typed; any other name or file may be typed, too."""
    return [name for name, _ in KNOWN if text.lower() in name] or [name for name, _ in KNOWN]


class WeftCloth(bpy.types.PropertyGroup):
    """Of an object."""

    fabric: StringProperty(
        name="Fabric",
        default="cotton",
        search=_fabrics,
        search_options={"SUGGESTION"},
        description="A fabric that weft knows; `Fabrics` lists them",
    )
    pins: StringProperty(name="Pins", description="Vertex group that is held; none: nothing is")
    above: FloatProperty(
        name="Above", default=0.5, min=0.0, max=1.0, description="Weights greater than this hold"
    )
    uv_length: FloatProperty(
        name="UV Length",
        default=0.0,
        min=0.0,
        unit="LENGTH",
        description="Length of a unit of the UV map in the cloth; 0: at which areas agree",
    )
    warp: EnumProperty(
        name="Warp",
        items=[(a, a, f"Warp yarns along {a}") for a in "XYZ"],
        description="Direction of the warp in the world, without a UV map",
    )


class WeftScene(bpy.types.PropertyGroup):
    """Of a scene."""

    bodies: PointerProperty(
        name="Bodies", type=bpy.types.Collection, description="What the cloth does not pass through"
    )
    contact: BoolProperty(
        name="Self-Contact", default=True, description="The cloth does not pass through itself"
    )
    gap: FloatProperty(
        name="Gap [m]",
        default=0.002,
        min=1e-5,
        max=1.0,
        precision=4,
        description="Distance at which contact begins to push",
    )
    friction: FloatProperty(name="Friction", default=0.3, min=0.0, max=10.0)
    step: FloatProperty(
        name="Step [s]",
        default=0.02,
        min=1e-5,
        max=1.0,
        precision=4,
        description="Largest time step; frames are divided evenly",
    )


class WeftPreferences(bpy.types.AddonPreferences):
    """Where weft is."""

    bl_idname = __package__
    command: StringProperty(
        name="weft",
        default="weft",
        description="The command that starts weft: a path, or words: python -m weft.cli.main",
    )

    def draw(self, _context):
        """The command."""
        self.layout.prop(self, "command")


CLASSES = (WeftCloth, WeftScene, WeftPreferences)


def register():
    """Classes, and where they are kept."""
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Object.weft = PointerProperty(type=WeftCloth)
    bpy.types.Scene.weft = PointerProperty(type=WeftScene)
    bpy.types.Material.weft_fabric = StringProperty(
        name="Fabric",
        search=_fabrics,
        search_options={"SUGGESTION"},
        description="Of faces with this material; none: the cloth's",
    )


def unregister():
    """The other way round."""
    del bpy.types.Material.weft_fabric, bpy.types.Scene.weft, bpy.types.Object.weft
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)


def said_command(context) -> str:
    """What the preferences have; the default where the add-on is not one of them."""
    found = context.preferences.addons.get(__package__)
    return found.preferences.command if found is not None else "weft"
