"""What the plugin for garments registers (``weft.extensions``)."""

from weft.extensions import Plugin

_HERE = "weft.plugins.garments"

plugin = Plugin(
    "garments",
    weft="0.1",
    entries={
        "bodies": {
            "mannequin": f"{_HERE}.scene.body_sources:MANNEQUIN",
            "smpl": f"{_HERE}.scene.body_sources:SMPL",
        },
        "cloth sources": {"garment": f"{_HERE}.scene.garments:GARMENT"},
        "names": {"Mannequin": f"{_HERE}.mannequin.figure:Mannequin"},
        "commands": {
            "mannequin": f"{_HERE}.cli.mannequin:mannequin",
            "grade": f"{_HERE}.cli.grade:grade",
        },
    },
)
