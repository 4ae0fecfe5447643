"""Contents of a page: surfaces of a run, and positions and values frame by frame."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats, Json, Positions
from weft.base.errors import RunError, check_known
from weft.cloth.fields import Physics
from weft.io.selection import FrameSelection
from weft.run.run import Run
from weft.show.looks import CLOTH, CONTACT, GRAY, HELD, PANELS, Scale
from weft.show.viewer.measures import MEASURES, available
from weft.show.viewer.metric_curves import CURVES, plots_of
from weft.show.viewer.packing import OF_BASE64, Array, IntegerGrid, Packer, packed
from weft.show.viewer.run_view import Subject, spread

MOST = 200e6  # [bytes] largest page, because browsers keep its text in memory
USUAL = ("strain", "stress", "pressure")  # measures that a page has by default, if the run has them

OnFrame = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Content:
    """The data of a page.

    Args:
        about: names, sizes, ranges, as JSON.
        blocks: arrays as base64, by name.
    """

    about: Json
    blocks: dict[str, str] = field(default_factory=dict)


def content_of(
    run: Run,
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
        looks: measures to color the cloth by (``measures.MEASURES``); None: strain, stress that is
            known, and pressure of a run with contact.
        physics: of the run's scene, for stress that it did not record.
        most: [bytes] that a page may have.
        on_frame: called with the number of frames read and of all to read (each is read twice).

    Raises:
        RunError: no such frames or looks, or more than ``most`` bytes.
    """
    chosen = FrameSelection.of(frames)
    numbers = chosen.numbers(len(run), str(run.path))
    subject = Subject(run, density, physics, numbers[0])
    names = measures_of(subject, looks)
    tell = on_frame or (lambda done, count: None)
    survey = _Survey(subject, numbers, names, lambda k: tell(k, 2 * len(numbers)))
    packers: dict[str, Packer] = {name: Packer() for name in survey.grids}
    contacts: list[Array] = []
    for k, number in enumerate(numbers):
        for name, values in _values(subject, number, names).items():
            if name != "bodies" or k == 0 or not survey.still:
                packers[name].add(survey.grids[name].numbers(values))
        if subject.has_contacts:
            contacts.append(subject.contacts(number))
        so_far = OF_BASE64 * sum(p.size for p in packers.values())
        _check_size(so_far, k + 1, len(numbers), most, chosen.step)
        tell(len(numbers) + k + 1, 2 * len(numbers))
    blocks = {name: p.text() for name, p in packers.items()} | subject.corners.blocks()
    about: Json = {
        "name": Path(run.path).resolve().name,
        "numbers": list(numbers),
        "fps": run.fps,
        "vertices": subject.mesh.n_vertices,
        "faces": len(subject.cloth.faces),
        "regions": [name for name, _ in subject.cloth.regions],
        "bodies": subject.bodies,
        "bodies_still": survey.still,
        "cell": subject.cell,
        "arrays": {
            k: {"low": g.low.tolist(), "step": g.step.tolist(), "bits": g.bits}
            for k, g in survey.grids.items()
        },
        "scales": {name: asdict(scale) for name, scale in survey.scales.items()},
        "pins": [asdict(p) for p in subject.pins],
        "plots": plots_of(run.metrics, [k / run.fps for k in numbers]),
        "curves": [asdict(c) for c in CURVES],
        "colors": {
            "cloth": CLOTH,
            "body": GRAY,
            "contact": CONTACT,
            "pin": HELD,
            "panels": list(PANELS),
        },
    }
    if subject.bodies:
        blocks["body_faces"] = packed(run.solid_faces.astype(np.uint32))
    if subject.has_contacts:
        points = np.concatenate([np.zeros((0, 3)), *contacts])
        grid = _grid_of(points)
        about["arrays"]["contacts"] = {
            "low": grid.low.tolist(),
            "step": grid.step.tolist(),
            "bits": 16,
        }
        about["contact_counts"] = [len(c) for c in contacts]
        blocks["contacts"] = packed(grid.numbers(points))
    whole = sum(map(len, blocks.values())) + len(json.dumps(about))
    _check_size(whole, len(numbers), len(numbers), most, chosen.step)
    return Content(about, blocks)


def measures_of(subject: Subject, looks: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the measures that a page shows.

    Raises:
        RunError: an unknown measure, or one that the run does not have.
    """
    at = subject.at(subject.first)
    if looks is None:
        return available(at, USUAL)
    for name in looks:
        check_known(name, MEASURES, "look", RunError)
        MEASURES[name].of(at)
    return tuple(dict.fromkeys(looks))


class _Survey:
    """A first pass over all frames: bounding boxes, color scales, and whether bodies move."""

    def __init__(
        self, subject: Subject, numbers: range, names: Sequence[str], tell: Callable[[int], None]
    ) -> None:
        boxes: dict[str, tuple[Floats, Floats]] = {}
        start = subject.body_positions(numbers[0])
        self.still = True
        kept = set(spread(numbers))
        samples: dict[str, list[Floats]] = {name: [] for name in names}
        for k, number in enumerate(numbers):
            x = subject.positions(number)
            _widen(boxes, "cloth", x)
            if subject.bodies:
                now = subject.body_positions(number)
                self.still = self.still and bool(np.array_equal(now, start))
                _widen(boxes, "bodies", now)
            if number in kept:
                for name in names:
                    samples[name].append(subject.values(name, number, x))
            tell(k + 1)
        self.grids = {name: IntegerGrid.between(*box) for name, box in boxes.items()}
        self.scales: dict[str, Scale] = {}
        for name, given in samples.items():
            scale = MEASURES[name].scale(np.concatenate(given))
            self.grids[name] = IntegerGrid.between(np.array([scale.low]), np.array([scale.high]), 8)
            self.scales[name] = scale


def _values(subject: Subject, number: int, names: Sequence[str]) -> dict[str, Floats]:
    found = {"cloth": subject.positions(number)}
    if subject.bodies:
        found["bodies"] = subject.body_positions(number)
    for name in names:
        found[name] = subject.values(name, number, found["cloth"])[:, None]
    return found


def _key(name: str) -> str:
    """Return the name of a field on the page."""
    return name.removeprefix("contact_").removesuffix("_max")


def _widen(boxes: dict[str, tuple[Floats, Floats]], name: str, x: Positions) -> None:
    low, high = boxes.get(name, (x[0], x[0]))
    boxes[name] = np.minimum(low, x.min(0)), np.maximum(high, x.max(0))


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
        hint=f"take fewer frames (--frames ::{wider}), or a part of the run (--frames 0:50)",
    )
