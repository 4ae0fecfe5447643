"""Quality of the cloth in the frames of a run: seams, strain, folds, fit on bodies, slip and rest.

Plugins add measures of their own (``weft.extensions``, kind ``measures``).

Strain is measured along the yarns: warp and weft stretch minus 1, and the shear angle; percentiles
are by area. Distances from the body are those of vertices to its faces (single precision: 1e-6 m).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weft import extensions
from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import RunError, abbreviate
from weft.base.trees import Json
from weft.bodies.nearest_points import NearestPoints
from weft.cloth.fields import face_strain, gradients
from weft.contact.broad_phase.joined import JoinedVertices
from weft.contact.exact.intersections import intersections
from weft.energies.elastic.hinge_bending import dihedral_angles
from weft.fabric.folds import RESOLVED
from weft.run.run_reader import RunReader
from weft.run.step_costs import step_costs

PERCENTILES = (1, 5, 50, 95, 99)
STILL = 0.01  # [m/s] of the 99th percentile of speeds, below which a garment is at rest
SHEARED, STRAINED = 30.0, 10.0  # [degrees] and [%] from which cloth counts as sheared or strained
# Fraction of a panel's area that is sheared from which it is warned of. Flared panels on the bias
# and sleeves of lowered arms that are worn well have more: it does not count in the verdict.
SHEAR_WARNING = 0.03
BENT_WARNING = 0.05  # the same of cloth that is bent too sharply for its edges
# [degrees] turn to the next face from which a fold with steep sides, which turns by 360 in a wave,
# has too few edges
COARSE = 360.0 / RESOLVED

DRAG = "weft.energies.loads.settling_drag.Drag"  # in manifests: it ends when garments are at rest


@dataclass(frozen=True, eq=False)
class QualityFrame:
    """The arrays of a frame that the measurements use.

    Args:
        x: (n,3) [m] vertices of the cloth.
        body: (b,3) [m] vertices of bodies.
        speed: (N,) [m/s] speeds of the points.
        pressure: (n,) [Pa] contact pressure.
    """

    x: Positions
    body: Positions
    speed: Floats
    pressure: Floats


class Quality:
    """Measurements of a run's frames.

    Args:
        run: the run, with or without garments and bodies.
        since: number of the frame from which slipping is measured, when the garment is in its
            place; None: the first one after sewing, or 0.

    Raises:
        RunError: the run has no frame ``since``.
    """

    def __init__(self, run: RunReader, since: int | None = None) -> None:
        self.run, self.mesh = run, run.mesh
        self.since = self._sewn_at() if since is None else since
        if not 0 <= self.since < len(run):
            raise RunError("since", got=self.since, expected=f"a frame of 0 to {len(run) - 1}")
        self._last: tuple[int, QualityFrame] | None = None
        self.shared: dict[str, Any] = {}  # what measures of plugins keep

    def at(self, frame: int) -> QualityFrame:
        """Return a frame; the last frame that was read is cached."""
        if self._last is None or self._last[0] != frame:
            x, arrays = self.run.positions(frame), self.run.folder.frame(frame)
            speed = np.linalg.norm(np.asarray(arrays["v"]), axis=1)
            body = arrays.get("body", np.zeros((0, 3)))
            pressure = arrays.get("pressure", np.zeros(len(x)))
            self._last = frame, QualityFrame(x, body, speed, pressure)
        return self._last[1]

    def _sewn_at(self) -> int:
        scene = self.run.manifest.get("scene", {})
        told = scene.get("contact") or {}
        begin = float(told.get("friction_from", 0.0)) if isinstance(told, dict) else 0.0
        settled = [e["until"] for e in scene.get("energies", ()) if e.get("class") == DRAG]
        begin = max(begin, *(float(end) for end in settled if np.isfinite(end)), 0.0)
        return min(int(np.ceil(begin * self.run.fps - 1e-9)), len(self.run) - 1)

    @cached_property
    def parts(self) -> Sequence[tuple[str, slice]]:
        """The names of panels or cloths, each with the slice of its faces."""
        parts = self.run.parts()
        ends = np.cumsum([0, *(count for _, count in parts)]).tolist()
        return [(name, slice(a, b)) for (name, _), a, b in zip(parts, ends[:-1], ends[1:])]

    @cached_property
    def seams(self) -> Sequence[tuple[str, Ints]]:
        """The names of the seams, each with the (k,2) vertices that it brings together."""
        told = self.run.manifest.get("scene", {}).get("seams") or []
        if not told:
            return []
        pairs = self.run.folder.mesh()["seams"]
        ends = np.cumsum([int(s["pairs"]) for s in told])[:-1]
        return [(str(s["name"]), p) for s, p in zip(told, np.split(pairs, ends))]

    @cached_property
    def sewn(self) -> Ints | None:
        """(n,) number of every vertex, the same for vertices that are sewn together; None: no
        seams.
        """
        found: Ints | None = self.run.folder.mesh().get("sewn")
        return found

    @cached_property
    def folded(self) -> Ints | None:
        """The faces between the folds of pressed pleats; None: there are none."""
        found: Ints | None = self.run.folder.mesh().get("folded")
        return found

    @cached_property
    def _reference(self) -> NearestPoints | None:
        if len(self.run.body_faces) == 0:
            return None
        then = self.at(self.since)
        return NearestPoints.of(then.x, then.body, self.run.body_faces)

    def measure_frame(self, frame: int) -> Json:
        """Return all measurements of one frame."""
        frame = frame if frame >= 0 else len(self.run) + frame
        x = self.at(frame).x
        found: Json = {"frame": frame, "t": frame / self.run.fps}
        found["intersections"], found["excluded_intersections"] = self.crossings(frame)
        found["parts"] = self.strains(x)
        if self.seams:
            found["seams"] = self.gaps(x)
        found["speed"] = self.speed(frame)
        found["static"] = found["speed"]["p99"] < STILL
        if len(self.run.body_faces):
            found["body"] = self.fit(frame)
        for measure in extensions.Registry[Any]("measures").values():
            measure(self, frame, found)
        return found

    def crossings(self, frame: int) -> tuple[int, int]:
        """Count the pairs of faces that intersect, of the cloth with itself and with bodies: those
        that must not, and those that are sewn together and may.
        """
        x, body = self.at(frame).x, self.at(frame).body
        n, faces = len(x), self.mesh.faces
        every = np.concatenate([faces, self.run.body_faces + n])
        quiet = np.arange(len(every)) >= len(faces)
        pairs = intersections(np.concatenate([x, body]), every, quiet=quiet)
        if self.sewn is None or len(pairs) == 0:
            return len(pairs), 0
        ids = np.concatenate([self.sewn, np.arange(n, n + len(body))])
        joined = JoinedVertices(len(ids), ids).join(*(every[pairs[:, k]] for k in range(2)))
        return int((~joined).sum()), int(joined.sum())

    def strains(self, x: Positions) -> Json:
        """Return percentiles by area of warp and weft strain [%], of shear and of the turn to the
        next face [degrees] for every part, and the fractions of its area that are ``sheared``,
        ``strained`` and ``coarse``: bent more sharply than a fold that its edges resolve.
        """
        warp, weft, shear = face_strain(gradients(self.mesh, x)).T
        kinds = {"warp": 100 * warp, "weft": 100 * weft, "shear": np.abs(np.degrees(shear))}
        kinds["turn"] = np.zeros(len(warp))
        angle = np.degrees(np.abs(dihedral_angles(x, self.mesh.hinges)))
        np.maximum.at(kinds["turn"], self.mesh.hinge_faces, angle[:, None])
        strained = np.maximum(np.abs(kinds["warp"]), np.abs(kinds["weft"])) > STRAINED
        area, found = self.mesh.rest_area, dict[str, Json]()
        for name, faces in self.parts:
            own = area[faces]
            found[name] = {kind: percentiles(v[faces], own) for kind, v in kinds.items()}
            found[name]["sheared"] = float(own @ (kinds["shear"][faces] > SHEARED) / own.sum())
            found[name]["strained"] = float(own @ strained[faces] / own.sum())
            found[name]["coarse"] = float(own @ (kinds["turn"][faces] > COARSE) / own.sum())
        return found

    def gaps(self, x: Positions) -> Json:
        """Return the mean and largest distance [mm] across every seam, and whether it is sewn
        permanently (zips and buttons are not).
        """
        found = {}
        for name, pairs in self.seams:
            d = 1e3 * np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
            own = None if self.sewn is None else self.sewn[pairs]
            sewn = own is not None and bool((own[:, 0] == own[:, 1]).all())
            found[name] = {"mean": float(d.mean()), "max": float(d.max()), "sewn": sewn}
        return found

    def speed(self, frame: int) -> Json:
        """Return the median and the 99th percentile of the speeds [m/s]."""
        p50, p99 = np.percentile(self.at(frame).speed, [50, 99]).tolist()
        return {"p50": p50, "p99": p99}

    def fit(self, frame: int) -> Json:
        """Return the fit on the body for every part: distance [mm] from the body, pressure [Pa]
        where it presses, and how far [m] the part has slid along the body.
        """
        now = self.at(frame)
        here, pressure = NearestPoints.of(now.x, now.body, self.run.body_faces), now.pressure
        found: Json = {"least_distance": 1e3 * float(here.distance.min())}
        slip = self.slip(frame) if frame >= self.since else None
        for name, faces in self.parts:
            ids = np.unique(self.mesh.faces[faces])
            part: Json = {"distance": percentiles(1e3 * here.distance[ids])}
            pressed = ids[pressure[ids] > 0]
            part["pressed"] = len(pressed) / len(ids)
            area = self.mesh.vertex_area[pressed]
            part["pressure"] = percentiles(pressure[pressed], area) if len(pressed) else None
            if slip is not None:
                part["slip"] = float(np.median(slip[ids]))
            found[name] = part
        return found

    def ease(self, frame: int) -> Floats:
        """Return the distance (n,) [mm] of every vertex from the body."""
        now = self.at(frame)
        return 1e3 * NearestPoints.of(now.x, now.body, self.run.body_faces).distance

    def slip(self, frame: int) -> Floats:
        """Return how far (n,) [m] vertices are from the places of the body on which they lay in
        frame ``since``, minus their distance at that time.
        """
        assert self._reference is not None
        now = self.at(frame)
        places = self._reference.on(now.body, self.run.body_faces)
        away = np.linalg.norm(now.x - places, axis=1) - self._reference.distance
        return np.asarray(np.maximum(away, 0.0))

    def report(
        self,
        frames: Sequence[int] | None = None,
        on_frame: Callable[[int, int], None] | None = None,
    ) -> Json:
        """Return the measurements of several frames (None: all), the worst values among them, the
        verdict on the last one, and where the time of the run went (``step_costs``).

        ``on_frame`` is called with the number of finished frames and the number of all frames.
        """
        numbers = list(range(len(self.run))) if frames is None else list(frames)
        lines = []
        for k, number in enumerate(numbers):
            lines.append(self.measure_frame(number))
            if on_frame is not None:
                on_frame(k + 1, len(numbers))
        found = {"since": self.since, "worst": worst(lines, self.since), "frames": lines}
        found["time"] = step_costs(self.run.metrics, self.run.manifest)
        return found | ({"verdict": lines[-1]["wear"]["verdict"]} if "wear" in lines[-1] else {})


def pictures(line: Json) -> Iterator[tuple[str, str]]:
    """Yield the looks of pictures that show what is bent or odd in a frame, each with the reason.

    Args:
        line: of ``Quality.measure_frame``.
    """
    odd: dict[tuple[str, str], list[str]] = {}
    for name, part in line["parts"].items():
        if part["coarse"] > BENT_WARNING:
            odd.setdefault(("curvature", "sharp bends of"), []).append(name)
        if part["sheared"] > SHEAR_WARNING:
            odd.setdefault(("stress-shear", "shear of"), []).append(name)
        if max(part["warp"]["p95"], part["weft"]["p95"]) > STRAINED:
            odd.setdefault(("strain", "strain of"), []).append(name)
    yield from ((look, f"{what} {abbreviate(names, 3)}") for (look, what), names in odd.items())
    verdict = line.get("wear", {}).get("verdict", "worn")
    if verdict in ("worn badly", "not worn"):
        yield "panels", verdict
    elif line["intersections"]:
        yield "panels", "faces that intersect"


def girth_name(ease: Json) -> str:
    """Return the name of a girth in a line of ease, after its garment if there are several."""
    return f"{ease['garment_name']} {ease['name'].replace('_', ' ')}".strip()


def worst(lines: Sequence[Json], since: int) -> Json:
    """Return the worst values of all frames; seams and strain count only after sewing.

    A flag that a measure of a plugin gives to parts on a body holds if it holds in any frame.
    """
    sewn = [line for line in lines if line["frame"] >= since] or list(lines)
    kinds = ("intersections", "excluded_intersections")
    found: Json = {kind: max(line[kind] for line in lines) for kind in kinds}
    lines_of = [s for line in sewn for s in line.get("seams", {}).values()]
    seams = [s["max"] for s in lines_of if s["sewn"]]
    if seams:
        found["seam_gap_mm"] = max(seams)
    for kind in ("warp", "weft", "shear", "turn"):
        values = [p[kind]["p99"] for line in sewn for p in line["parts"].values()]
        found[f"{kind}_p99"] = max(values)
    bodies = [line["body"] for line in lines if "body" in line]
    if bodies:
        found["least_distance_mm"] = min(b["least_distance"] for b in bodies)
        parts = [p for b in bodies for p in b.values() if isinstance(p, dict)]
        flags = {name for p in parts for name, value in p.items() if isinstance(value, bool)}
        found |= {name: any(p.get(name, False) for p in parts) for name in sorted(flags)}
    return found


def percentiles(values: Floats, weights: Floats | None = None) -> Json:
    """Return p1, p5, p50, p95, p99 and the largest value.

    Args:
        values: (n,).
        weights: (n,) share of each value, such as its area; None: equal ones.
    """
    share = np.ones(len(values)) if weights is None else weights
    order = np.argsort(values)
    rank = (np.cumsum(share[order]) - share[order] / 2) / share.sum()
    at = np.interp(np.array(PERCENTILES) / 100, rank, values[order])
    return {**{f"p{p}": float(v) for p, v in zip(PERCENTILES, at)}, "max": float(values.max())}
