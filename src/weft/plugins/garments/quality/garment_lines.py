"""Lines of a garment that have a place on a standing body: seams at shoulders, armholes and waist,
upper edges and hems.

Their classes follow from where the panels start, as those of ``patterns.seam_ways`` do, so that
a seam that is worn in the wrong place is still known.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.base.errors import MeshError, abbreviate
from weft.base.trees import Json
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import TriangleMesh, unique_edges
from weft.discretization.polygon import normalize
from weft.plugins.garments.bodies.landmarks import Landmarks, landmarks_of_mesh
from weft.plugins.garments.bodies.skin import UP
from weft.plugins.garments.patterns.seam_ways import CENTER, FACE_TO_FACE, UPWARD

WAIST = 0.10  # [m] distance from the body's waist up to which a seam around it is a waist seam
ONE_HEM = 0.25  # [m] height of an edge on paper from which it is no hem, but an open front with one
UPRIGHT = 0.8  # height of trunk and thigh over that at the start, from which a body stands
LEAST_STEEP = 0.5  # slope of a hem's faces at the start, as a sine, at least
ENDS = 0.05  # part of a hem's vertices, the lowest and the highest, that may hang anywhere
UNEVEN = 0.2  # of the difference in height of a hem on paper, by which it may hang otherwise
HIPS = 0.05  # [m] below the hips, from which a seam or an edge of the waist has fallen
# [m] distances from which a garment is worn badly, and from which it is not worn. What hangs at the
# waist is worn badly as far as the hips, which hold it.
LIMITS = {
    "shoulder": (0.05, 0.10),
    "armhole": (0.08, 0.13),
    "raglan": (0.08, 0.13),
    "waist": (0.05, 0.12),
    "upper edge": (0.05, 0.12),
    "hem": (0.08, 0.30),  # a skirt in stride has 0.07
}
REASONS = {
    "shoulder": "{side} shoulder seam {off:.0f} cm below the shoulder",
    "armhole": "{side} armhole {off:.0f} cm from armpit and shoulder",
    "raglan": "{side} raglan seams {off:.0f} cm from armpit and neck",
    "waist": "waist seam {off:.0f} cm below the waist",
    "upper edge": "upper edge of {panels} {off:.0f} cm too low",
    "hem": "hem of {panels} not level by {off:.0f} cm",
}


@dataclass(frozen=True, eq=False)
class MovingLandmarks:
    """Landmarks of a standing body that move with its nearest vertices.

    Args:
        landmarks: in the first frame.
        body: (b,3) [m] vertices of all bodies in the first frame.
        nearest: vertex that is nearest to each landmark.
    """

    landmarks: Landmarks
    body: Positions
    nearest: Mapping[str, int]

    @staticmethod
    def of(body: Positions, faces: Faces, counts: Sequence[int]) -> "MovingLandmarks | None":
        """Return those of the first body that stands; None if none does.

        Args:
            body: (b,3) [m] vertices of all bodies in the first frame.
            faces: (m,3) faces of all bodies.
            counts: numbers of vertices of the bodies.
        """
        for end, count in zip(np.cumsum(counts).tolist(), counts):
            own = faces[(faces[:, 0] >= end - count) & (faces[:, 0] < end)]
            with suppress(MeshError):
                found, ids = landmarks_of_mesh(body, own), np.unique(own)
                near = {
                    name: int(ids[np.argmin(((body[ids] - p) ** 2).sum(1))])
                    for name, p in found.points.items()
                }
                return MovingLandmarks(found, body, near)
        return None

    def at(self, body: Positions) -> dict[str, Floats]:
        """Return the landmarks (3,) [m] of a frame with vertices ``body`` (b,3) [m]."""
        points = self.landmarks.points
        return {n: points[n] + body[v] - self.body[v] for n, v in self.nearest.items()}

    def stands(self, body: Positions) -> bool:
        """Return whether the body is upright in a frame: it neither sits, bends over nor lies.

        Args:
            body: (b,3) [m] vertices of all bodies.
        """
        now, first = self.at(body), self.landmarks.points

        def is_upright(low: str, high: str) -> bool:
            rise, before = (float(p[high][1] - p[low][1]) for p in (now, first))
            return rise > UPRIGHT * before

        knees = (is_upright(f"knee_{side}", "crotch") for side in ("left", "right"))
        return is_upright("crotch", "neck_back") and any(knees)  # of a leg that bears the weight

    def turn(self, x: Positions) -> Positions:
        """Return positions (n,3) [m] from the crotch, in the body's axes: left, up, ahead."""
        return (x - self.landmarks.points["crotch"]) @ self.landmarks.axes.T


