"""The fields of weft's pattern files and of side-car files, as blocks that pydantic checks.

docs/guides/garment-files.md describes the format. Numbers are expressions (``measures``).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, RootModel, Strict

from weft.base.arrays import Floats
from weft.base.errors import PatternError, PatternProblems, WeftError
from weft.base.keyframes import Keys
from weft.base.schema.block import Block, InBlock, ListOrBlock
from weft.base.schema.document import DocumentBlock, YamlDocument
from weft.base.trees import Json, Yaml
from weft.base.units.expression import UnitValue
from weft.base.yaml_lines import Loc
from weft.discretization.polygon import unit_vectors
from weft.fabric.appearance import Appearance
from weft.plugins.garments.bodies.body_measures import read_body
from weft.plugins.garments.patterns.darts import ANGLE, Dart, Pleat, PleatKind
from weft.plugins.garments.patterns.measures import (
    Angle,
    Expression,
    FoldStiffness,
    Keyframed,
    Length,
    Number,
    Time,
)
from weft.plugins.garments.patterns.pattern import Closing, PatternFold, Placement, Wrap

MOST_LAYERS = 100
MOST_BUTTONS = 1000
_CIRCLE = 48  # corners of a round hole
B = TypeVar("B", bound=BaseModel)


@dataclass(frozen=True)
class PatternDocument(YamlDocument):
    """A pattern file; its numbers may be arithmetic on its measures."""

    measures: Mapping[str, UnitValue] = field(default_factory=dict)

    what: ClassVar[str] = "pattern"
    error: ClassVar[type[WeftError]] = PatternError

    def read(self, block: type[B], tree: Yaml, loc: Loc = ()) -> DocumentBlock[B]:
        """Return a checked block of the file with its place.

        Raises:
            PatternError: its problem.
            PatternProblems: its problems, if there are several.
        """
        given, problems = self.validate(block, tree, loc, self.measures)
        if given is None:
            raise problems[0] if len(problems) == 1 else PatternProblems(problems)
        return DocumentBlock(self, loc, given)

    def read_body(self, given: "JoinsBlock") -> dict[str, float]:
        """Return the measures of the body that the file declares, as ``Pattern.body``."""
        if given.body is None:
            return {}
        return read_body(given.body, self.path.parent, self.where(("body",)))


@dataclass(frozen=True)
class SidecarDocument(PatternDocument):
    """The side-car file of a drawing."""

    what: ClassVar[str] = "side-car"


def _one_line(text: str) -> str:
    if not text.strip():
        raise ValueError("text")
    return " ".join(text.split())


def _name_without_dot(name: str) -> str:
    if "." in name:
        raise ValueError("a name without dots")
    return name


def _edge_text(value: object) -> object:
    """Return the number of an edge as text."""
    return str(value) if isinstance(value, int) else value


def _truth(value: object) -> object:
    """Return 0 and 1 as False and True."""
    return bool(value) if isinstance(value, int) and value in (0, 1) else value


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


Text = Annotated[str, AfterValidator(_one_line)]
Width = Annotated[Length, Field(ge=0)]
EdgeName = Annotated[str, BeforeValidator(_edge_text), AfterValidator(str.strip)]
Truth = Annotated[bool, Strict(), BeforeValidator(_truth)]
Degrees = Annotated[float, BeforeValidator(Expression("rad")), AfterValidator(math.degrees)]
Vector = tuple[Number, Number, Number]
Point = tuple[Length, Length]
Polyline = Annotated[list[Point], Field(min_length=2)]
LineName = Annotated[Text, AfterValidator(_name_without_dot)]
Lines = Annotated[list[Polyline] | dict[LineName, Polyline], ListOrBlock()]
Polygon = Annotated[list[Point], Field(min_length=3)]


class CornerBlock(Block):
    """A corner of an outline, and the edge that begins there: one kind of curve, or a line."""

    at: Point
    edge: EdgeName | None = Field(None, description="its name")
    quadratic: Point | None = None
    cubic: tuple[Point, Point] | None = None
    arc: Point | None = None
    points: Annotated[list[Point], Field(min_length=1)] | None = None


class HoleBlock(Block):
    """A round hole."""

    center: Point
    radius: Length

    def polygon(self) -> Floats:
        """Return the hole as a polygon (h,2) [m]."""
        circle = unit_vectors(np.linspace(0, 2 * np.pi, _CIRCLE, endpoint=False))
        return np.array(self.center) + self.radius * circle


Corner = Annotated[Point | CornerBlock, ListOrBlock()]
Hole = Annotated[Polygon | HoleBlock, ListOrBlock()]


class FoldBlock(Block):
    """A line that keeps an angle."""

    points: Polyline
    angle: Angle
    stiffness: FoldStiffness | None = None
    name: LineName = ""

    def fold(self) -> PatternFold:
        """Return the fold."""
        return PatternFold(np.array(self.points), self.angle, self.stiffness, self.name)


class DartBlock(Block):
    """A dart in an edge."""

    name: Text | None = None
    edge: EdgeName
    at: Number = 0.5
    width: Length
    depth: Length

    def dart(self, name: str) -> Dart:
        """Return the dart; ``name`` is used if it has none."""
        return Dart(self.name or name, self.at, self.width, self.depth)


class PleatBlock(Block):
    """A pleat in an edge."""

    name: Text | None = None
    edge: EdgeName
    at: Number = 0.5
    depth: Length
    length: Length
    kind: PleatKind = "knife"
    to: Literal["start", "end"] = Field("end", description="start or end of the edge")
    angle: Angle | None = None

    def pleat(self, name: str) -> Pleat:
        """Return the pleat; ``name`` is used if it has none."""
        angle = ANGLE if self.angle is None else self.angle
        name, to_end = self.name or name, self.to == "end"
        return Pleat(name, self.at, self.depth, self.length, self.kind, to_end, angle)


class WrapBlock(Block):
    """The bending of a panel around an axis."""

    center: tuple[Length, Length, Length]
    radius: Length
    direction: Vector | None = None
    facing: Vector | None = None
    taper: Angle = 0.0

    def bending(self) -> Wrap:
        """Return the wrap."""
        return Wrap(**given_fields(self))


class PlacementBlock(Block):
    """The start of a panel in space."""

    translation: tuple[Length, Length, Length] | None = None
    rotation: tuple[Degrees, Degrees, Degrees] | None = None
    wrap: Annotated[WrapBlock, AfterValidator(WrapBlock.bending)] | None = None

    def start(self) -> Placement:
        """Return the placement."""
        return Placement(**given_fields(self))


class AnyPanelBlock(Block):
    """Fields of panels that do not concern their shape."""

    fabric: Yaml = None
    thickness: Length | None = None
    layer: Annotated[int, Strict(), Field(ge=0, lt=MOST_LAYERS)] | None = None
    placement: Annotated[PlacementBlock, AfterValidator(PlacementBlock.start)] | None = None
    grain: Angle | None = None
    surface: InBlock[Appearance] | None = None


class MirroredPanelBlock(AnyPanelBlock):
    """The mirror image of another panel."""

    mirror: Text


class CopiedPanelBlock(AnyPanelBlock):
    """A copy of another panel."""

    copied: Text = Field(alias="copy")


class DrawnPanelBlock(AnyPanelBlock):
    """A panel with an outline."""

    outline: Annotated[list[Corner], Field(min_length=2)]
    holes: list[Hole] | None = None
    lines: Lines | None = None
    folds: list[FoldBlock] | None = None
    darts: list[DartBlock] | None = None
    pleats: list[PleatBlock] | None = None
    fold: EdgeName | None = Field(None, description="the edge on the fold of the fabric")


class PieceBlock(AnyPanelBlock):
    """A panel of a drawing's piece, in a side-car file."""

    piece: Text | None = None
    place: Text | None = Field(
        None, description="left front, back, right sleeve, front waistband, left cuff, ..."
    )
    mirrored: Truth | None = None
    share: Annotated[float, BeforeValidator(Expression("1")), Field(gt=0, le=1)] | None = Field(
        None, description="part of the length of a rectangle that the panel has"
    )
    folded: Truth | None = Field(
        None, description="whether a rectangle is folded lengthwise: a layer of half its width"
    )
    lines: Lines | None = Field(None, description="more lines, in the coordinates of the piece")


