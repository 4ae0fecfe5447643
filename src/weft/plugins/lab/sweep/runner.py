"""Execution of a sweep on an executor: its samples are handed out until none remains."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.base.errors import SweepError, WeftError
from weft.io.folder_lock import FolderLock
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.executors.base import Executor, SampleBatch, run_batch
from weft.plugins.lab.sweep.faults import translate_full_disk
from weft.plugins.lab.sweep.file import SweepFile, overrides
from weft.plugins.lab.sweep.folder import SweepFolder, prepare
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.status import SampleKind, SampleStatus, Status
from weft.scene.build import load_scene
from weft.scene.file import read_source, validate

MOST_CHECKED = 60  # combinations of values that are validated before a simulation starts
MOST_BUILT = 3  # one of so many first samples must give a scene that can be built
WAIT = 2.0  # [s] between checks of samples that other processes run
ASK_AGAIN = 30.0  # [s] after which samples that seem to run elsewhere are tried here
MOST_FRUITLESS = 5  # rounds without a finished sample, after which the sweep ends


@dataclass(frozen=True)
class Hooks:
    """Callbacks of a running sweep.

    Args:
        start: called with the folder and the states of all samples, before any sample runs.
        report: called with each sample that ends, and its status.
        note: called with other messages.
    """

    start: Callable[[SweepFolder, Sequence[SampleStatus]], None] = lambda *_: None
    report: Callable[[Sample, Status], None] = lambda *_: None
    note: Callable[[str], None] = lambda _: None


def run_sweep(
    sweep: SweepFile,
    executor: Executor,
    *,
    out: Path | None = None,
    retry: bool = False,
    threads: int | None = None,
    hooks: Hooks | None = None,
) -> SweepFolder:
    """Run the samples of a sweep that never started or were interrupted.

    With ``retry`` failed samples run again, too.

    Args:
        sweep: the file.
        executor: where the samples run; it is closed at the end.
        out: the folder; None: the file's.
        retry: run failed samples again.
        threads: per sample, for a new sweep.
        hooks: callbacks.

    Returns:
        The folder of the sweep.

    Raises:
        SceneError: a field does not exist.
        SweepError: the folder is that of another sweep, or the disk is full.
        FolderInUseError: another process runs samples of this folder.
    """
    hooks, place = hooks or Hooks(), out or sweep.out
    with translate_full_disk(place), FolderLock(SafeFolder(place)):
        folder = prepare(sweep, place, threads, check_fields)
        _run(folder, executor, retry, hooks)
    return folder


def plan_sweep(
    sweep: SweepFile, out: Path | None = None, threads: int | None = None
) -> SweepFolder:
    """Plan a sweep into its folder without running samples; raise the errors of ``run_sweep``."""
    place = out or sweep.out
    with FolderLock(SafeFolder(place)):
        return prepare(sweep, place, threads, check_fields)


def _run(folder: SweepFolder, executor: Executor, retry: bool, hooks: Hooks) -> None:
    """Hand out samples until all have ended, those of other processes included."""
    samples = folder.look()
    hooks.start(folder, samples)
    todo, fruitless, waited = to_do(samples, retry), 0, 0.0
    while todo or any(f.kind is SampleKind.RUNNING for f in samples):
        if todo:
            run_batch(executor, SampleBatch(folder, deque(todo), retry, hooks.note), hooks.report)
        else:
            time.sleep(WAIT)  # other processes run all samples that remain
        waited = 0.0 if todo else waited + WAIT
        before, samples = open_samples(samples), folder.look()
        fruitless = fruitless + 1 if todo and open_samples(samples) >= before else 0
        if fruitless == MOST_FRUITLESS:
            raise SweepError(
                "samples",
                got=f"{before} that do not end",
                where=folder.path,
                expected="samples that end, or fail with a reason",
            )
        todo, retry = to_do(samples, False), False
        if waited >= ASK_AGAIN:  # the lock of a machine that crashed stays on disk
            todo, waited = [f.sample for f in samples if f.kind is SampleKind.RUNNING], 0.0


def open_samples(samples: Sequence[SampleStatus]) -> int:
    """Return the number of samples that have not ended."""
    return sum(f.kind not in (SampleKind.DONE, SampleKind.FAILED) for f in samples)


def to_do(samples: Sequence[SampleStatus], retry: bool) -> list[Sample]:
    """Return the samples to be run: neither ended nor running; with ``retry`` also failed ones."""
    kinds = {SampleKind.PENDING, SampleKind.STOPPED} | ({SampleKind.FAILED} if retry else set())
    return [f.sample for f in samples if f.kind in kinds]


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
