"""What the plugin for film registers (``weft.extensions``)."""

from weft.extensions import Plugin

_HERE = "weft.plugins.film"

plugin = Plugin(
    "film",
    weft="0.1",
    entries={
        "formats": {
            **dict.fromkeys((".usdc", ".usda", ".usd", ".usdz"), f"{_HERE}.formats:USD"),
            **dict.fromkeys((".glb", ".gltf"), f"{_HERE}.formats:GLTF"),
        },
        "exports": {"onto": f"{_HERE}.assets.over:export_onto"},
    },
)
