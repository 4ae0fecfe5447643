"""``weft grade``: a pattern in several sizes: a nest to print, and all sizes worn and compared."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.errors import PatternError
from weft.cli.options import count, say

if TYPE_CHECKING:
    from weft.garment.pattern import Pattern

PATTERN = Annotated[Path, typer.Argument(help="A garment's pattern.", metavar="PATTERN")]


def grade(
    pattern: PATTERN,
    sizes: Annotated[str, typer.Option(help="36:46, 36:46:4 or 36,40,44.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder.", metavar="DIR", show_default="NAME-sizes")
    ] = None,
    figure: Annotated[str, typer.Option(help="Whose sizes: woman or man.")] = "woman",
    allowance: Annotated[
        str, typer.Option(help="From the seam line to the line that is cut.", metavar="LENGTH")
    ] = "1 cm",
    paper: Annotated[str, typer.Option(help="Of the pages: A4 or A3.")] = "A4",
) -> None:
    """Grade a pattern: draw its sizes as one nest to print and cut (SVG, DXF-AAMA, PDF pages).

    `weft grade skirt.yaml --sizes 36:46`; sizes are those of EN 13402-3 (docs/sizes.md).
    """
    from weft.base.units import to_si
    from weft.bodies.sizes import sizes_between
    from weft.io.files import make_folder
    from weft.show.pattern.dxf_writer import write_nest_dxf
    from weft.show.pattern.nest import Nest
    from weft.show.pattern.pdf_writer import write_nest_pdf
    from weft.show.pattern.svg_writer import write_nest_svg

    chosen, width = sizes_between(sizes, figure), to_si(allowance, "m")
    if not 0 <= width <= 0.1:
        raise PatternError("--allowance", got=allowance, expected="0 to 10 cm")
    nest = Nest({str(size): _read(pattern, str(size)) for size in chosen}, width)
    folder = out or Path(f"{pattern.stem}-sizes")
    make_folder(folder)
    pages = write_nest_pdf(folder / "nest.pdf", nest, paper)
    say(f"wrote    {folder / 'nest.pdf'} ({count(pages, 'page')} of {paper}: print at 100 %)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # folds are lines in drawings
        for path in (*write_nest_svg(folder / "nest.svg", nest), folder / "nest.dxf"):
            say(f"wrote    {path}")
        write_nest_dxf(folder / "nest.dxf", nest)


def _read(path: Path, size: str) -> "Pattern":
    """Return the pattern in a size, if all of it can be sewn."""
    from weft.cli.check_pattern import is_pattern
    from weft.garment import read_pattern
    from weft.garment.check import examine_pattern

    if path.is_file() and not is_pattern(path):
        raise PatternError("pattern", got=str(path), expected="a pattern file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `weft check` tells them
        pattern = read_pattern(path, {"size": size})
        found = examine_pattern(pattern).errors
    if found:
        raise PatternError(
            f"pattern in size {size}",
            got=str(found[0]),
            where=path.name,
            expected="one that can be sewn",
            hint=f"weft check {path} --set 'measures.size={size}' draws it",
        )
    return pattern