@dataclass(frozen=True, eq=False)
class GarmentLine:
    """A seam or an edge of one garment.

    Args:
        kind: one of ``LIMITS``.
        side: ``left`` or ``right``; empty for lines around the middle.
        panels: names of the panels that have the line, for messages.
        vertices: (k,) of the mesh.
        start: (k,3) [m] where they are before the first frame; of a waist seam, as if its lower
            side were as high as the upper one; of a waistband's upper edge, as if the seam below it
            were closed; of a hem that hangs from a waist or an upper edge, as low as the cloth
            between them is long.
        wearer: the body's landmarks.
    """

    kind: str
    side: str
    panels: str
    vertices: Ints
    start: Positions
    wearer: MovingLandmarks

    def measure(self, x: Positions, body: Positions) -> Json:
        """Return kind, side, panels, how far off [m] its place the line is, and the limits [m].

        ``off`` is how far shoulder seams are below the mean of neck and shoulder, the middle of
        armholes from that of armpit and shoulder, of raglan seams from that of armpit and neck,
        waist seams below the waist, upper edges below where they start. A waist seam may be drawn
        lower than the body's waist, by half the way to the hips. A hem is level or as on paper:
        ``off`` is the smaller one of the differences of its heights, and of their differences from
        paper, less a part ``UNEVEN`` of those there.

        Args:
            x: (n,3) [m] vertices.
            body: (b,3) [m] vertices of all bodies.
        """
        wearer, own = self.wearer, x[self.vertices]
        marks, first = wearer.at(body), wearer.landmarks.points
        now = float(own[:, 1].mean() - marks["waist"][1])
        before = float(self.start[:, 1].mean() - first["waist"][1])
        found: Json = {"kind": self.kind, "side": self.side, "panels": self.panels}
        found["limits"] = list(LIMITS[self.kind])
        if self.kind == "shoulder":
            names = (f"neck_side_{self.side}", f"shoulder_{self.side}")
            found["off"] = float(np.mean([marks[n][1] for n in names]) - own[:, 1].mean())
        elif self.kind in ("armhole", "raglan"):
            end = "shoulder" if self.kind == "armhole" else "neck_side"
            names = (f"armpit_{self.side}", f"{end}_{self.side}")
            middle = np.mean([marks[n] for n in names], axis=0)
            found["off"] = float(np.linalg.norm(own.mean(axis=0) - middle))
        elif self.kind == "hem":
            worn, paper = wearer.turn(own), wearer.turn(self.start)[:, 1]
            rise = worn[:, 1] - paper
            found["spread"], found["tilt"] = _spread(worn[:, 1]), _tilt(worn, rise)
            other = max(found["tilt"], _spread(rise) - UNEVEN * _spread(paper))
            found["off"] = min(found["spread"], other)
        else:
            hips = float(first["waist"][1] - first["hip"][1])
            drawn = float(np.clip(before, -hips / 2, 0.0)) if self.kind == "waist" else before
            if drawn < WAIST:
                found["limits"][1] = drawn + hips + HIPS
            found["off"] = drawn - now
        return found


def _spread(height: Floats) -> float:
    """Return the difference [m] of heights (k,), without the outermost ``ENDS``."""
    low, high = np.quantile(height, [ENDS, 1 - ENDS])
    return float(high - low)


def _tilt(x: Positions, rise: Floats) -> float:
    """Return by how much [m] the plane that fits ``rise`` (k,) [m] at points (k,3) rises, from side
    to side and ahead.
    """
    size = np.ptp(x, axis=0)
    design = np.stack([x[:, 0], x[:, 2], np.ones(len(x))], axis=1)
    slopes = np.linalg.lstsq(design, rise, rcond=1e-6)[0]
    return float(np.linalg.norm(slopes[:2] * size[[0, 2]]))


def judge_line(line: Json) -> tuple[int, str]:
    """Return how badly a measured line lies, 0 to 2, and the reason."""
    grade = sum(line["off"] > limit for limit in line["limits"])
    return grade, REASONS[line["kind"]].format(**{**line, "off": 100 * line["off"]})


