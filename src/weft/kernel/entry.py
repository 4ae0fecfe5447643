"""Kernels on the CPU, called at their entry point: 10 us of Python a launch, not 30.

``wp.launch`` resolves device, module, overload and block size and looks at every argument anew; a
step of a small cloth launches a thousand kernels. What does not change between two launches of a
kernel is kept here. It rests on parts of Warp that are not public (the hooks of a loaded module and
``pack_arg``): where these are not as expected, or an argument is not plainly of the kernel's type,
``wp.launch`` does it, with its own errors.
"""

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

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


class _Arrays:
    """Arrays of one type, as bytes. These are made once for an array, whose memory stays."""

    _all: ClassVar[dict[tuple[Any, int], "_Arrays"]] = {}

    @classmethod
    def of(cls, dtype: Any, ndim: int) -> "_Arrays":
        return cls._all.setdefault((dtype, ndim), cls())

    def __call__(self, value: Any) -> bytes:
        try:
            kind, data = value.weft_packed
        except AttributeError:
            if type(value) is not wp.array:
                raise _NotPlain from None
            kind, data = self.of(value.dtype, value.ndim), bytes(value.__ctype__())
            value.weft_packed = kind, data
        if kind is not self:
            raise _NotPlain
        return data  # type: ignore[no-any-return]


def _numbers(code: str, kind: type) -> Callable[[Any], bytes]:
    """Numbers of a ctypes type code; Python's or Warp's."""
    pack = struct.Struct(code).pack

    def take(value: Any) -> bytes:
        return pack(value if type(value) is kind else kind(getattr(value, "value", value)))

    return take


class Entry:
    """A kernel of a loaded module; made from the arguments of a first launch."""

    def __init__(self, kernel: Any, args: Sequence[Any]) -> None:
        device = wp.get_device("cpu")
        self._module = kernel.module.load(device, 1)  # kept, so that it is not unloaded
        self._call = self._module.get_kernel_hooks(kernel).forward
        self.address = int(ctypes.cast(self._call, ctypes.c_void_p).value or 0)
        self._takes: list[Callable[[Any], bytes]] = []
        fields = []
        for i, (a, value) in enumerate(zip(kernel.adj.args, args, strict=True)):
            kind = type(pack_arg(kernel, a.type, a.label, value, device))
            fields.append((f"a{i}", kind))
            self._takes.append(self._taking(kernel, a, kind, device))
        self._gaps = _gaps(type("Arguments", (ctypes.Structure,), {"_fields_": fields}))

    @staticmethod
    def _taking(kernel: Any, a: Any, kind: Any, device: Any) -> Callable[[Any], bytes]:
        if type(a.type) is wp.array:
            return _Arrays.of(a.type.dtype, a.type.ndim)
        if a.type in _FLOATS:
            return _numbers(kind._type_, float)
        if a.type in _INTEGERS:
            return _numbers(kind._type_, int)
        return lambda value: bytes(pack_arg(kernel, a.type, a.label, value, device))

    def packed(self, args: Sequence[Any]) -> bytes | None:
        """Arguments as the kernel reads them; None where one is not plain."""
        try:
            packed = [take(value) for take, value in zip(self._takes, args, strict=True)]
        except (_NotPlain, ValueError, TypeError, struct.error):
            return None
        for place, gap in self._gaps:
            packed.insert(place, gap)
        return b"".join(packed)

    def run(self, n: int, packed: bytes) -> None:
        """Run indices 0 ... n-1."""
        self._call(_bounds(n), packed)


def _gaps(layout: Any) -> list[tuple[int, bytes]]:
    """Where a structure has bytes that belong to no field: the last ones first."""
    found, end = [], 0
    for place, (name, _) in enumerate(layout._fields_):
        field = getattr(layout, name)
        if field.offset > end:
            found.append((place, bytes(field.offset - end)))
        end = field.offset + field.size
    return found[::-1]


_entries: dict[int, tuple[Any, Entry | None]] = {}


def is_ready(kernel: Any) -> bool:
    """Whether it has run on the CPU before, so that its module is loaded."""
    return id(kernel) in _entries


def launch_on_cpu(kernel: Any, n: int, args: Sequence[Any]) -> None:
    """Run indices 0 ... n-1 of a kernel whose module is loaded."""
    found = packed_for(kernel, args)
    if found is None:
        wp.launch(kernel, n, inputs=list(args), device="cpu", record_tape=False)
    else:
        entry, packed = found
        entry.run(n, packed)


def packed_for(kernel: Any, args: Sequence[Any]) -> tuple[Entry, bytes] | None:
    """The entry point of a kernel whose module is loaded, and its arguments; None: ``wp.launch``
    has to look at them.
    """
    kept = _entries.get(id(kernel))
    if kept is None:
        kept = _entries[id(kernel)] = kernel, _entry(kernel, args)
    entry = kept[1]
    packed = None if entry is None else entry.packed(args)
    return None if entry is None or packed is None else (entry, packed)


def _entry(kernel: Any, args: Sequence[Any]) -> Entry | None:
    """None where Warp is not as expected, or the kernel is generic."""
    if pack_arg is None or getattr(kernel, "is_generic", True):
        return None
    try:
        return Entry(kernel, args)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None
