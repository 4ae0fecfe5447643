"""Text is shown as it is: names of users in tables, lines and bars, and the words of ``--help``."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import weft
from tests.together.cli.test_cli import run  # noqa: F401 (fixtures)
from weft.base.terminal import bar, new_console
from weft.cli.commands import app
from weft.run.progress import progress_bar

NAMES = ["sleeve [left]", "sleeve [right]", "top [/b]", "hem :B: [bold]"]
SCENE = f"""cloths:
- {{name: '{NAMES[0]}', sheet: {{nx: 5, ny: 5}}}}
- {{name: '{NAMES[1]}', sheet: {{nx: 4, ny: 4}}, translation: [0, 10 cm, 0]}}
- {{name: '{NAMES[2]}', sheet: {{nx: 4, ny: 4}}, translation: [0, 20 cm, 0]}}
- {{name: '{NAMES[3]}', sheet: {{nx: 4, ny: 4}}, translation: [0, 30 cm, 0]}}
seconds: 0.05
"""


def test_names_of_parts_in_every_table(run, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("s [b].yaml").write_text(SCENE)
    assert run("run", "s [b].yaml", "--out", "r [/b]", "-q")[0] == 0
    status, out, err = run("quality", "r [/b]")
    assert status == 0, err
    assert all(name in out for name in NAMES), out
    status, out, err = run("check", "s [b].yaml")
    assert all(name in out for name in NAMES), out
    status, out, err = run("check", "no [/b] :B:.yaml")
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


def help_texts():
    from typer.main import get_command

    for words, command in commands(get_command(app)):
        for parameter in command.params:
            yield pytest.param(words, parameter.help, id=f"{'-'.join(words)}-{parameter.name}")


@pytest.mark.parametrize("words, text", [p for p in help_texts() if p.values[1]])
def test_the_words_of_help(words, text, run, monkeypatch):  # noqa: F811
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("TERMINAL_WIDTH", "400")
    status, out, _ = run(*words, "--help")
    shown = " ".join(re.sub("[│╭╮╰╯─]", " ", out).split())
    assert status == 0 and " ".join(text.replace("\\[", "[").split()) in shown


def test_one_place_for_all_text():
    """Whoever shows text uses ``weft.base.terminal``: consoles and columns of rich take markup."""
    source = Path(weft.__file__).parent
    users = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(
            r"\b(Console|TextColumn|Progress)\(.*\)|rich\.(console|markup)", path.read_text()
        )
        and "from rich" in path.read_text()
    }
    assert users == {"base/terminal.py"}
