"""Sewing patterns: panels with their edges, and the seams that join them.

A panel lies in a plane of its own, with coordinates in meters and the right side of the fabric
towards the reader. Edges follow one another counter-clockwise, seen from the right side: edge i
runs from corner i to corner i+1, and the panel is to its left. The placement carries the plane into
space: x to the right, y up, and the right side looks along +z before it is rotated.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from weft.base.arrays import Floats, Vector
from weft.base.keyframes import Keys
from weft.fabric.appearance import Appearance
from weft.fabric.fabric import FabricLike

SAME_POINT = 1e-6  # [m] ends of lines that are closer to a corner than this lie on it


class BorderCurve(enum.Enum):
    """The kind of curve that an edge follows between its two corners."""

    LINE = 0
    QUADRATIC = 1  # Bézier
    CUBIC = 2  # Bézier
    ARC = 3  # of a circle; one control point, which it passes through
    POLYLINE = 4  # straight segments between any number of control points

    @property
    def n_controls(self) -> int | None:
        """Return the number of control points of such an edge without its ends; None: any
        number.
        """
        return (0, 1, 2, 1, None)[self.value]


@dataclass(frozen=True, eq=False)
class Edge:
    """One edge of a panel, from its corner to the next one.

    Args:
        curve: its kind.
        controls: (c,2) [m] control points in the panel's plane; a line has none.
        name: used by seams and messages; empty: the edge is known by its number. Parts of one edge,
            between which darts or pleats were cut, share a name.
    """

    curve: BorderCurve = BorderCurve.LINE
    controls: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    name: str = ""


@dataclass(frozen=True)
class Wrap:
    """Bending of a placed panel around an axis, to a cylinder or a cone, without a change of
    lengths.

    The panel's y axis runs along the axis of the wrap and its x axis around it; the line x = 0 lies
    where ``facing`` points.

    Args:
        center: [m] a point of the axis, at the height of y = 0.
        direction: direction of the axis, along the panel's y.
        facing: direction from the axis towards the panel's x = 0.
        radius: [m] of the cylinder, or of the cone at y = 0; negative: of a cylinder whose inside
            is the panel's right side, with its axis where ``facing`` points.
        taper: [rad] angle between a cone and its axis, positive if the cone widens along y; 0: a
            cylinder.
        fan: [m] height above y = 0 of the point from which the panel fans out, on any cone or
            cylinder; 0: the panel is rolled, without strain.
        squeeze: angle around the axis over that at the point from which the panel fans out.
    """

    center: Vector
    radius: float
    direction: Vector = (0.0, 1.0, 0.0)
    facing: Vector = (0.0, 0.0, 1.0)
    taper: float = 0.0
    fan: float = 0.0
    squeeze: float = 1.0


@dataclass(frozen=True)
class Placement:
    """The start of a panel in space: rotated about its origin and translated, or wrapped around an
    axis.

    Args:
        translation: [m].
        rotation: [degrees] about the fixed axes x, y and z in turn; a wrapped panel is rotated
            about the center of its wrap.
        wrap: bending around a limb, before rotation and translation; None: the panel stays flat.
        on_paper: motion in the panel's plane before everything else: x [m], y [m], and a turn
            [degrees] about the origin before it. A pocket has the placement of the panel on which
            it is sewn, with the motion that brings it to its line.
        fixed: the panel starts here on every body; otherwise it may be fitted to the body.
    """

    translation: Vector = (0.0, 0.0, 0.0)
    rotation: Vector = (0.0, 0.0, 0.0)
    wrap: Wrap | None = None
    on_paper: Vector = (0.0, 0.0, 0.0)
    fixed: bool = False


@dataclass(frozen=True, eq=False)
class PatternFold:
    """A line inside a panel along which the fabric keeps an angle, for example a pleat or a crease.

    Args:
        points: (l,2) [m] polyline that triangles follow; its ends may lie on the outline.
        angle: [rad] at rest, from -pi to pi; 0: flat. Positive: a mountain fold, seen from the
            right side.
        stiffness: [N m/rad per m]; None: the bending stiffness of the fabric.
        name: used by seams; empty: the fold is known by its number.
    """

    points: Floats
    angle: float
    stiffness: float | None = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class Panel:
    """One piece of fabric of a pattern.

    Args:
        name: unique in its pattern.
        corners: (k,2) [m] counter-clockwise.
        edges: k edges; edge i begins at corner i.
        grain: [rad] direction of the warp yarns in the panel's plane, measured from x.
        holes: polygons (h,2) [m] that are cut out.
        lines: polylines (l,2) [m] inside the panel that triangles follow: quilting lines, marks,
            and lines on which other panels are sewn.
        folds: lines inside the panel that keep an angle.
        fabric: a preset, a file or fields, written as in a scene file; None: the pattern's fabric.
        thickness: [m] contact thickness; None: that of the scene's contact.
        layer: 0 next to the body, 1 over it, ...; start positions and contact keep this order.
        placement: where it starts in space.
        line_names: of the lines in turn, used by seams; lines without one are known by number.
        surface: its appearance, over that of the pattern; None: the pattern's.
    """

    name: str
    corners: Floats
    edges: Sequence[Edge]
    grain: float = np.pi / 2
    holes: Sequence[Floats] = ()
    lines: Sequence[Floats] = ()
    folds: Sequence[PatternFold] = ()
    fabric: FabricLike | None = None
    thickness: float | None = None
    layer: int = 0
    placement: Placement = Placement()
    line_names: Sequence[str] = ()
    surface: Appearance | None = None

    @cached_property
    def inner(self) -> Sequence[Floats]:
        """Return the points (l,2) [m] of every line inside, then of every fold.

        Seams know inner line i of a panel with k edges by the number k + i.
        """
        every = [*self.lines, *(f.points for f in self.folds)]
        return [np.array(points, dtype=np.float64) for points in every]

    @cached_property
    def edge_names(self) -> Sequence[str]:
        """Return the names of the edges, the lines and the folds in turn; empty: none."""
        unnamed = [""] * (len(self.lines) - len(self.line_names))
        edges, folds = [e.name for e in self.edges], [f.name for f in self.folds]
        return [*edges, *self.line_names, *unnamed, *folds]

    def edge_name(self, edge: int) -> str:
        """Return the name of an edge or inner line, or its number as text if it has none."""
        return self.edge_names[edge] or str(edge)

    def ends(self, edge: int) -> tuple[int, int]:
        """Return the numbers of the points at which an edge or inner line begins and ends.

        Corner i is point i. An end of a line is the corner or the end of an earlier line in the
        same place, or a point of its own.
        """
        k = len(self.corners)
        if edge < k:
            return edge, (edge + 1) % k
        points = np.concatenate([self.corners, *(line[[0, -1]] for line in self.inner)])
        own = points[k + 2 * (edge - k) :][:2]
        same = np.linalg.norm(points[:, None] - own, axis=2) < SAME_POINT
        first, last = np.argmax(same, axis=0).tolist()
        return first, last


@dataclass(frozen=True)
class SeamSide:
    """An edge of a panel with the direction in which one side of a seam runs along it.

    Args:
        panel: name of the panel.
        edge: number of the edge; k + i is inner line i of a panel with k edges (``Panel.inner``).
        backward: the seam runs from the end of the edge to its beginning.
    """

    panel: str
    edge: int
    backward: bool = False

    @property
    def edge_id(self) -> tuple[str, int]:
        """Return panel and number of the edge."""
        return self.panel, self.edge


class Closing(enum.Enum):
    """The way in which a seam closes."""

    SEWN = enum.auto()  # closed from the start and never opened; vertices are welded after sewing
    ZIP = enum.auto()  # closes and opens along its length, beginning at its first point
    BUTTONS = enum.auto()  # closed at single points only, which open and close together
    HOOKS = enum.auto()  # as buttons, but on the wrong side: pictures do not show them

    @property
    def at_points(self) -> bool:
        """Return whether the seam is closed at single points only."""
        return self in (Closing.BUTTONS, Closing.HOOKS)


@dataclass(frozen=True)
class Seam:
    """A seam that joins two chains of edges point by point, at equal fractions of their lengths.

    Chains may have different lengths: the longer one is eased or gathered into the shorter one.

    Args:
        name: unique in its pattern.
        first, second: chains of edges; each edge begins where the one before it ends.
        flip: True if the second chain is reversed; None: inferred from the right sides of the
            panels, and reported in a warning.
        closing: sewn for good, a zip, buttons or hooks.
        angle: [rad] fold angle between the panels at the seam, 0: they lie flat.
        fold_stiffness: [N m/rad per m] with which the seam keeps its angle; None: the bending
            stiffness of the fabric.
        strength: [N/m] at which the seam tears; None: never.
        buttons: number of points that hold a seam of kind ``BUTTONS`` or ``HOOKS``.
        open_at, close_at: [s] times of the animation at which a zip, buttons or hooks open and
            close; None: never opened, and closed from the start.
        window: begin and end of the seam's closing, as fractions of the time in which the garment
            is sewn. For example, inseams close before the side seams pull the legs apart.
        closes_from: the end of ``first`` from which the seam closes, ``start`` or ``end``; empty:
            all along it at once.
        notched: edges of the two chains are paired one by one: where one edge ends on the first
            side, one ends on the second. Each pair is eased separately, and both chains have the
            same number of edges.
        topstitch: [m] distance from the seam of a line of stitches, drawn on the first side.
    """

    name: str
    first: Sequence[SeamSide]
    second: Sequence[SeamSide]
    flip: bool | None = None
    closing: Closing = Closing.SEWN
    angle: float = 0.0
    fold_stiffness: float | None = None
    strength: float | None = None
    buttons: int = 5
    open_at: float | None = None
    close_at: float | None = None
    window: tuple[float, float] = (0.0, 1.0)
    closes_from: Literal["", "start", "end"] = ""
    notched: bool = False
    topstitch: float | None = None

    @property
    def buttons_at(self) -> Floats:
        """Return the places (k,) of buttons or hooks, as fractions of the seam's length."""
        return np.linspace(0, 1, self.buttons + 2)[1:-1] if self.buttons > 1 else np.array([0.5])


