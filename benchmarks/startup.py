"""How long a user waits: the import, and the demo with and without compiled kernels."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import BenchMeasure, at_most


def import_time() -> Iterator[BenchMeasure]:
    """``import weft`` beside an empty interpreter."""
    empty = min(_seconds("-c", "pass") for _ in range(3))
    with_weft = min(_seconds("-c", "import weft") for _ in range(3))
    yield at_most("import/weft", with_weft - empty, "s", 0.3)


def demo() -> Iterator[BenchMeasure]:
    """``weft demo`` with an empty kernel cache, and again."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ("-m", "weft.cli.main", "demo", "--out", str(Path(folder) / "run"))
        environment = {**os.environ, "WARP_CACHE_PATH": str(Path(folder) / "cache")}
        yield at_most("demo/first ever", _seconds(*arguments, env=environment), "s", 45.0)
        yield at_most("demo/warm", _seconds(*arguments, env=environment), "s", 10.0)


def _seconds(*arguments: str, env: dict[str, str] | None = None) -> float:
    clock = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=env)
    return time.perf_counter() - clock
