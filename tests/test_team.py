"""Threads that help: what they do is what one thread does, whoever comes, and nobody waits for
those who do not.
"""

import os
import re
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numpy as np
import pytest
import warp as wp

from weft import kernel
from weft.cli.machine import facts
from weft.kernel import Recorded, RecordedLaunches, Scalar
from weft.kernel.cpu import launching, warp_private
from weft.kernel.cpu import recorded_launches as chain
from weft.kernel.cpu import thread_pool as team
from weft.kernel.cpu.warp_private import pack_launch

_module = wp.get_module("weft.test_team")


@wp.kernel(module=_module)
def roots(o: int, a: wp.array(dtype=Scalar), times: int, out: wp.array(dtype=Scalar)):
    i = o + wp.tid()
    s = a[i]
    for _ in range(times):
        s = wp.sqrt(s + a[i])
    out[i] = s


@wp.kernel(module=_module)
def add_own(o: int, a: wp.array(dtype=Scalar), out: wp.array(dtype=Scalar)):
    i = o + wp.tid()
    out[i] = out[i] + Scalar(i) * a[i]


@wp.struct
class Wide:
    a: wp.array(dtype=Scalar)
    numbers: wp.types.vector(length=800, dtype=Scalar)


@wp.kernel(module=_module)
def wide(o: int, given: Wide, out: wp.array(dtype=Scalar)):
    i = o + wp.tid()
    out[i] = given.a[i] + given.numbers[i % 800]


@pytest.fixture
def own(monkeypatch):
    """A team of this test's own, in place of that of the process."""
    other = team.ThreadPool()
    monkeypatch.setattr(launching, "team", other)
    monkeypatch.setattr(chain, "team", other)
    yield other
    other.leave()


def given(n: int):
    """Numbers and what ``roots`` makes of them with one thread."""
    a = kernel.array(np.random.default_rng(n).uniform(1, 2, n), Scalar)
    out = kernel.zeros(n)
    with kernel.use(threads=1):
        kernel.launch(roots, n, a, 20, out)
    return a, np.array(kernel.numpy(out))


def test_helpers_do_a_job_alone_where_the_caller_does_nothing(own, monkeypatch):
    """All pieces, by threads that have slept: what is opened and left to them is done."""
    n, threads = 10_007, 3
    a, expected = given(n)
    out = kernel.zeros(n)
    assert own._compiles()
    own._gather(threads)
    own._write(48, n, 0, [pack_launch(roots, (0, a, 20, out))])
    own._wake(threads)
    own._numbers[0] = threads
    end = time.monotonic() + 20
    while own._numbers[8] < 48 or own._numbers[16]:
        assert time.monotonic() < end, "nobody came"
        time.sleep(1e-3)
    own._numbers[0] = 0
    np.testing.assert_array_equal(kernel.numpy(out), expected)


def test_thousands_of_jobs_one_after_the_other(own, threads):
    """Of other kernels, lengths and first indices each: no piece is done twice or left out, as
    sums of what each index adds say.
    """
    rng, count = np.random.default_rng(0), 4
    threads(count)
    a = kernel.array(rng.uniform(1, 2, 5000), Scalar)
    out, expected = kernel.zeros(5000), np.zeros(5000)
    for k in range(3000):
        n = int(rng.integers(2, 60))
        begin = int(rng.integers(0, 5000 - n))
        kernel.launch(add_own, n, a, out, work=kernel.HEAVY, begin=begin)
        at = slice(begin, begin + n)
        expected[at] += np.arange(begin, begin + n) * kernel.numpy(a)[at]
        if k % 500 == 0:
            time.sleep(2e-3)  # all fall asleep
    np.testing.assert_array_equal(kernel.numpy(out), expected)


