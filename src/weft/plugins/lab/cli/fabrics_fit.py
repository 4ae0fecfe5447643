"""``weft fabrics fit FILE.yaml``: a fabric from laboratory data."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.terminal import new_console
from weft.cli.options import (
    AsJson,
    Device,
    Quiet,
    Threads,
    configure,
    new_table,
    notes,
    one_blas_thread,
    print_json,
    say,
    tell_compiling,
    write_json,
)

if TYPE_CHECKING:
    from weft.plugins.lab.fitting.file import FitFile
    from weft.plugins.lab.fitting.fit import Fit

_EXAMPLE = """
for example

  start: cotton
  measurements:
    - {kind: value, field: density, value: 150 g/m^2, uncertainty: 1 %}
    - {kind: tensile, cut: warp, points: [[1 %, 40 gf/cm], [2 %, 79 gf/cm]]}
    - {kind: cantilever, direction: warp, bending_length: [19.2 mm, 19.9 mm]}
    - {kind: cusick, drape_coefficient: 66 %, uncertainty: 3 %}"""


def fit(
    file: Annotated[
        Path | None, typer.Argument(help="File of measurements.", metavar="FILE.yaml")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File of the new preset; report and plots are written beside it.",
            metavar="PRESET.yaml",
            show_default="NAME.yaml here",
        ),
    ] = None,
    kinds: Annotated[
        bool, typer.Option("--kinds", help="Explain the fit file: fields and kinds of measurement.")
    ] = False,
    kind: Annotated[
        str,
        typer.Option(
            "--kind", help="Explain the fields of one kind of measurement.", metavar="KIND"
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only read and check the file.")
    ] = False,
    quiet: Quiet = False,
    json: AsJson = False,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Fit a fabric to laboratory measurements: KES-F, FAST, strips, cantilever (ASTM D1388),
    Cusick's drape coefficient, in any units.

    Writes a preset in SI that `fabric:` reads, with the source and uncertainty of each number;
    beside it PRESET.json and PRESET.png (residuals). Lists numbers that the data do not determine.
    """
    one_blas_thread()
    if kinds or kind or file is None:
        _explain(kind)
        return
    configure(device, threads)
    from weft.plugins.lab.fitting.file import read_fit
    from weft.plugins.lab.fitting.fit import fit as found_of

    tell = notes(silent=quiet or json)
    if not (quiet or json):
        tell_compiling()
    read = read_fit(file)
    if dry_run:
        for m in read.measurements:
            say(f"{m.name}: {', '.join(m.depends_on)}")
        return
    if not read.measurements:
        from weft.base.errors import FabricError

        raise FabricError(
            "measurements",
            got="only curves, which weft takes without fitting",
            where=file.name,
            expected="a measurement to fit",
            hint="a weight, or `as: straight`",
        )
    preset = out or Path(f"{read.name}.yaml")
    _check_out(read, preset)
    found = found_of(read.measurements, read.start, read.fixed, tell)
    if json:
        from weft.plugins.lab.fitting.report import report_as_json

        print_json(report_as_json(read, found))
    elif not quiet:
        from weft.plugins.lab.fitting.report import write_report

        say(write_report(read, found))
    _write(read, found, preset, tell)


def _check_out(read: "FitFile", preset: Path) -> None:
    """Check that the preset can be written, before minutes of fitting.

    Raises:
        RunError: another suffix, the fit file itself, or a folder that is not there or not for us.
    """
    from weft.base.errors import RunError

    if preset.suffix not in (".yaml", ".yml"):
        raise RunError("--out", got=str(preset), expected="a .yaml file")
    if preset.resolve() == read.path.resolve():
        raise RunError(
            "--out",
            got=str(preset),
            expected="another file than the fit file",
            hint="give --out PRESET.yaml, or `name:` in the file",
        )
    if not preset.parent.is_dir():
        raise RunError("--out", got=str(preset), expected="a folder that exists")
    if preset.is_dir() or not os.access(preset.parent, os.W_OK):
        raise RunError("--out", got=str(preset), expected="a file that can be written")


def _write(read: "FitFile", found: "Fit", preset: Path, tell: Callable[[str], None]) -> None:
    """Write the preset, read again; report as JSON; plots where matplotlib is installed."""
    from weft.plugins.lab.fitting import plots
    from weft.plugins.lab.fitting.report import report_as_json, write_preset
    from weft.plugins.lab.laboratory.pictures import missing_library

    numbers, picture = preset.with_suffix(".json"), preset.with_suffix(".png")
    old = [path for path in (preset, numbers, picture) if path.exists()]
    write_preset(preset, read, found)
    write_json(numbers, report_as_json(read, found))
    written = [preset, numbers]
    if lacking := missing_library("residual plots"):
        tell(lacking)
    else:
        plots.draw(found, picture)
        written.append(picture)
    for path in written:
        tell(f"{'replaced' if path in old else 'wrote'} {path}")


def _explain(kind: str) -> None:
    """Print the fields of a fit file, or of one kind."""
    from weft.base.errors import FabricError, check_known
    from weft.base.settings import settings_by_field
    from weft.plugins.lab.fitting.file import KINDS, FitFileSettings, describe_kind, fields_of

    if kind:
        check_known(kind, KINDS, "kind", FabricError)
        say(f"kind: {kind}\n{describe_kind(kind)}")
        _print_rows(fields_of(kind))
        return
    say("a fit file: measurements of a fabric")
    _print_rows({name: a.meaning for name, a in settings_by_field(FitFileSettings).items()})
    say("\nkinds of measurement")
    _print_rows({name: describe_kind(name) for name in KINDS})
    say("\nfields of one kind: weft fabrics fit --kind tensile")
    say(_EXAMPLE)


def _print_rows(rows: Mapping[str, str]) -> None:
    table = new_table("", "")
    table.show_header = False
    for row in rows.items():
        table.add_row(*row)
    new_console().print(table)
