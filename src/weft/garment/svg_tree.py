"""Elements of an SVG file with their lines; entities that multiply are refused.

The file is parsed with expat directly, so that an error has its line. Entities are accepted only as
Adobe Illustrator exports them: short, and without entities of their own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from weft.base.errors import PatternError
from weft.garment.pattern_file import read_bytes

MOST_NODES = 200_000
MOST_DEPTH = 100
MOST_ENTITIES, LONGEST_ENTITY = 100, 1000
MOST_GROWTH = 4  # largest ratio of the bytes of all attributes to those of the file


@dataclass(eq=False)
class Node:
    """An element of the file.

    Args:
        tag: without the prefix of its namespace.
        attributes: as written, with prefixes.
        line: of its opening tag, from 1.
        parent: the element around it; None: this is the root.
        children: elements inside it.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)

    def up(self) -> Iterator["Node"]:
        """Yield the element, its parent, and so on up to the root."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def down(self) -> Iterator["Node"]:
        """Yield the element and everything inside it, in the file's order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(node.children)


class _Builder:
    """Handlers of expat's events, which build the tree."""

    def __init__(self, file: str, size: int) -> None:
        self.file, self.room = file, MOST_GROWTH * size + LONGEST_ENTITY
        self.root: Node | None = None
        self.open: list[Node] = []
        self.count = self.entities = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.EntityDeclHandler = self.entity

    def make_error(self, got: str, expected: str) -> PatternError:
        """Return an error at the parser's line."""
        where = f"{self.file}:{self.parser.CurrentLineNumber}"
        return PatternError("SVG", got=got, expected=expected, where=where)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Add an element at its opening tag."""
        self.count += 1
        self.room -= sum(map(len, attributes.values()))
        if self.count > MOST_NODES or len(self.open) >= MOST_DEPTH:
            most = f"at most {MOST_NODES} of them, {MOST_DEPTH} deep"
            raise self.make_error("too many elements", most)
        if self.room < 0:
            raise self.make_error("entities that multiply", "a file without them")
        parent = self.open[-1] if self.open else None
        line = self.parser.CurrentLineNumber
        node = Node(tag.rpartition(":")[2], attributes, line, parent)
        if parent is None:
            self.root = node
        else:
            parent.children.append(node)
        self.open.append(node)

    def end(self, _tag: str) -> None:
        """Leave the current element at its closing tag."""
        self.open.pop()

    def entity(self, name: str, _parameter: bool, value: str | None, *_others: object) -> None:
        """Check the declaration of an entity, and raise an error if it could multiply."""
        self.entities += 1
        if value is None:
            raise self.make_error(f"the external entity {name!r}", "one file")
        if "&" in value or len(value) > LONGEST_ENTITY or self.entities > MOST_ENTITIES:
            raise self.make_error(
                f"the entity {name!r}", "a few short ones, without entities inside"
            )


def read_svg_tree(path: Path) -> Node:
    """Return the root element of a file.

    Raises:
        PatternError: it is no SVG file, is damaged, or grows when entities are expanded; with the
            line.
    """
    data = read_bytes(path)
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
    except (ValueError, LookupError) as problem:  # an unknown or wrong encoding
        raise PatternError("SVG", got=str(problem), expected="UTF-8", where=path.name) from problem
    root = builder.root
    if root is None or root.tag != "svg":
        raise PatternError(
            "SVG", got=f"<{root.tag if root else ''}>", expected="<svg>", where=path.name
        )
    return root
