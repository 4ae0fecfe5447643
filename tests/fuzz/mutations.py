"""Seeded changes to bytes, texts and trees."""

import copy
import re

import yaml

NUMBERS = (
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "0.5",
    "3.7",
    "1e-320",
    "1e-160",
    "1e-9",
    "1e9",
    "1e160",
    "1e308",
    "1.0e+999",
    ".inf",
    "-.inf",
    ".nan",
    "9" * 19,
    "9" * 400,
    "-2147483649",
    "4294967296",
    "0x7f",
    "1_000",
    "0b1",
    "1:30",
    "007",
    "1e-5",
    "12 cm",
    "3 kN^9",
    "5 N/m",
    "1 furlong",
    "1e400 m",
)
WORDS = (
    "null",
    "true",
    "~",
    "''",
    "[]",
    "{}",
    "[null]",
    "[[[]]]",
    "{a: b}",
    "*x",
    "&x [1]",
    "!!int z",
    "!!python/name:os.system x",
    "2001-01-01",
    "2001-99-99",
    "'\\0'",
    '"\\0"',
    '"\\ud800"',
    "é",
    "[1, 2, 3]",
    "[a, b, c]",
    "[1e308, 1e308, 1e308]",
    "<<",
    "? a",
    "|\n  x",
    "cotton",
    "..",
    "/",
    "/dev/null",
    "a.obj",
    "b.npz",
    "x" * 3000,
    "- - - -",
    "{{{{",
    "]]]]",
    "'",
    "%TAG",
    "---",
    "...",
)
TEXTS = NUMBERS + WORDS


def changed_bytes(rng, data):
    """Bits flipped, parts cut, doubled, exchanged, filled, or text put in between."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        n = len(data)
        i, j = sorted((rng.randrange(n + 1), rng.randrange(n + 1)))
        j = min(j, i + rng.choice((1, 2, 8, 100, 10_000)))
        kind = rng.randrange(8)
        if kind == 0 and i < n:
            data[i] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[i:j]
        elif kind == 2:
            data[i:i] = data[i:j]
        elif kind == 3:
            data[i:j] = bytes(rng.choice((0, 255, 32, 57, 45)) for _ in range(j - i))
        elif kind == 4:
            data[i:j] = rng.choice(TEXTS).encode()
        elif kind == 5:
            del data[i:]
        elif kind == 6:
            data[i:j] = rng.randbytes(j - i)
        else:
            k = rng.randrange(n + 1)
            data[i:j], data[k : k + j - i] = data[k : k + j - i], data[i:j]
    return bytes(data)


def words_of(texts):
    """Names of fields that YAML texts say."""
    return sorted({w for text in texts for w in re.findall(r"([a-z_]+):", text)})


def places(tree, at=()):
    """Paths of everything in a tree."""
    yield at
    if not isinstance(tree, dict | list):
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from places(value, (*at, key))


def parent_of(tree, path):
    for key in path[:-1]:
        tree = tree[key]
    return tree


def changed_tree(rng, text, fields):
    """A scene's text with values, fields and blocks changed, moved and doubled."""
    tree = yaml.safe_load(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        paths = [p for p in places(tree) if p]
        if not paths:
            break
        path = rng.choice(paths)
        block, key = parent_of(tree, path), path[-1]
        kind = rng.randrange(7)
        if kind <= 2:
            block[key] = Raw(rng.choice(TEXTS))
        elif kind == 3:
            del block[key]
        elif kind == 4 and isinstance(block, dict):
            block[rng.choice(fields)] = block.pop(key)
        elif kind == 5:
            other = rng.choice(paths)
            try:
                block[key] = copy.deepcopy(parent_of(tree, other)[other[-1]])
            except (KeyError, IndexError, TypeError):
                continue
        elif isinstance(block, dict):
            block[rng.choice(fields)] = Raw(rng.choice(TEXTS))
        elif isinstance(block, list):
            block.extend([block[key]] * rng.choice((1, 2, 7)))
    dumped = yaml.dump(tree, Dumper=Dumper, sort_keys=False)
    for mark, raw in Raw.known.items():
        dumped = dumped.replace(mark, raw)
    return dumped


class Raw(str):
    """Text that is put into YAML as it is."""

    known = {}  # noqa: RUF012

    def __new__(cls, text):
        mark = f"raw{len(cls.known):06d}wer"
        cls.known[mark] = text
        return super().__new__(cls, mark)


class Dumper(yaml.SafeDumper):
    pass


Dumper.add_representer(Raw, lambda d, v: d.represent_str(str(v)))
