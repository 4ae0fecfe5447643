"""State that a worker process keeps between samples: the sweep's files and compiled kernels.

Only the first sample of a process waits for them.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from weft.base.errors import SweepError, WeftError
from weft.base.machine import LIBRARY_THREADS
from weft.base.trees import Json
from weft.sweep.faults import BusyError, DiskFullError
from weft.sweep.folder import NAME, SweepFolder, open_sweep
from weft.sweep.plan import PLAN, Sample


def opened(path: str | Path) -> SweepFolder:
    """Return a sweep's folder; it is read again only if its plan has changed.

    Raises:
        SweepError: there is no sweep, or its scene file has changed since it was planned.
    """
    root = Path(path)
    try:
        marks = tuple((root / name).stat().st_mtime_ns for name in (NAME, PLAN))
    except OSError:
        marks = ()
    return _opened(root, marks)


@lru_cache(maxsize=2)
def _opened(root: Path, marks: tuple[int, ...]) -> SweepFolder:
    """Read a sweep's folder; ``marks`` are the modification times of its files, the key of the
    cache.
    """
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
    """Set the number of threads of NumPy's libraries to that of a sample.

    It has an effect only before NumPy is imported; otherwise the limits that ``run_sample`` sets
    apply.
    """
    for name in LIBRARY_THREADS:
        os.environ[name] = str(threads)


def compile_kernels(sweep: SweepFolder, sample: Sample) -> None:
    """Load the kernels that a sample needs, and compile them if this machine has not yet.

    One step of the sample is taken, and its result is discarded. Errors of the sample are ignored
    here, because they are reported when it runs.
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
    """Compile the kernels of a sample; return an empty mapping, or ``error``."""
    try:
        sweep = opened(path)
        compile_kernels(sweep, sweep.sample(name))
    except WeftError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {}


def answer(
    path: str, name: str, retry: bool = False, watch: Callable[..., None] | None = None
) -> Json:
    """Run or continue a sample; engines call this function in other processes.

    Args:
        path: the sweep's folder.
        name: the sample's id.
        retry: run the sample again if it has failed.
        watch: called after every step; an error that it raises stops the sample.

    Returns:
        One of ``status`` (the final status), ``busy`` (another process runs it), ``full`` (the disk
        is full) and ``error`` (the reason for which no sample can start).
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
    """Return ``answer`` for several samples in turn; a full disk or an error ends the list."""
    told = []
    for name in names:
        told.append(answer(path, name, retry))
        if "full" in told[-1] or "error" in told[-1]:
            break
    return told
