"""``weft examples``: the scenes and scripts that come with weft."""

import ast
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import say
from weft.errors import WeftError, check_known


@dataclass(frozen=True)
class Example:
    """A scene (.yaml) or a script (.py)."""

    name: str  # its path below the folder of examples, without the suffix
    path: Path
    line: str  # what it shows

    @property
    def is_scene(self) -> bool:
        """True for a scene, which ``weft demo NAME`` runs."""
        return self.path.suffix == ".yaml"


def folder() -> Path:
    """Where the examples are: in the package, or beside the source that it was installed from.

    Raises:
        WeftError: in neither.
    """
    package = Path(str(resources.files("weft")))
    for place in (package / "examples", package.parents[1] / "examples"):
        if (place / "flag.yaml").exists():
            return place
    raise WeftError("examples", got=f"none beside {package}", expected="weft as installed",
                    hint="install it again: pip install weft")  # fmt: skip


def examples_by_name() -> dict[str, Example]:
    """Every example, scenes first; patterns of garments are what scenes of them read."""
    root = folder()
    found = [
        _example(root, p)
        for p in sorted(root.rglob("*"))
        if p.suffix in (".yaml", ".py") and p.parent.name != "patterns"
    ]
    return {e.name: e for e in sorted(found, key=lambda e: (not e.is_scene, e.name))}


def example_named(name: str) -> Example:
    """One by its name, or by the last part of it where only one has that.

    Raises:
        WeftError: no such example.
    """
    known = examples_by_name()
    if name in known:
        return known[name]
    ending = [e for n, e in known.items() if n.split("/")[-1] == name]
    if len(ending) != 1:
        check_known(name, known, "example")
    return ending[0]


def _example(root: Path, path: Path) -> Example:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        line = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    else:
        start = next((ln for ln in text.splitlines() if ln.startswith("description:")), "")
        line = start.removeprefix("description:").strip()
    name = path.relative_to(root).with_suffix("").as_posix()
    return Example(name, path, line)


def examples(
    name: Annotated[
        str | None, typer.Argument(help="Print this one; none lists them.", metavar="[NAME]")
    ] = None,
) -> None:
    """List the examples, or print one: `weft examples flag > my_scene.yaml`."""
    if name is not None:
        typer.echo(example_named(name).path.read_text(encoding="utf-8"), nl=False)
        return
    known = examples_by_name().values()
    width = max(len(e.name) for e in known)
    for title, scenes in (("Scenes (weft demo NAME)", True), ("Scripts (python FILE)", False)):
        say(title)
        for e in known:
            if e.is_scene is scenes:
                say(f"  {e.name:{width}}  {e.line}")
    say(f"\nfolder: {folder()}")
