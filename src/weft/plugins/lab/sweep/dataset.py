"""Export of a sweep's samples as one data set: positions, faces, parameters, measures, flags.

Samples with different meshes share arrays: missing vertices are NaN, missing faces -1. Positions
may be quantized to whole multiples of a step, so that the error of a coordinate is at most half of
it (``scale_factor``, which xarray applies when it reads and writes).

Formats are Zarr, HDF5 (NetCDF-4) and Parquet. Arrays are read from the runs block by block while
the data set is written, so that it need not fit into memory. The file is written under a temporary
name; it takes its own name only when it is complete.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.base.arrays import AnyArray, Floats, Ints
from weft.base.errors import RunError, SweepError, check_known
from weft.io.extra import optional
from weft.io.files import atomic_path, check_room, make_folder
from weft.io.formats.hdf5_file import disk_file
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.measures import MEASURES
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.quality import MEANINGS as FILTERS
from weft.plugins.lab.sweep.status import RUN, SampleKind, SampleStatus
from weft.plugins.lab.sweep.varied import quantity_of, yaml_text
from weft.run.run import Run
from weft.scene.identity import digest

if TYPE_CHECKING:
    from pyarrow import Table
    from xarray import Dataset, Variable

PACKAGES = {".zarr": "zarr", ".h5": "h5netcdf", ".nc": "h5netcdf", ".parquet": "pyarrow.parquet"}
MOST_STEPS = 2**31 - 2  # largest quantized coordinate
MISSING = -(2**31)  # quantized coordinate of a missing vertex
NO_FLAG = 255  # a flag of a sample that does not have it
BLOCK = 1 << 20  # [bytes] of positions that are read and written at a time, and of a chunk

# Arrays of a sample: dimensions, value of missing elements, unit and meaning.
ARRAYS: dict[str, tuple[tuple[str, ...], Any, dict[str, str]]] = {
    "position": (
        ("frame", "vertex", "axis"),
        np.float64(np.nan),
        {"long_name": "positions of vertices", "units": "m"},
    ),
    "time": (
        ("frame",),
        np.float64(np.nan),
        {"long_name": "time since the start", "units": "s"},
    ),
    "face": (
        ("triangle", "corner"),
        np.int32(-1),
        {"long_name": "vertices of faces; -1: none"},
    ),
    "corner_uv": (
        ("triangle", "corner", "uv"),
        np.float64(np.nan),
        {"long_name": "material coordinates of the corners of faces", "units": "m"},
    ),
}


@dataclass(frozen=True)
class DatasetOptions:
    """Options of a data set.

    Args:
        quantum: [m] step of positions; None: float64, as simulated.
        frames: ``last``, or ``all``.
        good_only: leave out samples that do not pass the sweep's filters.
        chunk: number of samples in a chunk; None: about 1 MiB. One sample is fastest for readers
            that take samples in any order.
    """

    quantum: float | None = None
    frames: str = "last"
    good_only: bool = False
    chunk: int | None = None

    def __post_init__(self) -> None:
        check_known(self.frames, ("last", "all"), "--frames", SweepError)
        if self.quantum is not None and not (0 < self.quantum < 1):
            raise SweepError("--quantise", got=f"{self.quantum} m", expected="0 to 1 m: 0.1 mm")


@dataclass(frozen=True)
class DatasetReport:
    """Summary of a written data set.

    Args:
        path: the data set.
        samples: number of its samples.
        left_out: numbers of samples that were left out, by reason.
        error: [m] largest measured error of a coordinate by quantization.
    """

    path: Path
    samples: int
    left_out: dict[str, int]
    error: float


def write_dataset(
    sweep: SweepFolder, out: str | Path, options: DatasetOptions | None = None
) -> DatasetReport:
    """Write the finished samples of a sweep as one data set.

    Args:
        sweep: the sweep.
        out: ``.zarr``, ``.h5`` (``.nc``) or ``.parquet``.
        options: options.

    Raises:
        SweepError: the suffix is unknown, the file exists, no sample is finished, a package is not
            installed, positions are too large for the step, or the disk has too little room.
        RunError: the data set cannot be written; no part of it remains.
    """
    out, options = Path(out), options or DatasetOptions()
    _check_path(out)
    samples, left_out = _select(sweep.look(), options)
    if not samples:
        raise SweepError(
            "data set",
            got="no sample",
            where=sweep.path,
            hint=str(left_out),
            expected="at least one finished sample",
        )
    reader = _Reader(sweep, samples, options)
    _write_arrays(_build(reader, left_out), out)
    return DatasetReport(out, len(samples), left_out, reader.error)


def _select(
    samples: Sequence[SampleStatus], options: DatasetOptions
) -> tuple[list[SampleStatus], dict[str, int]]:
    """Return the samples to be written, and the numbers of others by reason."""
    selected: list[SampleStatus] = []
    left_out: Counter[str] = Counter()
    for f in samples:
        if f.kind is not SampleKind.DONE:
            left_out[f.kind.value] += 1
        elif options.good_only and not f.status.good:
            left_out["not good"] += 1
        else:
            selected.append(f)
    return selected, dict(left_out)


class _Reader:
    """Reader of the runs of samples, as arrays that hold the largest of them."""

    def __init__(
        self, sweep: SweepFolder, samples: Sequence[SampleStatus], options: DatasetOptions
    ) -> None:
        self.sweep, self.samples, self.options = sweep, samples, options
        self.error = 0.0  # [m] largest error of the coordinates that were read, by quantization
        self.n_vertices: list[int] = []
        frames, faces = 1, 0
        meshes: dict[str, set[str]] = {"face": set(), "corner_uv": set()}
        for k in range(len(samples)):
            run = self._run(k)
            self.n_vertices.append(run.mesh.n_vertices)
            frames, faces = max(frames, len(run)), max(faces, len(run.faces))
            meshes["face"].add(digest(run.faces))
            meshes["corner_uv"].add(digest(run.corner_uv))
        self.shared = {name for name, digests in meshes.items() if len(digests) == 1}
        frames = 1 if options.frames == "last" else frames
        self.sizes = {"frame": frames, "vertex": max(self.n_vertices), "triangle": faces}
        self.sizes |= {"axis": 3, "corner": 3, "uv": 2}

    def _run(self, k: int) -> Run:
        return Run(self.sweep.place(self.samples[k].sample) / RUN)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array of one sample."""
        return tuple(self.sizes[dim] for dim in ARRAYS[name][0])

    def read(self, indices: Ints, name: str) -> AnyArray:
        """Return an array of ``ARRAYS`` of some samples, after a check that their runs are those
        that ended.
        """
        array = np.full((len(indices), *self.shape(name)), ARRAYS[name][1])
        for row, k in zip(array, indices):
            run = self._run(k)
            self._check(run, self.samples[k])
            frames = range(len(run)) if self.options.frames == "all" else [len(run) - 1]
            if name == "position":
                for i, frame in enumerate(frames):
                    row[i, : self.n_vertices[k]] = run.positions(frame)
            elif name == "time":
                row[: len(frames)] = [float(run.folder.frame(frame)["t"]) for frame in frames]
            else:
                row[: len(run.faces)] = run.faces if name == "face" else run.corner_uv
        if name == "position" and self.options.quantum is not None:
            self.error = max(self.error, rounding_error(array, self.options.quantum))
        return array

    def _check(self, run: Run, f: SampleStatus) -> None:
        """Check that the last frame is the one with which the sample ended."""
        if run.folder.sealed_frame(len(run) - 1)[1].digest != f.status.digest:
            raise RunError(
                f"sample {f.sample.id}",
                got="another last frame than it ended with",
                where=run.path,
                expected="what weft wrote",
                hint="remove the folder of the sample and run the sweep again",
            )


