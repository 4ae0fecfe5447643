"""``weft grade``: a pattern in several sizes: a nest to print, and all sizes worn and compared."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.errors import PatternError
from weft.base.terminal import new_console
from weft.cli.options import new_table, say

if TYPE_CHECKING:
    from weft.base.trees import Json
    from weft.plugins.garments.bodies.sizes import ClothesSize
    from weft.plugins.garments.patterns.pattern import Pattern

_STRAINS = ("warp_p99_%", "weft_p99_%", "shear_p99_deg")
PATTERN = Annotated[Path, typer.Argument(help="A garment's pattern.", metavar="PATTERN")]


def grade(
    pattern: PATTERN,
    sizes: Annotated[str, typer.Option(help="36:46, 36:46:4 or 36,40,44.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder.", metavar="DIR", show_default="NAME-sizes")
    ] = None,
    figure: Annotated[str, typer.Option(help="Whose sizes: woman, man or child.")] = "woman",
    allowance: Annotated[
        str, typer.Option(help="From the seam line to the line that is cut.", metavar="LENGTH")
    ] = "1 cm",
    wear: Annotated[
        Path | None,
        typer.Option(
            help="A scene in which a mannequin wears it.",
            metavar="SCENE.yaml",
            show_default="it stands",
        ),
    ] = None,
    print_only: Annotated[
        bool, typer.Option("--print-only", help="Simulate nothing; write the sweep file.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="Sizes at a time.", min=1, show_default="all cores")
    ] = None,
) -> None:
    """Grade a pattern: draw its sizes as one nest to print and cut (SVG), let a mannequin of every
    size wear it, and compare ease and strain in a table and in pictures.

    `weft grade skirt.yaml --sizes 36:46`; sizes are those of EN 13402-3 (docs/sizes.md). The same
    command goes on where it was stopped. Exit status 1 if a size is not worn.
    """
    from weft.base.units import to_si
    from weft.io.files import make_folder
    from weft.plugins.garments.bodies.sizes import sizes_between
    from weft.plugins.garments.sheets.nest import Nest
    from weft.plugins.garments.sheets.svg_writer import write_nest_svg
    from weft.plugins.lab.sweep.sizes import write_size_sweep

    chosen, width = sizes_between(sizes, figure), to_si(allowance, "m")
    if not 0 <= width <= 0.1:
        raise PatternError("--allowance", got=allowance, expected="0 to 10 cm")
    nest = Nest({str(size): _read(pattern, str(size)) for size in chosen}, width)
    folder = out or Path(f"{pattern.stem}-sizes")
    make_folder(folder)
    sweep = write_size_sweep(pattern, chosen, folder, wear)
    with warnings.catch_warnings(action="ignore"):  # folds are lines in drawings
        drawing, notes = write_nest_svg(folder / "nest.svg", nest)
    say(f"wrote    {drawing} (to scale: print it at 100 %) and {notes.name}")
    if print_only:
        say(f"next     weft sweep {sweep} --out {folder / 'runs'}")
    elif not _wear(sweep, chosen, workers):
        raise typer.Exit(1)


def _wear(sweep: Path, sizes: Sequence["ClothesSize"], workers: int | None) -> bool:
    """Simulate all sizes, compare them, and return whether all are worn."""
    from weft.plugins.garments.quality.garment_quality import VERDICTS
    from weft.plugins.lab.sweep.bar import sweep_bar
    from weft.plugins.lab.sweep.contact_sheet import contact_sheet
    from weft.plugins.lab.sweep.executors.processes import Processes
    from weft.plugins.lab.sweep.file import read_sweep
    from weft.plugins.lab.sweep.runner import run_sweep
    from weft.plugins.lab.sweep.sizes import measure_sizes, write_table
    from weft.plugins.lab.sweep.status import SampleKind, SampleStatus
    from weft.show.picture.style import Style

    out = sweep.parent
    with sweep_bar() as hooks:
        folder = run_sweep(read_sweep(sweep), Processes(workers), out=out / "runs", hooks=hooks)
    rows = measure_sizes(folder, sizes)
    say(f"wrote    {write_table(out / 'sizes.csv', rows)}")

    def label(state: SampleStatus) -> list[str]:
        row = rows[state.sample.number]
        return [f"{row['size']}: {row['state']}", f"ease {_numbers(row, 'ease')} cm"]

    done = [f for f in folder.look() if f.kind is SampleKind.DONE]
    if done:
        style = Style("fit", width=340, height=460, azimuth=0.0, elevation=6.0, top=50.0)
        columns, picture = min(len(done), 6), out / "sizes.png"
        contact_sheet(folder, done, picture, columns, style=style, labels=label)
        say(f"picture  {picture} (distance from the body)")
    heads = ("body cm", "ease cm", "warp %", "weft %", "shear °")
    table = new_table("size", *heads, "state", right=heads)
    for row in rows:
        body = "/".join(f"{row[f'{n}_cm']:.0f}" for n in ("chest", "waist", "hips"))
        strains = [f"{row[k]:.1f}" if row[k] is not None else "-" for k in _STRAINS]
        state = f"{row['state']} {row['message'] or ''}".strip()
        table.add_row(row["size"], body, _numbers(row, "ease"), *strains, state)
    new_console().print(table)
    say("         body, ease: chest/waist/hips; strains: 99 % of the worst panel")
    return all(row["state"] in VERDICTS[:2] for row in rows)


def _numbers(row: "Json", name: str) -> str:
    """Return the ease at chest, waist and hips as text."""
    values = [row[f"{name}_{girth}_cm"] for girth in ("chest", "waist", "hips")]
    return "/".join("-" if v is None else f"{v:.1f}" for v in values)


def _read(path: Path, size: str) -> "Pattern":
    """Return the pattern in a size, if all of it can be sewn."""
    from weft.plugins.garments.cli.check_pattern import is_pattern
    from weft.plugins.garments.patterns import read_pattern
    from weft.plugins.garments.patterns.check import examine_pattern

    if path.is_file() and not is_pattern(path):
        raise PatternError("pattern", got=str(path), expected="a pattern file")
    with warnings.catch_warnings(action="ignore"):  # `weft check` tells them
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
