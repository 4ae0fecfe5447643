"""Parts of pages that are made from the program itself, where a page says ``<!-- made: NAME -->``.

Links to files of the repository that are no pages become their names: the manual has them not.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import certificate_table
import command_reference
import fabrics_table
import public_names
import scene_reference

MADE: dict[str, Callable[..., str]] = {
    "scene": scene_reference.markdown,
    "fabrics": fabrics_table.markdown,
    "certificate": certificate_table.markdown,
    "commands": command_reference.markdown,
    "effects": command_reference.effects,
    "names": public_names.markdown,
}
_MARK = re.compile(r"<!-- made: (\w+)([^>]*?) -->")


_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#:\s]+)\)")


def _read(app: Any, name: str, source: list[str]) -> None:
    docs = Path(app.srcdir).resolve()
    folder = (docs / name).parent

    def named(found: re.Match[str]) -> str:
        path = (folder / found[2]).resolve()
        if path.is_relative_to(docs) or not path.exists():
            return found[0]
        where = path.relative_to(docs.parent).as_posix()
        return f"`{where}`" if where in found[1] else f"{found[1]} (`{where}`)"

    text = _LINK.sub(named, source[0])
    source[0] = _MARK.sub(lambda found: MADE[found[1]](*found[2].split()), text)


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
