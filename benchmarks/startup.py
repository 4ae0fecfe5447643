"""How long a user waits: the import, a first step, the demo with and without compiled kernels."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import BenchMeasure, at_most

_WEFT = ("-m", "weft.cli.main")
_SHEET = """\
cloth:
  sheet: {nx: 20, ny: 20, width: 1 m, height: 1 m}
  fabric: cotton
pins: [{corners: top}]
step: 20 ms
seconds: 0.2 s
fps: 25
"""


def import_time() -> Iterator[BenchMeasure]:
    """``import weft`` beside an empty interpreter."""
    empty = min(_seconds("-c", "pass") for _ in range(3))
    with_weft = min(_seconds("-c", "import weft") for _ in range(3))
    yield at_most("import/weft", with_weft - empty, "s", 0.3)


def first_step() -> Iterator[BenchMeasure]:
    """``weft --help``, and ``weft run`` of a hanging sheet until its first step begins.

    Compiled modules of Python and kernels are there, as after any earlier run.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, PYTHONPYCACHEPREFIX=str(Path(folder) / "bytecode"))
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        scene = Path(folder) / "sheet.yaml"
        scene.write_text(_SHEET)
        help_ = [_seconds(*_WEFT, "--help", env=environment) for _ in range(4)]
        yield at_most("startup/help", min(help_[1:]), "s", 0.3)
        runs = [_until_first_step(scene, Path(folder) / f"run{k}", environment) for k in range(4)]
        yield at_most("startup/first step", min(runs[1:]), "s", 1.5)


def demo() -> Iterator[BenchMeasure]:
    """``weft demo`` with an empty kernel cache, and again."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = (*_WEFT, "demo", "--out", str(Path(folder) / "run"))
        environment = {**os.environ, "WARP_CACHE_PATH": str(Path(folder) / "cache")}
        yield at_most("demo/first ever", _seconds(*arguments, env=environment), "s", 45.0)
        yield at_most("demo/warm", _seconds(*arguments, env=environment), "s", 10.0)


def _seconds(*arguments: str, env: dict[str, str] | None = None) -> float:
    clock = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=env)
    return time.perf_counter() - clock


def _until_first_step(scene: Path, run: Path, environment: dict[str, str]) -> float:
    """Return the time [s] from the command to the beginning of its first step."""
    command = [sys.executable, *_WEFT, "run", str(scene), "--out", str(run)]
    metrics, clock = run / "metrics.jsonl", time.perf_counter()
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment) as process:
        while not (metrics.exists() and "\n" in metrics.read_text()):
            if process.poll():
                raise subprocess.CalledProcessError(process.returncode, command)
            time.sleep(0.002)
        seconds = time.perf_counter() - clock
    return seconds - float(json.loads(metrics.read_text().split("\n")[0])["seconds"])
