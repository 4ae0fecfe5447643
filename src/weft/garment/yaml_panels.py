"""Panels of weft's pattern files: outlines, copies, mirrored pairs, halves on the fold, darts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError, WeftError, did_you_mean
from weft.garment.curves import outline_polygon, signed_area
from weft.garment.darts import ANGLE, KINDS, Dart, Feature, Pleat, insert_features
from weft.garment.pattern import BorderCurve, Edge, Panel, PatternFold, Placement, Seam, Wrap
from weft.garment.reverse_panels import reverse_panel
from weft.garment.symmetry import mirror_features, mirror_panel, unfold_panel
from weft.garment.tree_field import TreeField
from weft.garment.yaml_values import Values

OWN = ("fabric", "thickness", "layer", "placement", "grain")  # fields that copies may have, too
SHAPE = ("outline", "holes", "lines", "folds", "darts", "pleats", "fold")
_CURVES = {
    "quadratic": BorderCurve.QUADRATIC,
    "cubic": BorderCurve.CUBIC,
    "arc": BorderCurve.ARC,
    "points": BorderCurve.POLYLINE,
}
_CIRCLE = 48  # corners of a round hole


@dataclass(frozen=True)
class Draft:
    """A panel before darts and pleats are cut into its edges."""

    panel: Panel
    features: tuple[Feature, ...] = ()


class PanelReader:
    """Reader of the block ``panels``.

    Args:
        panels: the block.
        values: reads numbers.
    """

    def __init__(self, panels: TreeField, values: Values) -> None:
        self.fields, self.values = panels.mapping(), values
        self.drafts: dict[str, Draft] = {}
        self.open: list[str] = []

    def read(self, name: str) -> tuple[Panel, list[Seam]]:
        """Return a panel with its darts and pleats, and the seams that close them.

        Raises:
            PatternError: a field that cannot be read, with its line.
        """
        f = self.fields[name]
        if not name.strip() or "." in name or name.startswith("-") or name != name.strip():
            raise f.error("a name without dots that begins with no '-'", got=repr(name))
        draft = self.draft(name)
        try:
            return insert_features(draft.panel, draft.features)
        except WeftError as error:
            error.where = error.where or f.where
            raise

    def draft(self, name: str) -> Draft:
        """Return a panel without its darts and pleats; each panel is read once.

        Raises:
            PatternError: panels that are copies of one another in a circle.
        """
        if name in self.drafts:
            return self.drafts[name]
        f = self.fields[name]
        if name in self.open:
            raise f.error("a panel with an outline", got=" -> ".join([*self.open, name]))
        self.open.append(name)
        try:
            made = self.made(name, f)
        finally:
            self.open.pop()
        self.drafts[name] = made
        return made

    def made(self, name: str, f: TreeField) -> Draft:
        """Return a panel from its own outline, or as a copy or mirror image of another panel."""
        for key in ("mirror", "copy"):
            other = f.get(key)
            if other is None:
                continue
            f.only(key, *OWN)
            source = other.text()
            if source not in self.fields:
                known = ", ".join(n for n in self.fields if n != name)
                hint = did_you_mean(source, self.fields)
                raise other.error(f"one of the panels {known}", hint=hint)
            draft = self.draft(source)
            if key == "copy":
                return Draft(self.own(replace(draft.panel, name=name), f), draft.features)
            features = mirror_features(draft.panel, draft.features)
            return Draft(self.own(mirror_panel(draft.panel, name), f), tuple(features))
        return self.drawn(name, f)

    def own(self, panel: Panel, f: TreeField) -> Panel:
        """Return the panel with the fields of its block that do not concern its shape."""
        v = self.values
        fabric, thickness, layer = f.get("fabric"), f.get("thickness"), f.get("layer")
        placement, grain = f.get("placement"), f.get("grain")
        return replace(
            panel,
            fabric=panel.fabric if fabric is None else fabric.value,
            thickness=panel.thickness if thickness is None else v.length(thickness),
            layer=panel.layer if layer is None else layer.index(100, "layers"),
            placement=panel.placement if placement is None else self.placement(placement),
            grain=panel.grain if grain is None else v.angle(grain),
        )

    def drawn(self, name: str, f: TreeField) -> Draft:
        """Return a panel from its outline."""
        f.only("mirror", "copy", *SHAPE, *OWN)
        corners, edges = [], []
        for corner in f.need("outline").items(2):
            point, edge = self.corner(corner)
            corners.append(point)
            edges.append(edge)
        edges = [e if e.name else replace(e, name=str(i)) for i, e in enumerate(edges)]
        v = self.values
        lists = {key: f.get(key) for key in ("holes", "lines", "folds", "darts", "pleats")}
        found = {key: [] if lst is None else list(lst.items()) for key, lst in lists.items()}
        panel = Panel(
            name,
            np.array(corners),
            edges,
            holes=[self.hole(h) for h in found["holes"]],
            lines=[v.points(line, 2) for line in found["lines"]],
            folds=[self.fold(fold) for fold in found["folds"]],
        )
        features: list[Feature] = []
        for kind, read in (("darts", self.dart), ("pleats", self.pleat)):
            for i, entry in enumerate(found[kind]):
                number = self.edge(entry.need("edge"), panel)
                features.append((number, read(entry, f"{kind[:-1]}{i + 1}")))
        if signed_area(outline_polygon(panel)[0]) < 0:
            features = mirror_features(panel, features)
            panel = reverse_panel(panel)
        fold = f.get("fold")
        if fold is not None:
            try:
                panel, features = unfold_panel(panel, self.edge(fold, panel), features)
            except PatternError as error:
                error.where = fold.where
                raise
        return Draft(self.own(panel, f), tuple(features))

    def edge(self, f: TreeField, panel: Panel) -> int:
        """Return the number of the edge that a field gives by name, or by number as drawn."""
        names = [e.name for e in panel.edges]
        name = str(f.value)
        if name not in names:
            hint = did_you_mean(name, names)
            raise f.error(f"one of the edges {', '.join(dict.fromkeys(names))}", hint=hint)
        if names.count(name) > 1:
            raise f.error(f"a name that one edge has: {names.count(name)} are called {name}")
        return names.index(name)

    def corner(self, f: TreeField) -> tuple[Floats, Edge]:
        """Return a corner and the edge that begins there.

        The field is ``[x, y]``, or a mapping of ``at`` with the kind and name of the edge.
        """
        v = self.values
        if isinstance(f.value, list):
            return v.point(f), Edge()
        f.only("at", "edge", *_CURVES)
        said = [key for key in _CURVES if f.get(key) is not None]
        if len(said) > 1:
            raise f.error("one kind of curve", got=" and ".join(said))
        named = f.get("edge")
        name = "" if named is None else str(named.value).strip()
        if named is not None and (not name or "." in name):
            raise named.error("a name without dots")
        curve, controls = BorderCurve.LINE, np.zeros((0, 2))
        if said:
            given, curve = f.need(said[0]), _CURVES[said[0]]
            if curve in (BorderCurve.QUADRATIC, BorderCurve.ARC):
                controls = v.point(given)[None]
            else:
                count = curve.n_controls
                controls = v.points(given, 1 if count is None else count, count)
        return v.point(f.need("at")), Edge(curve, controls, name)

    def hole(self, f: TreeField) -> Floats:
        """Return a polygon (h,2) [m] from a list of points, or from the center and radius of a
        circle.
        """
        v = self.values
        if isinstance(f.value, list):
            return v.points(f, 3)
        f.only("center", "radius")
        angle = np.linspace(0, 2 * np.pi, _CIRCLE, endpoint=False)[:, None]
        circle = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
        return np.asarray(v.point(f.need("center")) + v.length(f.need("radius")) * circle)

    def fold(self, f: TreeField) -> PatternFold:
        """Return a fold: a line that keeps an angle."""
        f.only("points", "angle", "stiffness")
        stiffness = f.get("stiffness")
        return PatternFold(
            self.values.points(f.need("points"), 2),
            self.values.angle(f.need("angle")),
            None if stiffness is None else self.values.number(stiffness, "N"),
        )

    def dart(self, f: TreeField, name: str) -> Dart:
        """Return a dart; ``name`` is used if the field has none."""
        f.only("name", "edge", "at", "width", "depth")
        v, said = self.values, f.get("name")
        sizes = (v.length(f.need(key)) for key in ("width", "depth"))
        at = f.get("at")
        where = 0.5 if at is None else v.plain(at)
        return Dart(name if said is None else said.text(), where, *sizes)

    def pleat(self, f: TreeField, name: str) -> Pleat:
        """Return a pleat; ``name`` is used if the field has none."""
        f.only("name", "edge", "at", "depth", "length", "kind", "to", "angle")
        v, said, kind, to = self.values, f.get("name"), f.get("kind"), f.get("to")
        at, angle = f.get("at"), f.get("angle")
        if kind is not None and kind.value not in KINDS:
            raise kind.error(f"one of {', '.join(KINDS)}")
        if to is not None and to.value not in ("start", "end"):
            raise to.error("start or end (of the edge)")
        return Pleat(
            name if said is None else said.text(),
            0.5 if at is None else v.plain(at),
            v.length(f.need("depth")),
            v.length(f.need("length")),
            KINDS[0] if kind is None else kind.text(),
            to is None or to.value == "end",
            ANGLE if angle is None else v.angle(angle),
        )

    def placement(self, f: TreeField) -> Placement:
        """Return the placement of a panel."""
        f.only("translation", "rotation", "wrap")
        v = self.values
        translation, rotation, wrap = (f.get(k) for k in ("translation", "rotation", "wrap"))
        zero = (0.0, 0.0, 0.0)
        turned = zero
        if rotation is not None:
            x, y, z = (float(np.degrees(v.angle(a))) for a in rotation.items(3, 3))
            turned = (x, y, z)
        return Placement(
            zero if translation is None else v.three(translation, "m"),
            turned,
            None if wrap is None else self.wrap(wrap),
        )

    def wrap(self, f: TreeField) -> Wrap:
        """Return the bending of a panel around an axis."""
        f.only("center", "radius", "direction", "facing", "taper")
        v, taper = self.values, f.get("taper")
        vectors: Mapping[str, tuple[float, float, float]] = {
            key: v.three(given, "1")
            for key in ("direction", "facing")
            if (given := f.get(key)) is not None
        }
        return Wrap(
            v.three(f.need("center"), "m"),
            v.length(f.need("radius")),
            **vectors,
            taper=0.0 if taper is None else v.angle(taper),
        )
