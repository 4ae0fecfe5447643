"""Selections of the frames of a run, ``A:B:STEP``, and of the times around them."""

import re
from dataclasses import dataclass

import numpy as np

from weft.base.errors import RunError
from weft.scene.scene import Scene

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
            raise RunError("frames", got=repr(text), expected=expected)
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
                "frames",
                got=f"{self.first}:{self.last}",
                expected=f"frames of 0 to {count - 1}",
                where=where,
            )
        return range(ends[0], ends[1] + 1, self.step)


@dataclass(frozen=True)
class Shutter:
    """Samples around every frame, for motion blur.

    Args:
        opens: time of the first sample, in frames from the frame.
        closes: time of the last sample.
        samples: their number.
        scene: scene of the run, whose steps between frames are computed again for the samples;
            None: samples are interpolated between frames.

    Raises:
        RunError: times that are not in order or farther than a frame, or fewer than two samples.
    """

    opens: float
    closes: float
    samples: int = 3
    scene: Scene | None = None

    def __post_init__(self) -> None:
        if not (-1 <= self.opens < self.closes <= 1 and self.samples >= 2):
            raise RunError(
                "shutter, samples",
                got=f"{self.opens:g} {self.closes:g}, {self.samples}",
                expected="two times from -1 to 1 [frames], in order; 2 samples or more",
            )

    def numbers(self, first: int, count: int, end: tuple[float, float]) -> list[float]:
        """Return the numbers of the samples of ``count`` frames from ``first`` on, ascending.

        Args:
            first: number of the first frame.
            count: how many frames.
            end: numbers at the start and the end of the run; samples beyond are left out.
        """
        offsets = np.linspace(self.opens, self.closes, self.samples)
        every = np.add.outer(first + np.arange(count), offsets).ravel()
        kept = every[(every >= end[0] - 1e-9) & (every <= end[1] + 1e-9)]
        return [float(k) for k in np.unique(kept.round(9))]
