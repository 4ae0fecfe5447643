"""The elements of an SVG file, with their lines; entities that multiply are refused.

Read by expat itself, so that an error has its line. Entities are those of Adobe Illustrator's
exports at most: short, without entities of their own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from weft.base.errors import PatternError
from weft.garment.contents import contents

MOST_NODES = 200_000
MOST_DEPTH = 100
MOST_ENTITIES, LONGEST_ENTITY = 100, 1000
MOST_GROWTH = 4  # bytes of all attributes over those of the file


@dataclass(eq=False)
class Node:
    """An element.

    Args:
        tag: without the prefix of its namespace.
        attributes: as written, with prefixes.
        line: of its opening tag, from 1.
        parent: the element around it; None: the root.
        children: elements inside it.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)

    def up(self) -> Iterator["Node"]:
        """It, its parent, and so on."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def down(self) -> Iterator["Node"]:
        """It and everything inside it, in the file's order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(node.children)


class _Builder:
    """Handlers of expat's events."""

    def __init__(self, file: str, size: int) -> None:
        self.file, self.room = file, MOST_GROWTH * size + LONGEST_ENTITY
        self.root: Node | None = None
        self.open: list[Node] = []
        self.count = self.entities = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.EntityDeclHandler = self.entity

    def refused(self, got: str, expected: str) -> PatternError:
        """An error at the parser's line."""
        where = f"{self.file}:{self.parser.CurrentLineNumber}"
        return PatternError("SVG", got=got, expected=expected, where=where)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An opening tag."""
        self.count += 1
        self.room -= sum(map(len, attributes.values()))
        if self.count > MOST_NODES or len(self.open) >= MOST_DEPTH:
            most = f"at most {MOST_NODES} of them, {MOST_DEPTH} deep"
            raise self.refused("too many elements", most)
        if self.room < 0:
            raise self.refused("entities that multiply", "a file without them")
        parent = self.open[-1] if self.open else None
        line = self.parser.CurrentLineNumber
        node = Node(tag.rpartition(":")[2], attributes, line, parent)
        if parent is None:
            self.root = node
        else:
            parent.children.append(node)
        self.open.append(node)

    def end(self, _tag: str) -> None:
        """A closing tag."""
        self.open.pop()

    def entity(self, name: str, _parameter: bool, value: str | None, *_others: object) -> None:
        """A declaration of an entity."""
        self.entities += 1
        if value is None:
            raise self.refused(f"the external entity {name!r}", "one file")
        if "&" in value or len(value) > LONGEST_ENTITY or self.entities > MOST_ENTITIES:
            raise self.refused(f"the entity {name!r}", "a few short ones, without entities inside")


def read_svg_tree(path: Path) -> Node:
    """The root element of a file.

    Raises:
        PatternError: it is no SVG, is damaged, or grows when it is read; with the line.
    """
    data = contents(path)
    builder = _Builder(path.name, len(data))
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as problem:
        raise PatternError(
            "SVG",
            got=expat.ErrorString(problem.code),
            expected="valid XML",
            where=f"{path.name}:{problem.lineno}",
        ) from problem
    except (ValueError, LookupError) as problem:  # an encoding that does not exist or fit
        raise PatternError("SVG", got=str(problem), expected="UTF-8", where=path.name) from problem
    root = builder.root
    if root is None or root.tag != "svg":
        raise PatternError(
            "SVG", got=f"<{root.tag if root else ''}>", expected="<svg>", where=path.name
        )
    return root
