"""Device arrays: allocation, copies, sums and sorting, and a count of the traffic."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray
from weft.base.errors import DeviceError
from weft.base.machine import gib
from weft.kernel.context import device, initialize, is_cpu
from weft.kernel.cpu.launching import launch
from weft.kernel.types import DataType, IntArray, Scalar, ScalarArray, WarpArray, WarpStruct, vec3


@dataclass
class Traffic:
    """Number of copies between host and device and of allocations, while they were counted."""

    uploads: int = 0  # arrays copied to the device
    downloads: int = 0  # arrays copied to the host, without scalars
    scalars: int = 0  # numbers read
    allocations: int = 0  # arrays allocated


_traffic: ContextVar[Traffic | None] = ContextVar("weft_traffic", default=None)


@contextmanager
def count_traffic() -> Iterator[Traffic]:
    """Count copies and allocations in a ``with`` block of this thread."""
    token = _traffic.set(Traffic())
    try:
        yield _traffic.get()  # type: ignore[misc]
    finally:
        _traffic.reset(token)


def array(values: ArrayLike, dtype: DataType) -> WarpArray:
    """Return a NumPy array on the device; on the CPU it shares memory if layout and type allow."""
    initialize()
    _count("uploads")
    return wp.array(np.ascontiguousarray(values), dtype=dtype, device=device(), copy=not is_cpu())


def records(Struct: WarpStruct, n: int, **fields: ArrayLike) -> AnyArray:
    """Return n NumPy records of a Warp struct, with these fields; the others are 0."""
    out: AnyArray = np.zeros(n, Struct.numpy_dtype())
    for name, values in fields.items():
        out[name] = values
    return out


def points(x: ArrayLike) -> WarpArray:
    """Return positions (n,3) as a device array of vec3; a device array is returned unchanged."""
    if isinstance(x, wp.array):
        return x
    return array(np.asarray(x, dtype=np.float64), vec3)


def zeros(shape: int | tuple[int, ...], dtype: DataType = Scalar) -> WarpArray:
    """Allocate a device array of zeros."""
    out = empty(shape, dtype)
    if out.size:
        out.zero_()
    return out


def empty(shape: int | tuple[int, ...], dtype: DataType = Scalar) -> WarpArray:
    """Allocate a device array without initializing it; arrays of length 0 are shared.

    Raises:
        DeviceError: the device has not enough memory.
    """
    if shape == 0:
        return _nothing(dtype, device())
    initialize()
    _count("allocations")
    try:
        return wp.empty(shape, dtype=dtype, device=device())
    except RuntimeError as error:
        if "allocate" not in str(error):
            raise
        size = float(np.prod(shape, dtype=float)) * wp.types.type_size_in_bytes(dtype)
        raise DeviceError(
            f"memory of {device()}",
            got=f"an array of {shape} entries, {gib(size)}",
            expected="an array that fits in the free memory",
            hint="use fewer vertices, or a device with more memory",
        ) from error


@cache
def _nothing(dtype: DataType, where: str) -> WarpArray:
    """Return the shared array of length 0."""
    initialize()
    return wp.empty(0, dtype=dtype, device=where)


def _count(what: str) -> None:
    """Add one to a counter, if traffic is counted."""
    traffic = _traffic.get()
    if traffic is not None:
        setattr(traffic, what, getattr(traffic, what) + 1)


class GrowingArray:
    """Device array that grows: ``take`` returns views of memory with room to spare."""

    MOST = 200  # views that are kept

    def __init__(self, dtype: DataType, *width: int) -> None:
        self.dtype, self.width = dtype, width
        self._room: WarpArray | None = None
        self._taken: dict[int, WarpArray] = {}  # by length: to build a view takes Warp 12 us

    def take(self, n: int) -> WarpArray:
        """Return an array (n, ...), not initialized, in the same memory as before if possible."""
        known = self._taken.get(n)
        if known is not None:
            return known
        if n == 0:
            return empty((0, *self.width), self.dtype)
        if self._room is None or self._room.shape[0] < n:
            self._room = empty((n + n // 2 + 16, *self.width), self.dtype)
            self._taken = {}
        elif len(self._taken) == self.MOST:
            self._taken = {}
        self._taken[n] = found = self._room[:n]
        return found


class Scratch:
    """Work memory on the device, shared by many users that run one after the other.

    ``take`` always returns the beginning of one buffer, which is as large as the largest request,
    so the contents of another user's array are lost. The buffer lives as long as this object.
    """

    def __init__(self) -> None:
        self._bytes: WarpArray = None
        self._views: dict[object, WarpArray] = {}

    def take(self, shape: int | tuple[int, ...], dtype: DataType = Scalar) -> WarpArray:
        """Return an array that is not initialized and is valid until the next ``take``."""
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


def numpy(a: WarpArray) -> AnyArray:
    """Return a NumPy view (CPU) or copy (CUDA) of a device array."""
    _count("downloads")
    result: AnyArray = a.numpy()
    return result


# NumPy's type and the shape of an entry, for each of Warp's types.
_layouts: dict[DataType, tuple[np.dtype[np.generic], tuple[int, ...]]] = {}


def view(a: WarpArray) -> AnyArray:
    """Return a NumPy view of a contiguous CPU array, valid as long as the array lives.

    The view is cached in the array, because a step of a small cloth asks for its arrays a hundred
    times.
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
    # Memory by its address: a view that referred to ``a`` would be a reference cycle.
    memory = (ctypes.c_char * a.capacity).from_address(a.ptr)
    a.weft_view = found = np.ndarray(a.shape + known[1], known[0], memory)
    return found


