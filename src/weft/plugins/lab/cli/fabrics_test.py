"""``weft fabrics test NAME``: a virtual laboratory's data sheet of a fabric."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.options import (
    AsJson,
    Device,
    Quiet,
    Threads,
    configure,
    notes,
    one_blas_thread,
    print_json,
    say,
    split_names,
    tell_compiling,
    write_json,
)

if TYPE_CHECKING:
    from weft.plugins.lab.laboratory.sheet import FabricSheet


def test(
    name: Annotated[str, typer.Argument(help="A preset, or a fabric's .yaml file.")],
    tests: Annotated[
        str,
        typer.Option(help="Of tensile,shear,bending,cantilever,cusick.", metavar="NAMES"),
    ] = "tensile,shear,bending,cantilever,cusick",
    out: Annotated[
        Path | None, typer.Option(help="Folder for CSV, JSON and pictures.", metavar="DIR")
    ] = None,
    size: Annotated[
        str, typer.Option(help="Edge length of the draped specimen.", metavar="LENGTH")
    ] = "5 mm",
    drapings: Annotated[int, typer.Option(help="Number of drapings.", min=1)] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the bumps that let it buckle.", min=0)] = 0,
    quiet: Quiet = False,
    json: AsJson = False,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Test a fabric as a laboratory would: tensile in three directions, shear frame, pure bending
    (KES-FB2), cantilever (ASTM D1388) and Cusick's drape test (BS 5058), each as a table.

    --out also writes CSV, JSON and pictures. The tests take a minute, mostly for the drape.
    """
    one_blas_thread()
    configure(device, threads)
    from weft.base.units import to_si
    from weft.fabric.fabric import fabric
    from weft.plugins.lab.laboratory.sheet import select_tests, sheet

    chosen = select_tests(split_names(tests))
    edge = to_si(size, "m", "--size")
    what = fabric(name)
    if not (quiet or json):
        tell_compiling()
    tell = notes(silent=quiet or json)
    found = sheet(what, chosen, edge, drapings, seed, tell)
    if json:
        print_json(found.plain)
    elif not quiet:
        say(f"{what.name}: {what.title}")
        for table in found.tables:
            say(f"\n{table.name}\n{table.text()}")
    if out is not None:
        _write(found, out, tell)


def _write(found: "FabricSheet", folder: Path, tell: Callable[[str], None]) -> None:
    """Write tables, JSON and pictures of the specimen, and curves where matplotlib is installed."""
    from weft.io.files import make_folder, write_file
    from weft.plugins.lab.laboratory.pictures import drape_pictures, draw_sheet, missing_library
    from weft.show.picture.renderer import save_png

    name = re.sub(r"[^\w.-]", "_", found.fabric.name)  # of a file: whatever its author wrote
    make_folder(folder)
    written = []
    for table in found.tables:
        written.append(write_file(folder / f"{name}-{table.name}.csv", table.csv()))
    written.append(folder / f"{name}.json")
    write_json(written[-1], found.plain)
    if found.cusick is not None:
        for view, image in drape_pictures(found.cusick).items():
            written.append(folder / f"{name}-draped-{view}.png")
            save_png(written[-1], image)
    if lacking := missing_library():
        tell(lacking)
    else:
        written.append(folder / f"{name}-curves.png")
        draw_sheet(found, written[-1])
    for path in written:
        tell(f"wrote {path}")
