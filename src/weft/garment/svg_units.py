"""Lengths of SVG files: the size of a unit of their coordinates in meters."""

import math
import re
import warnings

from weft.base.errors import PatternError
from weft.garment.svg_tree import Node

INCH = 0.0254  # [m]
PIXELS = 96.0  # per inch, in CSS
ABSOLUTE = {"mm": 1e-3, "cm": 1e-2, "in": INCH, "pt": INCH / 72, "pc": INCH / 6, "q": 2.5e-4}
_LENGTH = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*([a-zA-Z]*|%)\s*$")
LARGEST = 1e4  # [m] largest page


def parse_length(text: str, what: str, where: str) -> tuple[float, str]:
    """Return the number and the unit, in lower case, of text like ``12.5mm``.

    Args:
        text: the length.
        what, where: attribute and place, for messages.

    Raises:
        PatternError: no length.
    """
    match = _LENGTH.match(text) if len(text) < 100 else None
    if match is None or not math.isfinite(float(match[1])):
        raise PatternError(what, got=repr(text), expected="a length, like 210mm", where=where)
    return float(match[1]), match[2].lower()


def user_length(node: Node, name: str, file: str, default: float | None = 0.0) -> float:
    """Return an attribute of a shape in the units of the coordinates.

    Args:
        node: the shape.
        name: of the attribute.
        file: name, for messages.
        default: value if the attribute is missing; None: the attribute is required.

    Raises:
        PatternError: the attribute is missing, or is no length.
    """
    where = f"{file}:{node.line}"
    text = node.attributes.get(name)
    if text is None:
        if default is None:
            raise PatternError(f"<{node.tag}>", got=f"no {name}", expected="it", where=where)
        return default
    number, unit = parse_length(text, f"<{node.tag}> {name}", where)
    if unit in ("", "px"):
        return number
    if unit not in ABSOLUTE:
        known = ", ".join(ABSOLUTE)
        raise PatternError(
            f"<{node.tag}> {name}", got=repr(text), where=where, expected=f"a length in px, {known}"
        )
    return number * ABSOLUTE[unit] * PIXELS / INCH


def meters_per_unit(root: Node, file: str) -> float:
    """Return the size [m] of a unit of the root's coordinates, from its width, height and viewBox.

    A page without units is in pixels, 96 to an inch, with a warning.

    Raises:
        PatternError: a width, height or viewBox that is no size.
    """
    where = f"{file}:{root.line}"
    box = _view_box(root, where)
    scales = []
    pixels = False
    for name, size in zip(("width", "height"), box or (1.0, 1.0)):
        text = root.attributes.get(name)
        if text is None:
            continue
        number, unit = parse_length(text, f"svg {name}", where)
        if unit == "%":
            continue
        if unit and unit != "px" and unit not in ABSOLUTE:
            known = ", ".join([*ABSOLUTE, "px"])
            raise PatternError(
                f"svg {name}", got=repr(text), expected=f"a length in {known}", where=where
            )
        pixels |= unit in ("", "px")
        meters = number * ABSOLUTE.get(unit, INCH / PIXELS)
        if not 0 < meters < LARGEST:
            raise PatternError(f"svg {name}", got=repr(text), expected="must be > 0", where=where)
        scales.append(INCH / PIXELS if box is None else meters / size)
    if pixels or not scales:
        warnings.warn(
            f"{file} says no width and height in mm, cm or in: taken as 96 pixels to an inch; "
            "measure a line whose length you know",
            stacklevel=2,
        )
    if len(scales) == 2 and abs(scales[0] - scales[1]) > 1e-3 * max(scales):
        warnings.warn(
            f"{file}: width, height and viewBox stretch the page by {scales[0] / scales[1]:.4g}; "
            "the smaller scale is taken for both, as viewers do",
            stacklevel=2,
        )
    return min(scales, default=INCH / PIXELS)


def _view_box(root: Node, where: str) -> tuple[float, float] | None:
    """Return the width and height of the viewBox; None if there is no viewBox."""
    text = root.attributes.get("viewBox")
    if text is None:
        return None
    try:
        _, _, width, height = (float(w) for w in text.replace(",", " ").split())
    except ValueError:
        width = height = math.nan
    if not (0 < width < math.inf and 0 < height < math.inf):
        raise PatternError(
            "svg viewBox",
            got=repr(text),
            where=where,
            expected="four numbers: x, y, width and height > 0",
        )
    return width, height
