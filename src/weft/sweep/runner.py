"""A sweep from its file to its end, on an engine; and again, until nothing remains."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.base.errors import RunError, SweepError, WeftError
from weft.io.inside import Inside
from weft.io.lock import Lock
from weft.scene.build import load_scene
from weft.scene.file import read_source, validate
from weft.sweep.engines.base import Engine, SampleBatch
from weft.sweep.faults import full, is_full
from weft.sweep.file import SweepFile, overrides
from weft.sweep.folder import SweepFolder, prepare
from weft.sweep.plan import Sample
from weft.sweep.status import SampleKind, SampleStatus, Status

MOST_CHECKED = 60  # samples whose fields are read before anything runs
MOST_BUILT = 3  # of the first samples, one of which has to make a scene
WAIT = 2.0  # [s] between looks at samples that other processes are at
ASK_AGAIN = 30.0  # [s] after which samples that seem to run are tried themselves
MOST_FRUITLESS = 5  # rounds in which nothing got done


@dataclass(frozen=True)
class Hooks:
    """Whom to tell.

    Args:
        begun: called with the folder and with all samples as found, before any runs.
        told: called with every sample that ends.
        note: called with what else is worth saying.
    """

    begun: Callable[[SweepFolder, Sequence[SampleStatus]], None] = lambda *_: None
    told: Callable[[Sample, Status], None] = lambda *_: None
    note: Callable[[str], None] = lambda _: None


def run_sweep(
    sweep: SweepFile,
    engine: Engine,
    *,
    out: Path | None = None,
    retry: bool = False,
    threads: int | None = None,
    hooks: Hooks | None = None,
) -> SweepFolder:
    """Run what remains of a sweep: samples that were never begun, that were stopped, and with
    ``retry`` those that failed.

    Args:
        sweep: the file.
        engine: where.
        out: the folder; None: the file's.
        retry: also what has failed.
        threads: of a sample, for a new sweep.
        hooks: whom to tell.

    Raises:
        SceneError: a field that does not exist. SweepError: a folder of another sweep, a full disk.
        RunError: another process hands out samples of this folder.
    """
    hooks, place = hooks or Hooks(), out or sweep.out
    inside = Inside(place)
    try:
        with _sweep_lock(inside):
            folder = prepare(sweep, place, threads, check_fields)
            _run(folder, engine, retry, hooks)
    except (RunError, OSError) as error:
        if is_full(error):
            raise full(place) from error
        raise
    return folder


def planned(sweep: SweepFile, out: Path | None = None, threads: int | None = None) -> SweepFolder:
    """A sweep planned into its folder, and nothing run; raises as ``run_sweep``."""
    inside = Inside(out or sweep.out)
    with _sweep_lock(inside):
        return prepare(sweep, inside.root, threads, check_fields)


def _run(folder: SweepFolder, engine: Engine, retry: bool, hooks: Hooks) -> None:
    found = folder.look()
    hooks.begun(folder, found)
    todo, fruitless, waited = to_do(found, retry), 0, 0.0
    while todo or any(f.kind is SampleKind.RUNNING for f in found):
        if todo:
            engine.run(SampleBatch(folder, todo, retry, hooks.told, hooks.note))
        else:
            time.sleep(WAIT)  # others are at what remains
        waited = 0.0 if todo else waited + WAIT
        before, found = open_samples(found), folder.look()
        fruitless = fruitless + 1 if todo and open_samples(found) >= before else 0
        if fruitless == MOST_FRUITLESS:
            raise SweepError(
                "samples",
                got=f"{before} that do not end",
                where=str(folder.path),
                expected="samples that end, or fail with a reason",
            )
        todo, retry = to_do(found, False), False
        if waited >= ASK_AGAIN:  # a lock of another machine may outlast it
            todo, waited = [f.sample for f in found if f.kind is SampleKind.RUNNING], 0.0


def open_samples(found: Sequence[SampleStatus]) -> int:
    """How many have not ended."""
    return sum(f.kind not in (SampleKind.DONE, SampleKind.FAILED) for f in found)


def to_do(found: Sequence[SampleStatus], retry: bool) -> list[Sample]:
    """Samples that nobody is at and that have not ended; with ``retry`` those that failed, too."""
    kinds = {SampleKind.PENDING, SampleKind.STOPPED} | ({SampleKind.FAILED} if retry else set())
    return [f.sample for f in found if f.kind in kinds]


def _sweep_lock(inside: Inside) -> Lock:
    inside.make()
    return Lock(inside)


def check_fields(sweep: SweepFile, plan: Sequence[Sample]) -> None:
    """That the scene has every field that varies, and takes its values: every value of a list, and
    both ends of a range, are read in the first sample's place; and one of the first samples makes
    a scene that can be simulated. Others may not: they fail, each with its reason.

    Raises:
        SceneError, SceneProblems: what is wrong.
    """
    common, first = overrides(sweep.common), plan[0]
    kinds = {tuple(s.values): s for s in reversed(plan)}  # a sample of each set of fields
    changed = [s.overrides for s in [*kinds.values()][:MOST_CHECKED]]
    for path, field in sweep.design.fields.items():
        changed += [overrides({**first.values, path: value}) for value in field.ends()]
    for texts in changed[:MOST_CHECKED]:
        validate(read_source(sweep.scene, [*common, *texts]))
    for k, sample in enumerate(plan[:MOST_BUILT]):
        try:
            load_scene(sweep.scene, [*common, *sample.overrides])
            return
        except WeftError:
            if k == len(plan[:MOST_BUILT]) - 1:
                raise
