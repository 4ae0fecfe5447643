"""Panels of weft's pattern files: outlines, copies, mirrored pairs, halves on the fold, darts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel

from weft.base.arrays import Floats
from weft.base.errors import PatternError, PatternProblems, WeftError, did_you_mean
from weft.base.schema.document import DocumentBlock, YamlDocument
from weft.base.trees import Yaml, YamlMapping
from weft.base.yaml_lines import Loc
from weft.discretization.polygon import signed_area
from weft.garment.curves import outline_polygon
from weft.garment.darts import ANGLE, Dart, Feature, Pleat, insert_features
from weft.garment.measures import Measures
from weft.garment.pattern import BorderCurve, Edge, Panel, PatternFold, Placement, Seam, Wrap
from weft.garment.pattern_schema import (
    AnyPanelBlock,
    CopiedPanelBlock,
    CornerBlock,
    DartBlock,
    DrawnPanelBlock,
    FoldBlock,
    HoleBlock,
    MirroredPanelBlock,
    PlacementBlock,
    PleatBlock,
    WrapBlock,
)
from weft.garment.reverse_panels import reverse_panel
from weft.garment.symmetry import mirror_features, mirror_panel, unfold_panel

_CURVES = {
    "quadratic": BorderCurve.QUADRATIC,
    "cubic": BorderCurve.CUBIC,
    "arc": BorderCurve.ARC,
    "points": BorderCurve.POLYLINE,
}
_CIRCLE = 48  # corners of a round hole
B = TypeVar("B", bound=BaseModel)


def read_block(
    document: YamlDocument, block: type[B], tree: Yaml, loc: Loc, measures: Measures
) -> DocumentBlock[B]:
    """Return a checked block of a file with its place.

    Raises:
        PatternError: its problem.
        PatternProblems: its problems, if there are several.
    """
    given, problems = document.validate(block, tree, loc, measures)
    if given is None:
        raise problems[0] if len(problems) == 1 else PatternProblems(problems)
    return DocumentBlock(document, loc, given)


@dataclass(frozen=True)
class Draft:
    """A panel before darts and pleats are cut into its edges."""

    panel: Panel
    features: tuple[Feature, ...] = ()


class PanelReader:
    """Reader of the block ``panels``.

    Args:
        document: the file.
        trees: the block, by name of the panel.
        measures: of the file.
    """

    def __init__(self, document: YamlDocument, trees: YamlMapping, measures: Measures) -> None:
        self.document, self.trees, self.measures = document, trees, measures
        self.drafts: dict[str, Draft] = {}
        self.open: list[str] = []

    def read(self, name: str) -> tuple[Panel, list[Seam]]:
        """Return a panel with its darts and pleats, and the seams that close them.

        Raises:
            PatternError: a field that cannot be read, with its line.
        """
        loc: Loc = ("panels", name)
        if not name.strip() or "." in name or name.startswith("-") or name != name.strip():
            expected = "a name without dots that begins with no '-'"
            raise self.document.field_error(loc, repr(name), expected)
        draft = self.draft(name)
        try:
            return insert_features(draft.panel, draft.features)
        except WeftError as error:
            error.where = error.where or self.document.where(loc)
            raise

    def draft(self, name: str) -> Draft:
        """Return a panel without its darts and pleats; each panel is read once.

        Raises:
            PatternError: panels that are copies of one another in a circle.
        """
        if name in self.drafts:
            return self.drafts[name]
        if name in self.open:
            circle = " -> ".join([*self.open, name])
            raise self.document.field_error(("panels", name), circle, "a panel with an outline")
        self.open.append(name)
        try:
            made = self._build(name)
        finally:
            self.open.pop()
        self.drafts[name] = made
        return made

    def _build(self, name: str) -> Draft:
        """Return a panel from its own outline, or as a copy or mirror image of another panel."""
        tree, loc = self.trees[name], ("panels", name)
        keys = tree if isinstance(tree, Mapping) else {}
        if "mirror" in keys:
            mirrored = read_block(self.document, MirroredPanelBlock, tree, loc, self.measures)
            draft = self._draft_of(mirrored, "mirror", mirrored.given.mirror)
            features = mirror_features(draft.panel, draft.features)
            panel = mirror_panel(draft.panel, name)
            return Draft(set_common_fields(panel, mirrored.given), tuple(features))
        if "copy" in keys:
            copied = read_block(self.document, CopiedPanelBlock, tree, loc, self.measures)
            draft = self._draft_of(copied, "copy", copied.given.copied)
            panel = replace(draft.panel, name=name)
            return Draft(set_common_fields(panel, copied.given), draft.features)
        drawn = read_block(self.document, DrawnPanelBlock, tree, loc, self.measures)
        return _draw_panel(name, drawn)

    def _draft_of(self, block: DocumentBlock[Any], key: str, source: str) -> Draft:
        """Return the panel whose name the field ``key`` gives."""
        if source not in self.trees:
            known = ", ".join(n for n in self.trees if n != block.loc[-1])
            hint = did_you_mean(source, self.trees)
            raise block.error(key, repr(source), f"one of the panels {known}", hint)
        return self.draft(source)


def set_common_fields(panel: Panel, given: AnyPanelBlock) -> Panel:
    """Return the panel with the given fields of its block that do not concern its shape."""
    placement = given.placement
    return replace(
        panel,
        fabric=panel.fabric if given.fabric is None else given.fabric,
        thickness=panel.thickness if given.thickness is None else given.thickness,
        layer=panel.layer if given.layer is None else given.layer,
        placement=panel.placement if placement is None else _placement(placement),
        grain=panel.grain if given.grain is None else given.grain,
    )


def _draw_panel(name: str, block: DocumentBlock[DrawnPanelBlock]) -> Draft:
    """Return a panel from its outline."""
    given = block.given
    corners, edges = [], []
    for k, corner in enumerate(given.outline):
        point, edge = _corner(block, k, corner)
        corners.append(point)
        edges.append(edge if edge.name else replace(edge, name=str(k)))
    panel = Panel(
        name,
        np.array(corners),
        edges,
        holes=[_hole(hole) for hole in given.holes or ()],
        lines=[np.array(line) for line in given.lines or ()],
        folds=[_fold(fold) for fold in given.folds or ()],
    )
    features: list[Feature] = []
    for k, dart in enumerate(given.darts or ()):
        number = _edge_number(block, ("darts", k, "edge"), dart.edge, panel)
        features.append((number, _dart(dart, f"dart{k + 1}")))
    for k, pleat in enumerate(given.pleats or ()):
        number = _edge_number(block, ("pleats", k, "edge"), pleat.edge, panel)
        features.append((number, _pleat(pleat, f"pleat{k + 1}")))
    if signed_area(outline_polygon(panel)[0]) < 0:
        features = mirror_features(panel, features)
        panel = reverse_panel(panel)
    if given.fold is not None:
        number = _edge_number(block, ("fold",), given.fold, panel)
        try:
            panel, features = unfold_panel(panel, number, features)
        except PatternError as error:
            error.where = block.where("fold")
            raise
    return Draft(set_common_fields(panel, given), tuple(features))


def _edge_number(block: DocumentBlock[Any], loc: Loc, name: str, panel: Panel) -> int:
    """Return the number of the edge that a field gives by name, or by number as drawn."""
    names = [e.name for e in panel.edges]
    if name not in names:
        expected = f"one of the edges {', '.join(dict.fromkeys(names))}"
        raise block.error(loc, repr(name), expected, did_you_mean(name, names))
    if names.count(name) > 1:
        expected = f"a name that one edge has: {names.count(name)} are called {name}"
        raise block.error(loc, repr(name), expected)
    return names.index(name)


def _corner(
    block: DocumentBlock[DrawnPanelBlock], k: int, corner: tuple[float, float] | CornerBlock
) -> tuple[Floats, Edge]:
    """Return a corner and the edge that begins there."""
    if not isinstance(corner, CornerBlock):
        return np.array(corner), Edge()
    name = corner.edge or ""
    if corner.edge is not None and (not name or "." in name):
        raise block.error(("outline", k, "edge"), repr(name), "a name without dots")
    said = [key for key in _CURVES if getattr(corner, key) is not None]
    if len(said) > 1:
        raise block.error(("outline", k), " and ".join(said), "one kind of curve")
    curve, controls = BorderCurve.LINE, np.zeros((0, 2))
    for key in said:
        curve, controls = _CURVES[key], np.array(getattr(corner, key)).reshape(-1, 2)
    return np.array(corner.at), Edge(curve, controls, name)


def _hole(hole: Sequence[tuple[float, float]] | HoleBlock) -> Floats:
    """Return a polygon (h,2) [m]."""
    if not isinstance(hole, HoleBlock):
        return np.array(hole)
    angle = np.linspace(0, 2 * np.pi, _CIRCLE, endpoint=False)[:, None]
    circle = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(np.array(hole.center) + hole.radius * circle)


def _fold(fold: FoldBlock) -> PatternFold:
    return PatternFold(np.array(fold.points), fold.angle, fold.stiffness)


def _dart(dart: DartBlock, name: str) -> Dart:
    """Return a dart; ``name`` is used if it has none."""
    return Dart(dart.name or name, dart.at, dart.width, dart.depth)


def _pleat(pleat: PleatBlock, name: str) -> Pleat:
    """Return a pleat; ``name`` is used if it has none."""
    angle = ANGLE if pleat.angle is None else pleat.angle
    to_end = pleat.to == "end"
    return Pleat(pleat.name or name, pleat.at, pleat.depth, pleat.length, pleat.kind, to_end, angle)


def _placement(block: PlacementBlock) -> Placement:
    zero = (0.0, 0.0, 0.0)
    x, y, z = np.degrees(block.rotation or zero).tolist()
    wrap = None if block.wrap is None else _wrap(block.wrap)
    return Placement(block.translation or zero, (x, y, z), wrap)


def _wrap(block: WrapBlock) -> Wrap:
    vectors = {
        key: value for key in ("direction", "facing") if (value := getattr(block, key)) is not None
    }
    return Wrap(block.center, block.radius, **vectors, taper=block.taper)
