"""Damaged copies of a file, the same ones every time, and how many of them are patterns."""

import random
import warnings

from tests.fuzz.mutations import changed_bytes
from weft.base.errors import PatternError
from weft.plugins.garments.patterns.formats import read_pattern


def count_readable(path, data, count, drawing=None):
    """Of ``count`` damaged copies of a file, the number of those that are read as a pattern (or
    with which the drawing beside it is); all others end in a named error.
    """
    readable, rng = 0, random.Random(0)
    with warnings.catch_warnings(action="ignore"):
        for _ in range(count):
            path.write_bytes(changed_bytes(rng, data))
            try:
                read_pattern(drawing or path)
                readable += 1
            except PatternError as error:
                assert str(error)
    return readable
