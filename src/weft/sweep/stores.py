"""Files of data sets: Zarr, HDF5 (NetCDF-4) and Parquet behind three calls.

``declare`` a variable, ``put`` its values, a sample at a time or whole; when the block ends without
an error, the finished file takes its name, never before.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weft.errors import SweepError

CHUNK = 1 << 20  # [bytes] of positions, about
ROWS = 256  # samples of a row group of Parquet


@dataclass(frozen=True)
class Variable:
    """An array with named dimensions.

    Args:
        name: of the variable.
        dims: names of its dimensions.
        shape: sizes.
        dtype: of values; object: text.
        fill: value of what is missing; None: nothing is.
        attrs: units and meaning.
    """

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    fill: Any
    attrs: Mapping[str, Any]

    @property
    def chunks(self) -> tuple[int, ...]:
        """Whole samples, about ``CHUNK`` bytes of them."""
        if not self.shape:
            return ()
        row = max(1, int(np.prod(self.shape[1:])) * max(1, self.dtype.itemsize))
        first = min(max(1, CHUNK // row), self.shape[0])
        return (max(1, first), *(max(1, s) for s in self.shape[1:]))


class Store(ABC):
    """A data set that is being written."""

    @abstractmethod
    def declare(self, variable: Variable) -> None:
        """Make room for a variable."""

    @abstractmethod
    def put(self, name: str, sample: int | None, values: Any) -> None:
        """Values of one sample, or with None all of a variable's."""

    @abstractmethod
    def describe(self, attrs: Mapping[str, Any]) -> None:
        """Attributes of the data set."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file."""


class _Zarr(Store):
    def __init__(self, path: Path) -> None:
        import zarr

        self.root = zarr.create_group(str(path), zarr_format=2)
        self.path = path

    def declare(self, variable: Variable) -> None:
        text = variable.dtype == object
        dtype = "U64" if text else variable.dtype
        fill = variable.fill
        array = self.root.create_array(
            variable.name, shape=variable.shape, dtype=dtype, chunks=variable.chunks,
            fill_value="" if text else fill,
        )  # fmt: skip
        array.attrs.update({"_ARRAY_DIMENSIONS": list(variable.dims), **variable.attrs})

    def put(self, name: str, sample: int | None, values: Any) -> None:
        array = self.root[name]
        if sample is not None:
            array[sample] = values
            return
        if values.dtype == object:  # as wide as the longest text
            attrs, wide = dict(array.attrs), values.astype(str)
            array = self.root.create_array(name, data=wide, chunks=array.chunks, overwrite=True)
            array.attrs.update(attrs)
            return
        array[...] = values

    def describe(self, attrs: Mapping[str, Any]) -> None:
        self.root.attrs.update(dict(attrs))

    def close(self) -> None:
        import zarr

        zarr.consolidate_metadata(str(self.path))


class _Hdf5(Store):
    def __init__(self, path: Path) -> None:
        import h5netcdf

        self.file = h5netcdf.File(path, "w")

    def declare(self, variable: Variable) -> None:
        import h5py

        for name, size in zip(variable.dims, variable.shape):
            if name not in self.file.dimensions:
                self.file.dimensions[name] = size
        text = variable.dtype == object
        made = self.file.create_variable(
            variable.name, variable.dims, dtype=h5py.string_dtype() if text else variable.dtype,
            chunks=variable.chunks if variable.shape else None,
            fillvalue=None if text else variable.fill,
        )  # fmt: skip
        made.attrs.update({k: v for k, v in variable.attrs.items() if v != ""})

    def put(self, name: str, sample: int | None, values: Any) -> None:
        self.file.variables[name][... if sample is None else sample] = values

    def describe(self, attrs: Mapping[str, Any]) -> None:
        self.file.attrs.update(dict(attrs))

    def close(self) -> None:
        self.file.close()


class _Parquet(Store):
    """A row a sample; arrays are lists, their sizes stand in the metadata of their column."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet  # noqa: F401

        self.path = path
        self.variables: dict[str, Variable] = {}
        self.rows: dict[str, list[Any]] = {}
        self.attrs: dict[str, Any] = {}

    def declare(self, variable: Variable) -> None:
        self.variables[variable.name] = variable
        self.rows[variable.name] = []

    def put(self, name: str, sample: int | None, values: Any) -> None:
        if sample is not None:
            self.rows[name].append(np.asarray(values).ravel())
        elif self.variables[name].dims[:1] == ("sample",):
            self.rows[name] = list(values)
        else:
            self.rows[name] = [np.asarray(values).ravel()] * self._samples()

    def describe(self, attrs: Mapping[str, Any]) -> None:
        self.attrs = dict(attrs)

    def close(self) -> None:
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


_KINDS: dict[str, tuple[Callable[[Path], Store], str]] = {
    ".zarr": (_Zarr, "zarr"),
    ".h5": (_Hdf5, "h5netcdf"),
    ".nc": (_Hdf5, "h5netcdf"),
    ".parquet": (_Parquet, "pyarrow"),
}


@contextmanager
def store_for(path: Path) -> Iterator[Store]:
    """A data set of the kind that a suffix says; it has its name only once it is whole.

    Raises:
        SweepError: another suffix, something of that name, a package that is not installed.
    """
    if path.suffix.lower() not in _KINDS:
        raise SweepError("data set", got=path.suffix or "no suffix",
                         expected=f"one of {', '.join(_KINDS)}")  # fmt: skip
    if path.exists():
        raise SweepError("data set", got=f"{path} is there already", expected="a new name",
                         hint="remove it, or choose another")  # fmt: skip
    kind, package = _KINDS[path.suffix.lower()]
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    _remove(partial)
    try:
        try:
            store = kind(partial)
        except ImportError as error:
            raise SweepError(package, got="not installed", expected="an installed package",
                             hint="pip install 'weft[data]'") from error  # fmt: skip
        yield store
        store.close()
        partial.rename(path)
    except BaseException:
        _remove(partial)
        raise


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
