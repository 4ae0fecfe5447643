"""Writers of data sets: Zarr, HDF5 (NetCDF-4) and Parquet with a common interface.

``put`` writes the values of a variable, for one sample or for all. The file is written under a
temporary name; it takes its own name only if the block ends without an error.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weft.base.arrays import AnyArray
from weft.base.errors import SweepError
from weft.base.trees import Json, YamlMapping
from weft.io.files import atomic_path, check_room, make_folder
from weft.io.formats.hdf5_file import disk_file

CHUNK = 1 << 20  # [bytes] approximate size of a chunk
ROWS = 256  # samples per row group of Parquet


@dataclass(frozen=True)
class Variable:
    """An array with named dimensions.

    Args:
        name: of the variable.
        dims: names of its dimensions.
        shape: sizes.
        dtype: of values; object: text.
        fill: value of missing elements; None: no element is missing.
        attrs: units and meaning.
    """

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: "np.dtype[np.generic]"
    fill: float | None
    attrs: YamlMapping

    @property
    def chunks(self) -> tuple[int, ...]:
        """Return the shape of a chunk: whole samples, about ``CHUNK`` bytes."""
        if not self.shape:
            return ()
        row = max(1, int(np.prod(self.shape[1:])) * max(1, self.dtype.itemsize))
        first = min(max(1, CHUNK // row), self.shape[0])
        return (max(1, first), *(max(1, s) for s in self.shape[1:]))

    @property
    def size(self) -> int:
        """Return the size of all values without compression [bytes]."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


class Store(ABC):
    """A data set that is being written."""

    compressed = True  # so its size on disk is not known in advance

    def __init__(self) -> None:
        self.opened = ExitStack()  # files that are closed at the end

    @abstractmethod
    def declare(self, variable: Variable) -> None:
        """Create a variable without values."""

    @abstractmethod
    def put(self, name: str, sample: int | None, values: AnyArray) -> None:
        """Write the values of one sample, or of all samples if ``sample`` is None."""

    @abstractmethod
    def describe(self, attrs: YamlMapping) -> None:
        """Write the attributes of the data set."""

    @abstractmethod
    def finish(self) -> None:
        """Write values that are still in memory."""

    def close(self) -> None:
        """Close the files, also after an error."""
        self.opened.close()


class _Zarr(Store):
    def __init__(self, path: Path) -> None:
        import zarr

        super().__init__()
        self.root = zarr.create_group(str(path), zarr_format=2)
        self.path = path

    def declare(self, variable: Variable) -> None:
        text = variable.dtype == object
        dtype = "U64" if text else variable.dtype
        fill = variable.fill
        array = self.root.create_array(
            variable.name,
            shape=variable.shape,
            dtype=dtype,
            chunks=variable.chunks,
            fill_value="" if text else fill,
        )
        array.attrs.update({"_ARRAY_DIMENSIONS": list(variable.dims), **variable.attrs})

    def put(self, name: str, sample: int | None, values: AnyArray) -> None:
        array = self.root[name]
        if sample is not None:
            array[sample] = values
            return
        if values.dtype == object:  # the array is created again, as wide as the longest text
            attrs, wide = dict(array.attrs), values.astype(str)
            array = self.root.create_array(name, data=wide, chunks=array.chunks, overwrite=True)
            array.attrs.update(attrs)
            return
        array[...] = values

    def describe(self, attrs: YamlMapping) -> None:
        self.root.attrs.update(dict(attrs))

    def finish(self) -> None:
        import zarr

        zarr.consolidate_metadata(str(self.path))


class _Hdf5(Store):
    compressed = False

    def __init__(self, path: Path) -> None:
        import h5netcdf

        super().__init__()
        self.disk = self.opened.enter_context(disk_file(path))
        self.file = self.opened.enter_context(h5netcdf.File(self.disk, "w"))

    def declare(self, variable: Variable) -> None:
        import h5py

        for name, size in zip(variable.dims, variable.shape):
            if name not in self.file.dimensions:
                self.file.dimensions[name] = size
        text = variable.dtype == object
        made = self.file.create_variable(
            variable.name,
            variable.dims,
            dtype=h5py.string_dtype() if text else variable.dtype,
            chunks=variable.chunks if variable.shape else None,
            fillvalue=None if text else variable.fill,
        )
        made.attrs.update({k: v for k, v in variable.attrs.items() if v != ""})

    def put(self, name: str, sample: int | None, values: AnyArray) -> None:
        self.file.variables[name][... if sample is None else sample] = values
        self.disk.check()

    def describe(self, attrs: YamlMapping) -> None:
        self.file.attrs.update(dict(attrs))

    def finish(self) -> None:
        self.file.flush()


