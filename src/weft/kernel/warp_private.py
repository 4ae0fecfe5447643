"""Fast kernel launches on the CPU, and the only use of private parts of Warp.

``wp.launch`` resolves device, module, overload and block size and inspects every argument in each
call, which takes 30 us of Python. A step of a small cloth launches a thousand kernels. This module
caches what does not change between two launches of a kernel and calls the kernel's entry point,
which takes 10 us.

The private parts are the hooks of a loaded module and ``pack_arg``. If they are not as expected, or
an argument is not plainly of the kernel's type, ``wp.launch`` runs the kernel and raises its own
errors.
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
except ImportError:  # another version of Warp
    pack_arg = launch_bounds_t = None

_FLOATS = (wp.float64, wp.float32)
_INTEGERS = (int, wp.int32, wp.uint32, wp.int64, wp.uint64)


@lru_cache(maxsize=4096)
def _bounds(n: int) -> Any:
    """Return Warp's launch bounds for n indices, as a pointer."""
    return ctypes.byref(launch_bounds_t((n,)))


_kinds: dict[tuple[Any, int], str] = {}
_count = count()


def _packed_as(dtype: Any, ndim: int) -> str:
    """Return the name of the attribute in which an array of this type stores its packed bytes.

    The bytes stay valid because an array's memory does not move. The name differs for each type, so
    that an array of another type is never mistaken for one of this type.
    """
    return _kinds.setdefault((dtype, ndim), f"weft_packed_{next(_count)}")


def _bytes(value: Any, name: str) -> Any:
    """Return the packed bytes of an array, and store them in it; return other values unchanged."""
    if type(value) is not wp.array or _packed_as(value.dtype, value.ndim) != name:
        return value
    data = bytes(value.__ctype__())
    setattr(value, name, data)
    return data


class Entry:
    """Entry point of a kernel in a loaded module; built from the arguments of a first launch."""

    def __init__(self, kernel: Any, args: Sequence[Any]) -> None:
        device = wp.get_device("cpu")
        self._module = kernel.module.load(device, 1)  # a reference, so that it is not unloaded
        self._call = self._module.get_kernel_hooks(kernel).forward
        self.address = int(ctypes.cast(self._call, ctypes.c_void_p).value or 0)
        self._names: list[str | None] = []  # attributes with an array's bytes; None: not an array
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
        """Return the arguments in the kernel's memory layout; None if one of them is not plain."""
        try:
            return self._packed(args)
        except struct.error:
            pass
        except (ValueError, TypeError):  # too many arguments, too few, or of another type
            return None
        plain = list(args)
        try:
            for i, kind in self._numbers.items():
                plain[i] = kind(getattr(plain[i], "value", plain[i]))
            return self._packed(plain)
        except (ValueError, TypeError, struct.error):
            return None

    def _packed(self, args: Sequence[Any]) -> bytes:
        """Pack the arguments; raises an error if one has another type."""
        values = [
            value if name is None else getattr(value, name, None) or _bytes(value, name)
            for value, name in zip(args, self._names, strict=True)
        ]
        for i, packing in self._others:
            values[i] = packing(args[i])
        return self._pack(*values)

    def run(self, n: int, packed: bytes) -> None:
        """Run indices 0 to n-1."""
        self._call(_bounds(n), packed)


def _code(kind: Any) -> str:
    """Return the code of ``struct`` for a number of a type of ctypes. The codes ``l`` and ``L`` of
    ctypes have eight bytes where those of ``struct`` have four.
    """
    code = str(kind._type_)
    return {"l": "q", "L": "Q"}.get(code, code) if ctypes.sizeof(kind) == 8 else code


def _packing(kernel: Any, a: Any, device: Any) -> Callable[[Any], bytes]:
    """Return a function that packs an argument as Warp does."""
    return lambda value: bytes(pack_arg(kernel, a.type, a.label, value, device))


def _gaps(layout: Any) -> list[tuple[int, int]]:
    """Return the padding of a structure as (index of the next field, bytes), last one first."""
    found, end = [], 0
    for place, (name, _) in enumerate(layout._fields_):
        field = getattr(layout, name)
        if field.offset > end:
            found.append((place, field.offset - end))
        end = field.offset + field.size
    return found[::-1]


_entries: dict[int, tuple[Any, Entry | None]] = {}


def is_ready(kernel: Any) -> bool:
    """Return whether the kernel has run on the CPU before, so that its module is loaded."""
    return id(kernel) in _entries


def launch_on_cpu(kernel: Any, n: int, args: Sequence[Any]) -> None:
    """Run indices 0 to n-1 of a kernel whose module is loaded."""
    found = packed_for(kernel, args)
    if found is None:
        wp.launch(kernel, n, inputs=list(args), device="cpu", record_tape=False)
    else:
        entry, packed = found
        entry.run(n, packed)


def packed_for(kernel: Any, args: Sequence[Any]) -> tuple[Entry, bytes] | None:
    """Return the entry point of a kernel whose module is loaded, and its packed arguments.

    None: ``wp.launch`` has to inspect them.
    """
    kept = _entries.get(id(kernel))
    if kept is None:
        kept = _entries[id(kernel)] = kernel, _entry(kernel, args)
    entry = kept[1]
    packed = None if entry is None else entry.packed(args)
    return None if entry is None or packed is None else (entry, packed)


def _entry(kernel: Any, args: Sequence[Any]) -> Entry | None:
    """Return the kernel's entry point; None if Warp is not as expected or the kernel is generic."""
    if pack_arg is None or getattr(kernel, "is_generic", True):
        return None
    try:
        return Entry(kernel, args)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None
