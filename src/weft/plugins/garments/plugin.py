"""Entries of the plugin for garments in the registries (``weft.extensions``)."""

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
        "scene inputs": {"panels": f"{_HERE}.scene.pattern_source:PATTERN"},
        "scene checks": {"ease": f"{_HERE}.scene.ease_check:add_ease"},
        "tight cloth": {"ease": f"{_HERE}.scene.ease_check:explain_tight"},
        "measures": {"wear": f"{_HERE}.quality.wear:measure_wear"},
        "cloth sources": {"garment": f"{_HERE}.scene.garments:GARMENT"},
        "names": {
            "Mannequin": f"{_HERE}.mannequin.figure:Mannequin",
            "find_landmarks": f"{_HERE}.bodies.landmarks:find_landmarks",
        },
        "commands": {
            "mannequin": f"{_HERE}.cli.mannequin:mannequin",
            "landmarks": f"{_HERE}.cli.landmarks:landmarks",
            "grade": f"{_HERE}.cli.grade:grade",
        },
    },
)
