"""``weft examples``: the scenes and scripts that come with weft."""

import ast
import dataclasses
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from weft import extensions
from weft.base.errors import WeftError, check_known
from weft.cli.options import say

KEYS = {"sweep": "scene", "fabric": "measurements"}  # that files of a kind have, and no scene


@dataclass(frozen=True)
class Example:
    """A scene (.yaml), a sweep of one (with a line ``scene:``), measurements of a fabric
    (with a line ``measurements:``), or a script (.py).
    """

    name: str  # its path below the folder of examples, without the suffix
    path: Path
    line: str  # what it shows
    kind: str = "scene"  # or script, sweep, fabric

    @property
    def is_scene(self) -> bool:
        """True for a scene, which ``weft demo NAME`` runs."""
        return self.kind == "scene"


def folder() -> Path:
    """Return the folder of the examples: in the package, or beside its source.

    Raises:
        WeftError: in neither.
    """
    package = Path(str(resources.files("weft")))
    for place in (package / "examples", package.parents[1] / "examples"):
        if (place / "flag.yaml").exists():
            return place
    raise WeftError(
        "examples",
        got=f"no folder beside {package}",
        expected="weft as installed",
        hint="install it again: pip install weft",
    )


def examples_by_name() -> dict[str, Example]:
    """Return every example, scenes first, with those of plugins.

    Patterns of garments are what scenes of them read; folders ``plugin*`` are packages to install.
    """
    root = folder()
    found = [
        _example(root, p)
        for p in sorted(root.rglob("*"))
        if p.suffix in (".yaml", ".py")
        and p.parent.name != "patterns"
        and not p.relative_to(root).parts[0].startswith("plugin")
    ]
    for name, place in extensions.Registry[Any]("examples").items():
        path = Path(place)
        found.append(dataclasses.replace(_example(path.parent, path), name=name))
    return {e.name: e for e in sorted(found, key=lambda e: (not e.is_scene, e.name))}


def find_example(name: str) -> Example:
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
        line, kind = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0], "script"
    else:
        kind = next((k for k, key in KEYS.items() if f"\n{key}:" in text), "scene")
        key = "title:" if kind == "fabric" else "description:"
        start = next((ln for ln in text.splitlines() if ln.startswith(key)), "")
        line = start.removeprefix(key).strip().strip('"')
    name = path.relative_to(root).with_suffix("").as_posix()
    return Example(name, path, line, kind)


def examples(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of the example to print; without a name: list all.", metavar="[NAME]"
        ),
    ] = None,
) -> None:
    """List the examples, or print one: `weft examples flag > my_scene.yaml`."""
    if name is not None:
        typer.echo(find_example(name).path.read_text(encoding="utf-8"), nl=False)
        return
    known = examples_by_name().values()
    width = max(len(e.name) for e in known)
    titles = {
        "scene": "Scenes (weft demo NAME)",
        "sweep": "Sweeps (weft sweep FILE)",
        "fabric": "Fabrics from data (weft fabrics fit FILE)",
        "script": "Scripts (python FILE)",
    }
    for kind, title in titles.items():
        say(title)
        for e in known:
            if e.kind == kind:
                say(f"  {e.name:{width}}  {e.line}")
    say(f"\nfolder: {folder()}")
