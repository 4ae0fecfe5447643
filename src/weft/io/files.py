"""Writing a file so that it is either the old one or the new one, never half of each."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from weft.errors import RunError


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of ``path`` when the block ends without an error.

    Raises:
        RunError: the disk is full, or the folder cannot be written to; ``path`` is as it was.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
        temporary.replace(path)
    except OSError as error:
        raise RunError(
            f"cannot write {path.name}",
            got=error.strerror or str(error),
            where=str(path.parent),
            hint="free some space or choose another folder; what was written before is intact",
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
