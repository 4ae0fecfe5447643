"""Bands of drawings: waistbands, collars and cuffs that are rectangles.

A band is worn as a ring. The ring of a waistband or a collar is a panel in front and a panel
behind, each with a share of the length of the rectangle; a cuff is one panel. A band that is folded
lengthwise is one layer of half its width.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.discretization.polygon import rotation_matrix
from weft.plugins.garments.patterns.curves import EdgeCurve, edge_curve
from weft.plugins.garments.patterns.pattern import BorderCurve, Panel, Pattern, SeamSide
from weft.plugins.garments.patterns.pieces import DrawnPiece
from weft.plugins.garments.patterns.placement import move_panel, place_points

SQUARE = np.radians(5.0)  # largest deviation of a corner of a band from a right angle
STRAIGHT = 1.001  # largest length of a straight edge over the distance of its ends
APART = 0.005  # [m] between a band and the edges to which it is sewn, at the start
BOTTOM, RIGHT, TOP, LEFT = range(4)  # edges of a band


def band_size(piece: DrawnPiece) -> tuple[float, float] | None:
    """Return the length and width [m] of a band; None: the piece is no rectangle."""
    points = np.array([c.start for c in piece.outline])
    if len(points) != 4 or any(not _is_straight(c) for c in piece.outline):
        return None
    sides = np.roll(points, -1, axis=0) - points
    lengths = np.linalg.norm(sides, axis=1)
    cosines = np.einsum("ij,ij->i", sides, np.roll(sides, -1, axis=0))
    cosines /= lengths * np.roll(lengths, -1)
    if np.abs(cosines).max() > np.sin(SQUARE):
        return None
    one, two = (float(lengths[k] + lengths[k + 2]) / 2 for k in (0, 1))
    return (one, two) if one > two else (two, one)


def _is_straight(curve: EdgeCurve) -> bool:
    return bool(curve.length < STRAIGHT * np.linalg.norm(curve.end - curve.start))


def cut_band(piece: DrawnPiece, share: float = 1.0, *, folded: bool = False) -> DrawnPiece | None:
    """Return a part of a band, which lies lengthwise along x, with its middle at the origin.

    Args:
        piece: the whole band.
        share: part of its length.
        folded: whether the part has half of the width.

    Returns:
        None: the piece is no rectangle.
    """
    size = band_size(piece)
    if size is None:
        return None
    x, y = size[0] * share / 2, size[1] / (4 if folded else 2)
    corners = np.array([[-x, -y], [x, -y], [x, y], [-x, y]])
    longest = max(piece.outline, key=lambda c: c.length)
    along = longest.end - longest.start
    turn = -float(np.arctan2(along[1], along[0]))
    turned = piece.transform(rotation_matrix(turn))
    lines = zip(corners, np.roll(corners, -1, axis=0))
    outline = [EdgeCurve(BorderCurve.LINE, np.array(ends)) for ends in lines]
    return replace(turned, outline=outline, holes=(), lines=(), line_names=(), origin=None)


def align_bands(pattern: Pattern, names: Collection[str]) -> Pattern:
    """Return a pattern whose bands start beside the edges to which they are sewn.

    Args:
        pattern: its panels are where their places say.
        names: of the bands.
    """
    panels = pattern.by_name
    for name in names:
        moves = list[Floats]()
        for seam in pattern.seams:
            for own, other in ((seam.first, seam.second), (seam.second, seam.first)):
                if {s.panel for s in own} == {name} and not {s.panel for s in other} & set(names):
                    moves.append(_way_beside(panels, own, other))
        if moves:
            panels[name] = move_panel(panels[name], np.eye(3), np.mean(moves, axis=0))
    return pattern.with_panels(panels)


def _way_beside(
    panels: Mapping[str, Panel], own: Sequence[SeamSide], other: Sequence[SeamSide]
) -> Floats:
    """Return the move (3,) [m] up or down and sideways that brings an edge of a band beside other
    edges, so that the band does not overlap their panels.
    """
    one, two = _edge_points(panels, own), _edge_points(panels, other)
    band = panels[own[0].panel]
    up = one[:, 1].mean() < place_points(band, band.corners)[:, 1].mean()
    level = two[:, 1].max() + APART if up else two[:, 1].min() - APART
    low, high = two[:, 0].min(), two[:, 0].max()
    return np.array([(low + high) / 2 - one[:, 0].mean(), level - one[:, 1].mean(), 0.0])


def _edge_points(panels: Mapping[str, Panel], sides: Sequence[SeamSide]) -> Positions:
    """Return points (n,3) [m] of edges where their panels start."""
    at = np.linspace(0, 1, 9)
    return np.concatenate(
        [
            place_points(panels[s.panel], edge_curve(panels[s.panel], s.edge).points(at))
            for s in sides
        ]
    )
