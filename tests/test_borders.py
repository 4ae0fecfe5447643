"""The borders of the house, read from all imports: the engine knows no plugin."""

import ast
from pathlib import Path

import pytest

from weft import extensions

pytestmark = pytest.mark.quick

SOURCE = Path(__file__).parents[1] / "src" / "weft"
ALLOWED = {("robots", "lab")}  # the only import between plugins


def part_of(module):
    """``garments`` of weft.plugins.garments.patterns; ``engine`` of everything outside plugins."""
    names = module.split(".")
    return names[2] if names[:2] == ["weft", "plugins"] and len(names) > 2 else "engine"


def imported(path):
    """Modules that a file imports anywhere, for types too, or names in a text."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{a.name}" for a in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).startswith("weft.plugins."):
            yield node.value


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_no_import_crosses_a_border(path):
    here = part_of(".".join(("weft", *path.relative_to(SOURCE).with_suffix("").parts)))
    for module in imported(path):
        other = part_of(module)
        crosses = other not in ("engine", here)
        assert not crosses or (here, other) in ALLOWED, f"{here} imports {module}"


@pytest.mark.parametrize("name", extensions.SHIPPED)
def test_the_names_of_shipped_plugins_are_known_without_them(name):
    """Messages about a plugin that is not installed need its names."""
    plugin = extensions.plugins()[name]
    kinds = ("names", "commands", "cloth sources", "scene inputs", "bodies", "formats", "options")
    given = {n.split()[-1] for kind in kinds for n in plugin.entries.get(kind, ())}
    assert given == set(extensions.SHIPPED[name].split())


def test_every_registered_place_exists():
    for kind in extensions.KINDS:
        for name in extensions.names(kind):
            assert extensions.find(kind, name) is not None
