"""Assertions about the errors of weft: their class and what they name, not their sentences."""

import re
from contextlib import contextmanager

import pytest


def _names(found, part):
    """Whether a part of an error is a value, or contains a text as whole words."""
    if not isinstance(part, str):
        return found == part
    begin, end = r"((?<!\w)|(?!\w))", r"((?!\w)|(?<!\w))"
    return re.search(begin + re.escape(part) + end, str(found)) is not None


def _problems(error):
    """Return the problems that come as one error, or the error alone."""
    parts = getattr(error, "problems", None)
    return [error] if parts is None else [p for part in parts for p in _problems(part)]


@contextmanager
def refused(error, what="", **parts):
    """Assert that a block raises a WeftError of a class, and about one thing.

    Where several problems come as one error, one of them has to be as stated.

    Args:
        error: the class, or a tuple of them.
        what: words of ``WeftError.what``, the thing that is wrong; or a tuple of these and of
            names, numbers and places, each of which some attribute contains.
        parts: values or words of the attributes ``got``, ``expected``, ``where`` and ``hint``.

    Yields:
        What `pytest.raises` yields: ``value`` is the error after the block.
    """
    with pytest.raises(error) as caught:
        yield caught
    what, *names = what if isinstance(what, tuple) else (what,)

    def is_as_stated(problem):
        attributes = vars(problem).values()
        return (
            _names(problem.what, what)
            and all(any(_names(found, name) for found in attributes) for name in names)
            and all(_names(getattr(problem, k), part) for k, part in parts.items())
        )

    problems = _problems(caught.value)
    if not any(map(is_as_stated, problems)):
        found = "\n".join(f"  {type(p).__name__}: {vars(p)}" for p in problems)
        raise AssertionError(f"expected {what!r}, {names}, {parts} in\n{found}")
