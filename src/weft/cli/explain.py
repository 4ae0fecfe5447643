"""``weft explain``: what the fields of a scene mean, and which effects are simulated."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from weft.base.errors import SceneError
from weft.base.terminal import new_console
from weft.cli.options import new_table, print_json

DEEPEST = 6  # levels of nested blocks
_KEYFRAMES = (
    "\nkeyframes, in place of a number: {keys: [[0 s, 1 Pa], [1 s, 5 Pa]], between: linear} (or "
    "smooth, hold): docs/guides/keyframes.md"
)


def explain(
    path: Annotated[
        str,
        typer.Argument(
            help=(
                "A block or field, such as scene.pins.path; or physics: the effects that "
                "weft simulates, and how the others change a drape."
            ),
            metavar="FIELD",
        ),
    ] = "scene",
    nested: Annotated[
        bool, typer.Option("--all", help="Show the fields of nested blocks, too.")
    ] = False,
    json_schema: Annotated[
        bool, typer.Option("--json-schema", help="Print the whole schema as JSON, for editors.")
    ] = False,
) -> None:
    """Explain the fields of a scene file: units, meaning, defaults, nested blocks too.

    Editors complete and check scenes with the schema: `weft explain --json-schema >
    weft.schema.json`, and in the scene's first line `# yaml-language-server:
    $schema=weft.schema.json`.
    """
    from weft.scene.explain import OF_SEVERAL, selects_vertices, vertex_names
    from weft.scene.explain import explain as look_up
    from weft.scene.field_units import json_schema as schema

    if json_schema:
        print_json(schema())
        return
    if Path(path).suffix and Path(path).is_file():
        raise SceneError(
            "explain",
            got=f"a file, {path}",
            expected="a field, such as scene.pins.path",
            hint=f"`weft check {path}` lists what the file holds and all its problems; `weft "
            "explain` lists the fields of scenes, docs/guides/garment-files.md those of patterns",
        )
    if path == "physics":
        heads = ("effect", "simulated", "what weft simulates, or how the omission changes a drape")
        table = new_table(*heads)
        for e in simulated_effects():
            about = f"{e['about']} (docs/{e['page']}.md)"
            table.add_row(e["effect"], e["simulated"], about)
        new_console().print(table)
        return
    title, fields = look_up(path)
    names = [n for n in path.split(".") if n and not n.isdigit() and n != "scene"]
    table = new_table("field", "unit", "meaning", "default", title=title)
    single = len(fields) == 1 and fields[0].path.split(".")[1:] == names
    for row in _rows(
        names[:-1] if single else names, names[-1:] if single else None, nested or bool(names)
    ):
        table.add_row(*row)
    console = new_console()
    console.print(table)
    if selects_vertices(names):
        known = new_table("select by", "of cloth", "names", title="\nnames of vertices")
        for line in vertex_names():
            known.add_row(*line)
        console.print(known)
        console.print(OF_SEVERAL)
    of_fabrics = names[-1:] in (["fabric"], ["fabrics"])
    if of_fabrics:
        console.print(_fabric())
    if "(may have keyframes)" in "".join(f.meaning for f in fields) or of_fabrics:
        console.print(_KEYFRAMES)
    if not names and not nested:
        console.print("\nnested blocks: weft explain scene.cloth, or all: weft explain --all")


def simulated_effects() -> Sequence[Mapping[str, str]]:
    """Return the effects of ``physics.yaml``, each with ``simulated``, ``page`` and ``about``."""
    import yaml

    text = (resources.files("weft") / "cli" / "physics.yaml").read_text(encoding="utf-8")
    rows: Sequence[Mapping[str, str]] = yaml.safe_load(text)
    return rows


def _rows(
    names: Sequence[str], only: Sequence[str] | None, nested: bool, depth: int = 0
) -> Iterator[tuple[str, str, str, str]]:
    """Yield field, unit, meaning and default of a block, and of the blocks in it."""
    from weft.base.schema.block import fields_of
    from weft.scene.explain import explain as look_up
    from weft.scene.field_units import unit_of
    from weft.scene.schema import scene_block

    block = scene_block(names)
    if block is None:
        return
    helps = {f.path.rsplit(".", 1)[-1]: f for f in look_up(".".join(["scene", *names]))[1]}
    for name, field in fields_of(block).items():
        if only is not None and name not in only:
            continue
        shown = helps[name]
        meaning = shown.meaning + (f" ({shown.choices})" if shown.choices else "")
        unit = unit_of(field)
        meaning = meaning.removeprefix(f"[{unit}]").strip() or shown.path.rsplit(".", 1)[-1]
        yield "  " * depth + name, unit, meaning, shown.default
        if nested and depth < DEEPEST and scene_block([*names, name]) is not None:
            yield from _rows([*names, name], None, nested, depth + 1)


def _fabric() -> object:
    """Return the fields of a fabric, with units and the range of the presets."""
    from weft.fabric.fabric import described_fields

    table = new_table("field", "unit", "presets", title="\nfields of a fabric")
    for row in described_fields():
        table.add_row(*row)
    return table
