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
    },
)