def _build(reader: _Reader, left_out: Mapping[str, int]) -> "Dataset":
    """Return the data set, whose arrays are read when it is written.

    Its attributes describe how it was made; those that are not texts are in JSON.
    """
    import dask.array
    from xarray import Dataset, Variable

    about = reader.sweep.about
    in_block = max(1, BLOCK // (8 * int(np.prod(reader.shape("position")))))
    rows = reader.options.chunk or in_block
    indices = dask.array.arange(len(reader.samples), chunks=rows)
    variables = {}
    for name, (dims, missing, attrs) in ARRAYS.items():
        if name in reader.shared:
            variables[name] = Variable(dims, reader.read(np.zeros(1, np.int32), name)[0], attrs)
            continue
        shape = reader.shape(name)
        values = indices.map_blocks(
            reader.read,
            name,
            dtype=missing.dtype,
            meta=np.empty([0] * (1 + len(shape)), missing.dtype),
            new_axis=range(1, 1 + len(shape)),
            chunks=(indices.chunks[0], *((size,) for size in shape)),
        )
        variables[name] = Variable(("sample", *dims), values, attrs)
    quantum = reader.options.quantum
    if quantum is not None:
        position = variables["position"]
        position.attrs = position.attrs | {"comment": f"off by at most {quantum / 2:g} m"}
        position.encoding = {"dtype": "int32", "scale_factor": quantum, "_FillValue": MISSING}
    counts = np.array(reader.n_vertices, np.int32)
    meaning = {"long_name": "number of vertices of the sample; later entries are missing"}
    variables["n_vertices"] = Variable("sample", counts, meaning)
    variables |= _sample_columns(reader.samples)
    description = {
        "title": about["description"] or reader.sweep.path.name,
        "source": f"weft {about['machine']['versions']['weft']}",
        "scene": Path(about["scene"]).name,
        "sweep": json.dumps(about),
        "options": json.dumps(asdict(reader.options)),
        "left_out": json.dumps(left_out),
    }
    return Dataset(variables, attrs=description)


def _sample_columns(samples: Sequence[SampleStatus]) -> "dict[str, Variable]":
    """Return id, seed, digest, time, parameters in their unit, measures and flags of finished
    samples; missing numbers are NaN, missing flags ``NO_FLAG``, missing texts empty.
    """
    from xarray import Variable

    plan, statuses = [f.sample for f in samples], [f.status for f in samples]
    columns = {}

    def add(name: str, values: AnyArray, meaning: str, unit: str = "", **attrs: str) -> None:
        attrs |= {"units": unit} if unit else {}
        columns[name] = Variable("sample", values, {"long_name": meaning, **attrs})

    def add_flags(name: str, flags: Sequence[bool | None], meaning: str, absent: str) -> None:
        values = np.array([NO_FLAG if flag is None else flag for flag in flags], np.uint8)
        add(name, values, meaning, comment=f"0, 1, or {NO_FLAG} where {absent}")

    add("id", texts(s.id for s in plan), "digest of the sample's values")
    add("number", np.array([s.number for s in plan], np.int64), "index in the plan of the sweep")
    add("seed", np.array([s.seed for s in plan], np.int64), "seed of the sample")
    add("digest", texts(s.digest for s in statuses), "digest of the last frame, bitwise")
    add("seconds", np.array([s.seconds for s in statuses]), "wall-clock time of the sample", "s")
    for path in dict.fromkeys(p for s in plan for p in s.values):
        values, unit = parameter_values(path, plan)
        add(f"param.{path}", values, f"{path} of the scene", unit)
    for name, (unit, meaning) in MEASURES.items():
        if unit:
            add(name, measure_values(samples, name), meaning, unit)
        else:
            flags = [s.measures.get(name) for s in statuses]
            add_flags(name, flags, meaning, "there is no value")
    for name in ("good", *FILTERS):
        flags = [s.flags.get(name) for s in statuses]
        about = f"passes the filter: {FILTERS.get(name, 'all that are set')}"
        add_flags(f"flag.{name}", flags, about, "the filter is not set")
    return columns


def parameter_values(path: str, samples: Sequence[Sample]) -> tuple[AnyArray, str]:
    """Return a field's values in all samples, and their unit.

    The values are numbers, NaN where a sample does not set the field, if all of them are numbers of
    one unit; else texts without a unit.
    """
    values = [s.values.get(path) for s in samples]
    quantities = [None if v is None else quantity_of(v) for v in values]
    units = {q[1] for q in quantities if q is not None}
    if len(units) != 1 or any(q is None and v is not None for q, v in zip(quantities, values)):
        return texts("" if v is None else yaml_text(v) for v in values), ""
    return numbers(q and q[0] for q in quantities), units.pop()


def measure_values(samples: Sequence[SampleStatus], name: str) -> Floats:
    """Return a measure of all samples; NaN for samples without it."""
    return numbers(f.status.measures.get(name) for f in samples)


def texts(values: Iterable[str]) -> AnyArray:
    """Return texts as an array of objects."""
    return np.array(list(values), dtype=object)


def numbers(values: Iterable[float | None]) -> Floats:
    """Return numbers as an array, with NaN for None."""
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def rounding_error(x: Floats, quantum: float) -> float:
    """Return the largest error [m] of coordinates, some of which are NaN, that are rounded to whole
    multiples of ``quantum`` [m].

    Raises:
        SweepError: a coordinate is too large for 32 bits.
    """
    x = x[np.isfinite(x)]
    steps = np.rint(x / quantum)
    most = np.abs(steps).max(initial=0.0)
    if most > MOST_STEPS:
        least = f"at least {quantum * most / MOST_STEPS:.2g} m"
        raise SweepError("--quantise", got=f"{quantum:g} m", expected=least)
    return float(np.abs(steps * quantum - x).max(initial=0.0))


def _check_path(path: Path) -> None:
    """Check that a data set can be written to a path.

    Raises:
        SweepError: the suffix is unknown, the path exists, or a package is not installed.
    """
    check_known(path.suffix.lower(), PACKAGES, "data set", SweepError)
    if path.exists():
        raise SweepError(
            "data set",
            got=f"{path} exists already",
            expected="a new name",
            hint="remove it, or choose another name",
        )
    for package in (PACKAGES[path.suffix.lower()], "xarray", "dask.array"):
        optional(package, "data", "data set", SweepError)


def _write_arrays(data: "Dataset", path: Path) -> None:
    """Write a data set in the format that the suffix names.

    Raises:
        SweepError: the disk has less room than an uncompressed data set needs.
        RunError: it cannot be written, for example because the disk is full; no part of it remains.
    """
    import dask

    suffix = path.suffix.lower()
    make_folder(path.parent)
    if PACKAGES[suffix] == "h5netcdf":
        hint = "free some space, or write .zarr or .parquet, which are compressed"
        check_room(path.parent, _size(data), "data set", hint, SweepError)
    # One block of samples at a time, so that the data set need not fit into memory.
    with atomic_path(path) as new, dask.config.set(scheduler="synchronous"):
        if suffix == ".zarr":
            data.to_zarr(new, zarr_format=2, consolidated=True)
        elif suffix == ".parquet":
            _write_parquet(data, new)
        else:
            with disk_file(new) as disk:
                data.to_netcdf(disk, engine="h5netcdf")


def _size(data: "Dataset") -> int:
    """Return the size of all values without compression [bytes]."""
    kinds = ((v, np.dtype(v.encoding.get("dtype", v.dtype))) for v in data.variables.values())
    return sum(v.size * kind.itemsize for v, kind in kinds)


def _write_parquet(data: "Dataset", path: Path) -> None:
    """Write a table with one row per sample, and one group of rows per block of samples."""
    import pyarrow.parquet as pq

    stop, schema = 0, _parquet_table(data.isel(sample=slice(1))).schema
    with pq.ParquetWriter(path, schema) as writer:
        for size in data.chunksizes["sample"]:
            start, stop = stop, stop + size
            writer.write_table(_parquet_table(data.isel(sample=slice(start, stop))))


def _parquet_table(data: "Dataset") -> "Table":
    """Return samples as a table: arrays are flattened lists, and their shapes are in the metadata
    of their columns.
    """
    import pyarrow as pa
    from xarray.conventions import encode_cf_variable

    fields, columns = [], []
    for name, variable in data.load().variables.items():
        is_text = variable.dtype == object
        encoded = variable if is_text else encode_cf_variable(variable)
        shape = tuple(size for dim, size in encoded.sizes.items() if dim != "sample")
        values = np.broadcast_to(encoded.values, (data.sizes["sample"], *shape))
        kind = pa.string() if is_text else pa.from_numpy_dtype(values.dtype)
        kind = pa.list_(kind) if shape else kind
        columns.append(pa.array([v.ravel() for v in values] if shape else values, type=kind))
        about = {key: str(value) for key, value in encoded.attrs.items()}
        fields.append(pa.field(name, kind, metadata=about | {"shape": str(list(shape))}))
    about = {key: str(value) for key, value in data.attrs.items()}
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=about))
