"""Landmarks and girths of a standing body, found on its mesh by sections and extremal points.

The names are those of ISO 8559-1. Topology gives three of them, whatever the body's proportions:
the crotch is where the two legs join, a hand is the place that is farthest from the crotch over
the surface, and an armpit is where the section around an arm joins the trunk. The neck is the
thinnest section above the armpits. Other levels are searched between crotch and neck, in windows
around their mean share of that length in ANSUR II (Gordon et al., 2012 Anthropometric Survey of
U.S. Army Personnel, NATICK/TR-15/007, 2014; public domain).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from weft.base.arrays import Faces, Floats, Positions
from weft.base.errors import MeshError, check_known
from weft.base.runtime_types import checked
from weft.bodies.body import Body, Stated
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import unique_edges
from weft.plugins.garments.bodies.arms import find_arms, measure_arm
from weft.plugins.garments.bodies.body_measures import HEIGHTS
from weft.plugins.garments.bodies.sections import cut_edges, tape_length
from weft.plugins.garments.bodies.skin import SIGNS, UP, Skin

LEVELS = ("neck_back", "bust", "waist", "hip", "crotch")
SIDES = ("neck_side", "shoulder", "bust", "armpit", "elbow", "wrist", "knee", "ankle")
NAMES = (*LEVELS, "neck_front", "top", *(f"{n}_{s}" for n in SIDES for s in ("left", "right")))
# The landmarks at whose levels a garment has girths, upwards, with the body's girths there.
GIRTH_LEVELS = {"hip": "hips", "waist": "waist", "bust": "chest"}
LOWEST, HIGHEST, USUAL = 0.6, 2.6, 1.7  # [m] statures of people
# Subjects of the errors of a body in another unit, that lies, or that stands on its head.
STANCE = SIZE, UPRIGHT = "body: height", "body: upright"
# Shares of the length from crotch to neck, and of the height of the crotch.
WAIST, CHEST = (
    (HEIGHTS[n] - HEIGHTS["crotch"]) / (HEIGHTS["neck"] - HEIGHTS["crotch"])
    for n in ("waist", "chest")
)
KNEE, ANKLE = (HEIGHTS[n] / HEIGHTS["crotch"] for n in ("knee", "ankle"))
HIP = (HEIGHTS["hips"] - HEIGHTS["crotch"]) / (HEIGHTS["neck"] - HEIGHTS["crotch"])
WAIST_WINDOW, HIP_WINDOW, BUST_WINDOW = (0.22, 0.53), (0.01, 0.19), (0.53, 0.78)
SHOWS = 0.96, 0.98  # ratios of the girth of a waist that shows to those at its window's ends
# Relative difference of girths that two tapes may have: 9 mm of large girths (ISO 20685-1).
TAPE = 0.01
THIGH, BREAST = 0.969, (0.015, 0.08)  # of the crotch's height; from the middle, over the height
UNDERBUST, NECK_FRONT = 0.074, 0.11  # distances below chest and neck, over the same length
HOLE = 1.5  # [rad] angle around a section in which there is no skin where the mesh is open
BELOW = 0.01  # distance below the armpits, over the height, at which the trunk has no arms


_FOUND: WeakKeyDictionary[Body, "Landmarks"] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Landmarks of a standing body.

    Args:
        points: (3,) [m] of each name in the body's coordinates. ``neck_front, neck_back,
            neck_side_left, neck_side_right, shoulder_left, shoulder_right, bust_left, bust_right,
            waist, hip, crotch`` and ``top`` lie on the skin, bust points, ``waist`` and ``hip`` in
            front; ``bust`` is midway between the bust points;
            ``armpit_left/right, elbow_left/right, wrist_left/right, knee_left/right`` and
            ``ankle_left/right`` are centers of sections.
        girths: [m] of ``neck, chest, underbust, waist, hips, thigh, knee, upper_arm, wrist``.
        height: [m] from the floor to the top.
        forward: (3,) unit vector in which the body looks.
        crotch_length: [m] from the waist in front between the legs to the waist at the back.
    """

    points: Mapping[str, Floats]
    girths: Mapping[str, float]
    height: float
    forward: Floats
    crotch_length: float

    @property
    def axes(self) -> Floats:
        """Return the body's axes as rows (3,3): to its left, up, and forward."""
        return _axes(self.forward)

    def move_height(self, height: float, drafted: Mapping[str, float]) -> float:
        """Return the height [m] on this body, with its floor at y = 0, of one on another body.

        Args:
            height: [m] on the other body, above the floor.
            drafted: [m] levels of the other body, by the names of ``body_measures.levels_of``.
        """
        levels = sorted((y, name) for name, y in drafted.items())
        own = [self.points[n if n in self.points else f"{n}_left"][1] for _, n in levels]
        above = max(height - drafted["top"], 0.0)
        return above + float(np.interp(height, [0.0, *(y for y, _ in levels)], [0.0, *own]))


