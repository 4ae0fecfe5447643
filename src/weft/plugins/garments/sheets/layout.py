"""Arrangement of flat panels on a sheet, in rows of boxes, and colors of seams."""

import colorsys
from collections.abc import Mapping

import numpy as np

from weft.base.arrays import Floats

GOLDEN = 0.61803398875  # turns of hue from one seam to the next


def arrange(outlines: Mapping[str, Floats], gap: float) -> tuple[dict[str, Floats], Floats]:
    """Return offsets of the outlines such that none overlap, and the extent (2,) [m] of all.

    Args:
        outlines: (n,2) [m] by name; their order stays.
        gap: [m] between them.

    Returns:
        The vector to add to the points of each outline, by name; width and height.
    """
    boxes = {n: (p.min(axis=0), np.ptp(p, axis=0) + gap) for n, p in outlines.items()}
    if not boxes:
        return {}, np.zeros(2)
    area = sum(float(size[0] * size[1]) for _, size in boxes.values())
    wide = max(1.55 * float(np.sqrt(area)), *(float(size[0]) for _, size in boxes.values()))
    rows: list[list[str]] = [[]]
    used = 0.0
    for name, (_, size) in boxes.items():
        if rows[-1] and used + size[0] > wide * 1.02:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += float(size[0])
    places: dict[str, Floats] = {}
    widest = bottom = 0.0
    for row in rows[::-1]:
        x = 0.0
        tall = max(float(boxes[n][1][1]) for n in row)
        for name in row:
            low, size = boxes[name]
            places[name] = np.array([x, bottom]) - low
            x += float(size[0])
        widest, bottom = max(widest, x), bottom + tall
    return places, np.array([widest - gap, bottom - gap])


def seam_color(i: int) -> str:
    """Return the color ``#rrggbb`` of the i-th seam; neighbors in the list differ most."""
    hue, light = (0.58 + i * GOLDEN) % 1.0, (0.44, 0.36, 0.50)[i % 3]
    return "#" + bytes(round(255 * c) for c in colorsys.hls_to_rgb(hue, light, 0.72)).hex()
