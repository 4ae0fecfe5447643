"""The borders of the house, read from all imports: the engine knows no plugin."""

import ast

import pytest

from tests.sources import modules
from weft import extensions

pytestmark = pytest.mark.quick

ALLOWED = {("robots", "lab")}  # the only import between plugins


def part_of(name):
    """``garments`` of weft.plugins.garments.patterns; ``engine`` of everything outside plugins."""
    names = name.split(".")
    return names[2] if names[:2] == ["weft", "plugins"] and len(names) > 2 else "engine"


def imported(module):
    """Modules that a module imports, or names in a text."""
    texts = (str(node.value) for node in module.all_of(ast.Constant))
    return module.imports | {text for text in texts if text.startswith("weft.plugins.")}


def test_no_import_crosses_a_border():
    crossings = {
        (module.name, other)
        for module in modules()
        for other in imported(module)
        if part_of(other) not in ("engine", part_of(module.name))
    }
    wrong = [pair for pair in crossings if tuple(map(part_of, pair)) not in ALLOWED]
    assert sorted(wrong) == [] and crossings


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
