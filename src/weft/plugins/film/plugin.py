"""Entries of the plugin for film in the registries (``weft.extensions``)."""

from weft.extensions import Plugin

_HERE = "weft.plugins.film"

USD = (".usdc", ".usda", ".usd", ".usdz")  # suffixes

plugin = Plugin(
    "film",
    weft="0.1",
    entries={
        "formats": {
            **dict.fromkeys(USD, f"{_HERE}.formats:USD"),
            **dict.fromkeys((".glb", ".gltf"), f"{_HERE}.formats:GLTF"),
        },
        "options": {"onto": f"{_HERE}.assets.asset_export:export_onto"},
    },
)
