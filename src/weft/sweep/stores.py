"""Writers of data sets: Zarr, HDF5 (NetCDF-4) and Parquet.

The file is written under a temporary name; it takes its own name only when it is complete. Arrays
of samples are read block by block while they are written.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.errors import SweepError, check_known
from weft.io.extra import optional
from weft.io.files import atomic_path, check_room, make_folder
from weft.io.formats.hdf5_file import disk_file

if TYPE_CHECKING:
    from pyarrow import Table
    from xarray import Dataset

PACKAGES = {".zarr": "zarr", ".h5": "h5netcdf", ".nc": "h5netcdf", ".parquet": "pyarrow.parquet"}


def check_path(path: Path) -> None:
    """Check that a data set can be written to a path.

    Raises:
        SweepError: the suffix is unknown, the path exists, or a package is not installed.
    """
    check_known(path.suffix.lower(), PACKAGES, "data set", SweepError)
    if path.exists():
        raise SweepError(
            "data set",
            got=f"{path} is there already",
            expected="a new name",
            hint="remove it, or choose another",
        )
    for package in (PACKAGES[path.suffix.lower()], "xarray", "dask.array"):
        optional(package, "data", "data set", SweepError)


def write_arrays(data: "Dataset", path: Path) -> None:
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
