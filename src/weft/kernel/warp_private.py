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
from itertools import count
from typing import Any

import warp as wp

try:
    from warp._src.context import pack_arg
    from warp._src.types import launch_bounds_t
except ImportError:  # another Warp
    pack_arg = launch_bounds_t = None

_FLOATS = (wp.float64, wp.float32)
_INTEGERS = (int, wp.int32, wp.uint32, wp.int64, wp.uint64)


@lru_cache(maxsize=4096)
def _bounds(n: int) -> Any:
    return ctypes.byref(launch_bounds_t((n,)))


_kinds: dict[tuple[Any, int], str] = {}
_count = count()


def _packed_as(dtype: Any, ndim: int) -> str:
    """Where an array of this kind keeps its bytes, once they are made: its memory stays. An array
    of another kind has no attribute of this name.
    """
    return _kinds.setdefault((dtype, ndim), f"weft_packed_{next(_count)}")


def _bytes(value: Any, name: str) -> Any:
    """Of an array that has none of this name yet; as it is where it is no array of this kind."""
    if type(value) is not wp.array or _packed_as(value.dtype, value.ndim) != name:
        return value
    data = bytes(value.__ctype__())
    setattr(value, name, data)
    return data


class Entry:
    """A kernel of a loaded module; made from the arguments of a first launch."""

    def __init__(self, kernel: Any, args: Sequence[Any]) -> None:
        device = wp.get_device("cpu")
        self._module = kernel.module.load(device, 1)  # kept, so that it is not unloaded
        self._call = self._module.get_kernel_hooks(kernel).forward
        self.address = int(ctypes.cast(self._call, ctypes.c_void_p).value or 0)
        self._names: list[str | None] = []  # of what has the bytes of an array
        self._numbers: dict[int, type] = {}
        self._others: list[tuple[int, Callable[[Any], bytes]]] = []
        codes, fields = [], []
        for i, (a, value) in enumerate(zip(kernel.adj.args, args, strict=True)):
            kind = type(pack_arg(kernel, a.type, a.label, value, device))
            fields.append((f"a{i}", kind))
            array = type(a.type) is wp.array
            self._names.append(_packed_as(a.type.dtype, a.type.ndim) if array else None)
            if a.type in _FLOATS or a.type in _INTEGERS:
                self._numbers[i] = float if a.type in _FLOATS else int
                codes.append(_code(kind))
            else:
                codes.append(f"{ctypes.sizeof(kind)}s")
                if not array:
                    self._others.append((i, _packing(kernel, a, device)))
        for place, gap in _gaps(type("Arguments", (ctypes.Structure,), {"_fields_": fields})):
            codes.insert(place, f"{gap}x")
        self._pack = struct.Struct("=" + "".join(codes)).pack

    def packed(self, args: Sequence[Any]) -> bytes | None:
        """Arguments as the kernel reads them; None where one is not plain."""
        try:
            return self._packed(args)
        except struct.error:
            pass
        except (ValueError, TypeError):  # too many of them, or too few; of no such type
            return None
        plain = list(args)
        try:
            for i, kind in self._numbers.items():
                plain[i] = kind(getattr(plain[i], "value", plain[i]))
            return self._packed(plain)
        except (ValueError, TypeError, struct.error):
            return None

    def _packed(self, args: Sequence[Any]) -> bytes:
        values = [
            value if name is None else getattr(value, name, None) or _bytes(value, name)
            for value, name in zip(args, self._names, strict=True)
        ]
        for i, packing in self._others:
            values[i] = packing(args[i])
        return self._pack(*values)

    def run(self, n: int, packed: bytes) -> None:
        """Run indices 0 ... n-1."""
        self._call(_bounds(n), packed)


def _code(kind: Any) -> str:
    """Return the code of ``struct`` for a number of a type of ctypes. The codes ``l`` and ``L`` of
    ctypes have eight bytes where those of ``struct`` have four.
    """
    code = str(kind._type_)
    return {"l": "q", "L": "Q"}.get(code, code) if ctypes.sizeof(kind) == 8 else code


def _packing(kernel: Any, a: Any, device: Any) -> Callable[[Any], bytes]:
    """As Warp packs an argument."""
    return lambda value: bytes(pack_arg(kernel, a.type, a.label, value, device))


def _gaps(layout: Any) -> list[tuple[int, int]]:
    """Where a structure has bytes that belong to no field, and how many: the last ones first."""
    found, end = [], 0
    for place, (name, _) in enumerate(layout._fields_):
        field = getattr(layout, name)
        if field.offset > end:
            found.append((place, field.offset - end))
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
