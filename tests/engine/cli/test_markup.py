"""Text is shown as it is: names of users in tables, lines and bars, and the words of ``--help``."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from typer.main import get_command

from tests.together.cli.test_cli import run  # noqa: F401 (fixtures)
from weft.base.terminal import bar, new_console
from weft.cli.commands import app
from weft.run.progress import progress_bar

NAMES = ["sleeve [left]", "top [/b]", "hem :B: [bold]"]
SCENE = f"""cloths:
- {{name: '{NAMES[0]}', sheet: {{nx: 4, ny: 4}}}}
- {{name: '{NAMES[1]}', sheet: {{nx: 4, ny: 4}}, translation: [0, 10 cm, 0]}}
- {{name: '{NAMES[2]}', sheet: {{nx: 4, ny: 4}}, translation: [0, 20 cm, 0]}}
seconds: 0.05
"""


def test_names_of_parts_in_every_table(run, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("s [b].yaml").write_text(SCENE)
    assert run("run", "s [b].yaml", "--out", "r [/b]", "-q")[0] == 0
    status, out, err = run("quality", "r [/b]")
    assert status == 0 and all(name in out for name in NAMES), err
    _, out, err = run("check", "no [/b] :B:.yaml")
    assert "no [/b] :B:.yaml" in out + err


def test_a_bar_and_a_line():
    for text in NAMES:
        out = io.StringIO()
        console = Console(file=out, force_terminal=True, width=100)
        with bar(console=console) as shown:
            shown.add_task(text, total=2)
        with progress_bar(3, Console(file=out, width=100)):
            pass
        new_console(file=out).print(text)
        assert out.getvalue().count(text) >= 2, out.getvalue()


def commands(command, words=()):
    """Every command and group below one, with the words that call it."""
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))


def texts_of(words, command):
    """Words of a command and texts of its parameters."""
    texts = [p.help for p in command.params if p.help]
    return pytest.param(words, texts, id="-".join(words) or "weft")


@pytest.mark.parametrize("words, texts", [texts_of(*c) for c in commands(get_command(app))])
def test_the_words_of_help(words, texts, run, monkeypatch):  # noqa: F811
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("TERMINAL_WIDTH", "400")
    status, out, _ = run(*words, "--help")
    shown = " ".join(re.sub("[│╭╮╰╯─]", " ", out).split())
    wanted = [" ".join(text.replace("\\[", "[").split()) for text in texts]
    assert status == 0 and [text for text in wanted if text not in shown] == []
