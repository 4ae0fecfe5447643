"""Calls of functions side by side in other processes, each with one thread."""

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import get_context
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from weft import kernel
from weft.base.errors import SceneError, SimulationError, WeftError

T = TypeVar("T")


def call_side_by_side(
    function: Callable[..., T], calls: Sequence[tuple[Any, ...]], processes: int
) -> list[T]:
    """Return the results of several calls of a function.

    The processes stay for later calls, because they need seconds to start.

    Args:
        function: a function of a module.
        calls: the arguments of each call.
        processes: number of processes; 1: the calls follow one another in this process.

    Raises:
        SceneError: an argument that cannot be sent to another process.
        SimulationError: a process that has ended.
        WeftError: of the first call that fails; it names the world if there are several calls.
    """
    if processes == 1 or len(calls) == 1:
        return [_name_world(k, len(calls), function, *call) for k, call in enumerate(calls)]
    device = kernel.device()
    jobs = [_pack(k, len(calls), function, call) for k, call in enumerate(calls)]
    pool = _pool(processes)
    try:
        futures = [pool.submit(_call_packed, device, job) for job in jobs]
        try:
            return [f.result() for f in futures]
        finally:
            for f in futures:
                f.cancel()
    except BrokenProcessPool:
        _pool.cache_clear()
        raise SimulationError(
            "processes of runs",
            got="ended",
            expected="processes that run",
            hint=(
                "a script that starts processes needs `if __name__ == '__main__':`; if "
                "memory ran out, use fewer processes"
            ),
        ) from None


@cache
def _pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))


def _name_world(k: int, count: int, function: Callable[..., T], *call: Any) -> T:
    """Return the result of call number k; an error names its world."""
    try:
        return function(*call)
    except WeftError as error:
        if count > 1:
            error.what = f"world {k}, {error.what}"
        raise


def _pack(*job: Any) -> bytes:
    """Return a pickled call.

    Raises:
        SceneError: it cannot be pickled.
    """
    try:
        return pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:  # as pickle says it
        raise SceneError(
            "processes of runs",
            got=f"an object that cannot be sent to another process: {error}",
            expected="losses and parameters that are named functions of modules",
            hint="processes=1 accepts any function",
        ) from None


def _call_packed(device: str, job: bytes) -> Any:
    k, count, function, call = pickle.loads(job)
    with kernel.use(device=device, threads=1), threadpool_limits(1):
        return _name_world(k, count, function, *call)
