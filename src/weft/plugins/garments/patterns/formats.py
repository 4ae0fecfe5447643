"""Reading of pattern files of every format, chosen by suffix.

A format of patterns is one line of ``FORMATS``.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from weft.base.errors import PatternError
from weft.base.runtime_types import checked
from weft.plugins.garments.patterns.dxf import read_dxf
from weft.plugins.garments.patterns.garmentcode import read_garmentcode
from weft.plugins.garments.patterns.pattern import Pattern
from weft.plugins.garments.patterns.svg import read_svg
from weft.plugins.garments.patterns.yaml_pattern import read_yaml_pattern

FORMATS: Mapping[str, Callable[[Path], Pattern]] = {
    ".yaml": read_yaml_pattern,  # weft's own
    ".yml": read_yaml_pattern,
    ".json": read_garmentcode,  # GarmentCode
    ".dxf": read_dxf,  # AAMA and ASTM D6673, with seams in a side-car file
    ".svg": read_svg,  # drawings, with seams in data-seams or a side-car file
}
SUFFIXES = f"{', '.join([*FORMATS][:-1])} or {[*FORMATS][-1]}"  # for messages


@checked(PatternError)
def read_pattern(path: str | Path, measures: Mapping[str, str | float] | None = None) -> Pattern:
    """Return the pattern in a file, whose format follows from its suffix.

    Args:
        path: the file.
        measures: values in place of the measures in a file of weft's own format, for example
            ``{"waist": "80 cm"}``.

    Raises:
        PatternError: an unknown suffix; a file that cannot be read, with what is wrong and where;
            measures for a file of another format.
    """
    path = Path(path)
    read = FORMATS.get(path.suffix.lower())
    if read is None:
        raise PatternError("pattern file", got=str(path), expected=SUFFIXES)
    if measures and read is not read_yaml_pattern:
        expected = "no measures, because only weft's own patterns use measures"
        hint = "docs/guides/garment-files.md: a pattern of measures, which may have sizes"
        raise PatternError(
            "measures", got=", ".join(measures), expected=expected, where=path, hint=hint
        )
    return read_yaml_pattern(path, measures) if measures else read(path)
