"""Arrays on the device: making them, reading them, sums, and what is counted of all that."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import warp as wp

from weft.kernel.context import device, initialize, is_cpu
from weft.kernel.launching import launch
from weft.kernel.segments import current
from weft.kernel.types import Scalar, WarpArray, vec3


@dataclass
class Traffic:
    """What went between host and device, and what was allocated, while it was watched."""

    uploads: int = 0  # arrays
    downloads: int = 0  # arrays; scalars that are read do not count
    scalars: int = 0  # read
    allocations: int = 0  # arrays


_traffic: ContextVar[Traffic | None] = ContextVar("weft_traffic", default=None)


@contextmanager
def watched() -> Iterator[Traffic]:
    """Count copies and allocations in a ``with`` block of this thread."""
    token = _traffic.set(Traffic())
    try:
        yield _traffic.get()  # type: ignore[misc]
    finally:
        _traffic.reset(token)


def array(values: Any, dtype: Any) -> WarpArray:
    """A NumPy array on the device; on the CPU it shares memory where layout and type allow."""
    initialize()
    _count("uploads")
    return wp.array(np.ascontiguousarray(values), dtype=dtype, device=device(), copy=not is_cpu())


def points(x: Any) -> WarpArray:
    """(n,3) positions as a device array of vec3; one that is on the device already is itself."""
    if isinstance(x, wp.array):
        return x
    return array(np.asarray(x, dtype=np.float64), vec3)


def zeros(shape: int | tuple[int, ...], dtype: Any = Scalar) -> WarpArray:
    """A zeroed array on the device."""
    initialize()
    _count("allocations")
    return wp.zeros(shape, dtype=dtype, device=device())


def empty(shape: int | tuple[int, ...], dtype: Any = Scalar) -> WarpArray:
    """An uninitialised array on the device; of no length, always the same."""
    if shape == 0:
        return _nothing(dtype, device())
    initialize()
    _count("allocations")
    return wp.empty(shape, dtype=dtype, device=device())


@cache
def _nothing(dtype: Any, where: str) -> WarpArray:
    initialize()
    return wp.empty(0, dtype=dtype, device=where)


def _count(what: str) -> None:
    traffic = _traffic.get()
    if traffic is not None:
        setattr(traffic, what, getattr(traffic, what) + 1)


class Grown:
    """A device array that grows: views of the length asked for, on memory with room to spare."""

    def __init__(self, dtype: Any, *width: int) -> None:
        self.dtype, self.width = dtype, width
        self._room: WarpArray | None = None
        self._taken: WarpArray | None = None

    def take(self, n: int) -> WarpArray:
        """(n, ...) of the same memory as before, where that is large enough; not initialized."""
        if self._taken is not None and self._taken.shape[0] == n:
            return self._taken
        if n == 0:
            return empty((0, *self.width), self.dtype)
        if self._room is None or self._room.shape[0] < n:
            self._room = empty((n + n // 2 + 16, *self.width), self.dtype)
        self._taken = self._room[:n]
        return self._taken


class Scratch:
    """Device memory that kernels of one thread of work pass results through, shared by many users.

    ``take`` always gives the beginning of one buffer, as large as the largest request: what it held
    for another user is gone. The buffer lives as long as this object.
    """

    def __init__(self) -> None:
        self._bytes: WarpArray = None
        self._views: dict[tuple[Any, Any], WarpArray] = {}

    def take(self, shape: int | tuple[int, ...], dtype: Any = Scalar) -> WarpArray:
        """An uninitialized array; valid until anyone takes another."""
        key = (shape, dtype)
        if key not in self._views:
            size = int(np.prod(shape)) * wp.types.type_size_in_bytes(dtype)
            if self._bytes is None or self._bytes.shape[0] < size:
                self._views.clear()
                self._bytes = empty(max(size, 8), wp.uint8)
            self._views[key] = wp.array(
                ptr=self._bytes.ptr, shape=shape, dtype=dtype, device=device()
            )
        return self._views[key]


def numpy(a: WarpArray) -> np.ndarray[Any, Any]:
    """A NumPy view (CPU) or copy (CUDA) of a device array."""
    _count("downloads")
    result: np.ndarray[Any, Any] = a.numpy()
    return result


_layouts: dict[Any, tuple[Any, tuple[int, ...]]] = {}  # NumPy's type, and axes, of Warp's types


def view(a: WarpArray) -> np.ndarray[Any, Any]:
    """The numbers of a contiguous CPU array, for as long as that lives: kept with it, as a step of
    a small cloth looks at its arrays a hundred times.
    """
    try:
        return a.weft_view  # type: ignore[no-any-return]
    except AttributeError:
        pass
    if a.size == 0 or not a.is_contiguous:
        return a.numpy()  # type: ignore[no-any-return]
    known = _layouts.get(a.dtype)
    if known is None:
        one = a.numpy()
        known = _layouts[a.dtype] = one.dtype, one.shape[a.ndim :]
    memory = (ctypes.c_char * a.capacity).from_address(a.ptr)  # does not keep a itself alive
    a.weft_view = found = np.ndarray(a.shape + known[1], known[0], memory)
    return found


def copy(x: WarpArray, out: WarpArray, begin: int = 0, end: int | None = None) -> None:
    """out[:n] = x (n,), of one type; on the CPU a range of them only."""
    if out.device.is_cpu:
        end = x.shape[0] if end is None else end
        view(out)[begin:end] = view(x)[begin:end]
    else:
        wp.copy(out, x, count=x.shape[0])


def scalar(a: WarpArray, index: int = -1) -> Any:
    """One number of a device array (n,)."""
    _count("scalars")
    if a.device.is_cpu:
        return view(a)[index]
    index %= a.shape[0]
    return a[index : index + 1].numpy()[0]


def total(a: WarpArray) -> float:
    """The sum of all numbers of an array, independent of the number of threads; within ``segments``
    one for every world, (of,), nothing for those that do not work.

    NumPy's pairwise sum where the device shares memory with the host.
    """
    _count("scalars")
    some = current()
    if some is not None:
        rows = view(a).reshape(some.of, -1)
        if len(some.active) == some.of:
            return rows.sum(axis=1)  # type: ignore[no-any-return]
        out = np.full(some.of, np.nan)
        for w in some.active:
            out[w] = np.sum(rows[w])
        return out  # type: ignore[return-value]
    return float(view(a).sum()) if a.device.is_cpu else float(np.sum(wp.utils.array_sum(a)))


def columns(a: WarpArray) -> list[Any]:
    """Sums of the components of an array of vectors; within ``segments`` each as ``total`` is."""
    values, some = numpy(a), current()
    if some is None:
        return _column_sums(values)
    rows = values.reshape(some.of, -1, values.shape[-1])
    out = np.full((values.shape[-1], some.of), np.nan)
    for w in some.active:
        out[:, w] = _column_sums(rows[w])
    return list(out)


def _column_sums(values: np.ndarray[Any, Any]) -> list[float]:
    """One after the other: ``sum(axis=0)`` of rows of two or three numbers takes five times as
    long.
    """
    return [float(values[:, k].sum()) for k in range(values.shape[1])]


def mean(a: WarpArray, n: int) -> Any:
    """(3,) the mean of the first n vectors of an array."""
    _count("scalars")
    if a.device.is_cpu:
        return np.array(_column_sums(view(a)[:n])) / n
    return np.array(wp.utils.array_sum(a[:n])) / n


def least(a: WarpArray, empty: float = float("inf")) -> float:
    """The least number of a scalar array; ``empty`` where there is none."""
    return _extreme(a, 1.0, empty)


def largest(a: WarpArray, empty: float = 0.0) -> float:
    """The largest number of a scalar array; ``empty`` where there is none."""
    return -_extreme(a, -1.0, -empty)


def _extreme(a: WarpArray, sign: float, empty: float) -> float:
    """The least of sign times a scalar array."""
    _count("scalars")
    if a.shape[0] == 0:
        return empty
    if a.device.is_cpu:
        values = view(a)
        return float(values.min() if sign > 0 else -values.max())
    out = wp.full(1, np.inf, dtype=Scalar, device=a.device)
    launch(_least, a.shape[0], a, Scalar(sign), out)
    return float(out.numpy()[0])


@wp.kernel(module=wp.get_module("weft.kernel"))
def _least(o: int, a: wp.array(dtype=Scalar), sign: Scalar, out: wp.array(dtype=Scalar)):
    """On devices that have atomic operations."""
    wp.atomic_min(out, 0, sign * a[o + wp.tid()])


def scan(flags: WarpArray, out: WarpArray) -> int:
    """out[i] = the sum of flags[:i], int32; returns the sum of all."""
    if flags.shape[0] == 0:
        return 0
    if flags.device.is_cpu:
        given, sums = view(flags), view(out)
        sums[0] = 0
        np.cumsum(given[:-1], dtype=np.int32, out=sums[1:])
    else:
        wp.utils.array_scan(flags, out, inclusive=False)
    return int(scalar(out)) + int(scalar(flags))


def sort(keys: WarpArray, n: int) -> None:
    """Sort the first n keys (int32 or int64); there is room for 2 n."""
    if keys.device.is_cpu:
        view(keys)[:n].sort()
    elif n > 1:
        wp.utils.radix_sort_pairs(keys, empty(2 * n, wp.int32), n)


def sort_pairs(keys: WarpArray, values: WarpArray, n: int) -> None:
    """Sort the first n keys (int32 or int64), values along with them; equal ones keep their order.

    Both arrays have room for 2 n.
    """
    if n > 1:
        wp.utils.radix_sort_pairs(keys, values, n)