def copy(x: WarpArray, out: WarpArray, begin: int = 0, end: int | None = None) -> None:
    """Copy x (n,) to the beginning of ``out``, of the same type.

    On the CPU only the range from ``begin`` to before ``end`` is copied.
    """
    if out.device.is_cpu:
        end = x.shape[0] if end is None else end
        view(out)[begin:end] = view(x)[begin:end]
    else:
        wp.copy(out, x, count=x.shape[0])


def scalar(a: WarpArray, index: int = -1) -> Any:
    """Return one number of a device array (n,)."""
    _count("scalars")
    if a.device.is_cpu:
        return view(a)[index]
    index %= a.shape[0]
    return a[index : index + 1].numpy()[0]


def scalars(a: WarpArray) -> list[Any]:
    """Return all numbers of a small device array (n,), which are read at once."""
    _count("scalars")
    return (view(a) if a.device.is_cpu else a.numpy()).tolist()  # type: ignore[no-any-return]


def total(a: WarpArray) -> float:
    """Return the sum of all numbers of an array, independent of the number of threads.

    The CPU uses NumPy's pairwise sum.
    """
    _count("scalars")
    return float(view(a).sum()) if a.device.is_cpu else float(np.sum(wp.utils.array_sum(a)))


class Reductions:
    """Numbers that are computed from scalar arrays on the device and read by the host together.

    Every ``add`` returns the place of its number in the result of ``read``.
    """

    MOST = 64  # numbers
    ON_HOST = True  # on the CPU NumPy computes the numbers; tests of the device's code set False

    def __init__(self) -> None:
        self._is_on_host = self.ON_HOST and is_cpu()
        self._numbers: list[float] = []  # that the host knows
        self._signs: list[float] = []  # factor on each number of the device
        self._device: WarpArray = None if self._is_on_host else empty(self.MOST)

    def add_sum(self, a: WarpArray) -> int:
        """Add the sum of a scalar array, as ``total`` computes it."""
        if self._is_on_host:
            return self._add(float(view(a).sum()))
        place = self._place(1.0)
        if a.shape[0]:
            wp.utils.array_sum(a, out=place)
        else:
            place.zero_()
        return len(self._signs) - 1

    def add_largest(self, a: WarpArray) -> int:
        """Add the largest number of a scalar array, at least 0."""
        if self._is_on_host:
            return self._add(float(view(a).max(initial=0.0)))
        return self._add_least(a, -1.0, 0.0)

    def add_least(self, a: WarpArray) -> int:
        """Add the smallest number of a scalar array; infinity if it has length 0."""
        if self._is_on_host:
            return self._add(float(view(a).min(initial=np.inf)))
        return self._add_least(a, 1.0, np.inf)

    def read(self) -> list[float]:
        """Return all numbers in the order in which they were added."""
        _count("scalars")
        if self._is_on_host:
            return self._numbers
        return [s * n for s, n in zip(self._signs, self._device.numpy().tolist())]

    def _add(self, number: float) -> int:
        """Add a number that the host knows."""
        self._numbers.append(number)
        return len(self._numbers) - 1

    def _add_least(self, a: WarpArray, sign: float, start: float) -> int:
        """Add the smallest of ``start`` and of sign times the numbers of a, times ``sign``."""
        place = self._place(sign)
        place.fill_(start)
        launch(_least, a.shape[0], a, Scalar(sign), place)
        return len(self._signs) - 1

    def _place(self, sign: float) -> WarpArray:
        """Return the array (1,) on the device for the next number, which is read times ``sign``."""
        k = len(self._signs)
        self._signs.append(sign)
        return self._device[k : k + 1]


