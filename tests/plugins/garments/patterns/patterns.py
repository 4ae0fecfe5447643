"""Patterns for tests, made by hand."""

from dataclasses import fields, is_dataclass

import numpy as np

from weft.plugins.garments.patterns.pattern import (
    BorderCurve,
    Edge,
    Panel,
    Pattern,
    Placement,
    Seam,
    SeamSide,
)


def rectangle(width, height):
    return np.array([[-width / 2, 0], [width / 2, 0], [width / 2, height], [-width / 2, height]])


def edges(names):
    return [Edge(name=n) for n in names.split()]


def panel(name, corners, names=None, **kwargs):
    corners = np.asarray(corners, dtype=float)
    return Panel(name, corners, edges(names) if names else [Edge()] * len(corners), **kwargs)


def seam(name, first, second, **kwargs):
    """Sides as (panel, edge) or (panel, edge, True), or lists of these."""

    def sides(s):
        return [SeamSide(*x) for x in (s if isinstance(s, list) else [s])]

    return Seam(name, sides(first), sides(second), **kwargs)


def before(z, turn=0.0, y=0.5):
    return Placement((0, y, z), (0, turn, 0))


def tube():
    """Two rectangles around a body, sewn at both sides."""
    names = "hem right top left"
    return Pattern(
        "tube",
        [
            panel("front", rectangle(0.5, 0.6), names, placement=before(0.15)),
            panel("back", rectangle(0.5, 0.6), names, placement=before(-0.15, 180)),
        ],
        [seam("left", ("front", 1), ("back", 3)), seam("right", ("front", 3), ("back", 1))],
    )


def pillow():
    """Two squares sewn all around."""
    front = panel("front", rectangle(0.4, 0.4), placement=before(0.1))
    back = panel("back", rectangle(0.4, 0.4), placement=before(-0.1, 180))
    seams = [seam(f"s{i}", ("front", i), ("back", (4 - i) % 4)) for i in range(4)]
    return Pattern("pillow", [front, back], seams)


def disc(name="disc", radius=0.2, **kwargs):
    arcs = [
        Edge(BorderCurve.ARC, np.array([[0, y * radius]]), n)
        for y, n in ((1, "over"), (-1, "under"))
    ]
    return Panel(name, np.array([[radius, 0], [-radius, 0]]), arcs, **kwargs)


def cone(angle):
    """A sector of a disc whose straight edges are sewn together."""
    tip, r = np.zeros(2), 0.3
    a, b = r * np.array([1.0, 0]), r * np.array([np.cos(angle), np.sin(angle)])
    through = r * np.array([[np.cos(angle / 2), np.sin(angle / 2)]])
    sides = [Edge(name="one"), Edge(BorderCurve.ARC, through, "rim"), Edge(name="two")]
    return Pattern(
        "cone",
        [Panel("sector", np.array([tip, a, b]), sides)],
        [seam("close", ("sector", 0), ("sector", 2))],
    )


NOT_IN_FILES = {
    Pattern: ("name", "source", "places", "body", "flat_start"),
    Panel: ("line_names",),  # empty or not there
    Edge: ("name",),  # in one word
}


def assert_alike(one, two, atol, at="pattern"):
    """Patterns, or parts of them, are equal up to the digits of files."""
    if is_dataclass(one):
        skipped = NOT_IN_FILES.get(type(one), ())
        for name in (f.name for f in fields(one) if f.name not in skipped):
            a, b = getattr(one, name), getattr(two, name)
            if name == "grain":
                a, b = np.exp(1j * np.array([a, b]))
            assert_alike(a, b, atol, f"{at}.{name}")
    elif isinstance(two, (float, complex, np.ndarray)):
        np.testing.assert_allclose(two, one, rtol=0, atol=atol, err_msg=at)
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(two), at
        for i, (a, b) in enumerate(zip(one, two)):
            assert_alike(a, b, atol, f"{at}.{i}")
    else:
        assert one == two, at
