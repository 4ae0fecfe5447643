"""Signatures as people read them: ``seconds: float | str [s] | None = None``."""

import inspect
import types
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from weft.base.runtime_types.messages import is_function, marks_of


class ShortAnnotation:
    """An annotation whose ``repr``, which ``help`` prints, is short."""

    def __init__(self, annotation: object) -> None:
        self.annotation = annotation

    def __repr__(self) -> str:
        return short_text(self.annotation)


def short_signature(function: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a function with short annotations."""
    whole = inspect.signature(function)
    given = [p.replace(annotation=_short(p.annotation)) for p in whole.parameters.values()]
    return whole.replace(parameters=given, return_annotation=_short(whole.return_annotation))


def _short(annotation: Any) -> Any:
    plain = annotation is inspect.Signature.empty or annotation in (None, int, float, bool, str)
    return annotation if plain else ShortAnnotation(annotation)


def short_text(annotation: object) -> str:
    """Return an annotation as text: classes by their own names, arrays with shape and unit."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        array, accepts, setting = marks_of(parts)
        if array is not None:
            return array.short
        text = short_text(parts[0] if accepts is None else accepts.hint)
        return f"{text} [{setting.unit}]" if setting is not None and setting.unit else text
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(short_text, parts)))
    if origin is Literal:
        return " | ".join(map(repr, parts))
    if annotation in (None, type(None), ...):
        return "..." if annotation is ... else "None"
    if isinstance(annotation, list):
        return f"[{', '.join(map(short_text, annotation))}]"
    if isinstance(annotation, str):
        return annotation
    name = str(getattr(origin or annotation, "__name__", annotation)).removeprefix("typing.")
    name = "Callable" if is_function(origin) else name
    return f"{name}[{', '.join(map(short_text, parts))}]" if parts else name