Chain = Annotated[list[Text], Field(min_length=1), BeforeValidator(_as_list)]
Sides = tuple[Chain, Chain]


class BareSeam(RootModel[Sides]):
    """A seam that a file gives by its two chains alone."""


class SeamBlock(Block):
    """A seam."""

    name: Text | None = None
    join: Sides | None = None
    flip: Truth | None = None
    closing: (
        Annotated[
            Literal["sewn", "zip", "buttons", "hooks"],
            AfterValidator(lambda word: Closing[word.upper()]),
        ]
        | None
    ) = None
    angle: Angle | None = None
    fold_stiffness: FoldStiffness | None = None
    strength: Annotated[float, BeforeValidator(Expression("N/m"))] | None = None
    buttons: Annotated[int, Strict(), Field(ge=0, lt=MOST_BUTTONS)] | None = None
    open_at: Time | None = None
    close_at: Time | None = None
    window: tuple[Number, Number] | None = None
    notched: Truth | None = None
    topstitch: Width | None = None


class ElasticBlock(Block):
    """An elastic band along a chain of edges."""

    name: Text | None = None
    edges: Chain
    ratio: Annotated[float | Keys, Keyframed("1")]
    stiffness: Annotated[float | Keys, Keyframed("N")]


class JoinsBlock(Block):
    """Fields of pattern and side-car files; seams and elastics are lists, or have names."""

    body: Json | str | None = Field(
        None, description="measures of the person for whom it is drafted, or a file of them"
    )
    fabric: Yaml = None
    surface: InBlock[Appearance] | None = None
    hems: dict[Text, Width] | None = Field(None, description="width of the hem, by edge")
    panels: Json | None = None
    seams: Yaml = None
    elastics: Yaml = None


