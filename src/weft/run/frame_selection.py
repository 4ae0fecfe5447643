"""Selections of the frames of a run: ``A:B:STEP``."""

from dataclasses import dataclass

from weft.base.errors import RunError


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
        words = [""] if text is None else text.split(":")
        try:
            a, b, s = (int(w) if w.strip() else None for w in [*words, "", ""][:3])
        except ValueError:
            a = b = s = None
            words = ["", "", "", ""]
        if len(words) > 3 or (s is not None and s < 1):
            raise RunError("--frames", got=repr(text), expected=expected)
        if text is not None and len(words) == 1 and a is not None:
            b = a
        return FrameSelection(0 if a is None else a, -1 if b is None else b, 1 if s is None else s)

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
