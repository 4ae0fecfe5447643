"""Kernels on the CPU, called at their entry point: 10 us of Python a launch, not 30.

``wp.launch`` resolves device, module, overload and block size and looks at every argument anew; a
step of a small cloth launches a thousand kernels. What does not change between two launches of a
kernel is kept here. It rests on parts of Warp that are not public (the hooks of a loaded module and
``pack_arg``): where these are not as expected, or an argument is not plainly of the kernel's type,
``wp.launch`` does it, with its own errors.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import warp as wp

try:
    from warp._src.context import pack_arg
    from warp._src.types import launch_bounds_t
except ImportError:  # another Warp
    pack_arg = launch_bounds_t = None

_FLOATS = (wp.float64, wp.float32)
_INTEGERS = (int, wp.int32, wp.uint32, wp.int64, wp.uint64)


class _NotPlain(Exception):
    """An argument that ``wp.launch`` has to look at."""


@lru_cache(maxsize=4096)
def _bounds(n: int) -> Any:
    return ctypes.byref(launch_bounds_t((n,)))


def _array_of(dtype: Any, ndim: int) -> Callable[[Any], Any]:
    def take(value: Any) -> Any:
        if type(value) is wp.array and value.dtype is dtype and value.ndim == ndim:
            return value.__ctype__()
        raise _NotPlain

    return take


def _float(value: Any) -> float:
    return float(getattr(value, "value", value))


def _integer(value: Any) -> int:
    return int(getattr(value, "value", value))


class Entry:
    """A kernel of a loaded module; made from the arguments of a first launch."""

    def __init__(self, kernel: Any, args: Sequence[Any]) -> None:
        device = wp.get_device("cpu")
        self._module = kernel.module.load(device, 1)  # kept, so that it is not unloaded
        self._call = self._module.get_kernel_hooks(kernel).forward
        self._takes: list[Callable[[Any], Any]] = []
        fields = []
        for i, (a, value) in enumerate(zip(kernel.adj.args, args, strict=True)):
            fields.append((f"a{i}", type(pack_arg(kernel, a.type, a.label, value, device))))
            self._takes.append(self._taking(kernel, a, device))
        self._args = type("Arguments", (ctypes.Structure,), {"_fields_": fields})

    @staticmethod
    def _taking(kernel: Any, a: Any, device: Any) -> Callable[[Any], Any]:
        if type(a.type) is wp.array:
            return _array_of(a.type.dtype, a.type.ndim)
        if a.type in _FLOATS:
            return _float
        if a.type in _INTEGERS:
            return _integer
        return lambda value: pack_arg(kernel, a.type, a.label, value, device)

    def launch(self, n: int, args: Sequence[Any]) -> bool:
        """Run it; False where an argument is not plain, and nothing has run."""
        try:
            packed = [take(value) for take, value in zip(self._takes, args, strict=True)]
        except (_NotPlain, ValueError, TypeError):
            return False
        self._call(_bounds(n), ctypes.byref(self._args(*packed)))
        return True


_entries: dict[int, tuple[Any, Entry | None]] = {}


def launch_on_cpu(kernel: Any, n: int, args: Sequence[Any]) -> None:
    """Run indices 0 ... n-1 of a kernel whose module is loaded."""
    kept = _entries.get(id(kernel))
    if kept is None:
        kept = _entries[id(kernel)] = kernel, _entry(kernel, args)
    if kept[1] is None or not kept[1].launch(n, args):
        wp.launch(kernel, n, inputs=list(args), device="cpu", record_tape=False)


def _entry(kernel: Any, args: Sequence[Any]) -> Entry | None:
    """None where Warp is not as expected, or the kernel is generic."""
    if pack_arg is None or getattr(kernel, "is_generic", True):
        return None
    try:
        return Entry(kernel, args)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None