def landmarks_of_mesh(
    vertices: Positions, faces: Faces, stated: Mapping[str, Stated] | None = None
) -> Landmarks:
    """Return the landmarks of a standing body, y up, with arms that touch nothing.

    The mesh may be open at the neck, and may stand anywhere and look in any direction.

    Args:
        vertices: (b,3) [m].
        faces: (m,3).
        stated: landmarks that are not searched: a height [m] above the floor of ``neck_back,
            bust, waist, hip`` or ``crotch``, or the point (3,) [m] of any name.

    Raises:
        MeshError: the mesh is no standing body: its size, a body that lies, legs or arms that
            are not found.
    """
    x, faces = _weld(vertices, faces)
    height = _check_size(x)
    floor = float(x[:, 1].min())
    x = x - [0.0, floor, 0.0]
    levels, places = _split_stated(stated or {}, floor)
    if "crotch" in levels:
        crotch = x.mean(0) * [1.0, 0.0, 1.0] + [0.0, levels["crotch"], 0.0]
    else:
        try:
            crotch = _find_crotch(x, faces, height)
        except MeshError:
            _check_upright(x, faces, height)
            raise
    axes = _find_axes(x, faces, height, crotch)
    origin = crotch * [1.0, 0.0, 1.0]
    skin = Skin((x - origin) @ axes.T, faces, height, crotch[1])
    points, girths = _measure_body(skin, levels)
    back = {name: p @ axes + origin + [0.0, floor, 0.0] for name, p in points.items()}
    return Landmarks(back | places, girths, height, axes[2], _measure_crotch(skin, points["waist"]))


@checked(MeshError)
def find_landmarks(body: Body) -> Landmarks:
    """Return the landmarks of the person that a body is, at the start; they are found once.

    Raises:
        MeshError: it is no standing person.
    """
    if body not in _FOUND:
        _FOUND[body] = landmarks_of_mesh(body.at(0.0), body.faces, body.landmarks)
    return _FOUND[body]


def _split_stated(
    stated: Mapping[str, Stated], floor: float
) -> tuple[dict[str, float], dict[str, Floats]]:
    """Return stated heights [m] above the floor, and stated points (3,) [m].

    Raises:
        MeshError: an unknown name, or a height of a landmark that is no level.
    """
    levels, places = {}, {}
    for name, value in stated.items():
        check_known(name, NAMES, "landmarks", MeshError)
        where = np.asarray(value, dtype=np.float64)
        if where.shape == (3,):
            places[name] = where
        elif name not in LEVELS:
            expected = f"a point of three numbers; heights are of {', '.join(LEVELS)}"
            raise MeshError(f"landmarks.{name}", got=value, expected=expected)
        if name in LEVELS:
            levels[name] = float(where[1] - floor if name in places else where)
    return levels, places