class _Parquet(Store):
    """A table with one row per sample.

    Arrays are flattened lists; their shapes are in the metadata of their columns.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet  # noqa: F401

        super().__init__()
        self.path = path
        self.variables: dict[str, Variable] = {}
        self.rows: dict[str, list[AnyArray]] = {}
        self.attrs: Json = {}

    def declare(self, variable: Variable) -> None:
        self.variables[variable.name] = variable
        self.rows[variable.name] = []

    def put(self, name: str, sample: int | None, values: AnyArray) -> None:
        if sample is not None:
            self.rows[name].append(np.asarray(values).ravel())
        elif self.variables[name].dims[:1] == ("sample",):
            self.rows[name] = list(values)
        else:
            self.rows[name] = [np.asarray(values).ravel()] * self._samples()

    def describe(self, attrs: YamlMapping) -> None:
        self.attrs = dict(attrs)

    def finish(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        fields, columns = [], []
        for name, variable in self.variables.items():
            rows = self.rows[name]
            shape = variable.shape[1:] if variable.dims[:1] == ("sample",) else variable.shape
            kind = pa.string() if variable.dtype == object else pa.from_numpy_dtype(variable.dtype)
            if shape:
                kind = pa.list_(kind)
            elif rows and isinstance(rows[0], np.ndarray):
                rows = [row[0] for row in rows]
            about = {k: str(v) for k, v in variable.attrs.items()}
            about |= {"shape": str(list(shape)), "fill": str(variable.fill)}
            fields.append(pa.field(name, kind, metadata=about))
            columns.append(pa.array(rows, type=kind))
        schema = pa.schema(fields, metadata={k: str(v) for k, v in self.attrs.items()})
        pq.write_table(pa.Table.from_arrays(columns, schema=schema), self.path, row_group_size=ROWS)

    def _samples(self) -> int:
        return self.variables["position"].shape[0]


_KINDS: dict[str, tuple[type[Any], str]] = {
    ".zarr": (_Zarr, "zarr"),
    ".h5": (_Hdf5, "h5netcdf"),
    ".nc": (_Hdf5, "h5netcdf"),
    ".parquet": (_Parquet, "pyarrow"),
}


@contextmanager
def store_for(path: Path, variables: Sequence[Variable]) -> Iterator[Store]:
    """Open a new data set of the format that the suffix names.

    The data set takes its name only when it is complete.

    Args:
        path: the data set.
        variables: all variables that it will have.

    Raises:
        SweepError: the suffix is unknown, the path exists, a package is not installed, or the disk
            has less room than an uncompressed data set needs.
        RunError: it cannot be written, for example because the disk is full.
    """
    if path.suffix.lower() not in _KINDS:
        raise SweepError(
            "data set", got=path.suffix or "no suffix", expected=f"one of {', '.join(_KINDS)}"
        )
    if path.exists():
        raise SweepError(
            "data set",
            got=f"{path} is there already",
            expected="a new name",
            hint="remove it, or choose another",
        )
    kind, package = _KINDS[path.suffix.lower()]
    make_folder(path.parent)
    if not kind.compressed:
        hint = "free some space, or write .zarr or .parquet, which are compressed"
        check_room(path.parent, sum(v.size for v in variables), "data set", hint, SweepError)
    with atomic_path(path) as new:
        try:
            made: Store = kind(new)
        except ImportError as error:
            raise SweepError(
                package,
                got="not installed",
                expected="an installed package",
                hint="pip install 'weft[data]'",
            ) from error
        with closing(made) as store:
            for variable in variables:
                store.declare(variable)
            yield store
            store.finish()
