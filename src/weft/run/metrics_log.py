"""The file metrics.jsonl: one line per step, appended, each with a checksum of all lines so far.

The checksum of a line (``sum``) is SHA-256 of the checksum of the line before and of the line's
own text. A line that ends a frame lists the digests of this frame and of the one before it
(``frames``), so that the lines that are intact say which frames belong to them.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from weft.base.trees import Json
from weft.io.safe_folder import SafeFolder

METRICS = "metrics.jsonl"
ENDING = ', "sum": "%s"}\n'  # of every line
WIDTH = len(ENDING % ("0" * 64))
Damaged = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Line:
    """A line of the metrics whose checksum is right.

    Args:
        record: numbers of a step.
        digests: of the frame that the step ended and of the frame before it, by frame number.
        sum: checksum of this line and all lines before it.
        end: [bytes] size of the file up to and including this line.
    """

    record: Json
    digests: Mapping[int, str]
    sum: str
    end: int

    @property
    def frame(self) -> int:
        """The frame that the step belongs to."""
        return int(self.record["frame"])


class MetricsLog:
    """The lines of a run; ``sum`` is the checksum of the last one after which lines follow."""

    def __init__(self, folder: SafeFolder) -> None:
        self._folder, self.sum = folder, ""

    def append(self, record: Json, digests: Mapping[int, str]) -> None:
        """Append a line.

        Args:
            record: numbers of a step.
            digests: of the frame that the step ended and of the frame before it, by frame number,
                which flushes the line to the disk; empty: the step ended no frame.

        Raises:
            RunError: the disk is full.
        """
        text = json.dumps({**record, "frames": digests} if digests else record)[:-1]
        self.sum = _checksum(self.sum, text.encode())
        self._folder.append(METRICS, (text + ENDING % self.sum).encode(), fsync=bool(digests))

    def read(self) -> tuple[list[Line], bytes]:
        """Return the intact lines from the beginning, and the bytes after them.

        A line that a killed process has not finished is among these bytes, and the only one.
        """
        data = self._bytes()
        lines: list[Line] = []
        total, end = "", 0
        for line in data.splitlines(keepends=True):
            total = _checksum(total, line[:-WIDTH])
            if line[-WIDTH:] != (ENDING % total).encode():
                break
            try:
                record = json.loads(line)
                digests = {int(k): str(v) for k, v in record.pop("frames", {}).items()}
                del record["sum"]
                record["frame"] = int(record["frame"])
            except Damaged:
                break
            end += len(line)
            lines.append(Line(record, digests, total, end))
        return lines, data[end:]

    def records(self) -> list[Json]:
        """Return the records of all complete lines.

        Raises:
            RunError: a line is damaged; the message has its number.
        """
        lines, rest = self.read()
        if b"\n" in rest:
            got = "its checksum is not that of its contents"
            raise self._folder.damage_error(f"line {len(lines) + 1} of {METRICS}", got)
        return [line.record for line in lines]

    def cut_after(self, line: Line | None) -> None:
        """Drop all lines after ``line``, which belong to lost steps; None: drop all lines."""
        self.sum, end = ("", 0) if line is None else (line.sum, line.end)
        data = self._bytes()
        if len(data) > end:
            with self._folder.writer(METRICS) as file:
                file.write(data[:end])

    def _bytes(self) -> bytes:
        if not self._folder.has(METRICS):
            return b""
        with self._folder.reader(METRICS) as file:
            return file.read()


def _checksum(before: str, text: bytes) -> str:
    return hashlib.sha256(before.encode() + text).hexdigest()