class MoveBlock(Block):
    """The way of a corner from one size to the next."""

    dx: Length = 0.0
    dy: Length = 0.0


class GradingBlock(Block):
    """Rules by which corners move from size to size."""

    base: Number = Field(description="the size that is drawn")
    step: Annotated[float, BeforeValidator(Expression("1")), Field(gt=0)] = Field(
        2.0, description="from one size to the next"
    )
    corners: dict[str, MoveBlock] = Field(
        description="PANEL.CORNER, as drawn: by its number, or the name of the edge that begins "
        "there"
    )


class PatternBlock(JoinsBlock):
    """A pattern file."""

    name: Text | None = None
    measures: Json | None = None
    grading: GradingBlock | None = None
    panels: Json


class SidecarBlock(JoinsBlock):
    """The side-car file of a drawing."""

    fabrics: Json | None = Field(None, description="for the names of fabrics in DXF files")
    size: Annotated[str, BeforeValidator(_edge_text)] | None = Field(
        None, description="the size to read from a DXF file that holds several"
    )
    units: Literal["mm", "cm", "m", "in", "0.01 mm"] | None = Field(
        None, description="length of a unit of the drawing, in place of the file's own"
    )
    notches: Literal["corners", "ignored"] | None = Field(
        None, description="whether notches of a DXF file divide edges (corners) or not (ignored)"
    )


def given_fields(block: BaseModel) -> Json:
    """Return the fields of a block that a file gives, by name."""
    return {name: value for name, value in block if value is not None}
