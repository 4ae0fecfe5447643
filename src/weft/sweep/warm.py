"""What a process keeps between samples, so that only the first one waits: the sweep, kernels."""

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from weft.base.arrays import Json
from weft.base.errors import SweepError, WeftError
from weft.base.machine import LIBRARY_THREADS
from weft.sweep.faults import BusyError, DiskFullError
from weft.sweep.folder import NAME, SweepFolder, open_sweep
from weft.sweep.plan import PLAN, Sample


def opened(path: str | Path) -> SweepFolder:
    """A sweep's folder, read once as long as its plan stays the same.

    Raises:
        SweepError: no sweep there, or its scene file is another one than when it was planned.
    """
    root = Path(path)
    try:
        marks = tuple((root / name).stat().st_mtime_ns for name in (NAME, PLAN))
    except OSError:
        marks = ()
    return _opened(root, marks)


@lru_cache(maxsize=2)
def _opened(root: Path, marks: tuple[int, ...]) -> SweepFolder:
    sweep = open_sweep(root)
    try:
        data = sweep.scene.read_bytes()
    except OSError as error:
        raise SweepError(
            "scene",
            got=error.strerror,
            where=str(sweep.scene),
            expected="the scene file of the sweep",
        ) from error
    if hashlib.sha256(data).hexdigest() != sweep.about["scene_digest"]:
        raise SweepError(
            "scene",
            got="changed since the sweep was planned",
            where=str(sweep.scene),
            expected="the same file",
            hint="put it back, or start another sweep with --out",
        )
    return sweep


def quiet_libraries(threads: int) -> None:
    """Have NumPy's libraries use as many threads as a sample has. To be called before NumPy is
    imported; else the limits that are set while a sample runs do it.
    """
    for name in LIBRARY_THREADS:
        os.environ[name] = str(threads)


def compile_kernels(sweep: SweepFolder, sample: Sample) -> None:
    """Load what a sample needs, and compile it where this machine has not: a step of it, whose
    result is thrown away. What is wrong with the sample is said when it runs.
    """
    from weft import kernel
    from weft.scene.build import load_scene

    with kernel.use(device=str(sweep.about["device"]), threads=sweep.threads):
        try:
            scene = load_scene(sweep.scene, [*sweep.common, *sample.overrides]).scene
            model, stepper, state = scene.model(), scene.stepper(), scene.state()
            stepper.step(model, state, stepper.init(model, state), scene.step)
        except WeftError:
            return


def warmed(path: str, name: str) -> Json:
    """Kernels compiled for a sample: nothing, or ``error``."""
    try:
        sweep = opened(path)
        compile_kernels(sweep, sweep.sample(name))
    except WeftError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {}


def answer(
    path: str, name: str, retry: bool = False, watch: Callable[[Any], None] | None = None
) -> Json:
    """What engines of other processes call: runs a sample, or goes on with it.

    Args:
        path: the sweep's folder.
        name: the sample's id.
        retry: try again what has failed.
        watch: called after every step; what it raises stops the sample.

    Returns:
        One of ``status`` (how it ended), ``busy`` (another process is at it), ``full`` (no space is
        left) and ``error`` (no sample can be begun: why).
    """
    from weft.sweep.sample import run_sample

    try:
        sweep = opened(path)
        return {"status": vars(run_sample(sweep, sweep.sample(name), retry=retry, watch=watch))}
    except BusyError as error:
        return {"busy": str(error)}
    except DiskFullError as error:
        return {"full": str(error)}
    except WeftError as error:
        return {"error": f"{type(error).__name__}: {error}"}


def answers(path: str, names: Sequence[str], retry: bool = False) -> list[Json]:
    """``answer`` of several samples in turn; a full disk ends it."""
    told = []
    for name in names:
        told.append(answer(path, name, retry))
        if "full" in told[-1] or "error" in told[-1]:
            break
    return told
