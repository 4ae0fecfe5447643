"""``weft fabrics``: the presets, in SI, with the origin and the source of every number; and
``weft fabrics test NAME`` (``cli/fabrics_test.py``), ``weft fabrics fit FILE.yaml``
(``cli/fabrics_fit.py``).
"""

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from weft.base.terminal import new_console
from weft.cli import fabrics_fit, fabrics_test
from weft.cli.options import AsJson, print_json

if TYPE_CHECKING:
    from weft.fabric.fabric import Fabric

MARKS = {"measured": "", "estimated": "~", "published": "°"}
COUNTED = (
    "density",
    "stretch_warp",
    "stretch_weft",
    "shear",
    "bending_warp",
    "bending_weft",
    "thickness",
)
WIDE = 110  # columns of a terminal that has room for titles


class NamesToo(TyperGroup):
    """``weft fabrics`` and ``weft fabrics NAME`` list; other first words are commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say ``list`` where no command was said."""
        first = args[0] if args else ""
        if first not in self.commands and first not in ctx.help_option_names:
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=NamesToo,
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
                    **dataclasses.asdict(f),
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
    """Every number of a fabric, with its origin and source."""
    from rich.table import Table

    from weft.fabric.fabric import CURVES, LIMITS, UNITS

    table = Table(box=None, pad_edge=False, show_edge=False)
    table.title, table.title_justify = f"{f.name}: {f.title}", "left"
    for column in ("field", "value", "unit", "origin", "source"):
        table.add_column(column, overflow="fold", justify="right" if column == "value" else "left")
    for field, unit in UNITS.items():
        source = f.sources.get(field, "").removeprefix(f"{f.origin(field)}: ")
        table.add_row(field, f"{getattr(f, field):.4g}", unit, f.origin(field), source)
    for field in (*LIMITS, *CURVES):
        value = getattr(f, field)
        if value is not None:
            shown = f"{len(value.points)} points" if field in CURVES else f"{value:.4g}"
            source = f.sources.get(field, "").removeprefix(f"{f.origin(field)}: ")
            table.add_row(field, shown, LIMITS.get(field, "1, N/m"), f.origin(field), source)
    new_console().print(table)


def _all(chosen: "list[Fabric]") -> None:
    """A line for every fabric."""
    from rich.table import Table

    console = new_console()
    wide = console.width >= WIDE
    table = Table(box=None, pad_edge=False, show_edge=False)
    heads = [
        "name",
        *([""] if wide else []),
        "kg/m^2",
        "stretch\nN/m",
        "shear\nN/m",
        "bending\n1e-6 N*m",
        "thick\nmm",
        "meas.\n of 7",
    ]
    left = 2 if wide else 1
    for i, head in enumerate(heads):
        table.add_column(head, justify="left" if i < left else "right", no_wrap=i != 1 or not wide)
    for f in chosen:

        def shown(field: str, scale: float = 1.0, f: "Fabric" = f) -> str:
            return f"{MARKS.get(f.origin(field), '')}{scale * getattr(f, field):.3g}"

        def whole(field: str, f: "Fabric" = f) -> str:
            return f"{MARKS.get(f.origin(field), '')}{getattr(f, field):.0f}"

        measured = sum(f.origin(field) == "measured" for field in COUNTED)
        table.add_row(
            f.name,
            *([f.title] if wide else []),
            shown("density"),
            f"{whole('stretch_warp')}/{whole('stretch_weft')}",
            whole("shear"),
            f"{shown('bending_warp', 1e6)}/{shown('bending_weft', 1e6)}",
            shown("thickness", 1e3),
            f"{measured}",
        )
    console.print(table)
    console.print("no mark: measured   ~ estimated by us   ° a constant that was published")
    console.print("pairs: warp/weft; measured: how many of the seven numbers shown")
    console.print("sources, methods and titles: weft fabrics NAME")


app.command("test")(fabrics_test.test)
app.command("fit")(fabrics_fit.fit)
