"""Drapes with contact: seconds of wall and of processor, by phase, beside their goals.

Times are of a second of cloth, of 20 ms or of a step, as their unit says; medians of several runs.
Interactive steps are of 10 ms: two of them are 20 ms of cloth.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from threadpoolctl import threadpool_limits

from benchmarks.contact import broad_phase
from benchmarks.drapes import DRAPES, EFFORTS, DrapeScene, Spent, apart
from benchmarks.freecloth import FREECLOTH, Total, hanging, run_1998
from benchmarks.measure import BenchMeasure, BenchSelection, at_least, at_most, info
from weft import kernel
from weft.base.errors import check_known
from weft.base.machine import GIB

NAME = "contact-drape"
SEARCHES = 5  # least number of broad phases: they are short
PER_SECOND = "s / s of cloth"
QUICK = ("hanging", "1998", "broad-phase")  # beside the small drape


def names() -> list[str]:
    """All scenes, in the order in which they run."""
    return [*DRAPES, *QUICK]


def check(selection: BenchSelection) -> None:
    """Raise for an unknown scene.

    Raises:
        WeftError: with the name that it may have meant.
    """
    for name in selection.only:
        check_known(name, names(), f"{NAME} scene")


def contact_drape(selection: BenchSelection) -> Iterator[BenchMeasure]:
    """The scenes asked for by name, or all, or the quick ones."""
    others: dict[str, Callable[[int], Iterator[BenchMeasure]]] = {
        "hanging": _hanging,
        "1998": _of_1998,
        "broad-phase": _broad_phase,
    }
    for name, drape in DRAPES.items():
        if name in selection.only or (not selection.only and (selection.big or not drape.big)):
            for effort in EFFORTS:
                if effort in drape.goals:
                    yield from _drape(name, drape, effort, selection)
    for name, measure in others.items():
        if name in selection.only or not selection.only:
            yield from measure(selection.repeats)


def _drape(
    name: str, drape: DrapeScene, effort: str, selection: BenchSelection
) -> Iterator[BenchMeasure]:
    """One scene at one effort."""
    seconds = drape.seconds if selection.whole else drape.part
    try:
        runs = [apart(name, effort, seconds) for _ in range(selection.repeats)]
    except RuntimeError as error:
        yield at_least(f"{NAME}/{error}", 0.0, "runs", 1.0)
        return
    yield from measures(f"{NAME}/{name} {effort}", drape, effort, seconds, runs)


def measures(
    label: str, drape: DrapeScene, effort: str, seconds: float, runs: Sequence[Spent]
) -> Iterator[BenchMeasure]:
    """What runs of ``seconds`` of a scene say: the one of median processor time."""
    m = sorted(runs, key=lambda r: r.cpu)[len(runs) // 2]
    part = "" if seconds == drape.seconds else f", first {seconds:g} s"
    step = m.seconds / m.steps
    per = step if drape.per is None else drape.per
    if per == 1:
        what = PER_SECOND
    elif drape.per is None:
        what = f"s / step of {1e3 * step:g} ms"
    else:
        what = f"s / {per:g} s of cloth" if per > 1 else f"s / {1e3 * per:g} ms of cloth"
    scale = per / m.seconds
    goal, unit = drape.goals[effort], f"{what}{part}"
    if drape.threads == 1:
        yield at_most(f"{label}, CPU", m.cpu * scale, unit, goal)
        yield info(f"{label}, wall", m.wall * scale, unit)
    else:
        yield info(f"{label}, CPU", m.cpu * scale, unit)
        yield at_most(f"{label}, wall", m.wall * scale, unit, goal)
    yield info(f"{label}, iterations", m.iterations / m.steps, "a step")
    count = max(m.iterations, 1)
    whole, ms = (m.cpu, "ms, CPU") if drape.threads == 1 else (m.wall, "ms, wall")
    share = whole / m.wall  # others may be at work here
    yield info(f"{label}, iteration", 1e3 * whole / count, ms)
    for phase, spent in sorted(m.phases.items(), key=lambda item: -item[1]):
        yield info(f"{label}, iteration, {phase}", 1e3 * spent * share / count, ms)
    rest = whole - share * sum(m.phases.values())
    yield info(f"{label}, iteration, all else", 1e3 * rest / count, ms)
    yield info(f"{label}, contacts", m.contacts, f"of {m.vertices} vertices")
    yield at_most(f"{label}, steps halved", m.failed, f"of {m.steps}", 0.0)
    yield at_most(f"{label}, intersections at the end", m.crossings, "", 0.0)
    if m.peak and drape.memory is not None:
        yield at_most(f"{label}, peak memory", m.peak / GIB, "GiB", drape.memory)
    elif m.peak:
        yield info(f"{label}, peak memory", m.peak / GIB, "GiB")


def _hanging(repeats: int) -> Iterator[BenchMeasure]:
    """A second of the hanging sheet without contact, every step solved to tolerance."""
    yield from _beside_freecloth("hanging 66 x 66", partial(hanging, "multigrid"), repeats, 0.2)


def _of_1998(repeats: int) -> Iterator[BenchMeasure]:
    """A second of it with the step of 1998."""
    run = partial(run_1998, "multigrid", 1e-2)
    yield from _beside_freecloth("step of 1998, 66 x 66", run, repeats, 0.1)


def _beside_freecloth(
    title: str, run: Callable[[], Total], repeats: int, goal: float
) -> Iterator[BenchMeasure]:
    """Seconds of a second of cloth, with the goal as a part of Freecloth's C++; on one thread, as
    that runs.
    """
    with kernel.use(threads=1), threadpool_limits(limits=1):
        m = sorted((run() for _ in range(repeats)), key=lambda t: t.cpu)[repeats // 2]
    yield at_most(f"{NAME}/{title}, CPU", m.cpu, PER_SECOND, goal * FREECLOTH)
    yield info(f"{NAME}/{title}, wall", m.seconds, PER_SECOND)


def _broad_phase(repeats: int) -> Iterator[BenchMeasure]:
    """Candidates of two sheets of 200 x 200 that lie on each other, beside ipctk's."""
    ours, theirs = broad_phase(max(repeats, SEARCHES))
    yield info(f"{NAME}/broad phase", 1e3 * ours, "ms")
    if theirs is not None:
        yield info(f"{NAME}/broad phase, ipctk", 1e3 * theirs, "ms")
        yield at_most(f"{NAME}/broad phase over ipctk's", ours / theirs, "x", 0.5)
