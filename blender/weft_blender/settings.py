# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept with the .blend: of a cloth, of the scene; and the command, in the preferences."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    PointerProperty,
    StringProperty,
)

# Numbers of a fabric that vertex groups may change, with the units in which they are given.
UNITS = {
    **dict.fromkeys(("bending", "bending_warp", "bending_weft"), "N*m"),
    **dict.fromkeys(("stretch", "stretch_warp", "stretch_weft", "shear"), "N/m"),
    "density": "kg/m^2",
    "thickness": "m",
    "friction": "",
}
KNOWN: list[tuple[str, str]] = []  # name and title of fabrics, once weft was asked


def _fabrics(_self, _context, text):
    """Fabrics that begin as what is typed; any other name or file may be typed, too."""
    return [name for name, _ in KNOWN if text.lower() in name] or [name for name, _ in KNOWN]


class WeftMap(bpy.types.PropertyGroup):
    """A number that a vertex group changes."""

    number: EnumProperty(
        name="Number",
        items=[(n, f"{n.replace('_', ' ').title()} [{u or '1'}]", "") for n, u in UNITS.items()],
    )
    group: StringProperty(name="Group", description="Vertex group whose weights it follows")
    low: FloatProperty(name="At 0", min=0.0, precision=6, description="Where the weight is 0, SI")
    high: FloatProperty(name="At 1", min=0.0, precision=6, description="Where the weight is 1, SI")


class WeftCloth(bpy.types.PropertyGroup):
    """Of an object."""

    fabric: StringProperty(
        name="Fabric",
        default="cotton",
        search=_fabrics,
        search_options={"SUGGESTION"},
        description="A fabric that weft knows; `Fabrics` lists them",
    )
    pins: StringProperty(
        name="Pins",
        description="Vertex group that is held, or moves as the object is animated; none: nothing",
    )
    above: FloatProperty(
        name="Above", default=0.5, min=0.0, max=1.0, description="Weights greater than this hold"
    )
    goals: StringProperty(
        name="Goals",
        description="Vertex group whose weights draw the cloth to its animation; none: nothing is",
    )
    goal_stiffness: FloatProperty(
        name="Stiffness [N/m³]",
        default=4000.0,
        min=0.0,
        description="Force per distance and area where the weight is 1; with keyframes in time",
    )
    goal_damping: FloatProperty(
        name="Damping [s]", default=0.03, min=0.0, description="Of motion relative to the animation"
    )
    guide: PointerProperty(
        name="Guide",
        type=bpy.types.Object,
        poll=lambda self, other: other.type == "MESH" and other != self.id_data,
        description="Mesh that goals follow; none: the object's own animation",
    )
    maps: CollectionProperty(type=WeftMap)
    rest: EnumProperty(
        name="Rest Shape",
        items=[
            ("MESH", "Mesh", "The mesh without modifiers; a UV map gives the direction of yarns"),
            ("UV", "UV Map", "The UV map, which is a flat pattern"),
        ],
        description="The cloth without forces",
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
    follow: BoolProperty(
        name="Show Frames", default=True, description="Go to each frame as soon as it is there"
    )
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


CLASSES = (WeftMap, WeftCloth, WeftScene, WeftPreferences)


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
