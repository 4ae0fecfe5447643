"""Facts about this machine: versions, devices, caches, threads, optional parts."""

import os
import platform
from collections.abc import Mapping
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

from weft.base.machine import disk, gib, memory

NEEDED = (
    "numpy",
    "scipy",
    "warp-lang",
    "pydantic",
    "PyYAML",
    "typer",
    "rich",
    "Pillow",
    "pythoncdt",
    "libigl",
    "threadpoolctl",
    "filelock",
)
OPTIONAL: Mapping[str, str] = {  # module -> what it is for
    "pypardiso": "direct solver (weft[direct])",
    "matplotlib": "plots, drawings of patterns (weft[plots])",
    "pxr": "USD files (weft[usd])",
    "h5py": "HDF5 and VTKHDF files (weft[hdf5])",
    "av": "video (weft[video])",
    "skimage": "drapes from photographs (weft[photographs])",
    "svgpathtools": "patterns in SVG (weft[garments])",
    "ezdxf": "patterns in DXF (weft[garments])",
    "xarray": "data sets (weft[data])",
    "h5netcdf": "data sets in HDF5 (weft[data])",
    "zarr": "data sets in Zarr (weft[data])",
    "pyarrow": "data sets in Parquet (weft[data])",
    "gymnasium": "environments for learning (weft[gym])",
    "mujoco": "robot arms from URDF and MJCF (weft[arms])",
    "torch": "gradients for PyTorch (weft[torch])",
    "jax": "gradients for JAX (weft[jax])",
    "sphinx": "the manual (weft[docs])",
    "ipctk": "tests",
    "hypothesis": "tests",
}


def facts() -> dict[str, str]:
    """Name and value, for people."""
    import warp as wp

    from weft import __version__, kernel
    from weft.kernel.cpu.warp_private import describe_launches, is_usable

    kernel.initialize()
    found = {"weft": __version__, "python": platform.python_version()}
    found |= {name: _version(name) for name in NEEDED}
    found |= {
        "system": platform.platform(),
        "threads": f"{kernel.threads()} of {os.cpu_count()}",
        "launches": describe_launches(is_usable(warn=False)),
        "memory": gib(memory()),
        "disk here": _free(Path()),
        "devices": ", ".join(f"{d.alias} ({d.name})" for d in wp.get_devices()),
        "kernel cache": _cache(),
        "locks": "flock" if _has("fcntl") else "LockFile" if _has("msvcrt") else "process numbers",
    }
    for module, use in OPTIONAL.items():
        found[f"optional {module}"] = f"{_version(module)}, {use}" if _has(module) else f"no, {use}"
    return found


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "found" if _has(name) else "missing"


def _has(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _free(folder: Path) -> str:
    free = disk(folder)
    return "unknown" if free is None else f"{gib(free)} free"


def _cache() -> str:
    """Return the folder of compiled kernels, and its size."""
    folder = Path(import_module("warp").config.kernel_cache_dir or "")
    try:
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    except OSError as error:
        return f"{folder} ({error.strerror})"
    return f"{folder} ({size / 2**20:.0f} MiB)"
