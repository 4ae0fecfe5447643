"""The modules of weft, each read and parsed once; and modules of a text."""

import ast
import importlib.util
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "weft"


@dataclass(frozen=True)
class Module:
    """A file of the package."""

    path: Path

    @property
    def place(self):
        """``energies/base.py``"""
        return self.path.relative_to(SOURCE).as_posix()

    @property
    def name(self):
        """``weft.energies.base``"""
        name = ".".join(("weft", *self.path.relative_to(SOURCE).with_suffix("").parts))
        return name.removesuffix(".__init__")

    @property
    def part(self):
        """``energies``, the first folder; ``mesh`` of mesh.py, and ``weft`` of the package."""
        return self.name.split(".")[1] if "." in self.name else "weft"

    @cached_property
    def text(self):
        return self.path.read_text()

    @cached_property
    def tree(self):
        return ast.parse(self.text)

    @cached_property
    def nodes(self):
        """All nodes of the syntax tree."""
        return list(ast.walk(self.tree))

    def all_of(self, *kinds):
        """Nodes of some kinds."""
        return [node for node in self.nodes if isinstance(node, kinds)]

    @cached_property
    def imports(self):
        """What is imported anywhere, for types too: ``a.b`` of ``import a.b``, and ``a.b.c`` of
        ``from a.b import c``.
        """
        found = {a.name for node in self.all_of(ast.Import) for a in node.names}
        for node in self.all_of(ast.ImportFrom):
            assert node.level == 0, f"{self.path}: relative import"
            found |= {f"{node.module}.{a.name}" for a in node.names}
        return found


@cache
def modules():
    """All modules of the package, in the order of their paths."""
    return [Module(path) for path in sorted(SOURCE.rglob("*.py"))]


def loaded(folder, name, text):
    """The module of a file of this name that is written into a folder."""
    file = folder / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
