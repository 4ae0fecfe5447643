"""Export of a sweep's samples as one data set: positions, faces, parameters, measures, flags.

Samples with different meshes share arrays: missing vertices are NaN, missing faces -1. Positions
may be quantized to whole multiples of a step, so that the error of a coordinate is at most half of
it (``scale_factor``, which xarray applies when it reads).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import RunError, SweepError, check_known
from weft.base.trees import Json
from weft.run.run import Run
from weft.run.run_folder import RunFolder
from weft.scene.identity import digest
from weft.sweep.card import write_card
from weft.sweep.folder import SweepFolder
from weft.sweep.parameters import Column, columns_of
from weft.sweep.status import RUN, SampleKind, SampleStatus
from weft.sweep.stores import Store, Variable, store_for

MOST_STEPS = 2**31 - 2  # largest quantized coordinate
MISSING = -(2**31)  # quantized coordinate of a missing vertex


@dataclass(frozen=True)
class Choices:
    """Options of a data set.

    Args:
        quantum: [m] step of positions; None: float64, as simulated.
        frames: ``last``, or ``all``.
        good_only: leave out samples that do not pass the sweep's filters.
    """

    quantum: float | None = None
    frames: str = "last"
    good_only: bool = False

    def __post_init__(self) -> None:
        check_known(self.frames, ("last", "all"), "--frames", SweepError)
        if self.quantum is not None and not (0 < self.quantum < 1):
            raise SweepError("--quantise", got=f"{self.quantum} m", expected="0 to 1 m: 0.1 mm")


@dataclass(frozen=True)
class DatasetShape:
    """Sizes of the arrays of positions: the largest numbers of frames, vertices and faces."""

    frames: int
    vertices: int
    faces: int
    one_face: bool  # true: all samples have the same faces
    one_uv: bool  # true: all samples have the same material coordinates


@dataclass(frozen=True)
class DatasetReport:
    """Summary of a written data set.

    Args:
        path: the data set.
        card: the file that describes its provenance.
        samples: number of its samples.
        left_out: numbers of samples that were left out, by reason.
        error: [m] largest measured error of a coordinate by quantization.
    """

    path: Path
    card: Path
    samples: int
    left_out: dict[str, int]
    error: float


def write_dataset(
    sweep: SweepFolder, out: str | Path, choices: Choices | None = None
) -> DatasetReport:
    """Write the finished samples of a sweep as one data set.

    Args:
        sweep: the sweep.
        out: ``.zarr``, ``.h5`` (``.nc``) or ``.parquet``.
        choices: options.

    Raises:
        SweepError: the suffix is unknown, the file exists, no sample is finished, a package is not
            installed, positions are too large for the step, or the disk has too little room.
        RunError: the data set cannot be written; no part of it remains.
    """
    out, choices = Path(out), choices or Choices()
    found = sweep.look()
    kept, left_out = _kept(found, choices)
    if not kept:
        raise SweepError(
            "data set",
            got="no sample",
            where=str(sweep.path),
            hint=str(left_out),
            expected="at least one that is done",
        )
    shape = _shape(sweep, kept, choices)
    columns = columns_of([f.sample for f in kept])
    error = 0.0
    variables = _variables(len(kept), columns, shape, choices)
    with store_for(out, variables) as store:
        store.describe(_description(sweep, choices))
        for k, f in enumerate(kept):
            error = max(error, _put(store, sweep, f, k, shape, choices))
        _put_columns(store, kept, columns)
    card = write_card(sweep, out, kept, left_out, columns, choices, shape, error)
    return DatasetReport(out, card, len(kept), left_out, error)


def _kept(
    found: Sequence[SampleStatus], choices: Choices
) -> tuple[list[SampleStatus], dict[str, int]]:
    """Return the samples to be written, and the numbers of others by reason."""
    kept: list[SampleStatus] = []
    out: dict[str, int] = {}
    for f in found:
        why = f.kind.value if f.kind is not SampleKind.DONE else ""
        if not why and choices.good_only and f.status and not f.status.flags.get("good", True):
            why = "not good"
        if why:
            out[why] = out.get(why, 0) + 1
        else:
            kept.append(f)
    return kept, out


def _runs(sweep: SweepFolder, kept: Sequence[SampleStatus]) -> Iterator[Run]:
    for f in kept:
        yield Run(sweep.place(f.sample) / RUN)


def _shape(sweep: SweepFolder, kept: Sequence[SampleStatus], choices: Choices) -> DatasetShape:
    """Return sizes that hold all samples."""
    frames = vertices = faces = 0
    meshes, flats = set(), set()
    for run in _runs(sweep, kept):
        frames = max(frames, len(run))
        vertices, faces = max(vertices, run.mesh.n_vertices), max(faces, len(run.faces))
        meshes.add(digest(run.faces))
        flats.add(digest(run.corner_uv))
    return DatasetShape(
        1 if choices.frames == "last" else frames,
        vertices,
        faces,
        len(meshes) == 1,
        len(flats) == 1,
    )


def _variables(
    n: int, columns: Sequence[Column], shape: DatasetShape, choices: Choices
) -> list[Variable]:
    """Return all variables of n samples, with units and meanings."""
    fill: float
    kind: np.dtype[np.generic]
    fill, kind = np.nan, np.dtype(np.float64)
    about: Json = {"long_name": "positions of vertices", "units": "m"}
    if choices.quantum is not None:
        fill, kind = MISSING, np.dtype(np.int32)
        about["scale_factor"] = choices.quantum
        about["comment"] = f"no coordinate is off by more than {choices.quantum / 2:g} m"
    size = (n, shape.frames, shape.vertices, 3)
    dims = ("sample", "frame", "vertex", "axis")
    variables = [Variable("position", dims, size, kind, fill, about)]
    times = {"long_name": "time since the start", "units": "s"}
    variables.append(Variable("time", dims[:2], size[:2], np.dtype(np.float64), np.nan, times))
    faces = {"long_name": "vertices of faces; -1: none"}
    dims = ("sample", "triangle", "corner", "uv")
    size = (n, shape.faces, 3, 2)
    skip = int(shape.one_face)
    variables.append(Variable("face", dims[skip:3], size[skip:3], np.dtype(np.int32), None, faces))
    uv = {"long_name": "material coordinates of the corners of faces", "units": "m"}
    skip = int(shape.one_uv)
    number = np.dtype(np.float64)
    variables.append(Variable("corner_uv", dims[skip:], size[skip:], number, np.nan, uv))
    own = {"long_name": "vertices of the sample; those after them are missing"}
    variables.append(Variable("n_vertices", ("sample",), (n,), np.dtype(np.int32), None, own))
    variables += [Variable(c.name, ("sample",), (n,), c.dtype, None, c.about) for c in columns]
    return variables


def _description(sweep: SweepFolder, choices: Choices) -> Json:
    """Return the attributes of the data set."""
    return {
        "title": sweep.about["description"] or sweep.path.name,
        "source": f"weft {sweep.about['machine']['versions']['weft']}",
        "scene": Path(sweep.about["scene"]).name,
        "seed": sweep.about["seed"],
        "card": json.dumps({"quantum_m": choices.quantum, "frames": choices.frames}),
    }


def _put(
    store: Store, sweep: SweepFolder, f: SampleStatus, k: int, shape: DatasetShape, choices: Choices
) -> float:
    """Write the arrays of one sample; return the largest error of a coordinate [m]."""
    folder = RunFolder(sweep.place(f.sample) / RUN)
    run = Run(folder.path)
    numbers = range(len(run)) if choices.frames == "all" else [len(run) - 1]
    _check(folder, f, len(run) - 1)
    n = run.mesh.n_vertices
    x = np.full((shape.frames, shape.vertices, 3), np.nan)
    t = np.full(shape.frames, np.nan)
    for i, number in enumerate(numbers):
        x[i, :n] = run.positions(number)
        t[i] = float(folder.frame(number)["t"])
    error = 0.0
    if choices.quantum is None:
        store.put("position", k, x)
    else:
        steps, error = quantised(x, choices.quantum)
        store.put("position", k, steps)
    store.put("time", k, t)
    store.put("n_vertices", k, np.asarray(n, np.int32))
    _put_mesh(store, run, k, shape)
    return error


def _put_mesh(store: Store, run: Run, k: int, shape: DatasetShape) -> None:
    """Write faces and material coordinates: per sample, or only once if all samples share them."""
    m = len(run.faces)
    if not shape.one_face or k == 0:
        faces = np.full((shape.faces, 3), -1, dtype=np.int32)
        faces[:m] = run.faces
        store.put("face", None if shape.one_face else k, faces)
    if not shape.one_uv or k == 0:
        uv = np.full((shape.faces, 3, 2), np.nan)
        uv[:m] = run.corner_uv
        store.put("corner_uv", None if shape.one_uv else k, uv)


def quantised(x: Floats, quantum: float) -> tuple[Ints, float]:
    """Return coordinates as whole multiples of ``quantum`` [m], and their largest error [m].

    NaN becomes ``MISSING``.

    Raises:
        SweepError: a coordinate is too large for 32 bits.
    """
    steps = np.rint(x / quantum)
    most = float(np.nanmax(np.abs(steps))) if np.isfinite(steps).any() else 0.0
    if most > MOST_STEPS:
        least = f"at least {quantum * most / MOST_STEPS:.2g} m"
        raise SweepError("--quantise", got=f"{quantum:g} m", expected=least)
    lost = np.isnan(steps)
    whole = np.where(lost, MISSING, np.where(lost, 0, steps)).astype(np.int32)
    read = whole.astype(np.float64) * quantum
    errors = np.abs(read - x)[~lost]
    return whole, float(errors.max()) if errors.size else 0.0


def _check(folder: RunFolder, f: SampleStatus, last: int) -> None:
    """Check that the last frame is the one with which the sample ended."""
    assert f.status is not None
    if folder.sealed_frame(last)[1].content != f.status.digest:
        raise RunError(
            f"sample {f.sample.id}",
            got="another last frame than it ended with",
            where=str(folder.path),
            expected="what weft wrote",
            hint="remove its folder and run the sweep again",
        )


def _put_columns(store: Store, kept: Sequence[SampleStatus], columns: Sequence[Column]) -> None:
    for column in columns:
        store.put(column.name, None, column.values(kept))
