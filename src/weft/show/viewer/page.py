"""The page of a run: one HTML file with everything in it, which needs no network.

Its contents are the surfaces of the run, and positions and numbers frame by frame.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from weft.base.arrays import AnyArray, Floats, Positions
from weft.base.errors import RunError, check_known
from weft.base.trees import Json
from weft.cloth.fields import Physics
from weft.io.files import write_file
from weft.run.frame_selection import FrameSelection
from weft.run.run_reader import RunReader
from weft.show.looks import LOOKS, Scale, available_looks
from weft.show.viewer.packing import OF_BASE64, IntegerGrid, Packer, pack
from weft.show.viewer.page_text import Content, page
from weft.show.viewer.run_view import RunView, spread

MOST = 200e6  # [bytes] largest page, because browsers keep its text in memory
USUAL = ("strain", "stress", "pressure")  # looks that a page has by default, if the run has them

OnFrame = Callable[[int, int], None]


def content_of(
    run: RunReader,
    frames: str | None = None,
    *,
    density: int | None = None,
    looks: Sequence[str] | None = None,
    physics: Physics | None = None,
    most: float = MOST,
    on_frame: OnFrame | None = None,
) -> Content:
    """Collect the data of a page from a run.

    Args:
        run: the run.
        frames: ``A:B`` or ``A:B:STEP``, the last one included; None: all.
        density: of splines, samples a knot span; None: those of the run's mesh.
        looks: looks with numbers (``weft.show.looks.LOOKS``) that the page holds; None: strain,
            stress that is known, and pressure of a run with contact.
        physics: of the run's scene, for stress that it did not record.
        most: [bytes] that a page may have.
        on_frame: called with the number of frames read and of all to read (each is read twice).

    Raises:
        RunError: no such frames or looks, or more than ``most`` bytes.
    """
    chosen = FrameSelection.of(frames)
    numbers = chosen.numbers(len(run), str(run.path))
    view = RunView(run, density, physics, numbers[0])
    names = select_looks(view, looks)
    tell = on_frame or (lambda done, count: None)
    survey = _Survey(view, numbers, names, lambda k: tell(k, 2 * len(numbers)))
    packers: dict[str, Packer] = {name: Packer() for name in survey.grids}
    contacts: list[AnyArray] = []
    for k, number in enumerate(numbers):
        for name, values in _arrays(view, number, names).items():
            if name != "bodies" or k == 0 or not survey.still:
                packers[name].add(survey.grids[name].numbers(values))
        if view.has_contacts:
            contacts.append(view.contacts(number))
        so_far = OF_BASE64 * sum(p.size for p in packers.values())
        _check_size(so_far, k + 1, len(numbers), most, chosen.step)
        tell(len(numbers) + k + 1, 2 * len(numbers))
    blocks = {name: p.text() for name, p in packers.items()} | view.blocks()
    shot = view.box(view.read_frames(spread(numbers)))
    (low, high), (lowest, highest) = survey.boxes["cloth"], shot
    low, high = np.minimum(low, lowest), np.maximum(high, highest)
    floor = min(float(box[0][1]) for box in survey.boxes.values())
    about: Json = view.describe(numbers, low, high, floor) | {
        "looks": [*view.colors(), *names],
        "bodies_still": survey.still,
        "arrays": {name: grid.describe() for name, grid in survey.grids.items()},
        "scales": {name: asdict(scale) for name, scale in survey.scales.items()},
    }
    if view.has_contacts:
        points = np.concatenate([np.zeros((0, 3)), *contacts])
        grid = _grid_of(points)
        about["arrays"]["contacts"] = grid.describe()
        about["contact_counts"] = [len(c) for c in contacts]
        blocks["contacts"] = pack(grid.numbers(points))
    whole = sum(map(len, blocks.values())) + len(json.dumps(about))
    _check_size(whole, len(numbers), len(numbers), most, chosen.step)
    return Content(about, blocks)


def select_looks(view: RunView, looks: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the looks with numbers that a page holds.

    Raises:
        RunError: an unknown look, or one that the run does not have.
    """
    first = view.frame(view.first)
    if looks is None:
        return available_looks(first, USUAL)
    for name in looks:
        check_known(name, [n for n, k in LOOKS.items() if k.values is not None], "look", RunError)
        LOOKS[name].numbers(first)
    return tuple(dict.fromkeys(looks))


class _Survey:
    """A first pass over all frames: bounding boxes, color scales, and whether bodies move."""

    def __init__(
        self, view: RunView, numbers: range, names: Sequence[str], tell: Callable[[int], None]
    ) -> None:
        self.boxes: dict[str, tuple[Floats, Floats]] = {}
        start = view.body_positions(numbers[0])
        self.still = True
        sampled = set(spread(numbers))
        samples: dict[str, list[Floats]] = {name: [] for name in names}
        for k, number in enumerate(numbers):
            x = view.positions(number)
            self._widen("cloth", x)
            if view.bodies:
                now = view.body_positions(number)
                self.still = self.still and bool(np.array_equal(now, start))
                self._widen("bodies", now)
            if number in sampled:
                for name in names:
                    samples[name].append(view.numbers(name, number, x))
            tell(k + 1)
        self.grids = {name: IntegerGrid.between(*box) for name, box in self.boxes.items()}
        self.scales: dict[str, Scale] = {}
        for name, values in samples.items():
            scale = LOOKS[name].scale(np.concatenate(values))
            self.grids[name] = IntegerGrid.between(np.array([scale.low]), np.array([scale.high]), 8)
            self.scales[name] = scale

    def _widen(self, name: str, x: Positions) -> None:
        low, high = self.boxes.get(name, (x[0], x[0]))
        self.boxes[name] = np.minimum(low, x.min(0)), np.maximum(high, x.max(0))


def _arrays(view: RunView, number: int, names: Sequence[str]) -> dict[str, Floats]:
    found = {"cloth": view.positions(number)}
    if view.bodies:
        found["bodies"] = view.body_positions(number)
    for name in names:
        found[name] = view.numbers(name, number, found["cloth"])[:, None]
    return found


def _grid_of(points: Positions) -> IntegerGrid:
    if len(points) == 0:
        return IntegerGrid(np.zeros(3), np.zeros(3))
    return IntegerGrid.between(points.min(0), points.max(0))


def _check_size(size: float, done: int, count: int, most: float, step: int) -> None:
    """Raise a RunError if so many frames make more bytes than a page may have."""
    if size <= most:
        return
    whole = size * count / done
    wider = max(step + 1, math.ceil(1.1 * step * whole / most))
    raise RunError(
        "size of the page",
        got=f"{whole / 1e6:.3g} MB for {count} frames",
        expected=f"at most {most / 1e6:g} MB",
        hint=f"choose fewer frames (`frames=::{wider}`), or a part of the run (`frames=0:50`)",
    )


def write_page(path: Path, content: Content) -> int:
    """Write the file, and return its size [bytes].

    Raises:
        RunError: another suffix than .html, or a file that cannot be written.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise RunError("page", got=path.suffix or "no suffix", expected=".html")
    data = page(content).encode("utf-8")
    write_file(path, data)
    return len(data)


def errors_of(content: Content) -> str:
    """Return the largest errors of the shown positions and values, as text for people."""
    arrays, scales = content.about["arrays"], content.about["scales"]
    said = [
        f"{name} {1e6 * max(arrays[name]['step']) / 2:.2g} um"
        for name in ("cloth", "bodies")
        if name in arrays
    ] + [
        f"{name} {arrays[name]['step'][0] / 2:.2g} {scale['unit']}"
        for name, scale in scales.items()
    ]
    return ", ".join(said)