def test_stages_see_what_those_before_them_wrote(own, threads):
    threads(3)
    a, _ = given(501)
    out, expected = kernel.zeros(501), kernel.zeros(501)
    stages = (roots, a, 3), (add_own, a)
    kernel.launch_each(501, *((*s, out) for s in stages), work=kernel.HEAVY)
    with kernel.use(threads=1):
        kernel.launch_each(501, *((*s, expected) for s in stages), work=kernel.HEAVY)
    np.testing.assert_array_equal(kernel.numpy(out), kernel.numpy(expected))


def test_arguments_too_large_to_be_written_down_and_too_many_kernels(own, threads):
    threads(2)
    a, _ = given(64)
    one = Wide()
    one.a, one.numbers = a, wp.types.vector(length=800, dtype=Scalar)(*range(800))
    out, sums = kernel.zeros(64), kernel.numpy(a) + np.arange(64)
    for _ in range(2):
        kernel.launch(wide, 64, one, out, work=kernel.HEAVY)
        np.testing.assert_array_equal(kernel.numpy(out), sums)
    RecordedLaunches([Recorded(wide, 64, one, out), Recorded(add_own, 64, a, out)]).replay()
    sums += np.arange(64) * kernel.numpy(a)
    np.testing.assert_allclose(kernel.numpy(out), sums, rtol=1e-14)
    out.zero_()
    kernel.launch_each(64, *[(add_own, a, out)] * (team.MOST_STAGES + 1), work=kernel.HEAVY)
    expected = (team.MOST_STAGES + 1) * np.arange(64) * kernel.numpy(a)
    np.testing.assert_allclose(kernel.numpy(out), expected, rtol=1e-14)


def by_callers(work):
    """What a function returns to each of four threads that call it at once."""
    with ThreadPoolExecutor(4) as callers:
        return list(callers.map(lambda _: work(), range(4)))


def test_callers_at_once_each_get_their_own(own, threads):
    """Who finds the team at work does without."""
    threads(2)
    n = 4001
    a, expected = given(n)

    def launch_many():
        mine, same = kernel.zeros(n), True
        for _ in range(200):
            mine.zero_()
            kernel.launch(roots, n, a, 20, mine, work=kernel.HEAVY)
            same &= np.array_equal(kernel.numpy(mine), expected)
        return same

    assert all(by_callers(launch_many))


@pytest.fixture
def uncompiled(monkeypatch):
    """The team's kernels do not compile here."""

    def fails(*arguments) -> None:
        raise RuntimeError("no such processor")

    monkeypatch.setattr(team, "launch_on_cpu", fails)


def test_one_thread_does_it_where_the_team_does_not_compile(own, threads, uncompiled):
    threads(2)
    a, expected = given(4001)
    for _ in range(2):
        out = kernel.zeros(4001)
        kernel.launch(roots, 4001, a, 20, out, work=kernel.HEAVY)
        np.testing.assert_array_equal(kernel.numpy(out), expected)


@pytest.fixture
def fresh(own, monkeypatch):
    """Nothing is known of Warp's layouts yet, and nothing is afterwards."""
    monkeypatch.setattr(warp_private, "_entries", {})
    warp_private.passes_self_test.cache_clear()
    warp_private.warn_of_public_interface.cache_clear()
    yield
    own.leave()  # a thread that wakes up would try what is patched
    monkeypatch.undo()
    warp_private.passes_self_test.cache_clear()


def by_all_ways(n: int) -> list[np.ndarray]:
    """What kernels write that are launched, shared and replayed, with plain numbers and others."""
    a = kernel.array(np.random.default_rng(5).uniform(1, 2, n), Scalar)
    launched, shared, replayed = (kernel.zeros(n) for _ in range(3))
    with kernel.use(threads=1):
        kernel.launch(roots, n, a, wp.int32(20), launched)
    kernel.launch_each(n, (roots, a, 3, shared), (add_own, a, shared), work=kernel.HEAVY)
    ends = [replayed, kernel.zeros(n)]
    RecordedLaunches(steps(n, a, ends)).replay()
    return [np.array(kernel.numpy(x)) for x in (launched, shared, *ends)]


