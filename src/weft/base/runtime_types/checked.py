"""The decorator ``checked``, and the conversion of the first wrong argument into a weft error."""

import dataclasses
import inspect
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

from weft.base.errors import UnitError, WeftError, did_you_mean, to_one_line
from weft.base.runtime_types.messages import describe_hint, describe_value
from weft.base.runtime_types.signature import short_signature
from weft.base.runtime_types.validators import KIND, VALUE, Translation, entry_of, hint_of
from weft.base.settings import settings_by_field

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")


def checked(
    error: type[WeftError],
    place: str = "",
    *,
    named: bool = False,
    unchecked: Collection[str] = (),
    modules: Collection[str] = (),
) -> Callable[[T], T]:
    """Return a decorator that checks the arguments of a function, or those of the constructor and
    the public methods of a class.

    Args:
        error: class of the errors; a unit of another dimension always raises a ``UnitError``.
        place: text before an argument's name in messages; empty: the name of the function or class.
        named: use the argument ``name`` instead of ``place`` if it is given.
        unchecked: methods of a class that are not checked, because every time step calls them.
        modules: modules whose names the annotations use and that are not imported at run time.
    """

    def decorate(thing: Any) -> Any:
        if not isinstance(thing, type):
            return _checked_function(thing, error, place or thing.__name__, named, modules)
        where = place or thing.__name__
        for name, member in list(vars(thing).items()):
            function = member.__func__ if isinstance(member, staticmethod | classmethod) else member
            if name.startswith("_") or not inspect.isfunction(function):
                continue
            if name in unchecked:
                vars(function)["__signature__"] = short_signature(function)
                continue
            door = _checked_function(function, error, f"{where}.{name}", False, modules)
            setattr(thing, name, door if function is member else type(member)(door))
        if "__init__" in vars(thing):
            own = _checked_function(
                vars(thing)["__init__"], error, where, named, modules, partial(_fields_of, thing)
            )
            setattr(thing, "__init__", own)  # noqa: B010  mypy: a method is assigned to
        return thing

    return decorate


def is_checked(function: Callable[..., object]) -> bool:
    """Return True if the arguments of a function or method are checked."""
    return hasattr(getattr(function, "__func__", function), "_door")


def check_value(value: object, hint: object, what: str, error: type[WeftError]) -> Any:
    """Return a value converted to its annotation, checked like an argument.

    Raises:
        WeftError: of the class ``error``; ``what`` names the value.
    """

    def holder(value: object) -> object:
        return value

    door = _Door(holder, error, what, False, lambda: {"value": hint}, is_value=True)
    (found,), _ = door.bind((value,), {})
    return found


def _checked_function(
    function: Callable[..., object],
    error: type[WeftError],
    place: str,
    named: bool,
    modules: Collection[str],
    hints: Callable[[], Mapping[str, object]] | None = None,
) -> Any:
    """Return a function that checks its arguments and then calls ``function``."""
    door = _Door(function, error, place, named, hints or partial(_hints_of, function, modules))

    @wraps(function)
    def call(*args: object, **kwargs: object) -> Any:
        args, kwargs = door.bind(args, kwargs)
        return function(*args, **kwargs)

    vars(call).update(_door=door, __signature__=short_signature(function))
    return call


def _hints_of(function: Callable[..., object], modules: Collection[str]) -> Mapping[str, object]:
    """Return the evaluated annotations of the arguments."""
    own = {k: v for k, v in function.__annotations__.items() if k != "return"}
    names: dict[str, object] = {}
    for module in modules:
        names.update(vars(import_module(module)))
    holder = types.SimpleNamespace(__annotations__=own)
    return get_type_hints(holder, function.__globals__, names, include_extras=True)


def _fields_of(kind: type) -> Mapping[str, object]:
    """Return the annotations of a constructor; of a dataclass, those of its fields with
    settings.
    """
    if not dataclasses.is_dataclass(kind):
        return _hints_of(inspect.unwrap(vars(kind)["__init__"]), ())
    hints, settings = get_type_hints(kind, include_extras=True), settings_by_field(kind)
    return {k: Annotated[h, settings[k]] if k in settings else h for k, h in hints.items()}


