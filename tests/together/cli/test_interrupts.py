"""Ctrl-C, and a machine that refuses: one line and a status, no traceback, no hidden cursor."""

import io
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from rich.live import Live

from tests import command
from tests.together.cli.test_cli import run  # noqa: F401 (fixtures)
from weft.base.terminal import bar
from weft.cli.main import STOPPED

SCENE = "cloth: {sheet: {nx: 5, ny: 5}}\npins: [{corners: top}]\nseconds: 0.1\n"
SLOW_IMPORT = """
import os, sys, time
from pathlib import Path
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            Path("importing").touch()
            try:
                time.sleep(60)
            except BaseException as error:  # as libraries in C++ do
                raise TypeError("No to_python converter") from error
sys.meta_path.insert(0, Slow())
from weft.cli.main import main
sys.argv = ["weft", "check", "s.yaml"]
main()
"""
# What a shell starts in the background ignores SIGINT, and so does what that starts: not here.
HEAR = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def start(code, cwd, stderr=subprocess.PIPE):
    return subprocess.Popen(
        [sys.executable, "-c", HEAR + code],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def wait_for(path):
    deadline = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("module", ["typer", "yaml"])
def test_an_interrupt_while_a_package_is_imported(module, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENE)
    process = start(SLOW_IMPORT.format(module=module), tmp_path)
    wait_for(tmp_path / "importing")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == STOPPED and err == "stopped\n" and out == ""


def test_the_entry_point_loads_nothing_else():
    code = (
        "import sys; old = set(sys.modules); import weft.cli.main; print(*set(sys.modules) - old)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(out.stdout.split())
    assert {n for n in loaded if n.startswith("weft")} == {"weft", "weft.cli", "weft.cli.main"}
    assert not loaded & {"typing", "contextlib", "typer", "pathlib", "numpy"}


@pytest.mark.slow
@pytest.mark.parametrize("words", [["check", "s.yaml"], ["run", "s.yaml", "--out", "r"]])
def test_an_interrupt_at_any_instant(words, tmp_path):
    """From the entry point, which takes milliseconds to load, to the end, in a terminal."""
    (tmp_path / "s.yaml").write_text(SCENE.replace("0.1", "5"))
    code = f"""
import sys; sys.argv = ["weft", *{words!r}]
from weft.cli.main import main
sys.stdout.write("here"); sys.stdout.flush()
main()
"""
    for k in range(40):
        upper, lower = pty.openpty()
        process = start(code, tmp_path, lower)
        os.close(lower)
        assert process.stdout.read(4) == "here"
        time.sleep(0.002 + 0.05 * k)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        try:
            seen = os.read(upper, 1 << 20).decode()
        except OSError:  # nothing was written
            seen = ""
        os.close(upper)
        # At the very end, when the interpreter closes, the signal itself may end the process.
        assert process.returncode in (0, 1, 2, STOPPED, -signal.SIGINT), (
            k,
            process.returncode,
            seen,
        )
        assert "Traceback" not in seen
        assert seen.rfind("\x1b[?25h") >= seen.rfind("\x1b[?25l")


def test_the_cursor_comes_back(monkeypatch):
    """Also after an interrupt between the bar's first instant and its block."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, legacy_windows=False)
    original = Live.start

    def interrupted(self, refresh=False):
        original(self, refresh)
        raise KeyboardInterrupt

    monkeypatch.setattr(Live, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), bar(console=console):
        raise AssertionError
    hidden, shown = "\x1b[?25l", "\x1b[?25h"
    assert hidden in out.getvalue() and out.getvalue().rfind(shown) > out.getvalue().rfind(hidden)


def test_standard_output_on_a_full_disk(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w") as full:  # noqa: PTH123
        result = command.weft("fabrics", "--json", cwd=tmp_path, stdout=full)
    assert result.status == 2 and "Traceback" not in result.err
    assert result.err.endswith("error: No space left on device (standard output)\n")


@pytest.mark.parametrize(
    "words",
    [
        "export NAME a.obj",
        "dataset NAME a.h5",
        "sweep status NAME",
        "sweep pictures NAME a.png",
        "render NAME",
        "quality NAME",
        "view NAME",
        "doctor NAME",
        "run NAME",
        "check NAME",
        "settle NAME",
        "play NAME",
        "sweep run NAME",
        "fabrics NAME",
        "fabrics test NAME",
        "fabrics fit NAME",
        "run s.yaml --out NAME",
        "explain NAME",
        "mannequin NAME.obj",
        "demo NAME",
        "run s.yaml --preview NAME",
    ],
)
def test_a_name_of_300_letters(words, tmp_path, run, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(SCENE)
    status, out, err = run(*words.replace("NAME", "x" * 300).split())
    assert status in (1, 2) and "rror" in err + out
    assert "Traceback" not in err and "has a mistake" not in err


@pytest.mark.parametrize("words", ["run s.yaml", "settle s.yaml", "sweep run w.yaml"])
def test_the_root_of_a_disk_is_no_folder_of_a_run(words, tmp_path, run, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(SCENE)
    Path("w.yaml").write_text("scene: s.yaml\nvary: {cloth.sheet.nx: [5, 6]}\n")
    root = Path(tmp_path.anchor)
    before = set(root.iterdir())
    status, _, err = run(*words.split(), "--out", root)
    assert status == 2 and "the root of a disk" in err and set(root.iterdir()) == before