def find_lines(
    mesh: TriangleMesh,
    parts: Sequence[tuple[str, slice]],
    seams: Sequence[tuple[str, Ints]],
    sewn: Ints,
    wearer: MovingLandmarks,
) -> list[GarmentLine]:
    """Return the lines of garments that have a place on the body.

    What hangs at the waist may start above the waist, and comes to rest there: its lines have their
    places below.

    Args:
        mesh: the cloth before the first frame.
        parts: names of panels, with their faces.
        seams: names of seams, with the (k,2) vertices that they bring together.
        sewn: (n,) number of every vertex, the same for vertices that are sewn together.
        wearer: the body's landmarks.
    """
    x, faces = wearer.turn(mesh.vertices), mesh.faces
    panel = np.zeros(len(x), dtype=np.int64)
    for k, (_, own) in enumerate(parts):
        panel[faces[own]] = k
    garment = component_labels(unique_edges(sewn[faces])[0], len(x))[sewn]
    lines, tops = dict[tuple[int, str, str], Ints](), dict[int, list[float]]()
    out = np.zeros_like(x)  # away from the faces at each vertex
    np.add.at(out, faces.ravel(), (x[faces] - x[faces].mean(axis=1)[:, None]).reshape(-1, 3))
    middles = [x[panel == k].mean(axis=0) for k in range(len(parts))]
    for _, pairs in seams:
        if (sewn[pairs[:, 0]] == sewn[pairs[:, 1]]).all():  # neither a zip nor buttons
            both = [middles[p] for p in panel[pairs[len(pairs) // 2]]]
            kind, side = _classify_seam(x[pairs], out[pairs], both, wearer)
            key = int(garment[pairs[0, 0]]), kind, side
            lines[key] = np.union1d(lines.get(key, pairs), pairs)
            if kind == "waist":
                tops.setdefault(key[0], []).append(_top(x[pairs]))
    lines = {key: ids for key, ids in lines.items() if key[1]}
    lines |= _find_edges(x, sewn[faces], sewn, garment, wearer, lines)
    found, above_waist = [], dict[int, float]()
    up = wearer.landmarks.axes[1]
    for (worn, kind, side), ids in lines.items():
        names = abbreviate([parts[p][0] for p in np.unique(panel[ids])], 2)
        start, waist = mesh.vertices[ids], lines.get((worn, "waist", ""))
        if kind == "waist":
            start = start + UP * (np.mean(tops[worn]) - x[ids, 1].mean())
        upper = np.isin(panel, panel[ids])
        if kind == "hem":
            holds = lines.get((worn, "waist", ""), lines.get((worn, "upper edge", "")))
            if holds is None:
                start = _hang(start, ids, mesh, wearer)
            else:
                drop = _measure_drop(mesh, sewn, holds)[ids]
                start = start - np.outer(start @ up + drop, up)
        elif kind == "upper edge" and waist is not None and np.ptp(x[upper, 1]) < WAIST:
            above = upper[waist]  # of a band, which this seam lets down
            if 0 < above.sum() < len(above):
                start = start - UP * (x[waist[above], 1].mean() - x[waist[~above], 1].mean())
        if kind == "upper edge":
            rise = float((start @ UP).mean() - wearer.landmarks.points["waist"][1])
            above_waist[worn] = rise if 0.0 < rise < WAIST else 0.0
        found.append((worn, GarmentLine(kind, side, names, ids, start, wearer)))
    return [replace(line, start=line.start - UP * above_waist.get(k, 0.0)) for k, line in found]


def _hang(start: Positions, ids: Ints, mesh: TriangleMesh, wearer: MovingLandmarks) -> Positions:
    """Return a hem (k,3) [m] with the heights that it has where panels hang: panels that lean at
    the start are less tall there than on paper.

    Args:
        start: (k,3) [m] where the hem starts.
        ids: (k,) its vertices.
        mesh: the cloth before the first frame.
        wearer: the body's landmarks.
    """
    up = wearer.landmarks.axes[1]
    a, b, c = mesh.vertices[mesh.faces[np.isin(mesh.faces, ids).any(axis=1)]].transpose(1, 0, 2)
    rise = normalize(np.cross(b - a, c - a)) @ up  # of the faces' normals
    steep = float(np.sqrt(np.maximum(1 - rise**2, LEAST_STEEP**2)).mean())
    height = start @ up
    return np.asarray(start + np.outer((height - height.mean()) * (1 / steep - 1), up))


def _measure_drop(mesh: TriangleMesh, sewn: Ints, ends: Ints) -> Floats:
    """Return how far [m] vertices (n,) are from the nearest of some along the cloth, where panels
    start.

    Ways lead along edges, and across them from tip to tip of two faces: along edges alone they
    would be up to 15 % longer.

    Args:
        mesh: the cloth before the first frame.
        sewn: (n,) number of every vertex, the same for vertices that are sewn together.
        ends: the vertices at distance 0.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    ways = np.concatenate([unique_edges(mesh.faces)[0], mesh.hinges[:, 2:]])
    one, two = mesh.vertices[ways].transpose(1, 0, 2)
    ways, first = np.unique(np.sort(sewn[ways], axis=1), axis=0, return_index=True)
    length = np.linalg.norm(one - two, axis=1)[first]
    graph = coo_matrix((length, ways.T), shape=(len(sewn), len(sewn))).tocsr()
    far = dijkstra(graph, directed=False, indices=np.unique(sewn[ends]), min_only=True)
    return np.asarray(far[sewn])


def _classify_seam(
    x: Floats, out: Floats, middles: Sequence[Floats], wearer: MovingLandmarks
) -> tuple[str, str]:
    """Return kind and side of a seam; empty: it has no place.

    Args:
        x: (k,2,3) [m] both sides of the seam at the start, in the body's axes.
        out: (k,2,3) directions away from the panels.
        middles: of both panels, (3,) [m].
        wearer: the body's landmarks.
    """
    one, two = (v / max(float(np.linalg.norm(v)), 1e-12) for v in out.mean(axis=0))
    at = x.mean(axis=(0, 1))
    level = {n: wearer.turn(p) for n, p in wearer.landmarks.points.items()}
    sleeve = [abs(m[0]) > level["shoulder_left"][0] and m[1] > 0 for m in middles]
    side = "left" if at[0] > 0 else "right"
    if sleeve[0] != sleeve[1] and at[1] > level["waist"][1]:
        trunk = np.abs(x[:, int(sleeve[0]), 0])
        half = (level["shoulder_left"][0] + level["neck_side_left"][0]) / 2
        return "raglan" if trunk.min() < half else "armhole", side
    over = min(one[1], two[1]) > UPWARD and one @ two > FACE_TO_FACE
    # A seam in the middle that closes from above is a hood's.
    if over and not sleeve[0] and at[1] > level["armpit_left"][1] and abs(at[0]) > CENTER:
        return "shoulder", side
    if one[1] * two[1] < -(UPWARD**2) and abs(_top(x) - level["waist"][1]) < WAIST:
        return "waist", ""
    return "", ""


def _top(x: Floats) -> float:
    """Return the mean height [m] of the higher side of a seam (k,2,3): flat panels of a circular
    skirt start below the waist.
    """
    return float(x.mean(axis=0)[:, 1].max())


def _find_edges(
    x: Positions,
    faces: Faces,
    sewn: Ints,
    garment: Ints,
    wearer: MovingLandmarks,
    seams: Collection[tuple[int, str, str]],
) -> dict[tuple[int, str, str], Ints]:
    """Return hems, and the upper edges of garments that have no shoulder seams.

    Args:
        x: (n,3) [m] vertices at the start, in the body's axes.
        faces: (m,3) with the numbers ``sewn``.
        sewn: (n,) number of every vertex.
        garment: (n,) number of the garment.
        wearer: the body's landmarks.
        seams: garment, kind and side of seams.
    """
    edges, of = unique_edges(faces)
    border = edges[(np.bincount(of) == 1) & (edges[:, 0] != edges[:, 1])]
    loop, used = component_labels(border, len(x))[sewn], np.isin(sewn, border)
    around: dict[int, list[Ints]] = {}
    for k in np.unique(loop[used]):
        ids = np.flatnonzero((loop == k) & used).astype(np.int32)
        low, high = x[ids].min(axis=0), x[ids].max(axis=0)
        wide = low[0] < -CENTER and high[0] > CENTER and low[2] < 0 < high[2]
        if wide and high[1] - low[1] < ONE_HEM:
            around.setdefault(int(garment[ids[0]]), []).append(ids)
    hung = {k for k, kind, _ in seams if kind == "shoulder"}
    armpit = wearer.turn(wearer.landmarks.points["armpit_left"])[1]
    found: dict[tuple[int, str, str], Ints] = {}
    for k, loops in around.items():
        loops.sort(key=lambda ids: float(x[ids, 1].mean()))
        if k not in hung:
            found[k, "upper edge", ""] = loops.pop()
        if loops and x[loops[0], 1].mean() < armpit:
            found[k, "hem", ""] = loops[0]
    return found
