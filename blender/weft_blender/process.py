# SPDX-License-Identifier: GPL-3.0-or-later
"""weft as a process of its own: commands, a run that goes on, what it says of its progress."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .meshes import Problem

PATIENCE = 30.0  # [s] for a run to end by itself once it is asked to
HINT = "Preferences, Add-ons, Weft Cloth: say the command, e.g. /home/me/venv/bin/weft"


def command_of(said: str) -> list[str]:
    """The words of the command that the preferences have."""
    words = shlex.split(said, posix=os.name != "nt")
    if not words:
        raise Problem(f"no command for weft. {HINT}")
    return words


def environment() -> dict[str, str]:
    """That of this process, without what points a Python at Blender's own modules."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONSTARTUP")}


def asked(command: Sequence[str], *words: str) -> str:
    """What weft prints for some words.

    Raises:
        Problem: there is no weft, or it says what is wrong.
    """
    try:
        done = subprocess.run(
            [*command, *words], capture_output=True, text=True, env=environment(), check=False
        )
    except OSError as error:
        raise Problem(f"{command[0]}: {error.strerror or error}. {HINT}") from error
    if done.returncode:
        said = (done.stderr + done.stdout).strip().splitlines()
        raise Problem(said[-1] if said else f"weft ended with {done.returncode}")
    return done.stdout


def fabrics(command: Sequence[str]) -> list[tuple[str, str]]:
    """Name and title of every fabric that weft knows."""
    known = json.loads(asked(command, "fabrics", "--json"))
    return [(f["name"], f["title"]) for f in known]


class Going:
    """A run that goes on in a process of its own. What it prints is in files beside it."""

    def __init__(
        self, command: Sequence[str], scene: Path, run: Path, *, resume: bool = False
    ) -> None:
        self.said, self.wrong = scene.with_suffix(".progress"), scene.with_suffix(".errors")
        self.frame, self.frames, self.left, self.asked = 0, 0, 0.0, False
        own = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP} if os.name == "nt" else {}
        words = [*command, "run", str(scene), "--out", str(run), "--json", "--no-fsync"]
        words += ["--resume"] if resume else []
        with self.said.open("wb") as out, self.wrong.open("wb") as errors:
            try:
                self.process = subprocess.Popen(
                    words, stdout=out, stderr=errors, env=environment(), **own
                )
            except OSError as error:
                raise Problem(f"{command[0]}: {error.strerror or error}. {HINT}") from error

    def running(self) -> bool:
        """Whether it goes on; notes how far it is."""
        over = self.process.poll() is not None
        lines = self.said.read_text(errors="replace").splitlines() if self.said.exists() else []
        for line in lines[-1:]:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # half a line
            self.frame = event.get("frame", self.frame)
            self.frames = event.get("frames", self.frames)
            self.left = event.get("left", 0.0)
        return not over

    def words(self) -> str:
        """weft's own, where it did not end well; none where it did, or was asked to."""
        if self.process.returncode == 0 or self.asked:
            return ""
        said = self.wrong.read_text(errors="replace").strip().splitlines()
        errors = [line for line in said if "error" in line.lower()]
        return str((errors or said or [f"weft ended with {self.process.returncode}"])[0])

    def check(self) -> None:
        """Raises a Problem with these words."""
        if self.words():
            raise Problem(self.words())

    def ask(self) -> None:
        """Ask it to end, as Ctrl-C does: frames that are there stay. By force, if it was asked."""
        if self.process.poll() is None and self.asked:
            self.process.kill()
        elif self.process.poll() is None:
            windows = sys.platform == "win32"
            self.process.send_signal(signal.CTRL_BREAK_EVENT if windows else signal.SIGINT)
        self.asked = True

    def stop(self) -> None:
        """Ask it to end and wait until it has; by force, if it does not."""
        self.ask()
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