def _weld(vertices: Positions, faces: Faces) -> tuple[Floats, Faces]:
    """Return a mesh without unused and duplicate vertices, such as those along texture seams."""
    used, corners = np.unique(faces, return_inverse=True)
    x = np.asarray(vertices, dtype=np.float64)[used]
    if len(x) == 0 or not np.isfinite(x).all():
        raise MeshError("body", expected="a mesh with finite vertices and with faces")
    cell = 1e-6 * max(float(np.ptp(x, axis=0).max()), 1e-300)
    _, first, ids = np.unique(
        np.round(x / cell).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    return x[first], ids.ravel()[corners.reshape(-1, 3)].astype(np.int32)


def _check_size(x: Floats) -> float:
    """Return the height [m] of a body that stands."""
    size = np.ptp(x, axis=0)
    height, tallest = float(size[1]), float(size.max())
    along = "xyz"[int(np.argmax(size))]
    got, hints = f"{height:.4g} m", []
    expected = f"{LOWEST:g} to {HIGHEST:g} m from the floor to the top"
    right = LOWEST <= tallest <= HIGHEST
    if not right:
        units = {"mm": 1e-3, "cm": 1e-2, "in": 0.0254, "ft": 0.3048}
        unit = min(units, key=lambda u: abs(np.log(max(tallest, 1e-9) * units[u] / USUAL)))
        if LOWEST <= tallest * units[unit] <= HIGHEST:
            hints.append(f"the file may be in {unit}: `scale: 1 {unit}` of the mesh")
        for factor in (100, 1000):
            if LOWEST <= tallest * factor <= HIGHEST:
                hints.append(f"the body is {factor} times too small: check `scale` of the mesh")
    if height < 0.75 * tallest:
        got += f" along y, {tallest:.4g} m along {along}"
        turn = "[0, 0, 90]" if along == "x" else "[-90, 0, 0]"
        hints.append(
            f"the body lies down, or its file has {along} up: `rotation: {turn}` of the body"
        )
    if hints or not right:
        raise MeshError(SIZE, got=got, expected=expected, hint="; ".join(hints) or None)
    return height


def _check_upright(x: Floats, faces: Faces, height: float) -> None:
    """Raise a MeshError if legs are found on the body once it is turned upside down."""
    try:
        _find_crotch([0.0, height, 0.0] + x * [1.0, -1.0, -1.0], faces, height)
    except MeshError:
        return
    hint = "the body stands on its head: `rotation: [180, 0, 0]` of the body"
    raise MeshError(UPRIGHT, got="legs above the trunk", expected="legs below it", hint=hint)


def _find_crotch(x: Floats, faces: Faces, height: float) -> Floats:
    """Return the crotch (3,) [m]: the lowest place at which the two legs are joined."""
    edges = unique_edges(faces)[0]
    top = x[edges, 1].max(axis=1)
    low = x[:, 1] < 0.15 * height
    label = component_labels(edges[low[edges].all(1)], len(x))
    count = np.bincount(label[low])
    legs = np.argsort(count)[::-1][:2]
    hint = "if thighs or a garment close the gap, give the height: `landmarks: {crotch: 0.78 m}`"
    expected = "two legs that meet at 35 to 60 % of the height"
    if len(legs) < 2 or count[legs[1]] < 0.2 * count[legs[0]]:
        raise MeshError("body: crotch", got="not found", expected=expected, hint=hint)
    one, two = (int(np.flatnonzero(low & (label == k))[0]) for k in legs)
    levels = np.unique(top)
    first, last = 0, len(levels) - 1  # bisection for the lowest level that joins both legs
    while first < last:
        middle = (first + last) // 2
        label = component_labels(edges[top <= levels[middle]], len(x))
        first, last = (first, middle) if label[one] == label[two] else (middle + 1, last)
    found = x[int(np.argmin(np.abs(x[:, 1] - levels[first])))]
    if not 0.35 * height < found[1] < 0.6 * height:
        got = f"legs that meet at {found[1]:.3g} m"
        raise MeshError("body: crotch", got=got, expected=expected, hint=hint)
    return np.asarray(found)


def _find_axes(x: Floats, faces: Faces, height: float, crotch: Floats) -> Floats:
    """Return the body's axes (3,3) as rows: its left, up, and ahead.

    The trunk and the arms extend most from side to side; toes show where the body looks.
    """
    a, b, c = np.moveaxis(x[faces], 1, 0)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    middle = (a + b + c) / 3
    upper = middle[:, 1] > crotch[1]
    flat = middle[upper][:, [0, 2]]
    flat = flat - np.average(flat, axis=0, weights=area[upper])
    wide = np.linalg.eigh((flat * area[upper, None]).T @ flat)[1][:, 1]
    ahead = np.array([-wide[1], 0.0, wide[0]])

    def center(low: float, high: float) -> Floats:
        part = (middle[:, 1] > low * height) & (middle[:, 1] < high * height)
        if not part.any():
            raise MeshError("body: feet", got="not found", expected="feet at the lowest points")
        return np.average(middle[part], axis=0, weights=area[part])

    if (center(0.0, 0.02) - center(0.06, 0.12)) @ ahead < 0:
        ahead = -ahead
    return _axes(ahead)


def _axes(ahead: Floats) -> Floats:
    """Return the axes (3,3) of a body that looks along a horizontal unit vector (3,)."""
    return np.stack([np.cross(UP, ahead), UP, ahead])


@dataclass(frozen=True, eq=False)
class _Trunk:
    """Horizontal sections of a body without its arms.

    Args:
        skin: the body, without faces between hand and armpit.
        armpit: [m] height of the armpits.
    """

    skin: Skin
    armpit: float

    @cached_property
    def breadth(self) -> float:
        """Return half the breadth [m] of the trunk below the armpits."""
        return float(np.abs(self.section(self.armpit - BELOW * self.skin.height)[:, 0]).max())

    def section(self, y: float) -> Floats:
        """Return the points (n,3) [m] of the section at a height [m]."""
        points, label = cut_edges(self.skin.x, self.skin.faces, np.array([0.0, y, 0.0]), UP)
        if len(points) == 0:
            return points
        keep = [k for k in range(int(label.max()) + 1) if np.ptp(np.sign(points[label == k, 0]))]
        points = points[np.isin(label, keep)]
        if 0 < y - self.armpit < 0.06 * self.skin.height:
            points = points[np.abs(points[:, 0]) <= self.breadth]
        return points

    def tape(self, y: float) -> float:
        """Return the girth [m] at a height [m]; infinite where the mesh is open."""
        points = self.section(y)
        if len(points) < 3:
            return np.inf
        angle = np.sort(np.arctan2(*(points - points.mean(0))[:, [0, 2]].T))
        gap = np.diff(angle, append=angle[0] + 2 * np.pi).max()
        return tape_length(points, UP) if gap < HOLE else np.inf

    def front(self, y: float, sign: float = 1.0) -> Floats:
        """Return the point (3,) [m] in front in the plane of symmetry; sign -1: at the back.

        Raises:
            MeshError: the mesh is open there.
        """
        points = self.section(y)
        near = points[np.abs(points[:, 0]) < 0.018 * self.skin.height]
        if len(near) == 0:
            expected = f"skin at {y:.3g} m in front and at the back"
            raise MeshError("body", got="a hole", expected=expected)
        return np.array([0.0, y, sign * float((sign * near[:, 2]).max())])

    def farthest(self, y: float, side: float, ahead: float = 1.0) -> Floats:
        """Return the point (3,) [m] farthest ahead (1) or behind (-1), left (1) or right (-1)."""
        points, h = self.section(y), self.skin.height
        aside = side * points[:, 0]
        points = points[(aside > BREAST[0] * h) & (aside < BREAST[1] * h)]
        if len(points) == 0:
            return self.front(y, ahead)
        reach = ahead * points[:, 2]
        cap = points[reach > reach.max() - 0.003 * h]
        return np.asarray(cap[np.argmin(np.abs(cap[:, 0] - cap[:, 0].mean()))])

    def fullness(self, y: float, ahead: float = 1.0) -> float:
        """Return how far [m] both sides reach ahead (1) or behind (-1), on average."""
        return ahead * float(self.farthest(y, 1.0, ahead)[2] + self.farthest(y, -1.0, ahead)[2]) / 2


def _find_levels(trunk: _Trunk, stated: Mapping[str, float]) -> dict[str, float]:
    """Return the heights [m] of neck, bust, waist and hip; those that are stated stay."""
    h, crotch, armpit, tape = trunk.skin.height, trunk.skin.crotch, trunk.armpit, trunk.tape
    step = 0.004 * h
    neck = stated.get("neck_back")
    if neck is None:
        neck = _best(tape, armpit + 0.04 * h, min(armpit + 0.16 * h, 0.995 * h), step)
    length = neck - crotch

    def sample(curve: Callable[[float], float], window: tuple[float, float]) -> tuple[Floats, ...]:
        low, high = (crotch + part * length for part in window)
        heights = np.arange(low, high, 0.003 * h)
        return heights, np.array([curve(float(y)) for y in heights])

    found = {"neck_back": neck, "bust": crotch + CHEST * length}
    found |= {"waist": crotch + WAIST * length, "hip": crotch + HIP * length}
    heights, girths = sample(tape, WAIST_WINDOW)
    if girths.min() < min(SHOWS[0] * girths[0], SHOWS[1] * girths[-1]):
        found["waist"] = _extreme(heights, -girths, found["waist"])
    heights, girths = sample(tape, HIP_WINDOW)
    if girths[-1] == girths.max():  # of the belly
        girths = np.array([trunk.fullness(float(y), -1.0) for y in heights])
    found["hip"] = _extreme(heights, girths, found["hip"])
    heights, ahead = sample(trunk.fullness, BUST_WINDOW)
    if (fullest := _fullest(ahead)) is not None:
        found["bust"] = float(heights[fullest])
    return found | {**stated}


def _extreme(heights: Floats, values: Floats, usual: float) -> float:
    """Return the height [m] of the largest value; of several that a tape cannot tell apart, the
    height nearest to the usual one.
    """
    largest = values.max()
    alike = heights[values >= largest - TAPE * abs(largest)]
    return float(alike[np.argmin(np.abs(alike - usual))])


def _fullest(ahead: Floats) -> int | None:
    """Return the number of the sample that is a maximum of a front (k,) [m], and farthest ahead of
    the straight line between its ends; None if the front has no maximum.
    """
    from scipy.ndimage import gaussian_filter1d

    smooth = gaussian_filter1d(ahead, 2.0)
    inner = np.arange(2, len(smooth) - 2)
    peaks = inner[(smooth[inner] > smooth[inner - 1]) & (smooth[inner] >= smooth[inner + 1])]
    if len(peaks) == 0:
        return None
    line = np.linspace(smooth[0], smooth[-1], len(smooth))
    return int(peaks[np.argmax((smooth - line)[peaks])])


def _measure_body(
    skin: Skin, stated: Mapping[str, float]
) -> tuple[dict[str, Floats], dict[str, float]]:
    """Return the points and girths of a body in its own axes."""
    arms = find_arms(skin)
    limbs = {side: measure_arm(skin, arm) for side, arm in arms.items()}
    armpit = 0.5 * sum(float(arm.armpit[1]) for arm in arms.values())
    of_arms = (arms["left"].skin | arms["right"].skin)[skin.faces].all(axis=1)
    trunk = _Trunk(replace(skin, faces=skin.faces[~of_arms]), armpit)
    at = _find_levels(trunk, stated)
    length = at["neck_back"] - skin.crotch
    busts = {side: trunk.farthest(at["bust"], sign) for side, sign in SIGNS.items()}
    points = {name: trunk.front(at[name]) for name in ("waist", "hip")} | {
        "bust": 0.5 * (busts["left"] + busts["right"]),
        "top": skin.x[np.argmax(skin.x[:, 1])],
        "crotch": np.array([0.0, skin.crotch, 0.0]),
        "neck_front": trunk.front(at["neck_back"] - NECK_FRONT * length),
        "neck_back": trunk.front(at["neck_back"], -1.0),
    }
    girths = {
        "neck": trunk.tape(at["neck_back"]),
        "chest": trunk.tape(at["bust"]),
        "underbust": trunk.tape(at["bust"] - UNDERBUST * length),
        "waist": trunk.tape(at["waist"]),
        "hips": trunk.tape(at["hip"]),
    }
    collar = trunk.section(at["neck_back"])
    more: dict[str, list[float]] = {n: [] for n in ("thigh", "knee", "upper_arm", "wrist")}
    for side, (places, around) in limbs.items():
        sign = SIGNS[side]
        points[f"bust_{side}"] = busts[side]
        points[f"neck_side_{side}"] = collar[np.argmax(sign * collar[:, 0])]
        for name, part in (("knee", KNEE), ("ankle", ANKLE), ("thigh", THIGH)):
            leg = skin.part(np.array([sign * 0.05 * skin.height, part * skin.crotch, 0.0]))
            places[name], around[name] = leg.mean(0), tape_length(leg, UP)
        points |= {f"{name}_{side}": places[name] for name in places if name != "thigh"}
        for name, values in more.items():
            values.append(around[name])
    return points, girths | {name: float(np.mean(v)) for name, v in more.items()}


def _measure_crotch(skin: Skin, waist: Floats) -> float:
    """Return the length [m] of a tape from the waist (3,) [m] in front under the crotch to the
    back.
    """
    points = cut_edges(skin.x, skin.faces, np.zeros(3), np.array([1.0, 0.0, 0.0]))[0]
    low = points[points[:, 1] < waist[1]]
    # The tape is the hull of the section below the waist, without the straight way on top.
    top = low[low[:, 1] > waist[1] - 0.01 * skin.height]
    return tape_length(low, np.array([1.0, 0.0, 0.0])) - float(np.ptp(top[:, 2]))


def _best(function: Callable[[float], float], low: float, high: float, step: float) -> float:
    """Return the height in an interval at which a function is smallest, between its samples too."""
    heights = np.arange(low, max(high, low + step), step)
    values = np.array([function(float(y)) for y in heights])
    k = int(np.argmin(values))
    around = values[max(k - 1, 0) : k + 2]
    if len(around) < 3 or not np.isfinite(around).all():
        return float(heights[k])
    bend = around[0] - 2 * around[1] + around[2]
    return float(heights[k] + step * (0.5 * (around[0] - around[2]) / bend if bend > 0 else 0.0))
