"""The HTML page of a run: one file with everything in it, which needs no network."""

import html
import json
from importlib.resources import files
from pathlib import Path

from weft.base.errors import RunError
from weft.io.files import atomic_write
from weft.show.viewer.page_content import Content

SCRIPTS = ("data", "camera", "drawing", "plot", "viewer")  # in the order in which they are read
SERVED = ("served", *SCRIPTS)  # of a server's page, which asks it for frames


def page(content: Content) -> str:
    """Return the text of the file."""
    here = files("weft.show.viewer")
    names = SERVED if "live" in content.about else SCRIPTS
    script = "\n".join((here / "js" / f"{name}.js").read_text("utf-8") for name in names)
    about = json.dumps(content.about, allow_nan=False).replace("<", "\\u003c")
    blocks = [f'<script type="application/json" id="about">{about}</script>']
    for name, text in content.blocks.items():
        kind = "application/octet-stream"
        blocks.append(f'<script type="{kind}" id="block:{name}">{text}</script>')
    frame = (here / "page.html").read_text("utf-8")
    parts = {
        "@TITLE@": html.escape(content.about["name"]),
        "@BLOCKS@": "\n".join(blocks),
        "@SCRIPT@": f'"use strict";\n(() => {{\n{script}}})();',
    }
    for mark, text in parts.items():
        frame = frame.replace(mark, text, 1)
    return frame


def write_page(path: Path, content: Content) -> int:
    """Write the file, and return its size [bytes].

    Raises:
        RunError: another suffix than .html, or a file that cannot be written.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise RunError("page", got=path.suffix or "no suffix", expected=".html")
    data = page(content).encode("utf-8")
    with atomic_write(path) as file:
        file.write(data)
    return len(data)


def errors_of(content: Content) -> str:
    """Return the largest errors of the shown positions and values, as text for people."""
    arrays, scales = content.about["arrays"], content.about["scales"]
    said = [
        f"{name} {1e6 * max(arrays[name]['step']) / 2:.2g} um"
        for name in ("cloth", "bodies")
        if name in arrays
    ] + [
        f"{name} {arrays[name]['step'][0] / 2:.2g} {scale['unit']}"
        for name, scale in scales.items()
    ]
    return ", ".join(said)