def columns(a: WarpArray) -> list[float]:
    """Return the sums of the components of an array of vectors."""
    return _column_sums(numpy(a))


def _column_sums(values: AnyArray) -> list[float]:
    """Return the sum of each column.

    ``sum(axis=0)`` of rows of two or three numbers takes five times as long.
    """
    return [float(values[:, k].sum()) for k in range(values.shape[1])]


def sum_into(a: WarpArray, n: int, out: WarpArray, place: int) -> None:
    """Write the sum of the first n vectors (vec3) of an array to one entry of ``out``, without
    reading.
    """
    if a.device.is_cpu:
        view(out)[place] = _column_sums(view(a)[:n])
    else:
        wp.utils.array_sum(a[:n], out=out[place : place + 1])


def least(a: WarpArray) -> float:
    """Return the smallest number of a scalar array; infinity if it has length 0."""
    numbers = Reductions()
    numbers.add_least(a)
    return numbers.read()[0]


def largest(a: WarpArray) -> float:
    """Return the largest number of a scalar array, at least 0."""
    numbers = Reductions()
    numbers.add_largest(a)
    return numbers.read()[0]


def least_into(a: WarpArray, out: WarpArray) -> None:
    """Write the smallest number of a scalar array and of ``out`` (1,) to ``out``, without
    reading.
    """
    if a.device.is_cpu:
        view(out)[0] = view(a).min(initial=view(out)[0])
    else:
        launch(_least, a.shape[0], a, Scalar(1.0), out)


@wp.kernel(module=wp.get_module("weft.kernel"))
def _least(o: int, a: ScalarArray, sign: Scalar, out: ScalarArray):
    """Compute a minimum by atomic operations, on devices other than the CPU."""
    wp.atomic_min(out, 0, sign * a[o + wp.tid()])


def prefix_sums(flags: WarpArray, out: WarpArray) -> None:
    """Write the exclusive prefix sums of flags (n,) int32 into ``out`` (n,), without reading."""
    if flags.shape[0] == 0:
        return
    if flags.device.is_cpu:
        sums = view(out)
        sums[0] = 0
        np.add.accumulate(view(flags)[:-1], dtype=np.int32, out=sums[1:])  # half of ``cumsum``
    else:
        wp.utils.array_scan(flags, out, inclusive=False)


def scan(flags: WarpArray, out: WarpArray) -> int:
    """Write the exclusive prefix sums of flags (int32) into ``out``; return the sum of all, the
    only number that is read.
    """
    if flags.shape[0] == 0:
        return 0
    prefix_sums(flags, out)
    if flags.device.is_cpu:
        _count("scalars")
        return int(view(out)[-1]) + int(view(flags)[-1])
    total = empty(1, wp.int32)
    launch(_last_sum, 1, flags, out, total)
    return int(scalar(total))


def count(flags: WarpArray) -> int:
    """Return the sum of an array (n,) of int32."""
    if flags.device.is_cpu:
        _count("scalars")
        return int(view(flags).sum())
    total = zeros(1, wp.int32)
    launch(_add_flag, flags.shape[0], flags, total)
    return int(scalar(total))


@wp.kernel(module=wp.get_module("weft.kernel"))
def _last_sum(o: int, flags: IntArray, sums: IntArray, out: IntArray):
    """Write the sum of all flags from their exclusive prefix sums."""
    last = flags.shape[0] - 1
    out[0] = sums[last] + flags[last]


@wp.kernel(module=wp.get_module("weft.kernel"))
def _add_flag(o: int, flags: IntArray, out: IntArray):
    """Sum integers by atomic operations, on devices other than the CPU."""
    wp.atomic_add(out, 0, flags[o + wp.tid()])


def sort(keys: WarpArray, n: int) -> None:
    """Sort the first n keys (int32 or int64) of an array with room for 2 n."""
    if keys.device.is_cpu:
        view(keys)[:n].sort()
    elif n > 1:
        wp.utils.radix_sort_pairs(keys, empty(2 * n, wp.int32), n)


def sort_pairs(keys: WarpArray, values: WarpArray, n: int) -> None:
    """Sort the first n keys (int32 or int64), and values with them; equal keys keep their order.

    Both arrays have room for 2 n.
    """
    if n > 1:
        wp.utils.radix_sort_pairs(keys, values, n)
