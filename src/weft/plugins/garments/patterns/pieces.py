"""Pieces of drawings: outlines, holes and marks, without seams or placement.

An outline is a closed chain of curves, one for each edge, with their ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.discretization.polygon import signed_area
from weft.plugins.garments.patterns.curves import SAMPLES, EdgeCurve
from weft.plugins.garments.patterns.pattern import BorderCurve, Panel, Placement

UNPLACED = Placement()
ALLOWANCE = 0.04  # [m] largest distance of a seam line from the cut line
EVEN = 0.5  # part of a seam line that has the same distance from the cut line, within 1 mm
MARKS = 8  # points of a curved edge of a hole or an inner line: a circle of four arcs has 32


def chain_area(chain: Sequence[EdgeCurve]) -> float:
    """Return the signed area [m^2] inside a closed chain; it is positive if counter-clockwise."""
    return signed_area(chain_polygon(chain))


def orient_chain(chain: Sequence[EdgeCurve]) -> list[EdgeCurve]:
    """Return a closed chain that runs counter-clockwise; a clockwise one is reversed."""
    return list(chain) if chain_area(chain) >= 0 else reverse_chain(chain)


def reverse_chain(chain: Sequence[EdgeCurve]) -> list[EdgeCurve]:
    """Return the chain from its other end."""
    return [c.reverse() for c in reversed(chain)]


def chain_polygon(chain: Sequence[EdgeCurve], samples: int = SAMPLES) -> Floats:
    """Return the points (h,2) [m] of a closed chain."""
    return np.concatenate([c.sample(samples) for c in chain])


def chain_polyline(chain: Sequence[EdgeCurve], samples: int = MARKS) -> Floats:
    """Return the points (l,2) [m] along a chain, with its end."""
    return np.concatenate([chain_polygon(chain, samples), [chain[-1].end]])


def seam_allowance(cut: Sequence[EdgeCurve], seam: Sequence[EdgeCurve]) -> float | None:
    """Return the usual distance [m] of a seam line from the cut line around it.

    Args:
        cut, seam: closed chains, the second one inside of the first one.

    Returns:
        None: the inner chain is no seam line, because it does not follow the outer one.
    """
    if abs(chain_area(seam)) < 0.5 * abs(chain_area(cut)):
        return None
    border, inner = (
        EdgeCurve(BorderCurve.POLYLINE, chain_polyline(c, SAMPLES)).points(np.linspace(0, 1, n))
        for c, n in ((cut, 2001), (seam, 201))
    )
    apart = cKDTree(border).query(inner)[0]
    usual = float(np.median(apart))
    even = float(np.mean(np.abs(apart - usual) < 1e-3))
    return usual if apart.max() < ALLOWANCE and even > EVEN else None


@dataclass(frozen=True, eq=False)
class DrawnPiece:
    """One piece of a drawing.

    Args:
        name: unique in its file.
        outline: closed chain, counter-clockwise.
        holes: polygons (h,2) [m].
        lines: polylines (l,2) [m] inside.
        line_names: of the lines in turn; empty: none has a name.
        grain: [rad] direction of the warp from x; None: not drawn.
        copies: number of times that the piece is to be cut, according to the file; None: not given.
        fabric: name of the fabric in the file; "": none.
        where: file and line, for messages.
        origin: (2,) [m] origin of its placement; None: the middle of its bounding box.
        size: of a drawing of several sizes; "": of all.
        fold: (2,2) [m] ends of the line on which the piece is folded; None: it is drawn whole.
    """

    name: str
    outline: Sequence[EdgeCurve]
    holes: Sequence[Floats] = ()
    lines: Sequence[Floats] = ()
    grain: float | None = None
    copies: int | None = None
    fabric: str = ""
    where: str = ""
    origin: Floats | None = None
    line_names: Sequence[str] = ()
    size: str = ""
    fold: Floats | None = None

    def center(self) -> "DrawnPiece":
        """Return the piece with its origin, or else the middle of its bounding box, moved to (0,
        0).
        """
        points = chain_polygon(self.outline)
        middle = (points.min(0) + points.max(0)) / 2
        return self.transform(np.eye(2), -(middle if self.origin is None else self.origin))

    def mirror(self) -> "DrawnPiece":
        """Return the mirror image in x.

        Edge i of the image is edge n - 1 - i of this piece (of n edges), reversed.
        """
        return self.transform(np.diag([-1.0, 1.0]))

    def transform(
        self, linear: Floats, offset: Floats | Sequence[float] = (0.0, 0.0)
    ) -> "DrawnPiece":
        """Return the piece with every point p mapped to ``linear`` p + ``offset``.

        Args:
            linear: (2,2) a similarity.
            offset: (2,) [m].
        """
        grain = self.grain
        if grain is not None:
            x, y = linear @ [np.cos(grain), np.sin(grain)]
            grain = float(np.arctan2(y, x))
        return replace(
            self,
            outline=orient_chain([s.transform(linear, offset) for s in self.outline]),
            holes=[h @ linear.T + np.asarray(offset) for h in self.holes],
            lines=[p @ linear.T + np.asarray(offset) for p in self.lines],
            grain=grain,
            origin=None if self.origin is None else linear @ self.origin + np.asarray(offset),
        )

    def panel(self, name: str, placement: Placement = UNPLACED) -> Panel:
        """Return the piece as a panel of a pattern."""
        return Panel(
            name,
            np.array([s.start for s in self.outline]),
            [s.edge for s in self.outline],
            grain=np.pi / 2 if self.grain is None else self.grain,
            holes=list(self.holes),
            lines=list(self.lines),
            line_names=self.line_names,
            placement=placement,
        )


def index_pieces(pieces: Sequence[DrawnPiece]) -> dict[str, DrawnPiece]:
    """Return the pieces by their names.

    Raises:
        PatternError: two pieces with the same name.
    """
    result: dict[str, DrawnPiece] = {}
    for piece in pieces:
        if piece.name in result:
            raise PatternError(
                f"piece {piece.name!r}",
                got="twice",
                where=piece.where,
                expected=f"every name once; the other one is at {result[piece.name].where}",
            )
        result[piece.name] = piece
    return result