def test_the_layouts_of_this_version_are_verified(own, fresh):
    """Else every launch takes three times as long, in one thread: look at ``warp_private``."""
    assert warp_private.is_verified(wp.config.version)
    assert warp_private.is_usable() and own._compiles()


COST = "slow, one thread, and a launch takes three times as long.*pip install 'warp-lang==1.19"


def test_doctor_says_what_a_version_that_is_not_verified_costs(own, fresh, monkeypatch):
    assert f"Warp {wp.config.version} is verified" in facts()["launches"]
    monkeypatch.setattr(wp.config, "version", "1.20.0")
    warp_private.passes_self_test.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the answer is not a launch: no warning
        said = facts()["launches"]
    assert said.startswith("Warp 1.20.0 is not verified") and re.search(COST, said)


@pytest.fixture
def expected(own, threads, fresh):
    """What is written where all works."""
    threads(2)
    return by_all_ways(501)


def forget(monkeypatch):
    """Nothing is known of the layouts from here on; a thread that wakes up may learn them."""
    monkeypatch.setattr(warp_private, "_entries", {})
    warp_private.passes_self_test.cache_clear()


def assert_same(expected):
    for one, other in zip(by_all_ways(501), expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("version", ["1.18.1", "1.20.0", "2.0.0.dev1", "?"])
def test_the_public_path_in_a_version_that_is_not_verified(expected, monkeypatch, version):
    monkeypatch.setattr(wp.config, "version", version)
    monkeypatch.setattr(warp_private.Entry, "run", None)
    forget(monkeypatch)
    with pytest.warns(UserWarning, match=COST) as said:
        assert_same(expected)
    assert len(said) == 1
    assert not warp_private.is_usable()


def test_the_public_path_where_the_self_test_fails(expected, monkeypatch):
    """As an argument is packed where the kernel does not look for it."""
    pack = warp_private.pack_arg

    def wrong(kernel, kind, label, value, device):
        if label == "known":
            value.scale = Scalar(0.75)
        return pack(kernel, kind, label, value, device)

    monkeypatch.setattr(warp_private, "pack_arg", wrong)
    forget(monkeypatch)
    with pytest.warns(UserWarning, match="slow, one thread"):
        assert not warp_private.is_usable()
    assert_same(expected)


@pytest.mark.parametrize("which", range(3))
def test_one_thread_where_a_self_test_of_the_team_fails(own, threads, monkeypatch, which):
    """Of the one who leads, of one who follows, and of launches that are replayed."""
    threads(1)
    expected = by_all_ways(501)
    threads(2)
    passed, tests = team.SelfTest.is_passed, count()

    def is_passed(*arguments, **times) -> bool:
        return next(tests) != which and passed(*arguments, **times)

    monkeypatch.setattr(team.SelfTest, "is_passed", is_passed)
    own._works = None
    assert_same(expected)
    assert own._works is False and next(tests) == which + 1 and not own._calls


def test_an_interrupt_waits_for_those_inside(own, threads, monkeypatch):
    """Else arrays are freed with the frames of the caller while a thread writes to them: Ctrl-C, or
    a timeout, ended in a segmentation fault, and the lock was never given back.
    """
    threads(2)
    a, expected = given(4001)
    out = kernel.zeros(4001)
    kernel.launch(roots, 4001, a, 20, out, work=kernel.HEAVY)

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    def leave() -> None:
        left.append(1)
        own._numbers[16] -= 1

    left: list[int] = []
    own._numbers[16] += 1  # as if somebody were inside for long
    late = threading.Timer(0.2, leave)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(team.time, "sleep", interrupted)
        late.start()
        kernel.launch(roots, 4001, a, 20, out, work=kernel.HEAVY)
    assert left and not own._job.locked()
    np.testing.assert_array_equal(kernel.numpy(out), expected)


def steps(n, a, out, *, long=True):
    """Launches of which each needs what the one before it wrote, short and long ones."""
    ends = 1, n, 3, n if long else 3, 1
    return [
        Recorded(add_neighbors, k, n, a, out[j % 2], out[1 - j % 2], work=1750)
        for j, k in enumerate(ends)
    ]


@wp.kernel(module=_module)
def add_neighbors(
    o: int, n: int, a: wp.array(dtype=Scalar), x: wp.array(dtype=Scalar), y: wp.array(dtype=Scalar)
):
    i = o + wp.tid()
    y[i] = Scalar(0.25) * (x[(i + 1) % n] + x[(i + n - 1) % n] + y[i]) + a[i]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_chain_is_its_launches_in_turn(own, threads, count):
    """Short and long ones, thousands of times, ranges of them, and with other arguments: the same
    bits, also where those who help have fallen asleep.
    """
    n, rng = 401, np.random.default_rng(0)
    numbers = [kernel.array(rng.uniform(1, 2, n), Scalar) for _ in range(2)]
    out, expected = ([kernel.zeros(n) for _ in range(2)] for _ in range(2))
    one, other = RecordedLaunches(steps(n, numbers[0], out)), steps(n, numbers[0], expected)
    assert len(one) == len(other)
    for k in range(1500):
        begin, end = sorted(rng.integers(0, len(one) + 1, 2)) if k % 3 else (0, None)
        if k % 50 == 0:
            which = int(rng.integers(len(one)))
            one.set(which, 1, numbers[k // 50 % 2])
            other[which].set(1, numbers[k // 50 % 2])
            time.sleep(2e-3)
        threads(count)
        one.replay(int(begin), None if end is None else int(end))
        threads(1)
        for launch in other[begin:end]:
            launch.launch()
        if k % 100 == 0:
            for mine, theirs in zip(out, expected, strict=True):
                np.testing.assert_array_equal(kernel.numpy(mine), kernel.numpy(theirs))
    assert np.ptp(kernel.numpy(out[0])) > 0
    assert len(own._calls) == count - 1


def test_a_chain_wakes_threads_for_long_launches_alone(own, threads):
    threads(2)
    n = 401
    a, out = kernel.array(np.ones(n), Scalar), [kernel.zeros(n) for _ in range(2)]
    short = RecordedLaunches(steps(n, a, out, long=False)[2:])
    short.replay()
    assert not own.is_awake and not own._calls
    RecordedLaunches(steps(n, a, out)).replay()
    assert len(own._calls) == 1


def test_a_chain_whose_kernels_do_not_compile_is_launched(own, threads, uncompiled):
    threads(2)
    a, _ = given(64)
    out = kernel.zeros(64)
    RecordedLaunches([Recorded(add_own, 64, a, out)] * 2).replay()
    np.testing.assert_allclose(kernel.numpy(out), 2 * np.arange(64) * kernel.numpy(a), rtol=1e-14)


def test_threads_fall_asleep(own, threads):
    threads(2)
    a, _ = given(100)
    out = kernel.zeros(100)
    kernel.launch(roots, 100, a, 1, out, work=kernel.HEAVY)
    end = time.monotonic() + 20
    while own.is_awake:
        assert time.monotonic() < end
        time.sleep(1e-3)
    spent = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - spent < 0.15


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_works_without_threads_of_its_parent():
    """And a process that ends while its threads look for work ends well."""
    script = textwrap.dedent(
        """
        import os, sys
        import numpy as np
        from weft import kernel
        from weft.solve.sparse.vectors import add_multiple
        from weft.kernel import vec3

        def sums():
            x, y, out = (kernel.points(np.full((3000, 3), v)) for v in (1.0, 2.0, 0.0))
            for _ in range(300):
                kernel.launch(add_multiple, 3000, x, 3.0, y, out, work=kernel.HEAVY)
            return float(kernel.numpy(out).sum())

        kernel.configure(threads=3)
        mine = sums()
        child = os.fork()
        if child == 0:
            os._exit(0 if sums() == mine == 63000.0 else 3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert sums() == mine
        """
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
    assert run.returncode == 0, run.stderr.decode()
