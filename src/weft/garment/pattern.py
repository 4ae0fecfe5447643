"""A garment on paper: panels with their edges, and the seams that join them.

A panel lies in a plane of its own, coordinates in meters, the fabric's right side towards the
reader. Edges follow one another counter-clockwise, seen from the right side: edge i runs from
corner i to corner i+1, and the panel is to its left. Placement carries the plane into space: x to
the right, y up, and the right side looks along +z before it is turned.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.keyframes import Keys


class BorderCurve(enum.Enum):
    """What an edge is between its corners."""

    LINE = 0
    QUADRATIC = 1  # Bézier
    CUBIC = 2  # Bézier
    ARC = 3  # of a circle; one control point, which it passes through
    POLYLINE = 4  # straight from control point to control point, any number of them

    @property
    def n_controls(self) -> int | None:
        """How many points an edge of this kind has besides its ends; None: any number."""
        return (0, 1, 2, 1, None)[self.value]


@dataclass(frozen=True, eq=False)
class Edge:
    """One edge of a panel, from its corner to the next one.

    Args:
        curve: its kind.
        controls: (c,2) [m] control points in the panel's plane; none of a line.
        name: for seams and messages; none: its number. Parts of one edge, between which darts or
            pleats were cut, share a name.
    """

    curve: BorderCurve = BorderCurve.LINE
    controls: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    name: str = ""


@dataclass(frozen=True)
class Wrap:
    """Bends a placed panel around an axis: its plane becomes a cylinder or a cone, lengths stay.

    The panel's y runs along the axis, its x around it, x = 0 where ``facing`` points to.

    Args:
        center: [m] a point of the axis, at the height of y = 0.
        direction: of the axis, along the panel's y.
        facing: from the axis towards the panel's x = 0.
        radius: [m] of the cylinder, or of the cone at y = 0.
        taper: [rad] between a cone and its axis, > 0 where it widens along y; 0: a cylinder.
    """

    center: tuple[float, float, float]
    radius: float
    direction: tuple[float, float, float] = (0.0, 1.0, 0.0)
    facing: tuple[float, float, float] = (0.0, 0.0, 1.0)
    taper: float = 0.0


@dataclass(frozen=True)
class Placement:
    """Where a panel starts: turned about its origin, then moved; or wrapped around an axis.

    Args:
        translation: [m].
        rotation: [degrees] about x, y and z in turn; a wrapped panel turns about its wrap's center.
        wrap: around a limb, before it is turned and moved; None: flat.
    """

    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    wrap: Wrap | None = None


@dataclass(frozen=True, eq=False)
class PatternFold:
    """A line inside a panel along which it keeps an angle: of a pleat, a crease.

    Args:
        points: (l,2) [m] polyline that triangles follow; its ends may lie on the outline.
        angle: [rad] at rest, -pi to pi; 0: flat. Positive: a mountain, seen from the right side.
        stiffness: [N m/rad per m]; None: as the fabric bends.
    """

    points: Floats
    angle: float
    stiffness: float | None = None


@dataclass(frozen=True, eq=False)
class Panel:
    """One piece of fabric.

    Args:
        name: unique in its pattern.
        corners: (k,2) [m] counter-clockwise.
        edges: k of them, edge i from corner i.
        grain: [rad] direction of the warp yarns in the panel's plane, from x.
        holes: polygons (h,2) [m] cut out.
        lines: polylines (l,2) [m] inside that triangles follow: folds, quilting, marks.
        folds: lines inside that keep an angle.
        fabric: a preset, a file or fields, as scenes say them; None: the pattern's.
        thickness: [m] kept in contact; None: that of the scene's contact.
        layer: 0 next to the body, 1 over it, ...; starts and contact keep their order.
        placement: where it starts.
    """

    name: str
    corners: Floats
    edges: Sequence[Edge]
    grain: float = np.pi / 2
    holes: Sequence[Floats] = ()
    lines: Sequence[Floats] = ()
    folds: Sequence[PatternFold] = ()
    fabric: Any = None
    thickness: float | None = None
    layer: int = 0
    placement: Placement = Placement()


@dataclass(frozen=True)
class SeamSide:
    """An edge as one side of a seam takes it.

    Args:
        panel: name.
        edge: number.
        backward: from the end of the edge to its beginning.
    """

    panel: str
    edge: int
    backward: bool = False


class Closing(enum.Enum):
    """What a seam is once its time has come."""

    SEWN = enum.auto()  # closed at the start and for good; welded after sewing
    ZIP = enum.auto()  # closes and opens along its length, from the first point on
    BUTTONS = enum.auto()  # holds at points only, which open and close together


@dataclass(frozen=True)
class Seam:
    """Joins two chains of edges point by point, at equal fractions of their lengths.

    Chains may have different lengths: the longer one is eased or gathered into the shorter.

    Args:
        name: unique in its pattern.
        first, second: chains, each edge where the one before it ends.
        flip: turn the second chain around; None: inferred from the fabric's right sides, said in a
            warning.
        closing: sewn for good, a zip or buttons.
        angle: [rad] fold between the panels where they meet, 0: they lie flat. This and the next
            two may be keyframes, in times of the animation.
        fold_stiffness: [N m/rad per m] with which the seam keeps its angle; None: as the fabric
            bends.
        strength: [N/m] at which it tears; None: never.
        buttons: how many points hold, of ``BUTTONS``.
        open_at, close_at: [s] of the animation at which a zip or buttons open and close; None:
            never, and from the start.
        window: begin and end of its closing, as parts of the time in which the garment is sewn:
            inseams close before the sides pull legs apart.
        notched: edges meet one by one: where one ends on the first side, one does on the second;
            each pair is eased by itself. Both chains have as many.
    """

    name: str
    first: Sequence[SeamSide]
    second: Sequence[SeamSide]
    flip: bool | None = None
    closing: Closing = Closing.SEWN
    angle: float | Keys = 0.0
    fold_stiffness: float | Keys | None = None
    strength: float | Keys | None = None
    buttons: int = 5
    open_at: float | None = None
    close_at: float | None = None
    window: tuple[float, float] = (0.0, 1.0)
    notched: bool = False


@dataclass(frozen=True)
class Elastic:
    """A band sewn along a chain of edges, shorter than them: waistbands and cuffs.

    Args:
        name: unique in its pattern.
        chain: the edges.
        ratio: its rest length over that of the chain; with keyframes it changes in the times of
            the animation.
        stiffness: [N] tension at a strain of 1; or keyframes.
    """

    name: str
    chain: Sequence[SeamSide]
    ratio: float | Keys
    stiffness: float | Keys


@dataclass(frozen=True, eq=False)
class Pattern:
    """All pieces of a garment, and how they are sewn.

    Args:
        name: for messages.
        panels: in the order of their triangles.
        seams: between edges of them.
        elastics: bands along edges.
        fabric: of panels that name none.
        source: the file that it came from.
        places: where in it things stand, for messages: ``panel front`` -> ``skirt.yaml:12``.
    """

    name: str
    panels: Sequence[Panel]
    seams: Sequence[Seam] = ()
    elastics: Sequence[Elastic] = ()
    fabric: Any = "cotton"
    source: str = ""
    places: Mapping[str, str] = field(default_factory=dict)

    def panel(self, name: str) -> Panel:
        """The panel of a name; ``KeyError`` where there is none."""
        return {p.name: p for p in self.panels}[name]
