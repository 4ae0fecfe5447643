"""Writing a file so that it is either the old one or the new one, never half of each."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from weft.io.inside import Inside


@contextmanager
def atomic_write(path: str | Path, *, fsync: bool = False) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of ``path`` when the block ends without an error.

    Args:
        path: the file; a link is replaced, not followed.
        fsync: it is on the disk itself before it takes the place of the old one.

    Raises:
        RunError: the disk is full, or the folder cannot be written to; ``path`` is as it was.
    """
    path = Path(path)
    with Inside(path.parent, fsync=fsync).writing(path.name) as file:
        yield file
