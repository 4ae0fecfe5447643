"""What the plugin for film registers (``weft.extensions``)."""

from weft.extensions import Plugin

_HERE = "weft.plugins.film"

plugin = Plugin("film", weft="0.1", entries={})
