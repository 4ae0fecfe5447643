"""What Python code gives: that it is of the kind that an annotation says, or an array of a shape.

Wrong kinds become named errors here, where they are given, in place of NumPy's further on; nothing
is cut off, dropped or spread over a shape without a word.
"""

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import WeftError, clipped

P = ParamSpec("P")
R = TypeVar("R")
Shape = tuple[int | None, ...]  # None: any


def numbers(value: Any, shape: Shape, what: str, error: type[WeftError]) -> Floats:
    """An array of numbers of a shape, contiguous.

    Raises:
        WeftError: of the class ``error``: text, complex or masked numbers, or another shape.
    """
    return np.ascontiguousarray(_array(value, shape, what, error, "iuf"), dtype=np.float64)


def whole(value: Any, shape: Shape, what: str, error: type[WeftError]) -> Ints:
    """An array of whole numbers of a shape, contiguous; floating-point ones only where they are
    whole.

    Raises:
        WeftError: as ``numbers``; fractions, or numbers beyond int32.
    """
    found = _array(value, shape, what, error, "iuf")
    size = np.iinfo(np.int32)
    with np.errstate(invalid="ignore"):
        fits_int = (found >= size.min) & (found <= size.max) & (found == np.trunc(found))
    if not fits_int.all():
        bad = np.argwhere(~fits_int)[0]
        got = f"{found[tuple(bad)]} at {bad.tolist()}"
        raise error(what, got=got, expected="whole numbers that int32 holds")
    return np.ascontiguousarray(found, dtype=np.int32)


def _array(
    value: Any, shape: Shape, what: str, error: type[WeftError], kinds: str
) -> np.ndarray[Any, Any]:
    expected = f"an array of numbers, {_said(shape)}"
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise error(what, got="masked entries", expected=expected, hint="fill them first")
    try:
        found = np.asarray(value)
    except (ValueError, TypeError, RecursionError):
        raise error(what, got="rows of different lengths", expected=expected) from None
    if found.size == 0:
        found = found.astype(np.float64) if found.dtype.kind in "iufO" else found
    if found.dtype.kind not in kinds:
        got = type(value).__name__ if found.ndim == 0 else f"an array of {found.dtype}"
        raise error(what, got=got, expected=expected)
    fine = found.ndim == len(shape)
    if not fine or any(k not in (None, n) for k, n in zip(shape, found.shape)):
        raise error(what, got=f"shape {found.shape}", expected=expected)
    return found


def _said(shape: Shape) -> str:
    names = iter("nmk")
    sizes = [next(names) if k is None else str(k) for k in shape]
    return f"shape ({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def is_file(path: Path) -> bool:
    """Whether there is an ordinary file of that name; names that no file can have are none."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long; a NUL
        return False


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the kind that an annotation says; what it does not know, is."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any or hint is None or hint is type(None):
        return hint is Any or value is None
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) or value in parts
    if hint in (float, int):
        kind = Real if hint is float else Integral
        return isinstance(value, kind) and not isinstance(value, bool | np.bool_)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if origin is tuple:
        return _row(value) and _entries(value, parts)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    if isinstance(origin, type) and issubclass(origin, Iterable) and origin is not np.ndarray:
        return _row(value) and all(fits(v, parts[0]) for v in value)
    if isinstance(hint, type) and origin is None:
        try:
            return isinstance(value, hint)
        except TypeError:  # a protocol that is only for type checkers
            return True
    return True


def _row(value: Any) -> bool:
    """Whether a value is a list of things, and no text."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _entries(value: Any, parts: tuple[Any, ...]) -> bool:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return all(fits(v, parts[0]) for v in value)
    return len(value) == len(parts) and all(map(fits, value, parts))


def words(hint: Any) -> str:
    """What an annotation asks for, in words."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        said = [words(p) for p in parts if p is not type(None)]
        return " or ".join([*said, *(["nothing"] if type(None) in parts else [])])
    if hint in _NAMES:
        return _NAMES[hint]
    if origin is tuple and Ellipsis not in parts:
        same = len(set(parts)) == 1
        return f"{len(parts)} entries, each {words(parts[0])}" if same else f"{len(parts)} entries"
    if origin is not None and parts and origin is not Literal:
        return f"a list, each {words(parts[0])}"
    return f"a {getattr(hint, '__name__', hint)}"


_NAMES: Mapping[Any, str] = {
    float: "a number", int: "a whole number", bool: "True or False", str: "text",
}  # fmt: skip


def check_kind(value: Any, hint: Any, what: str, error: type[WeftError]) -> None:
    """Raise ``error`` unless a value is of the kind that an annotation says."""
    if not fits(value, hint):
        got = "nothing" if value is None else f"{clipped(repr(value), 60)}, {type(value).__name__}"
        raise error(what, got=got, expected=words(hint))


def checked(error: type[WeftError]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: what a function is given is of the kinds that its annotations say, or ``error``
    names the argument.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @cache
        def hints() -> Mapping[str, Any]:
            return get_type_hints(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature(function).bind(*args, **kwargs)
            for name, value in bound.arguments.items():
                if name in hints():
                    check_kind(value, hints()[name], f"{function.__name__}.{name}", error)
            return function(*args, **kwargs)

        return call

    return decorate
