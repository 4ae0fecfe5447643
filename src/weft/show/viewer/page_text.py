"""The text of a page, from its data."""

import html
import json
from dataclasses import dataclass, field
from importlib.resources import files

from weft.base.trees import Json

SCRIPTS = (
    "data",
    "camera",
    "drawing",
    "surfaces",
    "plot",
    "viewer",
)  # in the order in which they are read
SERVED = ("served", *SCRIPTS)  # of a server's page, which asks it for frames
PLAYED = ("live", "hand", "desk", *SERVED)  # of the page of ``weft play``


@dataclass(frozen=True, eq=False)
class Content:
    """The data of a page.

    Args:
        about: names, sizes, ranges, as JSON.
        blocks: arrays as base64, by name.
    """

    about: Json
    blocks: dict[str, str] = field(default_factory=dict)


def page(content: Content) -> str:
    """Return the text of the file."""
    here = files("weft.show.viewer")
    about = content.about
    names = PLAYED if "play" in about else SERVED if "live" in about else SCRIPTS
    script = "\n".join((here / "js" / f"{name}.js").read_text("utf-8") for name in names)
    told = json.dumps(about, allow_nan=False).replace("<", "\\u003c")
    blocks = [f'<script type="application/json" id="about">{told}</script>']
    for name, text in content.blocks.items():
        kind = "application/octet-stream"
        blocks.append(f'<script type="{kind}" id="block:{name}">{text}</script>')
    frame = (here / "page.html").read_text("utf-8")
    parts = {
        "@TITLE@": html.escape(about["name"]),
        "@BLOCKS@": "\n".join(blocks),
        "@SCRIPT@": f'"use strict";\n(() => {{\n{script}}})();',
    }
    for mark, text in parts.items():
        frame = frame.replace(mark, text, 1)
    return frame
