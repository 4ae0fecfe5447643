"""Arms of a standing body: sections from the hand to the armpit, and their landmarks."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Faces, Floats
from weft.base.errors import MeshError
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import unique_edges
from weft.discretization.polygon import normalize
from weft.plugins.garments.bodies.sections import cut_edges, tape_length
from weft.plugins.garments.bodies.skin import SIGNS, Skin

UPPER_ARM = 0.558  # share of the arm above the elbow
# Over the height, from the finger tip: a length beyond any hand, and one up to about the elbow.
HAND, FOREARM = 0.17, 0.23
SPACING = 0.005  # of the sections of an arm, over the height
GROWTH = 1.25  # ratio of girths by which the section around an arm has reached the armpit
UPPER, MIDDLE = slice(-28, -12), -16  # sections between elbow and armpit, and one of them
# Over the height: from the middle to the inner end of a shoulder, from there up to beyond any
# shoulder, and the depth of a corner.
INNER, HEAD, CORNER = 0.07, 0.04, 0.001
INSET = 0.55  # from the corner of a shoulder to its acromion, over the radius of the arm


@dataclass(frozen=True, eq=False)
class ArmSections:
    """Sections of an arm, from the hand up to the armpit.

    Args:
        centers: (k,3) [m].
        girths: (k,) [m].
        armpit: (3,) [m].
        skin: (b,) the vertices between hand and armpit.
    """

    centers: Floats
    girths: Floats
    armpit: Floats
    skin: Bools


def _find_arm(skin: Skin, reach: Floats, side: str) -> ArmSections:
    """Return the sections of an arm.

    Args:
        skin: the body.
        reach: (b,) [m] distance from the crotch over the surface; infinite on legs and on the
            other side.
        side: name for messages.
    """
    h = skin.height
    expected = "an arm that touches nothing from the hand to the armpit"
    away = np.where(np.isfinite(reach), reach, -1.0)
    hand = int(np.argmax(away))
    near = _distances(skin.x, skin.faces, hand, np.isfinite(reach))
    # Slices of equal distance follow bent arms: of the distance from the crotch up to the elbow,
    # because only there all fingers point the same way; above it of that from the finger tip.
    below = near < FOREARM * h
    slices = np.where(below, away[hand] - away, near)
    fingers = skin.faces[below[skin.faces].all(axis=1)]
    steps = np.arange(0.01, 0.58, SPACING) * h
    middles = []
    for s in steps:
        ring = np.abs(slices - s) < 0.012 * h
        middles.append(skin.x[ring].mean(0) if ring.any() else np.full(3, np.nan))
    line = np.array(middles)
    centers, girths, last = list[Floats](), list[float](), None
    for k in range(4, len(steps) - 4):
        direction = line[k + 4] - line[k - 4]
        if not np.isfinite(direction).all():
            break
        if steps[k] < HAND * h:
            loop = cut_edges(skin.x, fingers, line[k], direction)[0]
        else:
            loop = skin.part(line[k], direction)
        length = tape_length(loop, direction) if len(loop) > 2 else 0.0
        if steps[k] > 0.29 * h:
            usual = float(np.median(girths[-16:]))
            if not usual / GROWTH < length < GROWTH * usual:
                break
        last = loop
        centers.append(loop.mean(0))
        girths.append(length)
    if last is None or len(centers) < 30 or len(centers) == len(steps) - 8:
        got = "not found" if last is None else f"a part of {len(centers) * 0.5:.0f} % of the height"
        raise MeshError(f"body: {side} arm", got=got, expected=expected)
    inward = last[np.argmin(last[:, 1] + 0.5 * np.abs(last[:, 0]))]
    outside = slices < steps[3 + len(centers)]
    return ArmSections(np.array(centers), np.array(girths), inward, outside)


def _distances(x: Floats, faces: Faces, start: int, part: Bools) -> Floats:
    """Return distances (b,) [m] along edges from a vertex, through vertices of a part (b,)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    edges = unique_edges(faces)[0]
    edges = edges[part[edges].all(1)]
    length = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)
    graph = coo_matrix((length, edges.T), shape=(len(x), len(x)))
    return np.asarray(dijkstra(graph.tocsr(), directed=False, indices=start))


