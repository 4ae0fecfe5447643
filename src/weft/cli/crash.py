"""Errors that weft does not raise itself: one line, and the traceback in a file."""

import errno
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import Any

from weft.base.errors import to_one_line
from weft.cli.options import say

STATUS = 70  # EX_SOFTWARE of sysexits.h
SEND_TO = "the issue tracker of weft, or the person who gave you weft"
_CURE = (
    "; weft needs a folder in which it can write: choose one with --out (docs/reference/places.md)"
)
CURES = dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC), _CURE)


def report(error: BaseException, arguments: Sequence[str]) -> int:
    """Say what happened, and where the traceback is; return the exit status.

    A ``MemoryError``, and an ``OSError`` with its number (a full disk, a name that is too long, no
    permission), come from the machine and not from weft: they are named as such.
    """
    what = f"{type(error).__name__}: {to_one_line(error)}"
    if isinstance(error, OSError) and error.errno is not None:
        place = error.filename or ("standard output" if _is_output_full() else None)
        where = "" if place is None else f" ({to_one_line(place)})"
        cure = "" if place == "standard output" else CURES.get(error.errno, "")
        if place is None and "temporary directory" in str(error.strerror):
            cure = "; set a folder in the environment: TMPDIR=FOLDER"
        say(f"error: {error.strerror or what}{where}{cure}", error=True)
        return 2
    if isinstance(error, MemoryError):
        say(
            f"error: out of memory ({to_one_line(error, 100) or 'no number given'}): use a "
            "smaller scene, or a machine with more memory",
            error=True,
        )
        return 2
    try:
        place = f"please send {_write(error, arguments)} to {SEND_TO}"
    except OSError as problem:
        place = f"no traceback could be written ({problem.strerror})"
    say(f"error: weft {_version()} has a mistake: {what}; {place}", error=True)
    return STATUS


def _is_output_full() -> bool:
    """Return whether standard output takes no more, by writing an empty line."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _write(error: BaseException, arguments: Sequence[str]) -> str:
    """Write the traceback, the versions and the command to a file, and return its path."""
    lines = [
        f"weft {_version()}, Python {sys.version.split()[0]}, {platform.platform()}",
        f"command: weft {ascii(shlex.join(arguments))[1:-1]}",
        "",
        *traceback.format_exception(error),
    ]
    name: Any = {"prefix": "weft-traceback-", "suffix": ".txt", "delete": False}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="replace", **name) as file:
        file.write("\n".join(lines))
        return file.name


def _version() -> str:
    try:
        from weft import __version__
    except Exception:
        return "(unknown version)"
    return __version__
