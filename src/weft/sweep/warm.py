"""What a process keeps between samples, so that only the first one waits: the sweep, kernels."""

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from weft.arrays import Json
from weft.errors import SweepError
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
        raise SweepError("scene", got=error.strerror, where=str(sweep.scene),
                         expected="the scene file of the sweep") from error  # fmt: skip
    if hashlib.sha256(data).hexdigest() != sweep.about["scene_digest"]:
        raise SweepError("scene", got="changed since the sweep was planned",
                         where=str(sweep.scene), expected="the same file",
                         hint="put it back, or start another sweep with --out")  # fmt: skip
    return sweep


def quiet_libraries(threads: int) -> None:
    """Have NumPy's libraries use as many threads as a sample has. To be called before NumPy is
    imported; else the limits that are set while a sample runs do it.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)


def compile_kernels(sweep: SweepFolder, sample: Sample) -> None:
    """Load what a sample needs, and compile it where this machine has not: a step of it, whose
    result is thrown away. What is wrong with the sample is said when it runs.
    """
    from weft import kernel
    from weft.errors import WeftError
    from weft.scene.build import load_scene

    with kernel.use(device=str(sweep.about["device"]), threads=sweep.threads):
        try:
            scene = load_scene(sweep.scene, [*sweep.common, *sample.overrides]).scene
            model, stepper, state = scene.model(), scene.stepper(), scene.state()
            stepper.step(model, state, stepper.init(model, state), scene.step)
        except WeftError:
            return


def one(path: str, name: str, retry: bool = False) -> Json:
    """What engines of other machines call: a sweep's folder and a sample's id; gives its status.

    Raises:
        BusyError, DiskFullError, SweepError: as ``run_sample``.
    """
    from weft.sweep.sample import run_sample

    sweep = opened(path)
    return dict(vars(run_sample(sweep, sweep.sample(name), retry=retry)))
