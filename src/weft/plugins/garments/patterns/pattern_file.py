"""The bytes of a pattern file, and the name of its pattern."""

from pathlib import Path

from weft.base.errors import PatternError, error_text
from weft.base.input_file import read_input

STANDARD_NAMES = ("specification", "template", "prediction")  # GarmentCode: folder is the name


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        PatternError: it cannot be read, or is too large.
    """
    try:
        return read_input(path)
    except (OSError, ValueError) as problem:  # ValueError: too large, or a NUL in the name
        got = error_text(problem)
        raise PatternError(
            "pattern file", got=got, where=path, expected="a readable file"
        ) from problem


def pattern_name(path: Path) -> str:
    """Return the name of a pattern from its file, or from its folder if the file has a standard
    name.

    Suffixes that exporters append to the file's name are removed.
    """
    name = path.stem.removesuffix("_specification")
    if name in STANDARD_NAMES and path.resolve().parent.name:
        return path.resolve().parent.name
    return name
