"""Entries of the plugin for robots in the registries (``weft.extensions``)."""

from weft.extensions import Plugin

_HERE = "weft.plugins.robots"

plugin = Plugin(
    "robots",
    weft="0.1",
    entries={
        "bodies": {
            "urdf": f"{_HERE}.arms.sources:URDF",
            "mjcf": f"{_HERE}.arms.sources:MJCF",
        },
        "long certificate": {"arms": f"{_HERE}.validate_arms:checks"},
        "names": {
            "robotics": f"{_HERE}.learning",
            "Batch": f"{_HERE}.batch.batch:Batch",
            "Hold": f"{_HERE}.batch.world:Hold",
            "batch": f"{_HERE}.batch.batch:batch",
            "load_arm": f"{_HERE}.arms.read_arm:load_arm",
        },
    },
)
