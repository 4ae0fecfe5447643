"""Running a tutorial as somebody would who has only its page: files are saved, commands and code
run, from top to bottom, in an empty folder.

``python -m tests.tutorials NAME FOLDER`` runs one as it is printed, and so makes its pictures.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import weft

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(p for p in (DOCS / "tutorials").glob("*.md") if p.stem != "index")
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
_NAMED = re.compile(r"^# ([\w.-]+)\n")
BLENDER = "blender --background --python"  # without one, the module bpy of this Python


def blocks(text):
    """Language (or nothing) and code of every block of code."""
    return [(found[1], found[2]) for found in _BLOCK.finditer(text)]


def images(text):
    """Names of the pictures that a page shows from its own folder of pictures."""
    return re.findall(r"\]\(\.\./images/tutorials/([\w.-]+)\)", text)


def run(text, folder):
    """All blocks of a page, in a folder. A block that begins with ``# NAME`` is that file; others
    are run: Python in one namespace, commands one by one.
    """
    names, sources = {"__name__": "__main__"}, Path(tempfile.mkdtemp())
    before = Path.cwd()
    os.chdir(folder)
    try:
        for language, code in blocks(text):
            named = _NAMED.match(code)
            if named:
                (Path(folder) / named[1]).write_text(code)
            elif language == "python":
                source = sources / f"block_{len(list(sources.iterdir()))}.py"
                source.write_text(code)  # Warp reads the source of its functions
                exec(compile(code, str(source), "exec"), names)
            elif language == "sh":
                for line in code.strip().replace("\\\n", " ").splitlines():
                    command(line.split("  #")[0])
            else:
                assert language in ("text", "yaml"), f"nobody runs {language}"
    finally:
        os.chdir(before)


def command(line):
    """One line of a shell; ``weft`` in this process, whose kernels are loaded."""
    if line.startswith(BLENDER):
        line = line.replace(BLENDER, shlex.quote(sys.executable)).replace(" -- ", " ")
    words = shlex.split(line)
    if words[:2] == ["pip", "install"]:
        return
    if words[0] != "weft":
        done = subprocess.run(words, capture_output=True, text=True, timeout=3600)
        assert done.returncode == 0, f"{line}: {done.stderr[-2000:]}"
        return
    from weft.cli.commands import app

    try:
        status = app(words[1:], standalone_mode=False)
    except SystemExit as end:
        status = end.code
    assert not status, f"{line}: status {status}"


if __name__ == "__main__":
    page, out = sys.argv[1:]
    Path(out).mkdir(parents=True, exist_ok=True)
    sys.stdout.write(f"{weft.__file__}\n")
    run((DOCS / "tutorials" / f"{page}.md").read_text(), out)
