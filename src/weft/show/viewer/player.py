"""State of a live viewer: the frame, the look, and whether it plays; it follows a growing run.

Windows and servers are thin layers on a ``Player``: they call ``tick`` many times a second, show
its ``picture`` if that has changed, and pass it what users do.
"""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import RunError, WeftError, check_known
from weft.cloth.fields import Physics
from weft.io.frames import MESH, frame_name
from weft.io.lock import is_written
from weft.io.selection import FrameSelection
from weft.run.run import Run
from weft.show.looks import Scale
from weft.show.viewer.measures import MEASURES
from weft.show.viewer.metric_curves import plots_of
from weft.show.viewer.run_view import Subject

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
EVERY = 0.5  # [s] between two checks of the folder
KEPT = 256e6  # [bytes] of frames that stay in memory

Mark = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Picture:
    """The data that are drawn of a frame.

    Args:
        number: of the frame.
        cloth: (n,3) [m].
        bodies: (b,3) [m] of all bodies.
        contacts: (k,3) [m].
        held: (p,3) [m] of pinned vertices.
        values: (n,) of the look; None: the look is no measure.
    """

    number: int
    cloth: Positions
    bodies: Positions
    contacts: Positions
    held: Positions
    values: Floats | None

    @property
    def size(self) -> int:
        """The size [bytes] of all arrays."""
        arrays = (self.cloth, self.bodies, self.contacts, self.held, self.values)
        return sum(a.nbytes for a in arrays if a is not None)


