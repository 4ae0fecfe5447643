"""Deep equality of objects that are built from numbers."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np


def are_equal(a: Any, b: Any) -> bool:
    """Return whether two objects have one type and equal fields, recursively.

    Functions are equal only if they are one object, because they could be compared only by running
    them.
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    if dataclasses.is_dataclass(a):
        fields = (f.name for f in dataclasses.fields(a))
        return all(are_equal(getattr(a, name), getattr(b, name)) for name in fields)
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(are_equal(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(are_equal, a, b))
    if callable(a):
        return False
    return bool(a == b) or (a != a and b != b)
