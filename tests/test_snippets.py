"""What the pages and the README print as code, commands and scenes is known to the program."""

import ast
import re
from pathlib import Path

import pytest
import typer
import yaml

import weft
from tests.tutorials import blocks
from weft.cli.commands import app
from weft.scene.file import Source, validate
from weft.scene.schema import SceneFile
from weft.scene.template import fill_variables

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += sorted(p for p in (ROOT / "docs").rglob("*.md") if "decisions" not in p.parts)
SMALL = {"sheet": {"nx": 5, "ny": 5}}


def of_language(language):
    """(page, code) of every block in that language."""
    found = [(p, code) for p in PAGES for kind, code in blocks(p.read_text()) if kind == language]
    return [pytest.param(code, id=f"{p.stem}-{k}") for k, (p, code) in enumerate(found)]


@pytest.mark.parametrize("code", of_language("python"))
def test_python(code):
    """It parses, and every weft.NAME that it says exists."""
    said = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute):
            said.add(ast.unparse(node))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("weft"):
            for alias in node.names:
                module = __import__(node.module, fromlist=[alias.name])
                assert hasattr(module, alias.name), f"{node.module}.{alias.name}"
    for path in said:
        names = path.split(".")
        if names[0] != "weft" or not all(n.isidentifier() for n in names):
            continue
        thing = weft
        for name in names[1:]:
            assert hasattr(thing, name), path
            thing = getattr(thing, name)


def commands():
    """(line) of every command of weft in a block of commands or in the list of the README."""
    found = {}
    for page in PAGES:
        for language, block in blocks(page.read_text()):
            if language not in ("", "sh"):
                continue
            for line in re.sub(r"\\\n|\n {8,}\[", " [", block).splitlines():
                for part in re.split(r"(?:^|\s{2,}|[|;] *)(?=weft )", line.split("  #")[0]):
                    if part.startswith("weft "):
                        found[part.strip()] = page.stem
    return found


@pytest.mark.parametrize("line", commands())
def test_command(line):
    """The command exists, and has every option that is said."""
    group = typer.main.get_command(app)
    words = re.split(r"\s{2,}", line)[0].split()
    command = group.commands[words[1]]
    if hasattr(command, "commands"):
        command = command.commands.get(words[2] if len(words) > 2 else "", None)
    known = {"--help"}
    if command is not None:
        known |= {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
    else:  # `weft sweep SWEEP.yaml`: the group chooses its first command
        group = typer.main.get_command(app).commands[words[1]]
        known |= {o for c in group.commands.values() for p in c.params for o in p.opts}
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", line):
        assert option in known, f"{option} of `{line}`"


def test_there_are_commands():
    assert len(commands()) > 60


@pytest.mark.parametrize("code", of_language("yaml"))
def test_yaml(code):
    """A part of a scene has fields and values that scenes have. (Patterns, sweeps: their tests.)"""
    said = yaml.safe_load(code)
    if not isinstance(said, dict) or not said.keys() & SceneFile.model_fields.keys():
        return
    if said.keys() & {"scene", "panels", "measures"}:
        return
    if not said.keys() & {"cloth", "cloths"}:
        said["cloth"] = SMALL
    if isinstance(said.get("cloth"), dict) and not (
        said["cloth"].keys() & {"sheet", "panel", "mesh", "garment"}
    ):
        said["cloth"] |= SMALL
    if "fabric" in said:  # of the cloth
        said["cloth"] = said["cloth"] | {"fabric": said.pop("fabric")}
    said.pop("include", None)
    for name in said.get("variables", {}):
        said["variables"][name] = said["variables"][name] or "a value"
    validate(fill_variables(Source(Path("said.yaml"), said, {})))
