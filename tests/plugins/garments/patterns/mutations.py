"""Damaged copies of a file, the same ones every time, and how many of them are patterns."""

import random
import warnings

from weft.base.errors import PatternError
from weft.plugins.garments.patterns.formats import read_pattern

PIECES = [
    b"",
    b"0",
    b"-1",
    b"1e999",
    b"nan",
    b"\x00",
    b"\xff\xfe",
    b"[",
    b"}",
    b'"',
    b"<",
    b">",
    b"&a;",
    b"null",
    b"999999999999999999999",
    b"-",
    b",",
    b"\n",
    b"  0\nEOF\n",
]


def mutations(data, count, seed=0):
    """``count`` byte strings made of ``data`` by cutting, doubling, swapping and overwriting."""
    rng = random.Random(seed)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 5])):
            at = rng.randrange(len(changed) + 1)
            size = rng.choice([1, 1, 2, 4, 16, 64, 256])
            kind = rng.randrange(6)
            if kind == 0:
                del changed[at : at + size]
            elif kind == 1:
                changed[at:at] = changed[at : at + size]
            elif kind == 2:
                changed[at : at + rng.choice([0, 1, 2, 4])] = rng.choice(PIECES)
            elif kind == 3:
                other = rng.randrange(len(changed) + 1)
                changed[at : at + size] = changed[other : other + size]
            elif kind == 4 and changed:
                changed[at % len(changed)] = rng.randrange(256)
            else:
                digits = [i for i, c in enumerate(changed) if 48 <= c <= 57]
                if digits:
                    changed[rng.choice(digits)] = rng.choice(b"0123456789-.e")
        yield bytes(changed)


def count_readable(path, data, count, drawing=None):
    """Of ``count`` damaged copies of a file, the number of those that are read as a pattern (or
    with which the drawing beside it is); all others end in a named error.
    """
    readable = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for changed in mutations(data, count):
            path.write_bytes(changed)
            try:
                read_pattern(drawing or path)
                readable += 1
            except PatternError as error:
                assert str(error)
    return readable
