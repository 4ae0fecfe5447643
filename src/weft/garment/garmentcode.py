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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError, did_you_mean
from weft.garment.pattern import BorderCurve, Panel, Pattern, Placement, Seam, SeamSide
from weft.garment.pattern_file import pattern_name, read_bytes
from weft.garment.stroke import Stroke, chain_area
from weft.garment.tree_field import TreeField

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

CENTIMETERS = 100.0  # units in a meter if the file does not give them
KINDS = ("quadratic", "cubic", "circle")
MOST_PER_METER = 1e6
ROUNDING = 1e-3  # half of an arc's chord may exceed its radius by this part, from rounded files


@dataclass(frozen=True)
class _Units:
    """Units and conventions of a file's numbers."""

    meters: float  # per unit
    relative: bool  # control points in the edge's frame
    centered: bool  # panels are moved such that the mean of their vertices is their origin


def read_garmentcode(path: Path) -> Pattern:
    """Return the pattern in a GarmentCode file.

    Raises:
        PatternError: no such file, or an invalid field, by name.
    """
    root = TreeField(_parse_json(path), path.name)
    found = root.get("pattern") if isinstance(root.value, dict) else None
    if found is None:
        raise PatternError(
            "pattern",
            got="no such field",
            where=path.name,
            expected="GarmentCode's {pattern: {panels: ...}}",
        )
    units = _read_units(root.get("properties"), path.name)
    panels = [_read_panel(name, f, units) for name, f in found.need("panels").mapping().items()]
    if not panels:
        raise found.at("panels").error("at least one panel")
    stitches = found.get("stitches")
    known = {p.name: p for p in panels}
    seams = (
        []
        if stitches is None
        else [_read_seam(i, f, known) for i, f in enumerate(stitches.items())]
    )
    return Pattern(pattern_name(path), panels, seams, source=str(path))


