"""Fast kernel launches on the CPU, and the only use of private parts of Warp.

``wp.launch`` resolves device, module, overload and block size and inspects every argument in each
call, which takes 30 us of Python. A step of a small cloth launches a thousand kernels. This module
caches what does not change between two launches of a kernel and calls the kernel's entry point,
which takes 10 us.

No other module uses the private parts of Warp: the hooks of a loaded module, ``pack_arg``,
descriptors of arrays, the bounds of a launch and the identifier of a module. They are used only
with the versions of Warp in ``VERIFIED``, and after a self-test whose result is known. Otherwise,
or if an argument is not plainly of the kernel's type, ``wp.launch`` runs the kernel in one thread
and raises its own errors.
"""

import ctypes
import struct
import warnings
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from weft.kernel.types import DataType, IntArray, Kernel, Scalar, ScalarArray

try:
    from warp._src.context import pack_arg
    from warp._src.types import launch_bounds_t
except ImportError:  # another version of Warp
    pack_arg = launch_bounds_t = None

VERIFIED = ("1.19",)  # versions of Warp with which these layouts were compared
PUBLIC = "the public interface of Warp: slow, one thread"
COST = "a launch takes three times as long"

_FLOATS = (wp.float64, wp.float32)
_INTEGERS = (int, wp.int32, wp.uint32, wp.int64, wp.uint64)


@lru_cache(maxsize=4096)
def _bounds(n: int) -> Any:
    """Return Warp's launch bounds for n indices, as a pointer."""
    return ctypes.byref(launch_bounds_t((n,)))


Packer = Callable[[Any], bytes]  # of one argument of a kernel
_kinds: dict[tuple[DataType, int], str] = {}
_count = count()


def _packed_attribute(dtype: DataType, ndim: int) -> str:
    """Return the name of the attribute in which an array of this type stores its packed bytes.

    The bytes stay valid because an array's memory does not move. The name differs for each type, so
    that an array of another type is never mistaken for one of this type.
    """
    return _kinds.setdefault((dtype, ndim), f"weft_packed_{next(_count)}")


def _bytes(value: Any, name: str) -> object:
    """Return the packed bytes of an array, and store them in it; return other values unchanged."""
    if type(value) is not wp.array or _packed_attribute(value.dtype, value.ndim) != name:
        return value
    data = bytes(value.__ctype__())
    setattr(value, name, data)
    return data


class Entry:
    """Entry point of a kernel in a loaded module; built from the arguments of a first launch."""

    def __init__(self, kernel: Kernel, args: Sequence[object]) -> None:
        device = wp.get_device("cpu")
        self._module = kernel.module.load(device, 1)  # a reference, so that it is not unloaded
        self._call = self._module.get_kernel_hooks(kernel).forward
        self.address = int(ctypes.cast(self._call, ctypes.c_void_p).value or 0)
        if not self.address:  # native code would jump to it
            raise RuntimeError(f"kernel {kernel.key} has no entry point")
        self._names: list[str | None] = []  # attributes with an array's bytes; None: not an array
        self._numbers: dict[int, type] = {}
        self._others: list[tuple[int, Packer]] = []
        codes, fields = [], []
        for i, (a, value) in enumerate(zip(kernel.adj.args, args, strict=True)):
            kind = type(pack_arg(kernel, a.type, a.label, value, device))
            fields.append((f"a{i}", kind))
            array = type(a.type) is wp.array
            self._names.append(_packed_attribute(a.type.dtype, a.type.ndim) if array else None)
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

    def pack(self, args: Sequence[object]) -> bytes | None:
        """Return the arguments in the kernel's memory layout; None if one of them is not plain."""
        try:
            return self._pack_values(args)
        except struct.error:
            pass
        except (ValueError, TypeError):  # too many arguments, too few, or of another type
            return None
        plain = list(args)
        try:
            for i, kind in self._numbers.items():
                plain[i] = kind(getattr(plain[i], "value", plain[i]))
            return self._pack_values(plain)
        except (ValueError, TypeError, struct.error):
            return None

    def _pack_values(self, args: Sequence[object]) -> bytes:
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

    def bind(self, n: int, packed: bytes) -> Callable[[], object]:
        """Return a function that runs indices 0 to n-1 in one call of C."""
        return partial(self._call, _bounds(n), packed)


def _code(kind: DataType) -> str:
    """Return the code of ``struct`` for a number of a type of ctypes. The codes ``l`` and ``L`` of
    ctypes have eight bytes where those of ``struct`` have four.
    """
    code = str(kind._type_)
    return {"l": "q", "L": "Q"}.get(code, code) if ctypes.sizeof(kind) == 8 else code


def _packing(kernel: Kernel, a: Any, device: wp.Device) -> Packer:
    """Return a function that packs an argument as Warp does; a structure of the kernel's own type
    knows its bytes.
    """

    def pack(value: Any) -> bytes:
        if getattr(value, "_cls", None) is a.type:
            return bytes(value.__ctype__())
        return bytes(pack_arg(kernel, a.type, a.label, value, device))

    return pack


def _gaps(layout: DataType) -> list[tuple[int, int]]:
    """Return the padding of a structure as (index of the next field, bytes), last one first."""
    found, end = [], 0
    for place, (name, _) in enumerate(layout._fields_):
        field = getattr(layout, name)
        if field.offset > end:
            found.append((place, field.offset - end))
        end = field.offset + field.size
    return found[::-1]


_entries: dict[int, tuple[Any, Entry | None]] = {}


def is_ready(kernel: Kernel) -> bool:
    """Return whether the kernel has run on the CPU before, so that its module is loaded."""
    return id(kernel) in _entries


