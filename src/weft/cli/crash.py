"""The unexpected: a short report in place of a traceback, and a file that reproduces it."""

import errno
import os
import platform
import shlex
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from weft.base.errors import to_one_line
from weft.cli.options import say

STATUS = 70  # EX_SOFTWARE of sysexits.h
SEND_TO = "whoever gave you weft (its issue tracker, where there is one)"
_CURE = "; weft needs a folder that can be written: --out names another one (docs/places.md)"
CURES = dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC), _CURE)
MOST = 4 << 20  # [bytes] of a file that is copied into the report
KINDS = (
    ".yaml",
    ".yml",
    ".obj",
    ".ply",
    ".json",
    ".npz",
    ".usda",
    ".usdc",
    ".usd",
    ".usdz",
    ".glb",
    ".gltf",
    ".pc2",
)


def report(error: BaseException, arguments: Sequence[str]) -> int:
    """Say what happened and where the report is; returns the exit status.

    A ``MemoryError``, and an ``OSError`` with its number (a full disk, a name that is too long, no
    permission), come from the machine and not from weft: they are named as such.
    """
    what = f"{type(error).__name__}: {to_one_line(error)}"
    if isinstance(error, OSError) and error.errno is not None:
        place = error.filename or ("standard output" if _is_output_full() else None)
        where = "" if place is None else f" ({to_one_line(place)})"
        cure = "" if place == "standard output" else CURES.get(error.errno, "")
        if place is None and "temporary directory" in str(error.strerror):
            cure = "; name a folder in the environment: TMPDIR=FOLDER"
        say(f"error: {error.strerror or what}{where}{cure}", error=True)
        return 2
    if isinstance(error, MemoryError):
        say(
            f"error: out of memory ({to_one_line(error, 100) or 'no number given'}): try a smaller "
            "scene, or a machine with more",
            error=True,
        )
        return 2
    say(f"error: weft {_version()} met something that it does not expect: {what}", error=True)
    try:
        folder = _write(error, arguments)
        say(f"what it did, and the files it read, are in {folder}", error=True)
        say(f"please send that folder to {SEND_TO}", error=True)
    except OSError as problem:
        say(f"no report could be written ({problem.strerror}); the last lines are:", error=True)
        last = "".join(traceback.format_exception(error)[-2:])
        say(to_one_line(last, 1000), error=True)
    return STATUS


def _is_output_full() -> bool:
    """Return whether standard output takes no more, by writing an empty line."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _write(error: BaseException, arguments: Sequence[str]) -> Path:
    """A folder with the report and with copies of the files that the command named."""
    folder = Path(tempfile.mkdtemp(prefix=time.strftime("weft-report-%Y%m%d-%H%M%S-")))
    lines = [
        f"weft {_version()}, Python {sys.version.split()[0]}, {platform.platform()}",
        f"folder: {os.getcwd()}",  # noqa: PTH109
        f"command: weft {ascii(shlex.join(arguments))[1:-1]}",
        "",
        *traceback.format_exception(error),
    ]
    (folder / "report.txt").write_text("\n".join(lines), encoding="utf-8", errors="replace")
    for name in arguments:
        try:
            path = Path(name)
            if path.is_file() and path.suffix.lower() in KINDS and path.stat().st_size < MOST:
                shutil.copy(path, folder / path.name)
        except (OSError, ValueError):
            continue
    return folder


def _version() -> str:
    try:
        from weft import __version__
    except Exception:
        return "(unknown version)"
    return __version__
