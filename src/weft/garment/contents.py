"""What a pattern file holds, as bytes, and the name that its pattern gets."""

from pathlib import Path

from weft.base.errors import PatternError
from weft.base.input_file import open_input

MOST_BYTES = 32 << 20  # of a file; patterns of hundreds of pieces have 1 MiB
STANDARD_NAMES = ("specification", "template", "prediction")  # GarmentCode: the folder has the name


def contents(path: Path) -> bytes:
    """A file's bytes.

    Raises:
        PatternError: it cannot be read, or is larger than patterns are.
    """
    try:
        with open_input(path) as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise OSError(f"more than {MOST_BYTES >> 20} MiB")
    except (OSError, ValueError) as problem:  # a NUL in the name
        got = getattr(problem, "strerror", None) or str(problem)
        raise PatternError(
            "pattern file", got=got, where=str(path), expected="a readable file"
        ) from problem
    return data


def name_of(path: Path) -> str:
    """The pattern's name: the file's, without what exporters append."""
    name = path.stem.removesuffix("_specification")
    if name in STANDARD_NAMES and path.resolve().parent.name:
        return path.resolve().parent.name
    return name
