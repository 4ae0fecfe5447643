"""The file metrics.jsonl: one line per step, appended, with a running digest of all lines."""

import hashlib
import json
import os
from typing import Any

from weft.base.errors import RunError
from weft.base.trees import Json
from weft.io.inside import Inside

NAME = "metrics.jsonl"
Damaged = (ValueError, KeyError, TypeError, RecursionError)  # errors of lines that are no records


class Metrics:
    """The lines of a run, for one writing process."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._digest: Any = None  # of all bytes on disk; None: not computed yet
        self._size = 0

    def place(self) -> tuple[int, str]:
        """Return the size [bytes] and the digest of the file."""
        if self._digest is None:
            data = self._bytes()
            self._size, self._digest = len(data), hashlib.sha256(data)
        return self._size, self._digest.hexdigest()

    def begins_with(self, size: int, digest: str) -> bool:
        """Return whether the first ``size`` bytes of the file exist and have this digest."""
        return len(self._bytes()) >= size and self.digest_at(size) == digest

    def append(self, line: Json) -> int:
        """Append a line; return the size [bytes] of the file after it.

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
            if shared:  # hard link to another run's file, which must not change: write a copy
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
        """Truncate the file to its first ``size`` bytes; later lines belong to lost steps."""
        self._digest = None
        data = self._bytes()
        if len(data) > size:
            self._replace(data[:size])

    def sync(self) -> None:
        """Flush the lines to the disk, if the folder's files are to be flushed."""
        if self._inside.fsync and self._inside.has(NAME):
            with os.fdopen(self._inside.open(NAME, os.O_RDWR), "r+b") as file:
                os.fsync(file.fileno())

    def remove(self) -> None:
        """Remove the file."""
        self._digest = None
        self._inside.remove(NAME)

    def lines(self) -> list[Json]:
        """Return the records of all complete lines.

        Raises:
            RunError: a line is no JSON object; the message has its number.
        """
        result = []
        for number, line in enumerate(self._bytes().split(b"\n")[:-1], start=1):
            try:
                result.append(_record(line))
            except Damaged as error:
                raise RunError(
                    f"line {number} of metrics.jsonl",
                    got=str(error),
                    where=str(self._inside.root),
                    expected="what weft wrote",
                    hint="`weft doctor` says what is damaged; `weft run ... --resume` repairs it",
                ) from error
        return result

    def size_at(self, frame: int) -> int:
        """Return the size [bytes] of the lines up to and including those of a frame."""
        size = 0
        for line in self._bytes().split(b"\n")[:-1]:
            try:
                if _record(line)["frame"] > frame:
                    break
            except Damaged:
                break
            size += len(line) + 1
        return size

    def unexplained_after(self, size: int, step: int) -> int:
        """Return the number of bytes after the first ``size`` ones that no interrupted run
        explains.

        Complete or partial lines of the next step, which a killed process leaves, give 0.

        Args:
            size: [bytes] of the lines up to the last step.
            step: number of the last step.
        """
        rest = self._bytes()[size:]
        *lines, last = rest.split(b"\n")
        try:
            explained = all(_record(line)["step"] == step + 1 for line in lines)
        except Damaged:
            explained = False
        return 0 if explained and last[:1] in (b"", b"{") else len(rest)

    def digest_at(self, size: int) -> str:
        """Return the digest of the first ``size`` bytes."""
        return hashlib.sha256(self._bytes()[:size]).hexdigest()

    def _bytes(self) -> bytes:
        try:
            with self._inside.reading(NAME) as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def _replace(self, data: bytes) -> None:
        with self._inside.writing(NAME) as file:
            file.write(data)


def _record(line: bytes) -> Json:
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError("no record")
    return record
