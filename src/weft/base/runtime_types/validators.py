"""Translation of annotations into those by which pydantic checks values.

By default pydantic is too lenient with numbers (it accepts ``True`` and ``"3"``) and copies lists.
The types that arguments have are therefore validated here, and pydantic only walks through unions
and entries.
"""

import inspect
import math
import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import numpy as np

from weft.base.arrays import AnyArray, ArrayOf
from weft.base.errors import WeftError, did_you_mean
from weft.base.runtime_types.messages import (
    LISTS,
    MAPPINGS,
    PLAIN,
    describe_hint,
    is_function,
    marks_of,
)
from weft.base.settings import Setting
from weft.base.units import Quantity, in_si, to_si

if TYPE_CHECKING:
    from pydantic import ValidatorFunctionWrapHandler

# types of errors: the value has another type, or the right type but a value that is not allowed
KIND, VALUE = "weft_kind", "weft_value"
_INT32 = np.iinfo(np.int32)


class Translation:
    """Translation of an annotation into the one by which pydantic checks a value.

    This class is for arguments of Python; its subclass in ``weft.base.schema.block`` is for files,
    which write some of the same values in other forms.
    """

    def translate(self, hint: object, about: Setting = PLAIN) -> Any:
        """Return the annotation by which pydantic checks a value.

        Args:
            hint: the annotation in the source code.
            about: unit and bounds of its numbers.
        """
        from pydantic import AfterValidator, PlainValidator

        origin, parts = get_origin(hint), get_args(hint)
        if origin is Annotated:
            array, accepts, setting = marks_of(parts)
            if array is not None:
                return Annotated[Any, PlainValidator(partial(as_array, about=array))]
            kind = self.translate(parts[0] if accepts is None else accepts.hint, setting or about)
            if setting is None:
                return kind
            return Annotated[kind, AfterValidator(partial(_within, about=setting)), setting]
        if hint is Any or hint is object or isinstance(hint, TypeVar):
            return Any
        if hint is None or hint is type(None):
            return None
        if origin in (Union, types.UnionType):
            kinds = tuple(self.translate(p, about) for p in self.choices(parts, about))
            return Union[kinds]  # noqa: UP007
        if origin is tuple and Ellipsis not in parts:
            return self.entries(tuple(self.translate(p, about) for p in parts), hint, about)
        if origin in LISTS:
            return self.entries((self.translate(parts[0], about), ...), hint, about)
        return self.value(hint, about)

    def choices(self, parts: Sequence[object], about: Setting) -> Sequence[object]:
        """Return the types of a union that are checked one by one."""
        return [p for p in parts if not (p is str and about.unit and float in parts)]

    def entries(self, kinds: tuple[object, ...], hint: object, about: Setting) -> Any:
        """Return the annotation of a tuple with entries of these kinds, or of a list, of which
        ``kinds`` are the kind of every entry and an ellipsis.
        """
        from pydantic import WrapValidator

        inner: Any = (
            list.__class_getitem__(kinds[0]) if ... in kinds else tuple.__class_getitem__(kinds)
        )
        return Annotated[inner, WrapValidator(partial(_entries, hint=hint, about=about))]

    def value(self, hint: Any, about: Setting) -> Any:
        """Return the annotation of a single value, or of a mapping."""
        from pydantic import BeforeValidator, InstanceOf, PlainValidator, Strict, WrapValidator

        origin, parts = get_origin(hint), get_args(hint)
        if origin in MAPPINGS:
            inner = dict.__class_getitem__(tuple(self.translate(p, about) for p in parts))
            return Annotated[inner, WrapValidator(partial(_pairs, hint=hint))]
        if hint is bool:
            return Annotated[bool, BeforeValidator(_plain_truth), Strict()]
        if hint is str:
            return Annotated[str, Strict()]
        if hint is Path:
            return InstanceOf[os.PathLike[str]]
        if origin in (Literal, type):
            return hint
        if is_function(origin) or is_function(hint):
            return Callable
        check = {float: _number, int: _whole}.get(hint, _instance)
        return Annotated[Any, PlainValidator(partial(check, hint=hint, about=about))]


