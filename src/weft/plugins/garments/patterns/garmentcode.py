"""Reader of GarmentCode's JSON patterns.

Korosteleva and Lee 2021 (Generating Datasets of 3D Garments with Sewing Patterns) and Korosteleva
and Sorkine-Hornung 2023 (GarmentCode). Conventions of the format: coordinates are in ``1 /
units_in_meter``; the edges in their order are the outline, and if they run counter-clockwise, the
panel's +z side is the outer one, otherwise its -z side; "relative" control points are in the frame
of their edge, (0, 0) its start, (1, 0) its end, y to the left of it, scaled with its length; angles
are in degrees about fixed x, y, z.
"""

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict

from weft.base.arrays import Floats, Vector
from weft.base.errors import PatternError, did_you_mean
from weft.base.schema.block import ListOrBlock
from weft.base.schema.document import DocumentBlock
from weft.base.trees import Json, Yaml
from weft.base.yaml_lines import Loc
from weft.plugins.garments.bodies.body_measures import read_body
from weft.plugins.garments.patterns.curves import EdgeCurve
from weft.plugins.garments.patterns.pattern import (
    BorderCurve,
    Panel,
    Pattern,
    Placement,
    Seam,
    SeamSide,
)
from weft.plugins.garments.patterns.pattern_file import pattern_name, read_bytes
from weft.plugins.garments.patterns.pattern_schema import PatternDocument, Text, Truth
from weft.plugins.garments.patterns.pieces import chain_area
from weft.plugins.garments.patterns.sidecar import apply_sidecar

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

CENTIMETERS = 100.0  # units in a meter if the file does not give them
MOST_PER_METER = 1e6
MOST = 1e6  # largest coordinate, in the file's units: 10 km if they are centimeters
ROUNDING = 1e-3  # half of an arc's chord may exceed its radius by this part, from rounded files


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _three_entries(value: object) -> object:
    """Return a stitch of two sides with None as its third entry."""
    return [*value, None] if isinstance(value, list) and len(value) == 2 else value


Coordinate = Annotated[float, Strict(), Field(ge=-MOST, le=MOST)]
Index = Annotated[int, Strict()]
Pair = tuple[Coordinate, Coordinate]
Triple = tuple[Coordinate, Coordinate, Coordinate]


