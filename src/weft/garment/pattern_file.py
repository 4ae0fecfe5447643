"""The bytes of a pattern file, and the name of its pattern."""

from pathlib import Path

from weft.base.errors import PatternError, error_text
from weft.base.input_file import open_input

MOST_BYTES = 32 << 20  # largest file; patterns of hundreds of pieces have 1 MiB
STANDARD_NAMES = ("specification", "template", "prediction")  # GarmentCode: folder is the name


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        PatternError: it cannot be read, or has more than ``MOST_BYTES``.
    """
    try:
        with open_input(path) as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise OSError(f"more than {MOST_BYTES >> 20} MiB")
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        got = error_text(problem)
        raise PatternError(
            "pattern file", got=got, where=path, expected="a readable file"
        ) from problem
    return data


def pattern_name(path: Path) -> str:
    """Return the name of a pattern from its file, or from its folder if the file has a standard
    name.

    Suffixes that exporters append to the file's name are removed.
    """
    name = path.stem.removesuffix("_specification")
    if name in STANDARD_NAMES and path.resolve().parent.name:
        return path.resolve().parent.name
    return name
