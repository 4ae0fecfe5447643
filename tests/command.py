"""The command line in this process; or as one of its own, under limits, for what would take the
tests with it.
"""

import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

from weft.cli import main as cli

SET_LIMITS = """
import resource
for limit, value in {limits}:
    resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))
from weft.cli.main import main
main()
"""


@dataclass(frozen=True)
class Result:
    """What a command did: exit status, standard output and error, wall-clock time [s]."""

    status: int
    out: str
    err: str
    seconds: float


def weft(*words, cwd, timeout=120, file_size=None, memory=None, stdout=subprocess.PIPE, env=None):
    """Run ``weft WORDS`` in a folder.

    Args:
        words: of the command line.
        cwd: the folder.
        timeout: [s]
        file_size: [bytes] that any file may have; a longer one is refused as by a full disk.
        memory: [bytes] of address space.
        stdout: where standard output goes, in place of the result.
        env: environment variables, in place of those of this process.
    """
    resource = pytest.importorskip("resource")
    limits = ((resource.RLIMIT_FSIZE, file_size), (resource.RLIMIT_AS, memory))
    code = SET_LIMITS.format(limits=[pair for pair in limits if pair[1] is not None])
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=cwd,
        timeout=timeout,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return Result(done.returncode, done.stdout or "", done.stderr, time.perf_counter() - began)


def refused(result):
    """Assert that a command ended with a named error; returns the message."""
    assert result.status in (1, 2), (result.status, result.out[-500:], result.err[-2000:])
    assert "Traceback" not in result.out + result.err
    said = result.err + result.out
    assert "error" in said
    return said


def call_weft(monkeypatch, capsys, *words):
    """Return exit status, standard output and error of ``weft WORDS``, run in this process."""
    monkeypatch.setattr(sys, "argv", ["weft", *map(str, words)])
    status = 0
    try:
        cli.main()
    except SystemExit as end:
        status = end.code or 0
    shown = capsys.readouterr()
    return status, shown.out, shown.err
