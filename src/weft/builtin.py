"""The engine's own entries, registered as those of plugins are (``weft.extensions``)."""

from weft.extensions import Plugin

_COMMANDS = [
    "demo",
    "examples",
    "run",
    "play",
    "settle",
    "check",
    "explain",
    "view",
    "render",
    "quality",
    "export",
    "doctor",
]

plugin = Plugin(
    "weft",
    weft="0.1",
    entries={
        "commands": {
            **{name: f"weft.cli.{name}:{name}" for name in _COMMANDS},
            "fabrics": "weft.cli.fabrics:app",
        },
        "cloth sources": {
            name: f"weft.scene.cloth_sources:{name.upper()}"
            for name in ("sheet", "panel", "mesh", "rod")
        },
        "bodies": {
            name: f"weft.scene.shapes:{name.upper()}"
            for name in (
                *("sphere", "plate", "plane", "capsule", "cylinder", "cone", "disk", "box"),
                *("ring", "height_field", "distance_grid", "mesh"),
            )
        },
        "formats": {
            f".{name}": f"weft.io.formats.builtin:{name.upper()}"
            for name in ("obj", "ply", "stl", "abc", "vtkhdf", "pc2", "npz", "h5")
        },
    },
)
