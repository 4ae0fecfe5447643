"""Panels of weft's pattern files: outlines, copies, mirrored pairs, halves on the fold, darts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError, WeftError, did_you_mean
from weft.base.schema.document import DocumentBlock
from weft.base.trees import YamlMapping
from weft.base.yaml_lines import Loc
from weft.discretization.polygon import arc_lengths, signed_area
from weft.plugins.garments.patterns.curves import outline_polygon
from weft.plugins.garments.patterns.darts import Feature, insert_features
from weft.plugins.garments.patterns.pattern import BorderCurve, Edge, Panel, Seam
from weft.plugins.garments.patterns.pattern_schema import (
    AnyPanelBlock,
    CopiedPanelBlock,
    CornerBlock,
    DrawnPanelBlock,
    HoleBlock,
    MirroredPanelBlock,
    PatternDocument,
    Polyline,
)
from weft.plugins.garments.patterns.symmetry import (
    mirror_features,
    mirror_panel,
    reverse_panel,
    unfold_panel,
)

_CURVES = {
    "quadratic": BorderCurve.QUADRATIC,
    "cubic": BorderCurve.CUBIC,
    "arc": BorderCurve.ARC,
    "points": BorderCurve.POLYLINE,
}


Moves = Mapping[str, Mapping[str, Floats]]


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
        moves: (2,) [m] by which corners of drawn panels move for the size, by panel and corner.
    """

    def __init__(self, document: PatternDocument, trees: YamlMapping, moves: Moves) -> None:
        self.document, self.trees, self.moves = document, trees, moves
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
            mirrored = self.document.read(MirroredPanelBlock, tree, loc)
            draft = self._draft_of(mirrored, "mirror", mirrored.given.mirror)
            features = mirror_features(draft.panel, draft.features)
            panel = mirror_panel(draft.panel, name)
            return Draft(set_common_fields(panel, mirrored.given), tuple(features))
        if "copy" in keys:
            copied = self.document.read(CopiedPanelBlock, tree, loc)
            draft = self._draft_of(copied, "copy", copied.given.copied)
            panel = replace(draft.panel, name=name)
            return Draft(set_common_fields(panel, copied.given), draft.features)
        block = self.document.read(DrawnPanelBlock, tree, loc)
        return _draw_panel(name, block, self.moves.get(name, {}))

    def _draft_of(self, block: DocumentBlock[Any], key: str, source: str) -> Draft:
        """Return the panel whose name the field ``key`` gives."""
        if source not in self.trees:
            known = ", ".join(n for n in self.trees if n != block.loc[-1])
            hint = did_you_mean(source, self.trees)
            raise block.error(key, repr(source), f"one of the panels {known}", hint)
        return self.draft(source)


def set_common_fields(panel: Panel, given: AnyPanelBlock) -> Panel:
    """Return the panel with the given fields of its block that do not concern its shape."""
    common = {name: getattr(given, name) for name in AnyPanelBlock.model_fields}
    return replace(panel, **{name: v for name, v in common.items() if v is not None})


def _move_corners(panel: Panel, moves: Mapping[str, Floats]) -> Panel:
    """Return a panel with moved corners, by number or name of the edge that begins there.

    Control points of an edge move as both of its ends do, by where they lie along the line through
    them.

    Raises:
        PatternError: a corner that the panel does not have, or that several edges name.
    """
    way = np.zeros_like(panel.corners)
    names = [edge.name for edge in panel.edges]
    for corner, move in moves.items():
        number = int(corner) if corner.isdecimal() and corner not in names else None
        if number is None and names.count(corner) == 1:
            number = names.index(corner)
        if number is None or number >= len(names):
            raise PatternError(
                "grading.corners",
                got=f"{panel.name}.{corner}",
                expected=(
                    f"a corner from 0 to {len(names) - 1} as drawn, or the name of an edge: "
                    f"{', '.join(n for n in names if names.count(n) == 1)}"
                ),
                hint=did_you_mean(corner, names),
            )
        way[number] += move
    edges = []
    for i, edge in enumerate(panel.edges):
        ends = (i, (i + 1) % len(names))
        points = np.array([panel.corners[ends[0]], *edge.controls, panel.corners[ends[1]]])
        along = arc_lengths(points)
        part = (along / max(along[-1], 1e-300))[1:-1, None]
        moved = edge.controls + (1 - part) * way[ends[0]] + part * way[ends[1]]
        edges.append(replace(edge, controls=moved))
    return replace(panel, corners=panel.corners + way, edges=edges)


def add_lines(panel: Panel, lines: Mapping[str, Polyline] | Sequence[Polyline]) -> Panel:
    """Return the panel with more inner lines, by name or without names."""
    named = lines.items() if isinstance(lines, Mapping) else (("", line) for line in lines)
    names, points = list(panel.edge_names[len(panel.edges) :][: len(panel.lines)]), [*panel.lines]
    for name, line in named:
        names.append(name)
        points.append(np.array(line))
    return replace(panel, lines=points, line_names=names)


def _draw_panel(
    name: str, block: DocumentBlock[DrawnPanelBlock], moves: Mapping[str, Floats]
) -> Draft:
    """Return a panel from its outline, for a size whose corners move by ``moves`` (2,) [m]."""
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
        holes=[h.polygon() if isinstance(h, HoleBlock) else np.array(h) for h in given.holes or ()],
        folds=[fold.fold() for fold in given.folds or ()],
    )
    panel = add_lines(panel, given.lines or ())
    if moves:
        panel = _move_corners(panel, moves)
    features: list[Feature] = []
    for k, dart in enumerate(given.darts or ()):
        number = _edge_number(block, ("darts", k, "edge"), dart.edge, panel)
        features.append((number, dart.dart(f"dart{k + 1}")))
    for k, pleat in enumerate(given.pleats or ()):
        number = _edge_number(block, ("pleats", k, "edge"), pleat.edge, panel)
        features.append((number, pleat.pleat(f"pleat{k + 1}")))
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
        expected = f"a name of exactly one edge; {names.count(name)} edges are called {name}"
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
