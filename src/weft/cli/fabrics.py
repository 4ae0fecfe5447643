"""``weft fabrics``: the presets, in SI, with a source for every number."""

import dataclasses
from typing import Annotated

import typer

from weft.cli.options import AsJson, print_json


def fabrics(
    name: Annotated[str | None, typer.Argument(help="A preset, or a fabric's .yaml file.")] = None,
    json: AsJson = False,
) -> None:
    """List fabrics in SI units; with a NAME, where each number comes from."""
    from rich.console import Console
    from rich.table import Table

    from weft.fabric import UNITS, fabric, preset_names

    chosen = [fabric(n) for n in ([name] if name else preset_names())]
    if json:
        print_json([{**dataclasses.asdict(f), "units": dict(UNITS)} for f in chosen])
        return
    table = Table(box=None, pad_edge=False, show_edge=False)
    if name:
        f = chosen[0]
        table.title, table.title_justify = f"{f.name}: {f.title}", "left"
        for column in ("field", "value", "unit", "source"):
            table.add_column(
                column, overflow="fold", justify="right" if column == "value" else "left"
            )
        for field, unit in UNITS.items():
            source = f.sources.get(field, "default")
            table.add_row(field, f"{getattr(f, field):.4g}", unit, source)
    else:
        heads = ("name", "", "density\nkg/m^2", "stretch [warp/weft]\nN/m", "shear\nN/m",
                 "bending [warp/weft]\n1e-6 N*m", "thickness\nmm")  # fmt: skip
        for i, head in enumerate(heads):
            table.add_column(head.replace("[", "\\["), justify="left" if i < 2 else "right")
        for f in chosen:
            table.add_row(
                f.name, f.title, f"{f.density:.3g}", f"{f.stretch_warp:g} / {f.stretch_weft:g}",
                f"{f.shear:g}", f"{1e6 * f.bending_warp:.3g} / {1e6 * f.bending_weft:.3g}",
                f"{1e3 * f.thickness:.3g}",
            )  # fmt: skip
        table.caption, table.caption_justify = "sources: weft fabrics NAME", "left"
    Console(highlight=False).print(table)