def as_array(value: object, about: ArrayOf) -> AnyArray:
    """Return a contiguous array of the kind and shape in ``about``, without copying if it is one.

    Raises:
        PydanticCustomError: the value cannot be converted.
    """
    if type(value) is np.ndarray and _is_fine(value, about):
        return value
    if about.unit and isinstance(value, list | tuple):
        try:
            value = _in_unit(value, about.unit)
        except WeftError as error:
            raise wrong_value(error.expected, got=error.got, error=error) from None
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise wrong_value(str(about), got="masked entries", hint="fill the missing values first")
    try:
        found = np.asarray(value)
    except (ValueError, TypeError, RecursionError):
        raise wrong_value(str(about), got="rows of different lengths") from None
    if found.size == 0 and found.dtype.kind in "fO" and about.kind != "numbers":
        found = found.astype(np.float64 if about.kind == "ids" else np.bool_)
    if found.ndim == 0 and about.shapes and () not in about.shapes:
        raise _another_kind(about)
    kinds = "b" if about.kind == "bools" else "iuf"
    if found.dtype.kind not in kinds and not (found.size == 0 and found.dtype.kind == "O"):
        if found.ndim == 0:
            raise _another_kind(about)
        raise wrong_value(str(about), got=f"an array of {found.dtype}")
    if about.shapes and not any(_has_shape(found, shape) for shape in about.shapes):
        raise wrong_value(str(about), got=f"shape {found.shape}")
    if about.kind == "bools":
        return np.ascontiguousarray(found, dtype=np.bool_)
    if about.kind == "ids":
        return _ids(found if () not in about.shapes else np.atleast_1d(found), about.least)
    if about.finite and not np.isfinite(made := _floats(found)).all():
        bad = tuple(np.argwhere(~np.isfinite(made))[0].tolist())
        raise wrong_value("finite numbers", got=f"{made[bad]} at {list(bad)}" if bad else f"{made}")
    return _floats(found)


def _in_unit(value: Sequence[float | str], unit: str) -> object:
    """Return lists of numbers and text with units as numbers in SI, or in degrees."""
    if unit != "degrees":
        return in_si(value, unit)
    return [math.degrees(to_si(a, "rad")) if isinstance(a, str) else a for a in value]


_DTYPES = {"numbers": np.dtype("f8"), "ids": np.dtype("i4"), "bools": np.dtype("?")}


def _is_fine(value: AnyArray, about: ArrayOf) -> bool:
    """Return True if an array can be passed on unchanged: the most frequent case, tested fast."""
    if value.dtype != _DTYPES[about.kind] or not value.flags.c_contiguous or value.ndim == 0:
        return False
    if about.shapes and not any(_has_shape(value, shape) for shape in about.shapes):
        return False
    if about.least is not None and value.size and value.min() < about.least:
        return False
    return about.kind != "numbers" or not about.finite or bool(np.isfinite(value).all())


def _floats(found: AnyArray) -> AnyArray:
    made = np.asarray(found, dtype=np.float64)
    return made if made.flags.c_contiguous else np.ascontiguousarray(made)


def _ids(found: AnyArray, least: int | None) -> AnyArray:
    """Return whole numbers as int32; floating-point numbers are accepted if they are whole."""
    with np.errstate(invalid="ignore"):
        fits = (found >= _INT32.min) & (found <= _INT32.max) & (found == np.trunc(found))
    if not np.all(fits):
        bad = tuple(np.argwhere(~fits)[0].tolist())
        raise wrong_value("whole numbers that int32 holds", got=f"{found[bad]} at {list(bad)}")
    if least is not None and found.size and found.min() < least:
        bad = tuple(np.argwhere(found < least)[0].tolist())
        raise wrong_value(f"ids from {least} on", got=f"{found[bad]} at {list(bad)}")
    return np.ascontiguousarray(found, dtype=np.int32)


def _has_shape(found: AnyArray, shape: Sequence[int | None]) -> bool:
    return found.ndim == len(shape) and all(k in (None, n) for k, n in zip(shape, found.shape))


def wrong_value(
    expected: object, got: object = None, hint: object = None, error: object = None
) -> Exception:
    """Return the error for a value that has the right type but is not allowed."""
    from pydantic_core import PydanticCustomError

    about = {"expected": str(expected), "got": got, "hint": hint, "error": error}
    return PydanticCustomError(VALUE, "{expected}", about)


def _another_kind(hint: object, about: Setting = PLAIN) -> Exception:
    """Return the error for a value of another type."""
    from pydantic_core import PydanticCustomError

    return PydanticCustomError(KIND, "{expected}", {"expected": describe_hint(hint, about)})


def _extremes(value: object) -> object:
    """Return a value with each array replaced by its smallest and largest number."""
    if isinstance(value, np.ndarray):
        return (float(value.min()), float(value.max())) if value.size else ()
    return tuple(map(_extremes, value)) if isinstance(value, tuple | list) else value


def _within(value: object, about: Setting) -> object:
    """Return a value after checking its bounds."""
    ends = _extremes(value)
    if not about.holds(ends):
        texts = [c for c in about.choices if isinstance(c, str)]
        hint = did_you_mean(value, texts) if about.choices and isinstance(value, str) else None
        expected = about.expected_for(ends)
        if texts and len(texts) == len(about.choices):
            expected = f"one of {', '.join(texts)}"
        raise wrong_value(expected, hint=hint)
    return value