class Player:
    """A run with the state of its display.

    Args:
        reopen: opens the run; called again if another run has taken its place.
        frames: ``A:B`` or ``A:B:STEP``, the last one included; None: all.
        density: of splines, samples a knot span; None: those of the run's mesh.
        physics: of the run's scene, for stress that it did not record.
        look: to start with; None: the first that the run has.

    Raises:
        RunError: no run, no such frames, or no such look.
    """

    def __init__(
        self,
        reopen: Callable[[], Run],
        frames: str | None = None,
        *,
        density: int | None = None,
        physics: Physics | None = None,
        look: str | None = None,
    ) -> None:
        self._reopen, self._selection = reopen, FrameSelection.of(frames)
        self._density, self._physics = density, physics
        self.editions = 0  # grows when the surfaces change: viewers then rebuild everything
        self.place, self.playing, self.speed = 0, False, 1.0
        self.bodies, self.contacts, self.pins = True, False, False
        self.note = ""
        self._checked = self._began = -math.inf
        self._shown: Picture | None = None
        self._open()
        self.look = self.looks[0]
        if look is not None:
            self.set_look(look)
        self.follow = self.goes_on
        if self.follow:
            self.place = len(self.numbers) - 1
        self._shown = self.of(self.place)

    def _open(self) -> None:
        run = self._reopen()
        numbers = self._selection.numbers(len(run), str(run.path))
        self.subject = Subject(run, self._density, self._physics, numbers[0])
        self.run, self.numbers = run, numbers
        self.looks = self.subject.looks()
        self.goes_on = is_written(run.folder.inside)
        self._scales: dict[str, Scale] = {}
        self._without_range: set[str] = set()  # looks whose values were all zero so far
        self._read: OrderedDict[tuple[int, str, Mark | None], Picture] = OrderedDict()
        self._shown = None
        self._mesh_mark = _mark(run.path / MESH)
        self._plots()

    def _plots(self) -> None:
        self.plots = plots_of(self.run.metrics, [k / self.run.fps for k in self.numbers])

    @property
    def number(self) -> int:
        """The number of the shown frame."""
        return self.numbers[self.place]

    @property
    def name(self) -> str:
        """The name of the run."""
        return Path(self.run.path).resolve().name

    @property
    def status(self) -> str:
        """Frame, time and progress of the run, as text for people."""
        wanted, count = int(self.run.manifest["frames"]), self.numbers[-1]
        whole = f"{count} of {wanted} frames, " if count < wanted else ""
        state = "going on" if self.goes_on else "stopped" if count < wanted else "complete"
        return f"frame {self.number}, {self.number / self.run.fps:.3f} s ({whole}{state})"

    def tick(self, now: float) -> bool:
        """Continue playing, and look for new frames; return whether something has changed.

        Args:
            now: [s] of a clock that does not go back.
        """
        before = (self.place, len(self.numbers), self.editions, self.goes_on, self.note)
        if now - self._checked >= EVERY:
            self._checked = now
            self._look_for_frames()
        if self.playing:
            self._advance(now)
        after = (self.place, len(self.numbers), self.editions, self.goes_on, self.note)
        return before != after

    def _advance(self, now: float) -> None:
        if self._began == -math.inf:
            self._began, self._from = now, self.place
        rate = self.speed * self.run.fps / self.numbers.step
        place, last = self._from + int((now - self._began) * rate), len(self.numbers) - 1
        if place > last and self.goes_on:  # the run goes on: wait for more frames
            self._began, self._from, place = now, last, last
        self.place = place % len(self.numbers)

    def _look_for_frames(self) -> None:
        """Check the folder for new frames, for another run in its place, and for removed frames."""
        try:
            self.goes_on = is_written(self.run.folder.inside)
            mark = _mark(self.run.path / MESH)
            if mark is not None and mark != self._mesh_mark:
                self._open_other()
                return
            count = len(self.run)
            if count == 0:
                self.note = f"{self.run.path} has no frames any more: this is what was read"
                return
            numbers = self._selection.numbers(count, str(self.run.path))
            self.note = ""
            if numbers == self.numbers:
                return
            self.numbers = numbers
            self._plots()
            if self.follow and not self.playing:
                self.place = len(numbers) - 1
            self.place = min(self.place, len(numbers) - 1)
        except (WeftError, OSError) as error:
            self.note = str(error)

    def _open_other(self) -> None:
        """Open another run that now lies in the folder."""
        self._open()
        self.editions += 1
        self.place = len(self.numbers) - 1 if self.follow else 0
        self.note = ""
        if self.look not in self.looks:
            self.look = self.looks[0]

    def picture(self) -> Picture | None:
        """Return the picture to draw; if the frame cannot be read, the last one (None: nothing).

        ``note`` then says why.
        """
        try:
            self._shown = self.of(self.place)
        except (WeftError, OSError) as error:
            self.note = self.note or str(error)
        return self._shown

    def of(self, place: int) -> Picture:
        """Return the picture of the frame at a place, which is read if it is not in memory.

        Raises:
            RunError: it cannot be read.
        """
        number = self.numbers[place]
        key = (number, self.look, _mark(self.run.path / frame_name(number)))
        if key in self._read:
            self._read.move_to_end(key)
            return self._read[key]
        subject = self.subject
        x = subject.positions(number)
        found = Picture(
            number,
            x,
            subject.body_positions(number),
            subject.contacts(number),
            x[subject.held(number)],
            self._values(number, x),
        )
        self._read[key] = found
        while len(self._read) > 1 and sum(p.size for p in self._read.values()) > KEPT:
            self._read.popitem(last=False)
        return found

    def _values(self, number: int, x: Positions) -> Floats | None:
        """Return the values (n,) of the look.

        A frame that exceeds the scale by half widens it, and the first frame with values other than
        zero replaces a scale of zeros.
        """
        if self.look not in MEASURES:
            return None
        found, measure = self.subject.values(self.look, number, x), MEASURES[self.look]
        scale, own = self._scales.get(self.look), measure.scale(found)
        first = self.look in self._without_range and measure.has_range(found)
        if scale is not None and (first or own.high > 1.5 * scale.high):
            self._scales[self.look] = own
            self._without_range.discard(self.look)
        return found

    def scale(self) -> Scale | None:
        """Return the color scale of the look; None: the look has none."""
        if self.look not in MEASURES:
            return None
        if self.look not in self._scales:
            values, measure = self.subject.sample(self.look, self.numbers), MEASURES[self.look]
            self._scales[self.look] = measure.scale(values)
            if not measure.has_range(values):
                self._without_range.add(self.look)
        return self._scales[self.look]

    def box(self) -> tuple[Positions, Positions]:
        """Return the low and the high corner (3,) [m] of the cloth, from a sample of the present
        frames.
        """
        some = np.unique(np.linspace(0, len(self.numbers) - 1, 6).astype(int)).tolist()
        x = np.concatenate([self.subject.positions(self.numbers[k]) for k in some])
        return x.min(0), x.max(0)

    def floor(self) -> float:
        """Return a height [m] below everything in the present frames."""
        low, high = self.box()
        heights = [float(low[1])]
        if self.subject.bodies:
            ends = (self.numbers[0], self.numbers[-1])
            heights += [float(self.subject.body_positions(k)[:, 1].min()) for k in ends]
        return min(heights) - 0.01 * float((high - low).max())

    def go(self, place: int) -> None:
        """Go to a frame by its place, and stop; at the last one the run is followed."""
        self.place = max(0, min(len(self.numbers) - 1, place))
        self.play(False)
        self.follow = self.place == len(self.numbers) - 1

    def play(self, on: bool) -> None:
        """Play from the present place, or from the start if it is the end; or stop."""
        self.playing = on and len(self.numbers) > 1
        self._began = -math.inf
        if self.playing and self.place == len(self.numbers) - 1 and not self.goes_on:
            self.place = 0

    def set_speed(self, speed: float) -> None:
        """Set the speed as a multiple of the run's own."""
        self.speed, self._began = speed, -math.inf

    def set_look(self, look: str) -> None:
        """Color the cloth by another look.

        Raises:
            RunError: this run has no such look.
        """
        check_known(look, self.looks, f"look of {self.name}", RunError)
        self.look = look


def _mark(path: Path) -> Mark | None:
    """Return inode, time and size, which identify a version of a file; None: there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