def _parse_json(path: Path) -> Any:
    """Return the JSON of a file; refuse repeated names and numbers that are not finite."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            names = [k for k, _ in pairs]
            twice = next(k for k in names if names.count(k) > 1)
            raise PatternError(
                repr(twice), got="twice in one object", where=path.name, expected="every name once"
            )
        return result

    def refused(word: str) -> Any:
        raise PatternError("number", got=word, where=path.name, expected="finite numbers")

    try:
        text = read_bytes(path).decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=once, parse_constant=refused)
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
        got = "nested without end" if isinstance(problem, RecursionError) else str(problem)
        raise PatternError(
            "JSON", got=got, expected="valid JSON, UTF-8", where=path.name
        ) from problem


def _read_units(properties: TreeField | None, file: str) -> _Units:
    """Return the units from the file's properties; without them, centimeters and relative control
    points.
    """
    count, coords, centered = None, None, None
    if properties is not None:
        count = properties.get("units_in_meter")
        coords = properties.get("curvature_coords")
        centered = properties.get("normalize_panel_translation")
    if count is None:
        warnings.warn(
            f"{file} has no properties.units_in_meter: taken in centimeters", stacklevel=2
        )
    per_meter = CENTIMETERS if count is None else count.number()
    if count is not None and not 1e-3 <= per_meter <= MOST_PER_METER:
        raise count.error("from 0.001 to 1e6: 100 for centimeters, 1000 for millimeters")
    if coords is not None and coords.value not in ("relative", "absolute"):
        raise coords.error("'relative' or 'absolute'")
    relative = coords is None or coords.value == "relative"
    return _Units(1 / per_meter, relative, centered is not None and centered.truth())


def _read_panel(name: str, f: TreeField, units: _Units) -> Panel:
    """Return one panel; its edges keep their numbers."""
    from scipy.spatial.transform import Rotation

    vertices = np.array([v.numbers(2) for v in f.need("vertices").items(2)]) * units.meters
    moved = f.get("translation")
    translation = np.zeros(3) if moved is None else moved.numbers(3) * units.meters
    turned = f.get("rotation")
    rotation = Rotation.from_euler(
        "xyz", np.zeros(3) if turned is None else turned.numbers(3), degrees=True
    )
    edges = list(f.need("edges").items(2))
    ends = [_ends(e, len(vertices)) for e in edges]
    for i, (_, last) in enumerate(ends):
        j = (i + 1) % len(ends)
        if last != ends[j][0] and not np.array_equal(vertices[last], vertices[ends[j][0]]):
            raise (
                edges[j]
                .at("endpoints")
                .error(
                    f"to begin at vertex {last}, where edge {i} ends: the outline of panel "
                    f"{name!r} is open"
                )
            )
    strokes = [_read_stroke(e, vertices[[a, b]], units) for e, (a, b) in zip(edges, ends)]
    if units.centered:
        center = vertices.mean(0)
        strokes = [s.moved(np.eye(2), -center) for s in strokes]
        translation = translation + [*center, 0.0]
    # The outer side is -z: the panel is mirrored in x, and rotated about y to compensate for that.
    if chain_area(strokes) < 0:
        strokes = [s.moved(np.diag([-1.0, 1.0])) for s in strokes]
        rotation = rotation * Rotation.from_matrix(np.diag([-1.0, 1.0, -1.0]))
    corners = np.array([s.start for s in strokes])
    x, y, z = translation.tolist()
    placement = Placement((x, y, z), _angles(rotation))
    return Panel(name, corners, [s.edge for s in strokes], placement=placement)


def _ends(edge: TreeField, count: int) -> tuple[int, int]:
    """Return the vertices at which an edge begins and ends."""
    first, last = (v.index(count, "vertices") for v in edge.need("endpoints").items(2, 2))
    return first, last


def _label(edge: TreeField) -> str:
    found = edge.get("label")
    return "" if found is None or found.value == "" else found.text()


def _read_stroke(edge: TreeField, ends: Floats, units: _Units) -> Stroke:
    """Return an edge with its curvature."""
    name = _label(edge)
    curvature = edge.get("curvature")
    if curvature is None:
        return Stroke(BorderCurve.LINE, ends, name)
    if isinstance(curvature.value, list):  # format of 2021: control point of a quadratic curve
        kind, points = "quadratic", [curvature.numbers(2)]
    else:
        kind = curvature.need("type").text()
        params = curvature.need("params")
        if kind not in KINDS:
            raise curvature.at("type").error(
                f"one of {', '.join(KINDS)}", hint=did_you_mean(kind, KINDS)
            )
        if kind == "circle":
            return Stroke(BorderCurve.ARC, _arc(params, ends, units), name)
        count = 1 if kind == "quadratic" else 2
        points = [p.numbers(2) for p in params.items(count, count)]
    along = ends[1] - ends[0]
    left = np.array([-along[1], along[0]])
    controls = [
        ends[0] + p[0] * along + p[1] * left if units.relative else p * units.meters for p in points
    ]
    curve = BorderCurve.QUADRATIC if kind == "quadratic" else BorderCurve.CUBIC
    return Stroke(curve, np.array([ends[0], *controls, ends[1]]), name)


def _arc(params: TreeField, ends: Floats, units: _Units) -> Floats:
    """Return the beginning, middle and end (3,2) [m] of a circular arc given by [radius, large_arc,
    right].

    The flags are those of SVG, with y up: ``right`` arcs run counter-clockwise and bulge to the
    right of the way from the beginning to the end.
    """
    first, second, third = params.items(3, 3)
    radius = first.number() * units.meters
    large, right = second.truth(), third.truth()
    along = ends[1] - ends[0]
    half = float(np.linalg.norm(along)) / 2
    if half == 0:
        raise params.error("ends apart: an arc of a whole circle has no direction")
    if radius < half * (1 - ROUNDING):
        raise first.error(
            f"at least {half / units.meters:.6g}, half of the distance between its ends"
        )
    radius = max(radius, half)
    tall = radius + np.sqrt(radius * radius - half * half)
    height = tall if large else half * half / tall  # the two solutions h of h (2 r - h) = half^2
    to_right = np.array([along[1], -along[0]]) / (2 * half)
    middle = ends.mean(0) + (height if right else -height) * to_right
    return np.array([ends[0], middle, ends[1]])


def _angles(rotation: "Rotation") -> tuple[float, float, float]:
    """Return the angles [degrees] about fixed x, y and z in turn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gimbal lock: the angles are not unique, any are right
        x, y, z = rotation.as_euler("xyz", degrees=True).tolist()
    return x, y, z


def _read_seam(number: int, stitch: TreeField, panels: dict[str, Panel]) -> Seam:
    """Return a seam from [side, side], [side, side, "right_wrong"], or {from: side, to: side or
    sides} of 2021.

    Right sides meet if the end of one edge is sewn to the beginning of the other; ``right_wrong``
    joins the beginnings.
    """
    name, flip = f"stitch {number}", True
    if isinstance(stitch.value, dict):
        to = stitch.need("to")
        several = isinstance(to.value, list)
        second = [_side(s, panels) for s in to.items(1)] if several else [_side(to, panels)]
        first = [_side(stitch.need("from"), panels)]
        return Seam(name, first, second, flip=None if len(second) > 1 else flip)
    parts = list(stitch.items(2, 3))
    if len(parts) == 3:
        if parts[2].value != "right_wrong":
            raise parts[2].error("'right_wrong', or two sides only")
        flip = False
    return Seam(name, [_side(parts[0], panels)], [_side(parts[1], panels)], flip=flip)


def _side(f: TreeField, panels: dict[str, Panel]) -> SeamSide:
    name = f.need("panel").text()
    if name not in panels:
        hint = did_you_mean(name, panels)
        raise f.at("panel").error(f"one of the panels {', '.join(panels)}", hint=hint)
    return SeamSide(name, f.need("edge").index(len(panels[name].edges), f"edges of panel {name!r}"))