def quantity_in(unit: str, value: Quantity, *, per_angle: bool = False) -> float:
    """Return a number, or text with a unit, in SI; arguments as of ``to_si``.

    Raises:
        PydanticCustomError: the text has another unit, or the number is out of range.
    """
    try:
        return to_si(value, unit, per_angle=per_angle)
    except WeftError as error:
        raise wrong_value(error.expected, got=error.got, hint=error.hint, error=error) from None


def _is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _number(value: object, hint: object, about: Setting) -> object:
    """Return a floating-point number; text with a unit is converted to SI."""
    if isinstance(value, str) and about.unit:
        return quantity_in(about.unit, value, per_angle=about.per_angle)
    if not _is_real(value):
        raise _another_kind(hint, about)
    if math.isnan(value):
        raise wrong_value(about.expected)
    try:  # integers become floats, too: arrays of integers would truncate numbers added to them
        return value if isinstance(value, float) else float(value)
    except OverflowError:
        raise wrong_value(about.expected) from None


def _whole(value: object, hint: object, about: Setting) -> object:
    """Return an integer; whole floating-point numbers are accepted, as in arrays and scene
    files.
    """
    if not _is_real(value):
        raise _another_kind(hint, about)
    if isinstance(value, int):
        return value
    if not math.isfinite(value) or int(value) != value:
        raise wrong_value(describe_hint(hint, about))
    return int(value)


def _plain_truth(value: object) -> object:
    return bool(value) if isinstance(value, np.bool_) else value


def _instance(value: object, hint: object, about: Setting) -> object:
    """Return a value that is an instance of the annotation."""
    kind = get_origin(hint) or hint
    if isinstance(kind, type) and not is_instance(value, kind):
        raise _another_kind(hint, about)
    return value


def is_instance(value: object, kind: type) -> bool:
    """Return True if a value is an instance of a class, or has all attributes of a protocol."""
    if not getattr(kind, "_is_protocol", False):
        return isinstance(value, kind)
    return not isinstance(value, type) and all(_has(value, name) for name in _members(kind))


def _has(value: object, name: str) -> bool:
    """Return True if an object has an attribute; properties are not evaluated."""
    missing = object()
    return inspect.getattr_static(value, name, missing) is not missing or hasattr(value, name)


def _members(protocol: type) -> Iterable[str]:
    """Yield the names of the attributes that a protocol requires."""
    for part in protocol.__mro__:
        if getattr(part, "_is_protocol", False):
            for name in {**vars(part), **vars(part).get("__annotations__", {})}:
                if not name.startswith("_"):
                    yield name


def _entries(
    value: object, handler: "ValidatorFunctionWrapHandler", hint: object, about: Setting
) -> object:
    """Return a list or tuple with checked entries; the same object if no entry changes."""
    array = isinstance(value, np.ndarray) and value.ndim > 0
    if isinstance(value, np.ndarray) and array:
        given = value.tolist()
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        given = list(value)
    else:
        raise _another_kind(hint, about)
    fixed = get_origin(hint) is tuple and Ellipsis not in get_args(hint)
    if fixed and len(given) != len(get_args(hint)):
        raise _another_kind(hint, about)
    found = handler(given)
    if fixed or isinstance(value, tuple):
        same = isinstance(value, tuple) and all(a is b for a, b in zip(found, given))
        return value if same else tuple(found)
    return value if not array and all(a is b for a, b in zip(found, given)) else found


def _pairs(value: object, handler: "ValidatorFunctionWrapHandler", hint: object) -> object:
    """Return a mapping with checked keys and values; the same object if nothing changes."""
    if not isinstance(value, Mapping):
        raise _another_kind(hint)
    found = handler(dict(value))
    same = all(key in value and value[key] is entry for key, entry in found.items())
    return value if same else found


def hint_of(value: object, hint: object) -> str | None:
    """Return the next step for frequent mistakes; None for all others."""
    for part in _choices(hint):
        origin, parts = get_origin(part), get_args(part)
        if origin is Literal and isinstance(value, str):
            return did_you_mean(value, map(str, parts))
        if isinstance(value, type) and part in value.__mro__:
            return f"this is the class; write {value.__name__}(...)"
        entry = _choices(parts[0]) if origin in LISTS and len(parts) == 1 else ()
        classes = [kind for kind in entry if isinstance(kind, type) and kind is not Any]
        if any(is_instance(value, kind) for kind in classes):
            return "put the value into a list: [...]"
    return None


def entry_of(hint: object, k: int) -> object:
    """Return the annotation of entry k of a list or tuple; None for any other annotation."""
    for part in _choices(hint):
        parts = get_args(part)
        if get_origin(part) is tuple and Ellipsis not in parts:
            return parts[k]
        if get_origin(part) in LISTS:
            return parts[0]
    return None


def _choices(hint: object) -> tuple[object, ...]:
    """Return the types of a union; for any other annotation, this annotation alone."""
    if get_origin(hint) is Annotated:
        return _choices(get_args(hint)[0])
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
