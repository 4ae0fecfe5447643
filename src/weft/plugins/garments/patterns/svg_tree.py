"""Elements of an SVG file with their lines, and lengths; entities that multiply are refused.

The file is parsed with expat directly, so that an error has its line. Entities are accepted only as
Adobe Illustrator exports them: short, and without entities of their own.
"""

import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from weft.base.errors import PatternError
from weft.plugins.garments.patterns.pattern_file import read_bytes

MOST_NODES = 200_000
MOST_DEPTH = 100
MOST_ENTITIES, LONGEST_ENTITY = 100, 1000
MOST_GROWTH = 4  # largest ratio of the bytes of all attributes to those of the file
INCH = 0.0254  # [m]
PIXELS = 96.0  # per inch, in CSS
PIXEL_UNITS = ("", "px")
ABSOLUTE = {"mm": 1e-3, "cm": 1e-2, "in": INCH, "pt": INCH / 72, "pc": INCH / 6, "q": 2.5e-4}
LARGEST = 1e4  # [m] largest page
_LENGTH = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*([a-zA-Z]*|%)\s*$")


@dataclass(eq=False)
class Node:
    """An element of the file.

    Args:
        tag: without the prefix of its namespace.
        attributes: as written, with prefixes.
        file: its name.
        line: of its opening tag, from 1.
        parent: the element around it; None: this is the root.
        text: the characters of a text element, and of its parts.
    """

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    parent: "Node | None" = None
    text: str = ""

    @property
    def where(self) -> str:
        """Return file and line."""
        return f"{self.file}:{self.line}"

    def error(self, what: str, got: object, expected: str, hint: str | None = None) -> PatternError:
        """Return an error at the line of the element."""
        return PatternError(what, got=got, expected=expected, where=self.where, hint=hint)

    def up(self) -> Iterator["Node"]:
        """Yield the element, its parent, and so on up to the root."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def length(self, name: str, also: str = "px") -> tuple[float, str] | None:
        """Return the number and the unit, in lower case, of an attribute like ``12.5mm``.

        Args:
            name: of the attribute.
            also: a unit that is accepted besides pixels and those of lengths on paper.

        Returns:
            None if the attribute is missing.

        Raises:
            PatternError: no length.
        """
        text = self.attributes.get(name)
        if text is None:
            return None
        match = _LENGTH.match(text) if len(text) < 100 else None
        if match is None or not math.isfinite(float(match[1])):
            raise self.error(f"{self.tag} {name}", repr(text), "a length, like 210mm")
        unit = match[2].lower()
        if unit not in (*PIXEL_UNITS, *ABSOLUTE, also):
            known = ", ".join([*ABSOLUTE, "px"])
            raise self.error(f"{self.tag} {name}", repr(text), f"a length in {known}")
        return float(match[1]), unit

    def user_length(self, name: str, default: float | None = 0.0) -> float:
        """Return an attribute of a shape in the units of the coordinates.

        Args:
            name: of the attribute.
            default: value if the attribute is missing; None: the attribute is required.

        Raises:
            PatternError: the attribute is missing, or is no length.
        """
        found = self.length(name)
        if found is None:
            if default is None:
                raise self.error(f"<{self.tag}>", f"no {name}", "it")
            return default
        number, unit = found
        return number if unit in PIXEL_UNITS else number * ABSOLUTE[unit] * PIXELS / INCH


class _Builder:
    """Handlers of expat's events, which list the elements in the file's order."""

    def __init__(self, file: str, size: int) -> None:
        self.file, self.room = file, MOST_GROWTH * size + LONGEST_ENTITY
        self.nodes: list[Node] = []
        self.open: list[Node] = []
        self.entities = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = lambda _tag: self.open.pop()
        self.parser.EntityDeclHandler = self.entity
        self.parser.CharacterDataHandler = self.characters

    def make_error(self, got: str, expected: str) -> PatternError:
        """Return an error at the parser's line."""
        where = f"{self.file}:{self.parser.CurrentLineNumber}"
        return PatternError("SVG", got=got, expected=expected, where=where)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Add an element at its opening tag."""
        self.room -= sum(map(len, attributes.values()))
        if len(self.nodes) >= MOST_NODES or len(self.open) >= MOST_DEPTH:
            most = f"at most {MOST_NODES} of them, {MOST_DEPTH} deep"
            raise self.make_error("too many elements", most)
        if self.room < 0:
            raise self.make_error("entities that contain many entities", "a file without them")
        parent = self.open[-1] if self.open else None
        line = self.parser.CurrentLineNumber
        self.open.append(Node(tag.rpartition(":")[2], attributes, self.file, line, parent))
        self.nodes.append(self.open[-1])

    def characters(self, text: str) -> None:
        """Add characters to the text element around them."""
        around = next((n for n in reversed(self.open) if n.tag == "text"), None)
        if around is not None and text.strip() and len(around.text) < LONGEST_ENTITY:
            around.text = f"{around.text} {text.strip()}".strip()

    def entity(self, name: str, _parameter: bool, value: str | None, *_others: object) -> None:
        """Check the declaration of an entity, and raise an error if it could multiply."""
        self.entities += 1
        if value is None:
            raise self.make_error(f"the external entity {name!r}", "one file")
        if "&" in value or len(value) > LONGEST_ENTITY or self.entities > MOST_ENTITIES:
            raise self.make_error(
                f"the entity {name!r}", "a few short ones, without entities inside"
            )


def read_svg_nodes(path: Path) -> list[Node]:
    """Return the elements of a file in their order, the root first.

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
    if builder.nodes[0].tag != "svg":
        raise builder.nodes[0].error("SVG", f"<{builder.nodes[0].tag}>", "<svg>")
    return builder.nodes


def meters_per_unit(root: Node) -> float:
    """Return the size [m] of a unit of the root's coordinates, from its width, height and viewBox.

    A page without units is in pixels, 96 to an inch, with a warning.

    Raises:
        PatternError: a width, height or viewBox that is no size.
    """
    box = _view_box(root)
    scales = []
    pixels = False
    for name, size in zip(("width", "height"), box or (1.0, 1.0)):
        number, unit = root.length(name, "%") or (1.0, "%")
        if unit == "%":
            continue
        pixels |= unit in PIXEL_UNITS
        meters = number * ABSOLUTE.get(unit, INCH / PIXELS)
        if not 0 < meters < LARGEST:
            raise root.error(f"svg {name}", repr(root.attributes[name]), "must be > 0")
        scales.append(INCH / PIXELS if box is None else meters / size)
    if pixels or not scales:
        warnings.warn(
            f"{root.file} says no width and height in mm, cm or in: weft takes 96 pixels per "
            "inch; check the length of a line that you know",
            stacklevel=2,
        )
    if len(scales) == 2 and abs(scales[0] - scales[1]) > 1e-3 * max(scales):
        warnings.warn(
            f"{root.file}: width, height and viewBox stretch the page by "
            f"{scales[0] / scales[1]:.4g}; weft uses the smaller scale for both, like viewers",
            stacklevel=2,
        )
    return min(scales, default=INCH / PIXELS)


def _view_box(root: Node) -> tuple[float, float] | None:
    """Return the width and height of the viewBox; None if there is no viewBox."""
    text = root.attributes.get("viewBox")
    if text is None:
        return None
    try:
        _, _, width, height = (float(w) for w in text.replace(",", " ").split())
    except ValueError:
        width = height = math.nan
    if not (0 < width < math.inf and 0 < height < math.inf):
        raise root.error("svg viewBox", repr(text), "four numbers: x, y, width and height > 0")
    return width, height