class _Block(BaseModel):
    """A block of fields; fields that weft does not read are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class _Quadratic(_Block):
    type: Literal["quadratic"]
    params: tuple[Pair]


class _Cubic(_Block):
    type: Literal["cubic"]
    params: tuple[Pair, Pair]


class _Circle(_Block):
    type: Literal["circle"]
    params: tuple[Coordinate, Truth, Truth] = Field(description="radius, large_arc, right")


_Curve = Annotated[_Quadratic | _Cubic | _Circle, Field(discriminator="type")]


class _Edge(_Block):
    endpoints: tuple[Index, Index] = Field(description="numbers of vertices")
    # the format of 2021 has the control point of a quadratic curve
    curvature: Annotated[Pair | _Curve, ListOrBlock()] | None = None
    label: Annotated[str, AfterValidator(_one_line)] | None = None


class _Panel(_Block):
    vertices: Annotated[list[Pair], Field(min_length=2)]
    edges: Annotated[list[_Edge], Field(min_length=2)]
    translation: Triple | None = None
    rotation: Triple | None = None


class _Side(_Block):
    panel: Text
    edge: Index


class _Stitch2021(_Block):
    first: _Side = Field(alias="from")
    to: Annotated[Annotated[list[_Side], Field(min_length=1)] | _Side, ListOrBlock()]


_Sides = tuple[_Side, _Side, Literal["right_wrong"] | None]
_Stitch = Annotated[Annotated[_Sides, BeforeValidator(_three_entries)] | _Stitch2021, ListOrBlock()]


class _PatternBlock(_Block):
    panels: dict[str, _Panel]
    stitches: list[_Stitch] | None = None


class _Properties(_Block):
    units_in_meter: Annotated[float, Strict(), Field(ge=1e-3, le=MOST_PER_METER)] | None = Field(
        None, description="100 for centimeters, 1000 for millimeters"
    )
    curvature_coords: Literal["relative", "absolute"] | None = None
    # whether panels are moved such that the mean of their vertices is their origin
    normalize_panel_translation: Truth | None = None
    # measures of the body for which the pattern is drafted, or a file of them
    body: Json | str | None = None

    @property
    def meters(self) -> float:
        """Return the size [m] of a unit; centimeters if the file does not say it."""
        return 1 / (self.units_in_meter or CENTIMETERS)


class _File(_Block):
    pattern: _PatternBlock
    properties: _Properties | None = None


def read_garmentcode(path: Path) -> Pattern:
    """Return the pattern in a GarmentCode file, with the changes of its side-car file.

    Raises:
        PatternError: no such file, or an invalid field, by name.
    """
    tree = _parse_json(path)
    if not isinstance(tree, dict) or tree.get("pattern") is None:
        raise PatternError(
            "pattern",
            got="no such field",
            where=path.name,
            expected="GarmentCode's {pattern: {panels: ...}}",
        )
    block = PatternDocument(path, tree).read(_File, tree)
    units = block.given.properties or _Properties()
    if units.units_in_meter is None:
        warnings.warn(
            f"{path.name} has no properties.units_in_meter: taken in centimeters", stacklevel=2
        )
    given = block.given.pattern
    panels = [_read_panel(name, block, panel, units) for name, panel in given.panels.items()]
    if not panels:
        raise block.error(("pattern", "panels"), "none", "at least one panel")
    known = {p.name: p for p in panels}
    seams = [_read_seam(i, block, s, known) for i, s in enumerate(given.stitches or ())]
    body = _read_body(path, units.body)
    name, source = pattern_name(path), str(path)
    pattern = Pattern(name, panels, seams, source=source, body=body, flat_start=True)
    return apply_sidecar(pattern, path)


def _read_body(path: Path, given: Json | str | None) -> dict[str, float]:
    """Return the measures of the body that a file declares, or that its tools wrote beside it."""
    if given is None:
        stem = path.stem.removesuffix("_specification")
        names = (f"{stem}.body.yaml", f"{stem}_body_measurements.yaml", "body_measurements.yaml")
        given = next((n for n in names if path.with_name(n).exists()), None)
    return {} if given is None else read_body(given, path.parent, path.name)


def _parse_json(path: Path) -> Yaml:
    """Return the JSON of a file; refuse repeated names and numbers that are not finite."""

    def once(pairs: list[tuple[str, Yaml]]) -> Json:
        result = dict(pairs)
        if len(result) < len(pairs):
            names = [k for k, _ in pairs]
            twice = next(k for k in names if names.count(k) > 1)
            raise PatternError(
                repr(twice),
                got="twice in the same object",
                where=path.name,
                expected="every name once",
            )
        return result

    def refuse_constant(word: str) -> Yaml:
        raise PatternError("number", got=word, where=path.name, expected="finite numbers")

    try:
        text = read_bytes(path).decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=once, parse_constant=refuse_constant)
    except json.JSONDecodeError as problem:
        hint = "JSON has no comments" if text.lstrip().startswith(("//", "/*")) else None
        raise PatternError(
            "JSON",
            got=problem.msg,
            expected="valid JSON",
            hint=hint,
            where=f"{path.name}:{problem.lineno}",
        ) from problem
    except (ValueError, RecursionError, MemoryError) as problem:
        got = "nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        raise PatternError(
            "JSON", got=got, expected="valid JSON, UTF-8", where=path.name
        ) from problem


def _read_panel(name: str, block: DocumentBlock[_File], panel: _Panel, units: _Properties) -> Panel:
    """Return one panel; its edges keep their numbers."""
    from scipy.spatial.transform import Rotation

    vertices = np.array(panel.vertices) * units.meters
    translation = np.array(panel.translation or (0.0, 0.0, 0.0)) * units.meters
    rotation = Rotation.from_euler("xyz", panel.rotation or (0.0, 0.0, 0.0), degrees=True)
    places = [("pattern", "panels", name, "edges", i) for i in range(len(panel.edges))]
    for edge, place in zip(panel.edges, places):
        for k, vertex in enumerate(edge.endpoints):
            if not 0 <= vertex < len(vertices):
                expected = f"from 0 to {len(vertices) - 1}: there are {len(vertices)} vertices"
                raise block.error((*place, "endpoints", k), vertex, expected)
    ends = [edge.endpoints for edge in panel.edges]
    for i, (_, last) in enumerate(ends):
        j = (i + 1) % len(ends)
        if last != ends[j][0] and not np.array_equal(vertices[last], vertices[ends[j][0]]):
            expected = (
                f"to begin at vertex {last}, where edge {i} ends: the outline of panel "
                f"{name!r} is open"
            )
            raise block.error((*places[j], "endpoints"), list(ends[j]), expected)
    curves = []
    for edge, place in zip(panel.edges, places):
        chord = vertices[list(edge.endpoints)]
        try:
            curves.append(_read_curve(edge, chord, units))
        except PatternError as error:
            at = (*place, "curvature", "params")
            raise block.error(at, error.got, error.expected or "") from None
    if units.normalize_panel_translation:
        center = vertices.mean(0)
        curves = [s.transform(np.eye(2), -center) for s in curves]
        translation = translation + [*center, 0.0]
    # The outer side is -z: the panel is mirrored in x, and rotated about y to compensate for that.
    if chain_area(curves) < 0:
        curves = [s.transform(np.diag([-1.0, 1.0])) for s in curves]
        rotation = rotation * Rotation.from_matrix(np.diag([-1.0, 1.0, -1.0]))
    corners = np.array([s.start for s in curves])
    x, y, z = translation.tolist()
    placement = Placement((x, y, z), _angles(rotation))
    return Panel(name, corners, [s.edge for s in curves], placement=placement)


def _read_curve(edge: _Edge, ends: Floats, units: _Properties) -> EdgeCurve:
    """Return an edge with its curvature."""
    name, curvature = edge.label or "", edge.curvature
    if curvature is None:
        return EdgeCurve(BorderCurve.LINE, ends, name)
    if isinstance(curvature, _Circle):
        return EdgeCurve(BorderCurve.ARC, _arc(curvature, ends, units), name)
    points = np.array([curvature] if isinstance(curvature, tuple) else curvature.params)
    along = ends[1] - ends[0]
    left = np.array([-along[1], along[0]])
    if units.curvature_coords == "absolute":
        controls = [p * units.meters for p in points]
    else:
        controls = [ends[0] + p[0] * along + p[1] * left for p in points]
    curve = BorderCurve.CUBIC if isinstance(curvature, _Cubic) else BorderCurve.QUADRATIC
    return EdgeCurve(curve, np.array([ends[0], *controls, ends[1]]), name)


def _arc(circle: _Circle, ends: Floats, units: _Properties) -> Floats:
    """Return the beginning, middle and end (3,2) [m] of a circular arc given by [radius, large_arc,
    right].

    The flags are those of SVG, with y up: ``right`` arcs run counter-clockwise and bulge to the
    right of the way from the beginning to the end.

    Raises:
        PatternError: there is no such arc.
    """
    size, large, right = circle.params
    radius = size * units.meters
    along = ends[1] - ends[0]
    half = float(np.linalg.norm(along)) / 2
    if half == 0:
        expected = "different ends, because an arc of a whole circle has no direction"
        raise PatternError("arc", got=list(circle.params), expected=expected)
    if radius < half * (1 - ROUNDING):
        least = half / units.meters
        expected = f"a radius of at least {least:.6g}, half of the distance between its ends"
        raise PatternError("arc", got=list(circle.params), expected=expected)
    radius = max(radius, half)
    tall = radius + np.sqrt(radius * radius - half * half)
    height = tall if large else half * half / tall  # the two solutions h of h (2 r - h) = half^2
    to_right = np.array([along[1], -along[0]]) / (2 * half)
    middle = ends.mean(0) + (height if right else -height) * to_right
    return np.array([ends[0], middle, ends[1]])


def _angles(rotation: "Rotation") -> Vector:
    """Return the angles [degrees] about fixed x, y and z in turn."""
    # Gimbal lock is warned of: the angles are not unique then, and any are right.
    with warnings.catch_warnings(action="ignore"):
        x, y, z = rotation.as_euler("xyz", degrees=True).tolist()
    return x, y, z


def _read_seam(
    number: int,
    block: DocumentBlock[_File],
    stitch: tuple[_Side, _Side, str | None] | _Stitch2021,
    panels: dict[str, Panel],
) -> Seam:
    """Return a seam from [side, side], [side, side, "right_wrong"], or {from: side, to: side or
    sides} of 2021.

    Right sides meet if the end of one edge is sewn to the beginning of the other; ``right_wrong``
    joins the beginnings.
    """
    place = ("pattern", "stitches", number)
    flip: bool | None = True
    if isinstance(stitch, _Stitch2021):
        several = isinstance(stitch.to, list)
        others = stitch.to if isinstance(stitch.to, list) else [stitch.to]
        given: list[tuple[_Side, Loc]] = [(stitch.first, (*place, "from"))]
        given += [
            (s, (*place, "to", k) if several else (*place, "to")) for k, s in enumerate(others)
        ]
        flip = None if len(others) > 1 else True
    else:
        given = [(s, (*place, k)) for k, s in enumerate(stitch[:2])]
        flip = stitch[2] is None
    first, *second = [_side(s, block, at, panels) for s, at in given]
    return Seam(f"stitch {number}", [first], second, flip=flip)


def _side(side: _Side, block: DocumentBlock[_File], loc: Loc, panels: dict[str, Panel]) -> SeamSide:
    name = side.panel
    if name not in panels:
        expected = f"one of the panels {', '.join(panels)}"
        raise block.error((*loc, "panel"), repr(name), expected, did_you_mean(name, panels))
    count = len(panels[name].edges)
    if not 0 <= side.edge < count:
        expected = f"from 0 to {count - 1}: there are {count} edges of panel {name!r}"
        raise block.error((*loc, "edge"), side.edge, expected)
    return SeamSide(name, side.edge)
