"""Pieces as drawings have them: outlines, holes and marks, without seams or placement."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.garment.pattern import Panel, Placement
from weft.garment.stroke import Stroke, counter_clockwise, polygon

UNPLACED = Placement()


@dataclass(frozen=True, eq=False)
class DrawnPiece:
    """One piece of a drawing.

    Args:
        name: unique in its file.
        outline: closed chain, counter-clockwise.
        holes: polygons (h,2) [m].
        lines: polylines (l,2) [m] inside.
        grain: [rad] from x; None: not drawn.
        copies: how often it is to be cut, as the file says; None: it does not.
        fabric: what the file says of the fabric; "": nothing.
        where: file and line, for messages.
        origin: (2,) [m] about which it is placed; None: the middle of its bounding box.
    """

    name: str
    outline: Sequence[Stroke]
    holes: Sequence[Floats] = ()
    lines: Sequence[Floats] = ()
    grain: float | None = None
    copies: int | None = None
    fabric: str = ""
    where: str = ""
    origin: Floats | None = None

    def centered(self) -> "DrawnPiece":
        """The same with its origin, or else the middle of its bounding box, at (0, 0)."""
        points = polygon(self.outline)
        middle = (points.min(0) + points.max(0)) / 2
        return self.moved(np.eye(2), -(middle if self.origin is None else self.origin))

    def mirrored(self) -> "DrawnPiece":
        """Its mirror image in x; edge i of it is edge -1 - i of this one, of n, turned around."""
        return self.moved(np.diag([-1.0, 1.0]))

    def moved(self, linear: Floats, offset: Floats | Sequence[float] = (0.0, 0.0)) -> "DrawnPiece":
        """Every point p at ``linear`` (2,2) p + ``offset`` (2,); a similarity."""
        grain = self.grain
        if grain is not None:
            x, y = linear @ [np.cos(grain), np.sin(grain)]
            grain = float(np.arctan2(y, x))
        return replace(
            self,
            outline=counter_clockwise([s.moved(linear, offset) for s in self.outline]),
            holes=[h @ linear.T + np.asarray(offset) for h in self.holes],
            lines=[p @ linear.T + np.asarray(offset) for p in self.lines],
            grain=grain,
            origin=None if self.origin is None else linear @ self.origin + np.asarray(offset),
        )

    def panel(self, name: str, placement: Placement = UNPLACED) -> Panel:
        """As a panel of a pattern."""
        return Panel(
            name,
            np.array([s.start for s in self.outline]),
            [s.edge for s in self.outline],
            grain=np.pi / 2 if self.grain is None else self.grain,
            holes=list(self.holes),
            lines=list(self.lines),
            placement=placement,
        )


def by_name(pieces: Sequence[DrawnPiece]) -> dict[str, DrawnPiece]:
    """The pieces by their names.

    Raises:
        PatternError: none at all, or two of one name.
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
