"""Execution of a sweep: its samples are handed out until none remains."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from weft.base.errors import SweepError, WeftError
from weft.base.machine import cores
from weft.base.runtime_types import checked
from weft.base.settings import Count
from weft.io.folder_lock import FolderLock
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.faults import translate_full_disk
from weft.plugins.lab.sweep.file import SweepFile, overrides, read_sweep
from weft.plugins.lab.sweep.folder import SweepFolder, prepare
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.processes import Processes
from weft.plugins.lab.sweep.status import SampleKind, SampleStatus
from weft.plugins.lab.sweep.tasks import Executor, Hooks, run_tasks
from weft.scene.build import load_scene
from weft.scene.file import read_source, validate

MOST_CHECKED = 60  # combinations of values that are validated before a simulation starts
MOST_BUILT = 3  # one of so many first samples must give a scene that can be built
WAIT, MOST_WAIT = 2.0, 30.0  # [s] between checks of samples that other processes run
OVERDUE, GRACE = 2.0, 30.0  # a process is killed after 2 time limits plus 30 s


@checked(SweepError)
def sweep(
    file: str | Path,
    *,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: Count | None = None,
    samples: Count | None = None,
    samples_per_task: Count = 1,
    retry: bool = False,
) -> SweepFolder:
    """Run the samples of a sweep that never started or were interrupted.

    Args:
        file: the sweep file.
        out: the folder of the sweep; None: the file's.
        executor: where samples run: an object with ``submit(function, *arguments)`` whose futures
            have ``done()`` and ``result()``, for example of ``concurrent.futures``, a
            ``dask.distributed.Client`` or an executor of ``submitit``. weft does not shut it down.
            None: processes of this machine, which are replaced when they die.
        workers: number of these processes; None: as many as fill the cores.
        samples: number of samples in place of the file's; a larger number extends the sweep.
        samples_per_task: number of samples that a task of the executor runs in turn.
        retry: run failed samples again.

    Returns:
        The folder of the sweep; its method ``look`` returns the states of all samples.

    Raises:
        SceneError: a field does not exist.
        SweepError: the file is invalid, the folder is that of another sweep, the workers do not
            run, or the disk is full.
        FolderInUseError: another process runs samples of this folder.
    """
    return run_sweep(
        read_sweep(file, samples),
        executor,
        out=None if out is None else Path(out),
        workers=workers,
        samples_per_task=samples_per_task,
        retry=retry,
    )


def run_sweep(
    file: SweepFile,
    executor: Executor | None = None,
    *,
    out: Path | None = None,
    workers: int | None = None,
    samples_per_task: int = 1,
    retry: bool = False,
    hooks: Hooks | None = None,
) -> SweepFolder:
    """Do the work of ``sweep`` for a file that is read, with callbacks."""
    hooks, place = hooks or Hooks(), out or file.out
    with translate_full_disk(place), FolderLock(SafeFolder(place)):
        folder = prepare(file, place, check_fields)
        samples = folder.look()
        hooks.start(folder, samples)
        kinds = {SampleKind.DONE} if retry else {SampleKind.DONE, SampleKind.FAILED}
        left, pause = [f for f in samples if f.kind not in kinds], WAIT
        while left:
            # The lock of a machine that crashed stays on disk: such samples are tried, too.
            is_late = pause == MOST_WAIT
            todo = [f for f in left if is_late or f.kind is not SampleKind.RUNNING]
            if todo:
                with _open(executor, folder, workers, len(todo), samples_per_task) as chosen:
                    run_tasks(chosen, folder, todo, retry, samples_per_task, hooks)
            retry, left = False, to_do(folder.look())
            if left:  # other processes run these samples
                time.sleep(pause)
                pause = min(2 * pause, MOST_WAIT)
    return folder


def plan_sweep(file: SweepFile, out: Path | None = None) -> SweepFolder:
    """Plan a sweep into its folder without running samples; raise the errors of ``sweep``."""
    place = out or file.out
    with FolderLock(SafeFolder(place)):
        return prepare(file, place, check_fields)


def _open(
    executor: Executor | None,
    folder: SweepFolder,
    workers: int | None,
    samples: int,
    samples_per_task: int,
) -> AbstractContextManager[Executor]:
    """Return the executor of a ``with`` block, which closes only weft's own one."""
    if executor is not None:
        return nullcontext(executor)
    folder.inside.make("logs")
    count = min(workers or max(1, cores() // folder.threads), samples)
    limit = folder.time_limit
    timeout = None if limit is None else samples_per_task * (OVERDUE * limit + GRACE)
    return Processes(count, folder.path / "logs", folder.threads, timeout)


def to_do(samples: Sequence[SampleStatus]) -> list[SampleStatus]:
    """Return the samples that have neither finished nor failed."""
    return [f for f in samples if f.kind not in (SampleKind.DONE, SampleKind.FAILED)]


def check_fields(sweep: SweepFile, plan: Sequence[Sample]) -> None:
    """Check that the scene has all fields that vary, and accepts their values.

    All values of a list and both ends of a range are validated with the other values of the first
    sample. One of the first samples must give a scene that can be built. Other samples may be
    invalid: they fail when they run, each with its reason.

    Raises:
        SceneError: a field or value is invalid.
        SceneProblems: several fields or values are invalid.
    """
    common, first = overrides(sweep.common), plan[0]
    kinds = {tuple(s.values): s for s in reversed(plan)}  # a sample of each set of fields
    override_sets = [s.overrides for s in [*kinds.values()][:MOST_CHECKED]]
    for path, field in sweep.design.fields.items():
        override_sets += [overrides({**first.values, path: value}) for value in field.ends()]
    for texts in override_sets[:MOST_CHECKED]:
        validate(read_source(sweep.scene, [*common, *texts]))
    for k, sample in enumerate(plan[:MOST_BUILT]):
        try:
            load_scene(sweep.scene, [*common, *sample.overrides])
            return
        except WeftError:
            if k == len(plan[:MOST_BUILT]) - 1:
                raise
