"""Properties of the machine: memory, free disk space, cores, processes. Sizes are compared with
them before memory or disk space is requested.
"""

import os
import platform
import shutil
import subprocess
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from weft.base.errors import WeftError

# Environment variables with the number of threads of NumPy's libraries, read when these are loaded.
LIBRARY_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

# [bytes] of memory at the peak of a simulation, at least (docs/explanations/reliability.md)
PER_CLOTH_VERTEX, PER_BODY_VERTEX = 16_000, 2_000

MOST_THREADS_PER_CORE = 4
FEW_THREADS = 64  # allowed on every machine, because settings move between machines

GIB = 2**30
UNKNOWN = 64 * GIB  # assumed if the system does not tell how much memory it has
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@lru_cache(maxsize=1)
def memory() -> int:
    """Return the main memory [bytes] of the machine or of the container of this process."""
    sizes = [_physical(), *(_number(Path(name)) for name in _CGROUPS)]
    return min(s for s in (*sizes, UNKNOWN if not any(sizes) else 0) if s)


def require_memory(size: float, what: str, got: object, error: type[WeftError]) -> None:
    """Raise an error before arrays are allocated that are larger than the machine's memory.

    Args:
        size: [bytes] of the arrays, at least.
        what: the field that decides the size.
        got: its value, or the number of vertices.
        error: class of the error.

    Raises:
        WeftError: of the class ``error``.
    """
    if not size <= memory():
        raise error(
            what,
            got=f"{got}: at least {gib(size)} of memory",
            expected=f"at most the {gib(memory())} of this machine",
            hint="use fewer vertices (longer edges) or fewer frames (a lower rate)",
        )


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def most_threads() -> int:
    """Return the largest number of CPU threads that is accepted; more would wait for one
    another.
    """
    return max(FEW_THREADS, MOST_THREADS_PER_CORE * cores())


def disk(folder: Path) -> int | None:
    """Return the free space [bytes] on the disk of a folder or its nearest parent; None:
    unknown.
    """
    for place in (folder.absolute(), *folder.absolute().parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None


def gib(size: float) -> str:
    """Return a size in bytes as text: ``1.2 GiB``."""
    return f"{size / GIB:.3g} GiB"


def _physical() -> int:
    """Return the memory [bytes] of the machine; 0 if the system does not tell it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def _number(path: Path) -> int:
    """Return the limit in a file; 0 if there is none (``max``, or the largest possible number)."""
    try:
        value = int(path.read_text())
    except (OSError, ValueError):
        return 0
    return value if 0 < value < 2**60 else 0


def process_start(pid: int) -> str | None:
    """Return the start time of a process on this machine, as text that differs for a later process
    with the same number; None: there is no such process.
    """
    if platform.system() == "Linux":
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        except OSError:
            return None
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    if platform.system() == "Windows":
        query = f"(Get-Process -Id {pid}).StartTime.Ticks"
        command = ["powershell", "-NoProfile", "-Command", query]
    with suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        return found.stdout.strip() or None
    return None
