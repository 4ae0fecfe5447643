"""Results of functions of one object that are computed once and kept with the object."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def memoize(make: Callable[[T], R]) -> Callable[[T], R]:
    """Decorate a function of one object: its result is computed once, and lives with the object.

    The object must be immutable and have a ``__dict__``. Copies of the object and unpickled objects
    compute the result again, if they copy fields alone.

    Args:
        make: the function.

    Returns:
        A function that returns the same result at every call with the same object.
    """
    key = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def memoized(thing: T) -> R:
        results: dict[str, Any] = vars(thing)
        if key not in results:
            results[key] = make(thing)
        found: R = results[key]
        return found

    return memoized