@dataclass(frozen=True)
class Elastic:
    """An elastic band sewn along a chain of edges and shorter than the chain: waistbands and cuffs.

    It is sewn to the cloth at points that are one fold apart, so that the cloth folds between them.

    Args:
        name: unique in its pattern.
        chain: the edges.
        ratio: rest length of the band over the length of the chain; keyframes change it in times of
            the animation.
        stiffness: [N] tension at a strain of 1; or keyframes of it.
    """

    name: str
    chain: Sequence[SeamSide]
    ratio: float | Keys
    stiffness: float | Keys


@dataclass(frozen=True, eq=False)
class Pattern:
    """All panels of a garment, and the seams that join them.

    Args:
        name: used in messages.
        panels: in the order of their triangles.
        seams: between edges of the panels.
        elastics: bands along edges.
        fabric: of panels that do not name one.
        surface: appearance of all panels; None: none is given.
        hems: [m] width of the hem by edge, ``front.hem``; in addition to edges named ``hem``.
        source: the file from which the pattern was read.
        places: file and line of each part, for messages: ``panel front`` -> ``skirt.yaml:12``.
        body: measures in SI of the person for whom the pattern is drafted, by the names of
            ``weft.plugins.garments.bodies.body_measures``; empty: unknown.
        flat_start: panels stand in front of and behind some body, and are fitted to the one that
            wears them.
        guessed: text of the side-car file that weft guessed for a drawing; "": none.
    """

    name: str
    panels: Sequence[Panel]
    seams: Sequence[Seam] = ()
    elastics: Sequence[Elastic] = ()
    fabric: FabricLike = "cotton"
    source: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, float] = field(default_factory=dict)
    surface: Appearance | None = None
    hems: Mapping[str, float] = field(default_factory=dict)
    flat_start: bool = False
    guessed: str = ""

    @property
    def by_name(self) -> dict[str, Panel]:
        """Return the panels by name."""
        return {p.name: p for p in self.panels}

    def with_panels(self, panels: Mapping[str, Panel]) -> "Pattern":
        """Return the pattern with other panels, by name in their order."""
        return replace(self, panels=list(panels.values()))

    def panel(self, name: str) -> Panel:
        """Return the panel of this name; raise ``KeyError`` if there is none."""
        return self.by_name[name]

    def fabric_of(self, panel: Panel) -> FabricLike:
        """Return the fabric of a panel, as the pattern writes it."""
        return self.fabric if panel.fabric is None else panel.fabric
