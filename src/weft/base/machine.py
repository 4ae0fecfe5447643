"""What this machine has: memory, room on a disk, processes. Sizes are compared with it before they
are asked for.
"""

import os
import platform
import shutil
import subprocess
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

# Environment variables that say how many threads NumPy's libraries use, read as these are loaded.
LIBRARY_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

MOST_THREADS_PER_CORE = 4
FEW_THREADS = 64  # are taken on every machine: settings move between machines

GIB = 2**30
UNKNOWN = 64 * GIB  # taken where a system does not say how much memory it has
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@lru_cache(maxsize=1)
def memory() -> int:
    """[bytes] of main memory that this process may use: the machine's, or its container's."""
    sizes = [_physical(), *(_number(Path(name)) for name in _CGROUPS)]
    return min(s for s in (*sizes, UNKNOWN if not any(sizes) else 0) if s)


def cores() -> int:
    """CPU cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def most_threads() -> int:
    """How many CPU threads may be asked for here; more only wait for one another."""
    return max(FEW_THREADS, MOST_THREADS_PER_CORE * cores())


def disk(folder: Path) -> int | None:
    """[bytes] free on the disk of a folder, or of the nearest one above it; None: unknown."""
    for place in (folder.absolute(), *folder.absolute().parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None


def gib(size: float) -> str:
    """``1.2 GiB`` for people."""
    return f"{size / GIB:.3g} GiB"


def _physical() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def _number(path: Path) -> int:
    """A limit in a file, 0 where there is none (``max``, or the largest number there is)."""
    try:
        value = int(path.read_text())
    except (OSError, ValueError):
        return 0
    return value if 0 < value < 2**60 else 0


def process_start(pid: int) -> str | None:
    """When a process of this machine started, as text that tells it from a later one of the same
    number; None: there is no such process.
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
