"""Selections of the frames of a run: ``A:B:STEP``."""

import re
from dataclasses import dataclass

from weft.base.errors import RunError

_TEXT = re.compile(r"(?P<one>-?\d+)|(?P<first>-?\d+)?:(?P<last>-?\d+)?(?::(?P<step>\d+)?)?")


@dataclass(frozen=True)
class FrameSelection:
    """The frames from A to B, both included, in steps; negative numbers count from the end.

    Raises:
        RunError: a text that is not ``A:B:step``, or no such frames.
    """

    first: int = 0
    last: int = -1
    step: int = 1

    @staticmethod
    def of(text: str | None) -> "FrameSelection":
        """Return the selection of a text: ``A:B``, ``A:B:step``, ``:``, or one number."""
        expected = "A:B or A:B:STEP, the last one included, as in 0:48 or 0:-1:2"
        match = _TEXT.fullmatch("".join((text or ":").split()))
        step = int(match["step"] or 1) if match else 0
        if match is None or step < 1:
            raise RunError("--frames", got=repr(text), expected=expected)
        one, first, last = match["one"], match["first"] or 0, match["last"] or -1
        return FrameSelection(int(one or first), int(one or last), step)

    def numbers(self, count: int, where: str) -> range:
        """Return the selected frame numbers of a run.

        Args:
            count: number of frames of the run.
            where: the run, for messages.

        Raises:
            RunError: no such frames.
        """
        ends = [k if k >= 0 else count + k for k in (self.first, self.last)]
        if not 0 <= ends[0] <= ends[1] < count:
            raise RunError(
                "--frames",
                got=f"{self.first}:{self.last}",
                expected=f"frames of 0 to {count - 1}",
                where=where,
            )
        return range(ends[0], ends[1] + 1, self.step)
