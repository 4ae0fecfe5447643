"""Names of files that are being written, and the sweeping of what killed processes left of them."""

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from weft.base.machine import process_start

LONGEST = 60  # [bytes] of a file's name in that of its temporary: names have at most 255
PATIENCE = 600.0  # [s] after which nobody writes into a file any more whose process is gone


def temporary_name(stem: str, suffix: str) -> str:
    """An unpredictable name for what will be ``stem + suffix``, with the process in it."""
    return f"{_begin(stem)}{os.getpid():08x}{secrets.token_hex(8)}{suffix}"


def abandoned(names: Iterable[str], stem: str, suffix: str) -> Iterator[str]:
    """Of names in a folder, those that a process of this machine has made of ``stem`` and that is
    gone.
    """
    pattern = re.compile(re.escape(_begin(stem)) + "([0-9a-f]{8})[0-9a-f]{16}" + re.escape(suffix))
    for name in names:
        found = pattern.fullmatch(name)
        if found and process_start(int(found[1], 16)) is None:
            yield name


def sweep(folder: Path, stem: str, suffix: str) -> None:
    """Remove files that were begun for ``stem + suffix`` and abandoned, where nothing has written
    into them for ``PATIENCE``: another machine's process may share the folder.
    """
    with suppress(OSError):
        for name in abandoned(os.listdir(folder), stem, suffix):  # noqa: PTH208
            with suppress(OSError):
                if time.time() - os.lstat(folder / name).st_mtime > PATIENCE:
                    remove(folder / name)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, where there is one."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _begin(stem: str) -> str:
    return f".{stem.encode(errors='ignore')[:LONGEST].decode(errors='ignore')}."
