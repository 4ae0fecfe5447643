"""metrics.jsonl: one line a step, appended; a digest of all of it so far is kept."""

import hashlib
import json
import os
from typing import Any

from weft.base.arrays import Json
from weft.base.errors import RunError
from weft.io.inside import Inside

NAME = "metrics.jsonl"
CHUNK = 1 << 20


class Metrics:
    """The lines of a run, for one writer."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._digest: Any = None  # of all bytes on disk, once known
        self._size = 0

    def place(self) -> tuple[int, str]:
        """[bytes] and digest of the file as it is."""
        if self._digest is None:
            self._digest = hashlib.sha256()
            self._size = self._update(self._digest, None)
        return self._size, self._digest.copy().hexdigest()

    def begins_with(self, size: int, digest: str) -> bool:
        """That the first ``size`` bytes are those of the digest."""
        found = hashlib.sha256()
        return self._update(found, size) == size and found.hexdigest() == digest

    def append(self, line: Json) -> int:
        """Append a line; returns the size of the file after it.

        Raises:
            RunError: the disk is full.
        """
        self.place()
        data = json.dumps(line).encode() + b"\n"
        try:
            fd = self._inside.open(NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with os.fdopen(fd, "ab") as file:
                shared = os.fstat(fd).st_nlink > 1
                if not shared:
                    file.write(data)
            if shared:  # with another folder: that one keeps its lines
                self._replace(self._bytes() + data)
        except OSError as error:
            raise RunError(
                "cannot write metrics.jsonl",
                got=error.strerror,
                where=str(self._inside.root),
                hint="free some space, then continue with --resume",
            ) from error
        self._digest.update(data)
        self._size += len(data)
        return self._size

    def truncate(self, size: int) -> None:
        """Keep the first ``size`` bytes; lines after them belong to lost steps."""
        self._digest = None
        data = self._bytes()
        if len(data) > size:
            self._replace(data[:size])

    def sync(self) -> None:
        """Have the lines on the disk itself, where the folder's files are to be."""
        if self._inside.fsync and self._inside.has(NAME):
            fd = self._inside.open(NAME, os.O_RDWR)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def remove(self) -> None:
        """Remove the file."""
        self._digest = None
        self._inside.remove(NAME)

    def lines(self) -> list[Json]:
        """All whole lines.

        Raises:
            RunError: one that is no JSON, with its number.
        """
        result = []
        for number, line in enumerate(self._bytes().split(b"\n")[:-1], start=1):
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("no record")
            except (ValueError, RecursionError) as error:
                raise RunError(
                    f"line {number} of metrics.jsonl",
                    got=str(error),
                    where=str(self._inside.root),
                    expected="what weft wrote",
                    hint="`weft doctor` says what is damaged; `weft run ... --resume` repairs it",
                ) from error
            result.append(record)
        return result

    def size_at(self, frame: int) -> int:
        """[bytes] of the lines up to and with those of a frame."""
        size = 0
        for line in self._bytes().splitlines(keepends=True):
            try:
                if not line.endswith(b"\n") or json.loads(line)["frame"] > frame:
                    break
            except (ValueError, KeyError, TypeError, RecursionError):
                break
            size += len(line)
        return size

    def strange_after(self, size: int, step: int) -> int:
        """[bytes] after the first ``size`` ones, unless they are lines of the next step, whole or
        begun: those a kill leaves.
        """
        rest = self._bytes()[size:]
        lines = rest.split(b"\n")
        try:
            fine = all(json.loads(line)["step"] == step + 1 for line in lines[:-1])
        except (ValueError, KeyError, TypeError, RecursionError):
            fine = False
        return 0 if fine and lines[-1][:1] in (b"", b"{") else len(rest)

    def digest_at(self, size: int) -> str:
        """Digest of the first ``size`` bytes."""
        found = hashlib.sha256()
        self._update(found, size)
        return found.hexdigest()

    def _bytes(self) -> bytes:
        try:
            with self._inside.reading(NAME) as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def _replace(self, data: bytes) -> None:
        with self._inside.writing(NAME) as file:
            file.write(data)

    def _update(self, digest: Any, most: int | None) -> int:
        """Feed the file, or so many bytes of it, into a digest; returns how many there were."""
        size = 0
        try:
            with self._inside.reading(NAME) as file:
                while chunk := file.read(CHUNK if most is None else min(CHUNK, most - size)):
                    digest.update(chunk)
                    size += len(chunk)
        except FileNotFoundError:
            pass
        return size