def is_cached(kernel: Kernel, block: int | None) -> bool:
    """Return whether the machine code of a kernel's module is in the cache.

    The answer is True in versions of Warp that are not verified, because it is not known there.

    Args:
        kernel: a Warp kernel.
        block: threads of a block; None: Warp's choice.
    """
    if not is_verified(wp.config.version):
        return True
    name = str(kernel.module.get_module_identifier(block))
    return (Path(wp.config.kernel_cache_dir) / name).exists()


def load_module(kernel: Kernel, device: str, block: int | None) -> bool:
    """Compile or load a kernel's module, and return whether it compiles.

    The public function, which versions of Warp that are not verified get, does not say whether it
    compiles: there ``wp.launch`` raises its own error later.

    Args:
        kernel: a Warp kernel.
        device: device on which the kernel is to run.
        block: threads of a block; None: Warp's choice.
    """
    if not is_verified(wp.config.version):
        wp.load_module(kernel.module, device=device, block_dim=block)
        return True
    return kernel.module.load(wp.get_device(device), block) is not None


def launch_on_cpu(kernel: Kernel, n: int, args: Sequence[object]) -> None:
    """Run indices 0 to n-1 of a kernel whose module is loaded."""
    found = pack_launch(kernel, args)
    if found is None:
        wp.launch(kernel, n, inputs=list(args), device="cpu", record_tape=False)
    else:
        entry, packed = found
        entry.run(n, packed)


def pack_launch(kernel: Kernel, args: Sequence[object]) -> tuple[Entry, bytes] | None:
    """Return the entry point of a kernel whose module is loaded, and its packed arguments.

    None: ``wp.launch`` has to inspect them.
    """
    kept = _entries.get(id(kernel))
    if kept is None:
        kept = _entries[id(kernel)] = kernel, _entry(kernel, args) if is_usable() else None
    entry = kept[1]
    packed = None if entry is None else entry.pack(args)
    return None if entry is None or packed is None else (entry, packed)


def _entry(kernel: Kernel, args: Sequence[object]) -> Entry | None:
    """Return the kernel's entry point; None if Warp is not as expected or the kernel is generic."""
    if pack_arg is None or getattr(kernel, "is_generic", True):
        return None
    try:
        return Entry(kernel, args)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None


def is_verified(version: str) -> bool:
    """Return whether the layouts of a version of Warp were compared with this module."""
    return ".".join(version.split(".")[:2]) in VERIFIED


@cache
def warn_of_public_interface() -> None:
    """Warn once in a process that kernels run through the public interface of Warp."""
    warnings.warn(describe_launches(usable=False), stacklevel=2)


def describe_launches(usable: bool) -> str:
    """Return how kernels are launched with this version of Warp, and what that costs."""
    version = wp.config.version
    if usable:
        return f"entry points of Warp's kernels (Warp {version} is verified)"
    why = "failed weft's self-test" if is_verified(version) else "is not verified"
    return (
        f"Warp {version} {why}: kernels run through {PUBLIC}, and {COST}; use a verified "
        f"version: pip install 'warp-lang=={VERIFIED[-1]}.*'"
    )


def is_usable(*, warn: bool = True) -> bool:
    """Return whether kernels may be called at their entry points.

    Args:
        warn: warn once in a process if they may not.
    """
    usable = passes_self_test()
    if warn and not usable:
        warn_of_public_interface()
    return usable


@cache
def passes_self_test() -> bool:
    """Return whether the version of Warp is verified, and a self-test passes, which runs once."""
    if pack_arg is None or not is_verified(wp.config.version):
        return False
    test = SelfTest(7)
    entry = _entry(write_known, test.arguments(2))
    packed = None if entry is None else entry.pack(test.arguments(2))
    if entry is None or packed is None:
        return False
    entry.run(4, packed)
    return test.is_passed(2, 6)


@wp.struct
class Known:
    """A structure with a number, a vector and an array."""

    scale: Scalar
    weights: wp.vec3f
    numbers: IntArray


@wp.kernel(module=wp.get_module("weft.team"))
def write_known(o: int, small: wp.float32, known: Known, large: wp.int64, x: ScalarArray):
    """Add a number to x[i] that depends on i and on each argument."""
    i = o + wp.tid()
    one = known.scale * Scalar(known.numbers[i]) + Scalar(small)
    x[i] += one + Scalar(known.weights[2]) * Scalar(large)


class SelfTest:
    """Arguments of ``write_known`` for n indices, and its result."""

    def __init__(self, n: int) -> None:
        self._known, numbers = Known(), np.arange(3, n + 3, dtype=np.int32) ** 2
        self._known.scale, self._known.weights = Scalar(0.5), wp.vec3f(1.0, 2.0, 4.0)
        self._known.numbers = wp.array(numbers, dtype=wp.int32, device="cpu")
        self._one = 0.5 * numbers + 0.25 + 4.0 * 2**40
        self._x = wp.zeros(n, dtype=Scalar, device="cpu")

    def arguments(self, begin: int = 0) -> tuple[object, ...]:
        """Return the arguments of a launch whose first index is ``begin``."""
        return begin, 0.25, self._known, 2**40, self._x

    def is_passed(self, begin: int, end: int, times: int = 1) -> bool:
        """Return whether the kernel ran ``times`` times for the indices ``begin`` to ``end - 1``,
        and for no other index.
        """
        expected = np.zeros(len(self._one))
        expected[begin:end] = times * self._one[begin:end]
        return bool(np.array_equal(self._x.numpy(), expected))