def find_arms(skin: Skin) -> dict[str, ArmSections]:
    """Return the arms by side."""
    x = skin.x
    edges = unique_edges(skin.faces)[0]
    low = x[:, 1] < skin.crotch - 1e-9
    label = component_labels(edges[low[edges].all(1)], len(x))
    feet = x[:, 1] < 0.15 * skin.height
    legs = low & np.isin(label, np.unique(label[feet]))
    away = np.abs(x - [0.0, skin.crotch, 0.0]).sum(axis=1)
    start = int(np.argmin(np.where(legs, np.inf, away)))
    reach = _distances(x, skin.faces, start, ~legs)
    # The head is no arm: it lies above the middle.
    aside = np.abs(x[:, 0]) > 0.07 * skin.height
    return {
        side: _find_arm(skin, np.where(aside & (sign * x[:, 0] > 0), reach, np.inf), side)
        for side, sign in SIGNS.items()
    }


def measure_arm(skin: Skin, arm: ArmSections) -> tuple[dict[str, Floats], dict[str, float]]:
    """Return points and girths of an arm."""
    from scipy.ndimage import gaussian_filter1d

    n, h = len(arm.girths), skin.height
    palm = int(np.argmax(arm.girths[:20]))
    forearm = gaussian_filter1d(arm.girths[palm : palm + 16], 1.0)
    thinnest = int(np.argmin(forearm))
    hand = int(np.argmax(forearm < 1.05 * forearm[thinnest]))  # where the hand ends
    wrist = palm + (hand + thinnest) // 2
    shoulder, middle = _find_shoulder(skin, arm), n + MIDDLE
    whole = SPACING * h * (middle - wrist) + float(np.linalg.norm(shoulder - arm.centers[middle]))
    elbow = min(wrist + round((1 - UPPER_ARM) * whole / (SPACING * h)), n - 1)
    points = {
        "shoulder": shoulder,
        "armpit": arm.armpit,
        "elbow": arm.centers[elbow],
        "wrist": arm.centers[wrist],
    }
    upper = arm.girths[(elbow + n) // 2]
    return points, {"upper_arm": float(upper), "wrist": float(arm.girths[wrist])}


def _find_shoulder(skin: Skin, arm: ArmSections) -> Floats:
    """Return the shoulder point (3,) [m], on the skin.

    The shoulder is the corner of the body's outline, seen from the front, between the slope beside
    the neck and the upper arm: the point farthest from the straight line between both. In that
    direction, the joint lies below the corner by the radius of the arm, and the acromion between
    both.

    Raises:
        MeshError: there is no slope beside the neck.
    """
    h, middle = skin.height, arm.centers[MIDDLE]
    side, sections = np.sign(middle[0]), arm.centers[UPPER]
    along = np.linalg.svd(sections - sections.mean(0))[2][0]
    front = normalize(np.array([0.0, 0.0, 1.0]) - along[2] * along)
    up = np.cross(along, front)
    up *= np.sign(up @ [0.2 * side, 1.0, 0.0])  # the outer side of an arm that hangs
    radius = float(np.median(arm.girths[UPPER])) / (2 * np.pi)
    outline, end = cut_edges(skin.x, skin.faces, middle, front)[0], middle + radius * up
    inner = outline[np.abs(side * outline[:, 0] - INNER * h) < 0.008 * h]
    inner = inner[inner[:, 1] > arm.armpit[1] + 0.02 * h]
    if len(inner) == 0:
        name = "left" if side > 0 else "right"
        expected = "a slope between the neck and an arm that hangs or is held out"
        raise MeshError(f"body: {name} shoulder", got="not found", expected=expected)
    start = inner[np.argmin(inner[:, 1])]  # points above belong to the head
    line = normalize(end - start)
    away = np.cross(line, front)
    away *= np.sign(away[1])
    ahead = (outline - start) @ line
    between = (ahead > 0) & (ahead < (end - start) @ line)
    between &= (side * outline[:, 0] > INNER * h) & (outline[:, 1] < start[1] + HEAD * h)
    outline, ahead = outline[between], ahead[between]
    reach = (outline - start) @ away
    corner = outline[np.argmin(np.where(reach > reach.max() - CORNER * h, ahead, np.inf))]
    return _top(skin, corner - INSET * radius * away)


def _top(skin: Skin, below: Floats) -> Floats:
    """Return the highest point (3,) [m] of the shoulder in the side view through a point (3,)."""
    plane = cut_edges(skin.x, skin.faces, below, np.array([1.0, 0.0, 0.0]))[0]
    near = plane[(np.abs(plane - below) < 0.06 * skin.height).all(axis=1)]
    cap = near[near[:, 1] > near[:, 1].max() - 0.002 * skin.height]
    return np.asarray(cap[np.argmin(np.abs(cap[:, 2] - cap[:, 2].mean()))])
