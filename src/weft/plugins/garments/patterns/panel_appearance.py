"""The appearance of a garment's panels: prints in panel coordinates, topstitches, hems, zips and
buttons.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.polygon import arc_lengths, interpolate_points
from weft.fabric.appearance import Appearance
from weft.io.part_appearance import DASH, PartAppearance, Polyline
from weft.plugins.garments.patterns.cutting import material_coordinates
from weft.plugins.garments.patterns.garment import Garment, named_edges
from weft.plugins.garments.patterns.pattern import Closing

HEM = "hem"  # name of edges that are hems without an entry
HEM_WIDTH = 0.02  # [m] of these
TAPE, TOOTH = 0.012, 0.004  # [m] width of a zip's tape, and length and distance of its teeth
# [m] diameter of a button, its distance from the edge, and of the threads that fill it.
BUTTON, INSIDE, FILL = 0.011, 0.003, 0.0007
DECIMALS = 6  # of stitches [m]


def panel_appearances(garment: Garment) -> dict[str, PartAppearance]:
    """Return the appearance of every panel by name; empty if the pattern gives none."""
    pattern = garment.pattern
    given = [pattern.surface, *(p.surface for p in pattern.panels)]
    sewn = any(line.seam.topstitch is not None for line in garment.seams)
    if not (sewn or pattern.hems or any(a is not None for a in given)):
        return {}
    origins = {p.name: _origin(garment, p.name) for p in pattern.panels}
    stitches: dict[str, list[Polyline]] = {name: [] for name in origins}
    for (name, edge), width in _stitched_edges(garment):
        ids = garment.outline[name, edge]
        on_paper = material_coordinates(garment.panel(name), garment.flat[ids])
        stitches[name].append(_on_cloth(_offset(on_paper, width), origins[name]))
    for name, edge in _zipped_edges(garment):
        ids = garment.outline[name, edge]
        on_paper = material_coordinates(garment.panel(name), garment.flat[ids])
        stitches[name] += [_on_cloth(mark, origins[name]) for mark in _zip_marks(on_paper)]
    for name, center in _buttons(garment):
        stitches[name] += [_on_cloth(mark, origins[name]) for mark in _button_marks(center)]
    base, found = pattern.surface or Appearance(), {}
    for panel in pattern.panels:
        u, v = origins[panel.name].tolist()
        look = base.merge(panel.surface)
        found[panel.name] = look.on_part((u, v), panel.grain, stitches[panel.name])
    return found


def _origin(garment: Garment, name: str) -> Floats:
    """Return the material coordinates (2,) [m] of a panel's origin in the garment's mesh."""
    face, mesh = garment.faces[name].start, garment.mesh
    corner = garment.flat[mesh.faces[face, :1]]
    shift = mesh.corner_uv[face, 0] - material_coordinates(garment.panel(name), corner)[0]
    return np.asarray(shift)


def _on_cloth(line: Floats, origin: Floats) -> Polyline:
    """Return a line (k,2) of a panel in the material coordinates of the garment's mesh."""
    return [(u, v) for u, v in np.round(line + origin, DECIMALS).tolist()]


def _zipped_edges(garment: Garment) -> Iterator[tuple[str, int]]:
    """Yield panel and number of every edge of an outline that has one side of a zip."""
    for line in garment.seams:
        if line.seam.closing is Closing.ZIP:
            for side in line.match.sides:
                if side.edge < len(garment.panel(side.panel).edges):
                    yield side.edge_id


def _buttons(garment: Garment) -> Iterator[tuple[str, Floats]]:
    """Yield panel and center (2,) [m] of every button, which lies beside the seam's first side."""
    for line in garment.seams:
        sides = line.seam.first
        if line.seam.closing is not Closing.BUTTONS or any(
            s.edge >= len(garment.panel(s.panel).edges) for s in sides
        ):
            continue
        rows, lengths = [], []
        for side in sides:
            ids = garment.outline[side.edge_id]
            edge = material_coordinates(garment.panel(side.panel), garment.flat[ids])
            along, row = arc_lengths(edge), _offset(edge, INSIDE + BUTTON / 2)
            lengths.append(along[-1])
            rows.append((along[-1] - along[::-1], row[::-1]) if side.backward else (along, row))
        ends = np.cumsum(lengths)
        for at in line.seam.buttons_at * ends[-1]:
            k = int(np.searchsorted(ends, at))
            along, row = rows[k]
            place = np.array([at - (ends[k] - lengths[k])])
            yield sides[k].panel, interpolate_points(place, along, row)[0]


def _button_marks(center: Floats) -> list[Floats]:
    """Return the lines (2,2) [m] that fill a disc around a center (2,), shorter than a stitch."""
    radius = BUTTON / 2
    marks = []
    for up in np.arange(-radius + FILL / 2, radius, FILL):
        half = np.sqrt(radius**2 - up**2)
        ends = np.linspace(-half, half, int(np.ceil(2 * half / DASH)) + 1)
        marks += [center + np.array([[a, up], [b, up]]) for a, b in pairwise(ends)]
    return marks


def _stitched_edges(garment: Garment) -> Iterator[tuple[tuple[str, int], float]]:
    """Yield panel and number of every edge with stitches, and their distance from it [m]."""
    for line in garment.seams:
        if line.seam.topstitch:
            yield from ((s.edge_id, line.seam.topstitch) for s in line.seam.first)
    hems = dict(garment.pattern.hems)
    for panel in garment.pattern.panels:
        if any(e.name == HEM for e in panel.edges):
            hems.setdefault(f"{panel.name}.{HEM}", HEM_WIDTH)
    for text, width in hems.items():
        name, _, edge = text.partition(".")
        if width > 0:
            yield from (((name, e), width) for e in named_edges(garment.panel(name), edge))


def _zip_marks(edge: Floats) -> list[Floats]:
    """Return the lines (k,2) [m] of a zip's side: the seam of its tape, and its teeth.

    Args:
        edge: (k,2) [m] counter-clockwise.
    """
    along = arc_lengths(edge)
    at = np.arange(TOOTH, along[-1], TOOTH)
    roots, tips = (interpolate_points(at, along, line) for line in (edge, _offset(edge, TOOTH)))
    return [_offset(edge, TAPE), *np.stack([roots, tips], axis=1)]


def _offset(line: Floats, distance: float) -> Floats:
    """Return the line (k,2) parallel to a counter-clockwise edge (k,2), inside its panel."""
    along = np.diff(line, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    left = np.stack([-along[:, 1], along[:, 0]], axis=1)
    mean = np.concatenate([left[:1], 0.5 * (left[1:] + left[:-1]), left[-1:]])
    # The mean of two unit normals is shorter than 1: a miter is longer by its square.
    length = np.maximum((mean**2).sum(1, keepdims=True), 0.25)
    return np.asarray(line + distance * mean / length)
