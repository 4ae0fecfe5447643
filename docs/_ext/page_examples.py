"""Examples and pictures of pages: ``make pictures``, or this file with names of PAGES.

A page names its example in a comment above the code block, and the picture follows::

    <!-- example: forces/flag.yaml --look strain -->    a scene: `weft run`, then `weft render`
    <!-- example: fold.py -->                           a script, which writes the picture itself
    <!-- example: commands -->                          commands of weft, run as they stand

The block of a scene or a script is the text of the file in ``examples``. Examples run in a copy of
that folder; the first picture of the page has the name of the picture that they write.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1]
EXAMPLES = DOCS.parent / "examples"
_EXAMPLE = re.compile(
    r"<!-- example: (?P<name>\S+)(?P<options>.*?) -->\n+```\w*\n(?P<code>.*?)\n```", re.S
)
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class PageExample:
    """The example of a page: a file below ``examples`` or ``commands``, and its picture."""

    page: Path
    name: str
    options: tuple[str, ...]
    code: str
    picture: Path

    def draw(self, folder: Path) -> None:
        """Run the example in ``folder``, a new copy of ``examples``, and update the picture."""
        shutil.copytree(EXAMPLES, folder)
        where = folder / ("" if self.name == "commands" else Path(self.name).parent)
        drawn = where / self.picture.name
        if self.name == "commands":
            steps = [["bash", "-ec", self.code]]
        elif self.name.endswith(".py"):
            steps = [[sys.executable, Path(self.name).name]]
        else:
            steps = [["weft", "run", Path(self.name).name, "--out", "run", "--quiet"]]
            steps += [["weft", "render", "run", drawn.name, *self.options]]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path}
        for step in steps:
            subprocess.run(step, cwd=where, check=True, env=environment)
        shutil.copy(drawn, self.picture)


def example_of(page: Path) -> PageExample | None:
    """The example of a page; None: the page has none."""
    text = page.read_text()
    found = _EXAMPLE.search(text)
    picture = _PICTURE.search(text, found.end()) if found else None
    if found is None or picture is None:
        return None
    options = tuple(found["options"].split())
    return PageExample(
        page, found["name"], options, found["code"], (page.parent / picture[1]).resolve()
    )


def main(pages: list[str]) -> None:
    """Draw the pictures of pages; none: of all guides."""
    build = DOCS.parent / "build" / "pictures"
    for page in map(Path, pages) if pages else sorted((DOCS / "guides").glob("*.md")):
        example = example_of(page)
        if example is not None:
            sys.stdout.write(f"{page.stem}: {example.name} -> {example.picture.name}\n")
            shutil.rmtree(build / page.stem, ignore_errors=True)
            example.draw(build / page.stem)


if __name__ == "__main__":
    main(sys.argv[1:])