class _Door:
    """The validator of one callable, built at its first call."""

    def __init__(
        self,
        function: Callable[..., object],
        error: type[WeftError],
        place: str,
        named: bool,
        hints: Callable[[], Mapping[str, object]],
        *,
        is_value: bool = False,  # the only argument is a value with the name ``place``
    ) -> None:
        self.function, self.error, self.place, self.named = function, error, place, named
        self._hints, self.is_value = hints, is_value

    @cached_property
    def hints(self) -> Mapping[str, object]:
        """The annotations of the arguments that have one."""
        return self._hints()

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the callable, including ``self``."""
        return inspect.signature(self.function).parameters

    @cached_property
    def _bind(self) -> Any:
        """The function of pydantic that validates arguments and returns them."""
        from pydantic import ConfigDict, validate_call  # imported here because it loads slowly

        def arguments(*args: object, **kwargs: object) -> object:
            return args, kwargs

        # pydantic validates by the signature of the function that it calls. ``arguments`` gets the
        # signature of the callable and returns the validated arguments.
        python = Translation()
        given = [
            p.replace(annotation=python.translate(self.hints.get(name, Any)))
            for name, p in self.parameters.items()
        ]
        vars(arguments)["__signature__"] = inspect.Signature(given)
        arguments.__annotations__ = {p.name: p.annotation for p in given}
        return validate_call(config=ConfigDict(arbitrary_types_allowed=True))(arguments)

    def bind(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Return the checked and converted arguments, by position and by name.

        Raises:
            WeftError: the first argument that is wrong.
        """
        from pydantic import ValidationError

        try:
            return self._bind(*args, **kwargs)
        except ValidationError as failed:
            errors = failed.errors(include_url=False)
        raise self._error_of(errors, args, kwargs)

    @cached_property
    def _positional(self) -> Sequence[str]:
        """The names of the arguments that may be given by position."""
        named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        return [name for name, p in self.parameters.items() if p.kind not in named]

    def _annotation(self, name: str) -> object:
        """Return the annotation of an argument, or that of ``**more`` for an extra one."""
        more = [n for n, p in self.parameters.items() if p.kind is p.VAR_KEYWORD]
        return self.hints.get(name, self.hints.get(more[0], Any) if more else Any)

    def _error_of(
        self, errors: "Sequence[ErrorDetails]", args: tuple[object, ...], kwargs: dict[str, object]
    ) -> WeftError:
        """Return the first of pydantic's errors as a weft error."""
        first, given = errors[0], dict(zip(self._positional, args)) | kwargs
        index = first["loc"][0]
        if first["type"] == "unexpected_positional_argument":
            return self._too_many(len(args))
        name = index if isinstance(index, str) else self._positional[index]
        place = given.get("name") if self.named else None
        place = place if place and isinstance(place, str) else self.place
        what = place if self.is_value else f"{place}.{name}"
        if first["type"] in _BINDING:
            return self._unbound(first["type"], what, name)
        # The errors of this argument: a union has one error for each of its types.
        same = [e for e in errors if e["loc"][0] == index]
        exact = [e for e in same if e["type"] == VALUE]
        if not exact:
            return self._another_kind(what, given.get(name), self._annotation(name), same)
        found, about = exact[0], exact[0]["ctx"]
        what += "".join(f"[{k}]" for k in _indices(found))
        if isinstance(about["error"], UnitError):
            unit_error: UnitError = about["error"]
            unit_error.where = what
            return unit_error
        value = found["input"]
        got = to_one_line(repr(value) if isinstance(value, str) else value, 60)
        got, expected = about["got"] or got, about["expected"]
        return self.error(what, got=got, expected=expected, hint=about["hint"])

    def _another_kind(
        self, what: str, value: Any, hint: object, errors: "Sequence[ErrorDetails]"
    ) -> WeftError:
        """Return the error of a value of none of the allowed types; in a list it names the
        entry.
        """
        expected = None
        for places in zip(*map(_indices, errors)):
            entry = entry_of(hint, places[0])
            if len(set(places)) > 1 or entry is None:
                break
            value, hint, what = list(value)[places[0]], entry, f"{what}[{places[0]}]"
            one = len(errors) == 1 and errors[0]["type"] == KIND
            expected = errors[0]["ctx"]["expected"] if one else None
        expected = expected or describe_hint(hint)
        return self.error(
            what, got=describe_value(value), expected=expected, hint=hint_of(value, hint)
        )

    def _too_many(self, count: int) -> WeftError:
        """Return the error of a call with too many arguments by position."""
        own = [name for name in self._positional if name != "self"]
        others = [name for name in self.parameters if name not in self._positional]
        return self.error(
            f"arguments of {self.place}",
            got=f"{count - ('self' in self.parameters)} by position",
            expected=f"at most {len(own)}",
            hint=f"by name: {', '.join(others)}" if others else None,
        )

    def _unbound(self, kind: str, what: str, name: str) -> WeftError:
        """Return the error of an argument that is missing, unknown, or given twice."""
        if kind == "multiple_argument_values":
            return self.error(what, got="two values", expected="one value, by position or by name")
        if kind == "unexpected_keyword_argument":
            known = [name for name in self.parameters if name != "self"]
            hint = did_you_mean(name, known)
            expected = f"one of {', '.join(known)}"
            return self.error(f"argument {what}", expected=expected, hint=hint)
        annotation = self._annotation(name)
        expected = "a value" if annotation is Any else describe_hint(annotation)
        return self.error(what, got="nothing", expected=expected)


def _indices(error: "ErrorDetails") -> list[int]:
    """Return the indices in nested lists that lead to the wrong entry."""
    return [k for k in error["loc"][1:] if isinstance(k, int)]


_BINDING = (
    "missing_argument",
    "missing_positional_only_argument",
    "missing_keyword_only_argument",
    "unexpected_keyword_argument",
    "multiple_argument_values",
)
