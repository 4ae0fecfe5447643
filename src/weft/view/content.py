"""What a page has of a run: surfaces, and frame by frame where they are and what they carry."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from weft.animated import Frames, animation_of
from weft.arrays import Floats, Json, Positions
from weft.discretization.surfaces import Surfaces
from weft.errors import RunError
from weft.fields import Physics
from weft.io.animation import Animation, Moment
from weft.io.selection import Selection
from weft.render.looks import BLUE_RED, CLOTH, CONTACT, GRAY, PANELS, VIRIDIS, nice_limit
from weft.view.corners import Corners
from weft.view.packing import OF_BASE64, Array, Grid, Packer, packed

MOST = 200e6  # [bytes] of a page; browsers keep its text in memory
CHECKERS = 16  # squares along the longer side of the cloth
_FOR_SCALE = 12  # frames that the range of a color scale must suit
_TABLES = {"strain": ("largest principal strain", 100.0, "%", BLUE_RED, True),
           "stress_max": ("largest principal stress", 1.0, "N/m", VIRIDIS, False),
           "contact_pressure": ("pressure of contact", 1.0, "Pa", VIRIDIS, False)}  # fmt: skip

OnFrame = Callable[[int, int], None]


class Viewable(Frames, Protocol):
    """What is needed of a run, beside its animation."""

    @property
    def surfaces(self) -> Surfaces:
        """What the cloth is made of."""

    @property
    def metrics(self) -> list[Json]:
        """One record a step."""

    def contacts(self, frame: int = -1) -> tuple[Positions, Floats, Floats]:
        """Points (k,3) [m], their forces, and the pressure at vertices."""


@dataclass(frozen=True, eq=False)
class Content:
    """What a page holds.

    Args:
        about: names, sizes, ranges, as JSON.
        blocks: arrays as base64, by name.
    """

    about: Json
    blocks: dict[str, str] = field(default_factory=dict)


def content_of(
    run: Viewable,
    frames: str | None = None,
    *,
    density: int | None = None,
    most: float = MOST,
    on_frame: OnFrame | None = None,
    physics: Physics | None = None,
) -> Content:
    """What a page shows of a run.

    Args:
        run: the run.
        frames: ``A:B`` or ``A:B:STEP``, the last one included; None: all.
        density: of splines, samples a knot span; None: those of the run's mesh.
        most: [bytes] that a page may have.
        on_frame: called with the number of frames read and of all to read (each is read twice).
        physics: of the run's scene, to show stress that it did not record; None: it is shown where
            it was recorded.

    Raises:
        RunError: no such frames, or more than ``most`` bytes.
    """
    chosen = Selection.of(frames)
    numbers = chosen.numbers(len(run), str(run.path))
    stressed = "stress" in run.recorded(numbers[0]) or (physics is not None and physics.laws)
    animation = animation_of(run, selection=chosen, first=numbers[0], density=density,
                             fields=("stress",) if stressed else (), physics=physics)  # fmt: skip
    tell = on_frame or (lambda done, count: None)
    told = len(animation.shapes) > 1
    survey = _Survey(animation, run, numbers, lambda k: tell(k, 2 * len(numbers)))
    packers: dict[str, Packer] = {name: Packer() for name in survey.grids}
    still = survey.still
    contacts: list[Array] = []
    for k, moment in enumerate(animation):
        for name, values in _values(moment, told, survey).items():
            if name != "bodies" or k == 0 or not still:
                packers[name].add(survey.grids[name].numbers(values))
        if survey.has_contacts:
            contacts.append(run.contacts(numbers[k])[0])
        so_far = OF_BASE64 * sum(p.size for p in packers.values())
        _check_size(so_far, k + 1, len(numbers), most, chosen.step)
        tell(len(numbers) + k + 1, 2 * len(numbers))
    corners = Corners.of(animation)
    blocks = {name: p.text() for name, p in packers.items()} | corners.blocks()
    about: Json = {
        "name": Path(run.path).resolve().name, "numbers": list(numbers), "fps": run.fps,
        "vertices": survey.n, "faces": len(animation.cloth.faces),
        "regions": [name for name, _ in animation.cloth.regions],
        "bodies": [s.name for s in animation.shapes[1:]], "bodies_still": still,
        "cell": corners.side / CHECKERS,
        "arrays": {k: {"low": g.low.tolist(), "step": g.step.tolist(), "bits": g.bits}
                   for k, g in survey.grids.items()},
        "scales": survey.scales, "pins": pins_of(run),
        "plots": plots_of(run.metrics, [k / run.fps for k in numbers]),
        "colors": {"cloth": CLOTH, "body": GRAY, "contact": CONTACT, "panels": list(PANELS)},
    }  # fmt: skip
    if told:
        offsets = np.cumsum([0, *(len(x) for x in survey.first.positions[1:])])
        faces = [s.faces + o for s, o in zip(animation.shapes[1:], offsets)]
        blocks["body_faces"] = packed(np.concatenate(faces).astype(np.uint32))
    if survey.has_contacts:
        points = np.concatenate([np.zeros((0, 3)), *contacts])
        grid = _grid_of(points)
        about["arrays"]["contacts"] = {"low": grid.low.tolist(), "step": grid.step.tolist(),
                                       "bits": 16}  # fmt: skip
        about["contact_counts"] = [len(c) for c in contacts]
        blocks["contacts"] = packed(grid.numbers(points))
    whole = sum(map(len, blocks.values())) + len(json.dumps(about))
    _check_size(whole, len(numbers), len(numbers), most, chosen.step)
    return Content(about, blocks)


def plots_of(records: Sequence[Json], times: Sequence[float]) -> Json:
    """Of the steps that lead to each time [s] from the one before: kinetic energy [J] after the
    last, least distance [m] of all, sum of iterations. None where there is no number.
    """
    found: Json = {"kinetic": [], "least_distance": [], "iterations": []}
    when = np.array([float(r["t"]) for r in records])
    ends = np.searchsorted(when, np.asarray(times) + 1e-9, side="right").tolist()
    for start, end in zip([0, *ends], ends):
        part = records[start:end]
        near = [(r.get("contact") or {}).get("least_distance") for r in part]
        known = [float(d) for d in near if d is not None and math.isfinite(d)]
        energy = part[-1].get("kinetic") if part else None
        finite = energy is not None and math.isfinite(energy)
        found["kinetic"].append(energy if finite else None)
        found["least_distance"].append(min(known) if known else None)
        found["iterations"].append(sum(int(r["iterations"]) for r in part) if part else None)
    return {k: v for k, v in found.items() if any(x is not None for x in v)}


def pins_of(run: Viewable) -> list[Json]:
    """Vertices that are held, and until when [s] (None: always); none of splines, whose pins hold
    control points.
    """
    if run.surfaces.embedding is not None:
        return []
    pins = run.manifest["scene"].get("pins", [])
    return [{"vertices": p["vertices"], "until": _finite(p.get("until"))} for p in pins]


class _Survey:
    """A first look at all frames: boxes, color scales, and whether bodies move."""

    def __init__(
        self, animation: Animation, run: Viewable, numbers: range, tell: Callable[[int], None]
    ) -> None:
        boxes: dict[str, tuple[Floats, Floats]] = {}
        self.still, self.first = True, animation.moment(0)
        self.n = len(self.first.positions[0])
        bodies = len(animation.shapes) > 1
        start = np.concatenate(self.first.positions[1:]) if bodies else np.zeros((0, 3))
        kept = set(np.unique(np.linspace(0, len(numbers) - 1, _FOR_SCALE).astype(int)).tolist())
        samples: dict[str, list[Floats]] = {}
        for k, moment in enumerate(animation):
            _widen(boxes, "cloth", moment.positions[0])
            if bodies:
                now = np.concatenate(moment.positions[1:])
                self.still = self.still and bool(np.array_equal(now, start))
                _widen(boxes, "bodies", now)
            if k in kept:
                for name, values in moment.fields.points.items():
                    if name in _TABLES:
                        samples.setdefault(name, []).append(values)
            tell(k + 1)
        self.has_contacts = "contact_pressure" in samples
        self.grids = {name: Grid.between(*box) for name, box in boxes.items()}
        self.scales: dict[str, Json] = {}
        for name, given in samples.items():
            self._scale(name, np.concatenate(given))

    def _scale(self, name: str, values: Floats) -> None:
        title, factor, unit, table, signed = _TABLES[name]
        limit = nice_limit(factor * (values if signed else values[values > 0]))
        low = -limit if signed else 0.0
        key = _key(name)
        self.grids[key] = Grid.between(np.array([low]), np.array([limit]), 8)
        self.scales[key] = {"title": title, "low": low, "high": limit, "unit": unit,
                            "anchors": list(table), "factor": factor}  # fmt: skip


def _values(moment: Moment, bodies: bool, survey: _Survey) -> dict[str, Floats]:
    found: dict[str, Floats] = {"cloth": moment.positions[0]}
    if bodies:
        found["bodies"] = np.concatenate(moment.positions[1:])
    if survey.scales:
        points = moment.fields.points
        for name, (_, factor, *_rest) in _TABLES.items():
            if name in points:
                found[_key(name)] = factor * points[name][:, None]
    return found


def _key(name: str) -> str:
    """What the page calls a field."""
    return name.removeprefix("contact_").removesuffix("_max")


def _widen(boxes: dict[str, tuple[Floats, Floats]], name: str, x: Positions) -> None:
    low, high = boxes.get(name, (x[0], x[0]))
    boxes[name] = np.minimum(low, x.min(0)), np.maximum(high, x.max(0))


def _grid_of(points: Positions) -> Grid:
    if len(points) == 0:
        return Grid(np.zeros(3), np.zeros(3))
    return Grid.between(points.min(0), points.max(0))


def _check_size(size: float, done: int, count: int, most: float, step: int) -> None:
    """Raise a RunError where so many frames make more bytes than a page may have."""
    if size <= most:
        return
    whole = size * count / done
    wider = max(step + 1, math.ceil(1.1 * step * whole / most))
    raise RunError(
        "size of the page", got=f"{whole / 1e6:.3g} MB for {count} frames",
        expected=f"at most {most / 1e6:g} MB",
        hint=f"take fewer frames (--frames ::{wider}), or a part of the run (--frames 0:50)",
    )  # fmt: skip


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(float(value)) else None
