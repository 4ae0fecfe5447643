"""``weft grade``: a pattern in several sizes: a nest to print, and all sizes worn and compared."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.errors import PatternError
from weft.base.terminal import bar, new_console, text_column
from weft.cli.options import new_table, say

if TYPE_CHECKING:
    from weft.base.trees import Json
    from weft.plugins.garments.patterns.pattern import Pattern
    from weft.plugins.garments.quality.grading import SizeRun

_STRAINS = ("warp_p99_%", "weft_p99_%", "shear_p99_deg")
PATTERN = Annotated[Path, typer.Argument(help="A garment's pattern.", metavar="PATTERN")]


def grade(
    pattern: PATTERN,
    sizes: Annotated[str, typer.Option(help="36:46, 36:46:4 or 36,40,44.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder.", metavar="DIR", show_default="NAME-sizes")
    ] = None,
    figure: Annotated[str, typer.Option(help="Whose sizes: woman, man or child.")] = "woman",
    allowance: Annotated[str, typer.Option(help="Seam allowance.", metavar="LENGTH")] = "1 cm",
    wear: Annotated[
        Path | None,
        typer.Option(
            help="A scene in which a mannequin wears the garment.",
            metavar="SCENE.yaml",
            show_default="it stands",
        ),
    ] = None,
    print_only: Annotated[bool, typer.Option("--print-only", help="Simulate nothing.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Number of sizes that run at the same time.", min=1, show_default="all cores"
        ),
    ] = None,
) -> None:
    """Grade a pattern: draw its sizes as one nest to print and cut (SVG), let a mannequin of every
    size wear it, and compare ease and strain in a table and in pictures.

    `weft grade skirt.yaml --sizes 36:46`; sizes are those of EN 13402-3 (docs/guides/sizes.md).
    Run the same command again to continue after a stop. Exit status 1 if a size is not worn.
    """
    from weft.base.units import to_si
    from weft.io.files import make_folder, write_file
    from weft.plugins.garments.bodies.sizes import sizes_between
    from weft.plugins.garments.quality.grading import plan_sizes
    from weft.plugins.garments.scene.worn_scene import worn_scene_text
    from weft.plugins.garments.sheets.nest import Nest
    from weft.plugins.garments.sheets.svg_writer import write_nest_svg

    chosen, width = sizes_between(sizes, figure), to_si(allowance, "m")
    if not 0 <= width <= 0.1:
        raise PatternError("--allowance", got=allowance, expected="0 to 10 cm")
    nest = Nest({str(size): _read(pattern, str(size)) for size in chosen}, width)
    folder = out or Path(f"{pattern.stem}-sizes")
    scene = wear or folder / "scene.yaml"
    text = worn_scene_text(pattern, scene) if wear is None else None
    runs = plan_sizes(pattern, chosen, scene, folder / "runs", text)
    make_folder(folder)
    if text is not None:
        write_file(scene, text)
    with warnings.catch_warnings(action="ignore"):  # folds are lines in drawings
        drawing, notes = write_nest_svg(folder / "nest.svg", nest)
    say(f"wrote    {drawing} (to scale: print it at 100 %) and {notes.name}")
    if not print_only and not _wear(runs, folder, workers):
        raise typer.Exit(1)


def _wear(runs: Sequence["SizeRun"], out: Path, workers: int | None) -> bool:
    """Simulate all sizes, compare them, and return whether all are worn."""
    from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn

    from weft.plugins.garments.quality.grading import measure_size, run_sizes, write_table
    from weft.plugins.garments.quality.wear import VERDICTS
    from weft.show.picture.run_sheet import write_run_sheet
    from weft.show.picture.style import Style

    text = text_column("{task.description}")
    with bar(MofNCompleteColumn(), BarColumn(20), TimeElapsedColumn(), text) as progress:
        task = progress.add_task("sizes", total=len(runs))
        ends = run_sizes(
            runs,
            workers,
            lambda run: progress.update(task, advance=1, description=f"last {run.size}"),
        )
    for warning in dict.fromkeys(text for end in ends for text in end.warnings):
        say(f"warning  {warning}", error=True)
    rows = [measure_size(run, end) for run, end in zip(runs, ends)]
    say(f"wrote    {write_table(out / 'sizes.csv', rows)}")
    done = [k for k, end in enumerate(ends) if not end.state]
    if done:
        style = Style("fit", width=340, height=460, azimuth=0.0, elevation=6.0, top=50.0)
        folders, labels = [runs[k].folder for k in done], [_label(rows[k]) for k in done]
        picture = write_run_sheet(out / "sizes.png", folders, labels, style, min(len(done), 6))
        say(f"picture  {picture} (distance from the body)")
    heads = ("body cm", "ease cm", "warp %", "weft %", "shear °")
    table = new_table("size", *heads, "state", right=heads)
    for row in rows:
        body = "/".join(f"{row[f'{n}_cm']:.0f}" for n in ("chest", "waist", "hips"))
        strains = [f"{row[k]:.1f}" if row[k] is not None else "-" for k in _STRAINS]
        state = f"{row['state']} {row['message'] or ''}".strip()
        table.add_row(row["size"], body, ease_texts(row), *strains, state)
    new_console().print(table)
    say("         body, ease: chest/waist/hips; strains: 99 % value of the most strained panel")
    return all(row["state"] in VERDICTS[:2] for row in rows)


def _label(row: "Json") -> list[str]:
    """Return the two lines below a size's picture."""
    return [f"{row['size']}: {row['state']}", f"ease {ease_texts(row)} cm"]


def ease_texts(row: "Json") -> str:
    """Return the ease at chest, waist and hips as text, garment by garment."""
    own = dict.fromkeys(name.rsplit("_", 2)[0] for name in row if name.startswith("ease_"))
    texts = []
    for column in own:
        values = [row.get(f"{column}_{girth}_cm") for girth in ("chest", "waist", "hips")]
        numbers = "/".join("-" if v is None else f"{v:.1f}" for v in values)
        name = column.removeprefix("ease").strip("_")
        if not name or any(v is not None for v in values):
            texts.append(f"{name} {numbers}".strip())
    return ", ".join(texts[1:] or texts)


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
            expected="a pattern that can be sewn",
            hint=f"weft check {path} --set 'measures.size={size}' draws it",
        )
    return pattern
