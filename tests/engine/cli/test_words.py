"""Messages name arguments where Python is used, and options where a command is."""

import ast
import re
from pathlib import Path

import pytest

import weft
from tests.refusals import refused
from weft.cli.options import say

pytestmark = pytest.mark.quick

SOURCE = Path(__file__).parents[3] / "src" / "weft"
# ``--set`` is the name of an override; sweeps and folders are those of a command
COMMANDS = re.compile(r"`weft [^`]*`|--set\b")
ELSEWHERE = ("cli", "plugins/lab/sweep", "io/left_out.py")


def test_an_option_is_an_argument_in_python(tmp_path):
    scene = weft.Scene(weft.sheet(3, 3))
    made = weft.simulate(scene, frames=1, out=tmp_path / "run", progress=False)
    with refused(weft.WeftError, "run folder", hint="`resume=True`"):
        weft.simulate(scene, frames=1, out=made.path, progress=False)
    with refused(weft.WeftError, "frames", got="5:9"):
        made.animation("5:9")


def test_an_argument_is_an_option_of_a_command(capsys):
    say("`resume=True` goes on; or choose `out=`, `from_frame=3`, `frames=0:50` or ``x=1``")
    told = capsys.readouterr().out
    assert told == "--resume goes on; or choose --out, --from 3, --frames 0:50 or ``x=1``\n"


def test_no_message_of_the_library_speaks_of_options():
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place.startswith(ELSEWHERE) or "/cli/" in place:
            continue
        if "--" not in path.read_text():
            continue
        tree = ast.parse(path.read_text())
        other = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        other |= {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant | ast.JoinedStr) or id(node) in other:
                continue
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(p.value) if isinstance(p, ast.Constant) else "X" for p in parts)
            if re.search(r"(^|[\s(`])--[a-z]", COMMANDS.sub("", text)):
                found.append(f"{path.name}:{node.lineno}: {text}")
    assert not found
