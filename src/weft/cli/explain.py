"""``weft explain``: what the fields of a scene mean."""

from typing import Annotated

import typer


def explain(
    path: Annotated[
        str, typer.Argument(help="A block or field, such as scene.pins.path.", metavar="FIELD")
    ] = "scene",
) -> None:
    """Explain the fields of a scene file: meaning, units, defaults."""
    from rich.console import Console
    from rich.table import Table

    from weft.scene.explain import explain as look_up

    title, fields = look_up(path)
    table = Table(box=None, pad_edge=False, title=title, title_justify="left", show_edge=False)
    for column in ("field", "meaning", "default"):
        table.add_column(column, overflow="fold")
    for f in fields:
        meaning = f.meaning + (f" ({f.choices})" if f.choices else "")
        table.add_row(
            f.path.rsplit(".", 1)[-1], meaning.replace("[", "\\["), f.default.replace("[", "\\[")
        )
    Console(highlight=False).print(table)
