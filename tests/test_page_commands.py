"""Every guide is followed: its example is run, its picture drawn, and its other commands are run.

Commands that open a page or a window, commands on files of the reader, and blocks whose packages
are not installed are left out.
"""

import dataclasses
import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from tests.tutorials import blocks

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from page_examples import example_of  # noqa: E402

GUIDES = [p for p in sorted((ROOT / "docs" / "guides").glob("*.md")) if example_of(p)]
OPEN = ("play", "view")  # commands that wait for a browser
READ = ("run", "check", "render", "export", "quality", "doctor", "grade", "landmarks", "dataset")
WRITE = ("render", "export", "dataset", "mannequin")  # which name a file that they write
_FILE = re.compile(r"[\w/]\.(ya?ml|obj|json|npz|usd\w?|svg|dxf)$")


def has_packages(code):
    """Whether the packages that a block installs from the registry are there."""
    try:
        return all(distribution(name) for name in re.findall(r"(?m)^pip install (\w+)$", code))
    except PackageNotFoundError:
        return False


def further_commands(text, first):
    """The commands of weft of a page but those that its example has run: a block or a line."""
    codes = [code for kind, code in blocks(text) if kind == "sh" and has_packages(code)]
    lines = "\n".join(code for code in codes if code.strip() != first)
    every = [line.split("  #")[0].strip() for line in lines.replace("\\\n", " ").splitlines()]
    return [line for line in every if re.match(r"weft \w", line) and line != first]


def can_run(line, folder):
    """Whether the files and the runs that the command reads are in the folder."""
    words = shlex.split(line)
    if words[1] in OPEN:
        return False
    written = {words[k + 1] for k, w in enumerate(words[:-1]) if w in ("--out", "--picture")}
    if words[1] in WRITE:
        written.update(words[2 + (words[1] in READ) :][:1])
    first = words[2:3] if words[1] in READ else []
    named = [w for w in re.split(r"[\s=']+", line) if _FILE.search(w)]
    named += [w for w in words if w.startswith("runs/")]
    return all((folder / w).exists() for w in {*first, *named} - written)


def test_commands_of_a_page():
    text = (
        "```sh\nweft run a.yaml --out a\n```\n\n```sh\nweft quality a   # how it is\nmake x\n```\n"
    )
    assert further_commands(text, "weft run a.yaml --out a") == ["weft quality a"]
    assert further_commands("```sh\nweft check a\nweft run a\n```\n", "weft run a") == [
        "weft check a"
    ]


def test_a_command_needs_the_run_that_it_reads(tmp_path):
    line = "weft sweep pictures runs/wedge wedge.png"
    assert not can_run(line, tmp_path)
    (tmp_path / "runs/wedge").mkdir(parents=True)
    (tmp_path / "wedge.png").touch()
    assert can_run(line, tmp_path)


def test_a_block_needs_the_packages_that_it_installs():
    text = "```sh\npip install {}\nweft sweep a.yaml\n```\n"
    assert further_commands(text.format("numpy"), "") == ["weft sweep a.yaml"]
    assert further_commands(text.format("no_such_package"), "") == []


def test_a_file_of_the_reader_is_not_there(tmp_path):
    (tmp_path / "a.yaml").write_text("")
    assert can_run("weft run a.yaml --set x=2 --out b", tmp_path)
    assert can_run("weft export a.yaml b.obj", tmp_path)
    assert not can_run("weft run a.yaml --set x=b.json", tmp_path)
    assert not can_run("weft run mine.yaml", tmp_path)
    assert not can_run("weft view a.yaml", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES, ids=lambda p: p.stem)
def test_guide(page, tmp_path):
    example = example_of(page)
    drawn = tmp_path / example.picture.name
    folder = tmp_path / "examples"
    dataclasses.replace(example, picture=drawn).draw(folder)
    assert drawn.stat().st_size > 1000
    where = folder / ("" if example.name == "commands" else Path(example.name).parent)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = f"weft run {Path(example.name).name} --out run"  # of a scene
    first = example.code if example.name == "commands" else run
    for line in further_commands(page.read_text(), first):
        if can_run(line, where):
            command, environment = ["bash", "-ec", line], {**os.environ, "PATH": path}
            done = subprocess.run(
                command, cwd=where, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
