"""Names of temporary files in writing, and removal of those that killed processes left behind."""

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from weft.base.machine import process_start

LONGEST = 60  # [bytes] of the file's name in the temporary name; names have 255 bytes at most
PATIENCE = 600.0  # [s] age after which a temporary file without a running process is abandoned


def temporary_name(stem: str, suffix: str) -> str:
    """Return an unpredictable name, with the process id, for a file that becomes ``stem +
    suffix``.
    """
    return f"{_begin(stem)}{os.getpid():08x}{secrets.token_hex(8)}{suffix}"


def abandoned(names: Iterable[str], stem: str, suffix: str) -> Iterator[str]:
    """Yield the names that processes of this machine made for ``stem`` and did not remove before
    they ended.

    Args:
        names: of files in a folder.
        stem, suffix: of the file that was to be written.
    """
    pattern = re.compile(re.escape(_begin(stem)) + "([0-9a-f]{8})[0-9a-f]{16}" + re.escape(suffix))
    for name in names:
        found = pattern.fullmatch(name)
        if found and process_start(int(found[1], 16)) is None:
            yield name


def sweep(folder: Path, stem: str, suffix: str) -> None:
    """Remove temporary files of ``stem + suffix`` that are abandoned and older than ``PATIENCE``.

    The age is checked because a process of another machine, whose id is unknown here, may share the
    folder.
    """
    with suppress(OSError):
        for name in abandoned(os.listdir(folder), stem, suffix):  # noqa: PTH208
            with suppress(OSError):
                if time.time() - os.lstat(folder / name).st_mtime > PATIENCE:
                    remove(folder / name)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all its contents, if it exists."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _begin(stem: str) -> str:
    return f".{stem.encode(errors='ignore')[:LONGEST].decode(errors='ignore')}."
