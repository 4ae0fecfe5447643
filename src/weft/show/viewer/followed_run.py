"""A run whose folder is watched: it may grow, stop, be removed, or be replaced by another run."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import RunError, WeftError, check_known
from weft.base.trees import Json
from weft.cloth.fields import Physics
from weft.io.folder_lock import is_written
from weft.run.frame_selection import FrameSelection
from weft.run.run_reader import RunReader
from weft.run.sealed_file import MESH
from weft.show.looks import LOOKS, Scale
from weft.show.viewer.run_view import RunView

FOR_BOX = 6  # frames from which the box of the cloth is taken
WIDER = 1.5  # a frame whose numbers exceed the scale by more widens it


class FollowedRun:
    """The run in a folder, as far as it is there.

    Args:
        reopen: opens the run; called again if another run has taken its place.
        frames: ``A:B`` or ``A:B:STEP``, the last one included; None: all.
        density: of splines, samples a knot span; None: those of the run's mesh.
        physics: of the run's scene, for stress that it did not record.
        look: the first one to be shown; None: the first that the run has.

    Attributes:
        edition: number of runs that have taken the place of the first one.
        note: what is wrong with the folder, for people; empty: nothing.

    Raises:
        RunError: no run, no such frames, or no such look.
    """

    def __init__(
        self,
        reopen: Callable[[], RunReader],
        frames: str | None = None,
        *,
        density: int | None = None,
        physics: Physics | None = None,
        look: str | None = None,
    ) -> None:
        self._reopen, self._selection = reopen, FrameSelection.of(frames)
        self._density, self._physics = density, physics
        self.edition, self.note = 0, ""
        self._open()
        self.look = self.looks[0] if look is None else look
        self._check_look(self.look)

    def _open(self) -> None:
        run = self._reopen()
        numbers = self._selection.numbers(len(run), str(run.path))
        self.view = RunView(run, self._density, self._physics, numbers[0])
        self.run, self.numbers = run, numbers
        self.looks = self.view.looks()
        self.goes_on = is_written(run.folder.files)
        self._scales: dict[str, Scale] = {}
        self._mesh_mark = _mark(run.path / MESH)

    def _check_look(self, look: str) -> None:
        check_known(look, self.looks, f"look of {Path(self.run.path).resolve().name}", RunError)

    def update(self) -> None:
        """Look for new frames, for another run in the folder, and for frames that are gone."""
        try:
            self.goes_on = is_written(self.run.folder.files)
            mark = _mark(self.run.path / MESH)
            if mark is not None and mark != self._mesh_mark:
                self._open()
                self.edition += 1
                self.look = self.look if self.look in self.looks else self.looks[0]
            elif len(self.run) == 0:
                self.note = (
                    f"{self.run.path} has no frames any more: the page shows the frames that "
                    "it has read"
                )
                return
            self.numbers = self._selection.numbers(len(self.run), str(self.run.path))
            self.note = ""
        except (WeftError, OSError) as error:
            self.note = str(error)

    def state(self) -> Json:
        """Return what changes while the run goes on, as JSON."""
        wanted, count = int(self.run.manifest["frames"]), self.numbers[-1]
        whole = f"{count} of {wanted} frames, " if count < wanted else ""
        end = "going on" if self.goes_on else "stopped" if count < wanted else "complete"
        return {
            "edition": self.edition,
            "numbers": list(self.numbers),
            "plots": self.view.plots(self.numbers),
            "goes_on": self.goes_on,
            "progress": f"{whole}{end}",
            "note": self.note,
        }

    def describe(self) -> Json:
        """Return what a page says of the run, as JSON."""
        some = np.unique(np.linspace(0, len(self.numbers) - 1, FOR_BOX).astype(int)).tolist()
        found = self.view.read_frames(self.numbers[k] for k in some)
        floor = min(float(x[:, 1].min()) for x in found.values())
        if self.view.bodies:
            ends = min(found), max(found)
            floor = min(floor, *(float(self.view.body_positions(k)[:, 1].min()) for k in ends))
        about = self.view.describe(self.numbers, *self.view.box(found), floor)
        return {**about, **self.state(), "looks": list(self.looks), "look": self.look}

    def frame(self, number: int, look: str) -> tuple[dict[str, Floats], Scale | None]:
        """Return the arrays of a frame, and the color scale of the look; None: it has none.

        The arrays are ``cloth`` (n,3) [m], ``bodies`` (b,3) [m], ``contacts`` (k,3) [m] and the
        ``values`` (n,) of the look, if it has numbers.

        Raises:
            RunError: no such frame, a damaged one, or no such look.
        """
        self._check_look(look)
        view = self.view
        x: Positions = view.positions(number)
        arrays = {"cloth": x, "bodies": view.body_positions(number)}
        arrays["contacts"] = view.contacts(number)
        if LOOKS[look].values is None:
            return arrays, None
        arrays["values"] = view.numbers(look, number, x)
        return arrays, self._scale(look, arrays["values"])

    def _scale(self, name: str, values: Floats) -> Scale:
        """Return the scale of a look for a frame with these numbers, which may widen it."""
        look = LOOKS[name]
        if name not in self._scales:
            sample = self.view.sample(name, self.numbers)
            if not look.has_range(sample):  # zeros say nothing about the frames to come
                return look.scale(sample)
            self._scales[name] = look.scale(sample)
        own = look.scale(values)
        if own.high > WIDER * self._scales[name].high:
            self._scales[name] = own
        return self._scales[name]


def _mark(path: Path) -> tuple[int, int, int] | None:
    """Return inode, time and size, which identify a version of a file; None: there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
