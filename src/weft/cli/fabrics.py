"""``weft fabrics``: the presets, in SI, with the origin and the source of every number.

Plugins add commands to the group, such as ``weft fabrics test`` and ``weft fabrics fit``.
"""

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from weft import extensions
from weft.base.terminal import new_console
from weft.cli.groups import DefaultCommandGroup, add_command
from weft.cli.options import AsJson, new_table, print_json

if TYPE_CHECKING:
    from weft.fabric.fabric import Fabric

MARKS = {"measured": "", "estimated": "~", "published": "°"}
WIDE = 110  # columns of a terminal that has room for titles


class FabricsGroup(DefaultCommandGroup):
    """``weft fabrics`` and ``weft fabrics NAME`` list; other first words are commands."""

    default = "list"


app = typer.Typer(
    cls=FabricsGroup,
    help="List fabrics: `weft fabrics`, `weft fabrics NAME`; test one: `weft fabrics test NAME`; "
    "make one from laboratory data: `weft fabrics fit FILE.yaml`.",
)


@app.command("list")
def fabrics(
    name: Annotated[str | None, typer.Argument(help="A preset, or a fabric's .yaml file.")] = None,
    json: AsJson = False,
) -> None:
    """List fabrics in SI units, and which of their numbers were measured; with a NAME, where each
    number comes from.
    """
    from weft.fabric.fabric import UNITS, fabric, preset_names

    chosen = [fabric(n) for n in ([name] if name else preset_names())]
    if json:
        print_json(
            [
                {
                    **{k: v for k, v in dataclasses.asdict(f).items() if k != "compared"},
                    "units": dict(UNITS),
                    "origins": {field: f.origin(field) for field in UNITS},
                }
                for f in chosen
            ]
        )
    elif name:
        _one(chosen[0])
    else:
        _all(chosen)


def _one(f: "Fabric") -> None:
    """Print every number of a fabric, with its origin and source."""
    from weft.fabric.fabric import CURVES, OPTIONAL, UNITS

    heads = ("field", "value", "unit", "origin", "source")
    table = new_table(*heads, title=f"{f.name}: {f.title}", right=["value"])
    units = {**UNITS, **OPTIONAL, **dict.fromkeys(CURVES, "1, N/m")}
    for field, unit in units.items():
        value = getattr(f, field)
        if value is not None:
            shown = f"{len(value.points)} points" if field in CURVES else f"{value:.4g}"
            source = f.sources.get(field, "").removeprefix(f"{f.origin(field)}: ")
            table.add_row(field, shown, unit, f.origin(field), source)
    new_console().print(table)


def _all(chosen: "list[Fabric]") -> None:
    """Print a line for every fabric."""
    console = new_console()
    wide = console.width >= WIDE
    numbers = (
        "kg/m^2",
        "stretch\nN/m",
        "shear\nN/m",
        "bending\n1e-6 N*m",
        "thick\nmm",
        "meas.\n of 7",
    )
    table = new_table("name", *([""] if wide else []), *numbers, right=numbers)
    for f in chosen:
        shown = partial(_marked_number, f)
        table.add_row(
            f.name,
            *([f.title] if wide else []),
            shown("density"),
            f"{shown('stretch_warp', form='.0f')}/{shown('stretch_weft', form='.0f')}",
            shown("shear", form=".0f"),
            f"{shown('bending_warp', 1e6)}/{shown('bending_weft', 1e6)}",
            shown("thickness", 1e3),
            f"{count_measured(f)[0]}",
        )
    console.print(table)
    console.print("no mark: measured   ~ our estimate   ° a published constant")
    console.print("pairs: warp/weft; measured: the number of measured values among the seven shown")
    console.print("sources, methods and titles: weft fabrics NAME")


def count_measured(f: "Fabric") -> tuple[int, int]:
    """Return how many of the numbers that are shown were measured, and how many are shown."""
    from weft.fabric.fabric import UNITS

    counted = [field for field in UNITS if not field.startswith(("damping", "rest"))]
    return sum(f.origin(field) == "measured" for field in counted), len(counted)


def _marked_number(f: "Fabric", field: str, scale: float = 1.0, form: str = ".3g") -> str:
    """Return a number of a fabric with the mark of its origin."""
    return f"{MARKS.get(f.origin(field), '')}{scale * getattr(f, field):{form}}"


for _name in extensions.names("commands"):
    if _name.startswith("fabrics "):
        add_command(app, _name)
