"""One garment worn by one body: scene, run in a process of its own, and what came out of it."""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import PIL.Image
import yaml

from studies.garments.body_measures import CENTIMETERS, BodyMeasures
from studies.garments.catalog import GARMENTS
from studies.garments.draft import Draft
from studies.garments.intersection_count import count_intersections
from studies.garments.tops import LOW
from weft import kernel
from weft.base.arrays import AnyArray, Positions
from weft.base.errors import WeftError
from weft.mannequin.figure import Mannequin
from weft.run.garment_quality import Quality
from weft.run.run import Run
from weft.show.picture.style import Style

BODIES: dict[str, dict[str, str]] = {
    "woman": {"figure": "woman"},
    "man": {"figure": "man"},
    "child": {"figure": "child"},
    "size-48": {"figure": "woman", "chest": "110 cm", "waist": "94 cm", "hips": "116 cm"},
}
CELLS, COARSE = "3 cm", "4 cm"  # of a trial, of a quick one
CLOSING, SETTLE, HOLD = 1.0, 1.0, 2.0  # [s]
SECONDS = 6.0  # two cycles of walking, and standing still again
FPS = 25
VIEWS = (0.0, 90.0, 180.0, 270.0)  # [degrees] azimuths: front, left, back, right
STYLE = Style(look="panels", width=300, height=500, elevation=6.0, whole=True)
LONGEST = 1800.0  # [s] of a run, before it is given up
SLID = 5.0  # [cm] by which a part of a worn garment may be away from its place
ASIDE = ("sleeve", "cuff", "hood", "collar")  # panels that hang as they like
OPEN = 2.0  # [mm] of a seam of a worn garment


@dataclass(frozen=True)
class TrialResult:
    """What one trial gave."""

    garment: str
    body: str
    vertices: int
    frames: int
    crossing: int  # frames with an intersection, by the independent count
    seconds: float  # of processor time
    wall: float
    open_seam: float  # [mm] the widest gap of a seam in the last frame
    shoulder: float  # [cm] of shoulder seams below the body's shoulder line, mean; nan: none
    waist: float  # [cm] of the waist line below the body's waist; nan: none
    off_arm: float  # [cm] of the middle of the worse sleeve from the arm's axis; nan: none
    top: float  # [cm] of the highest point of trunk and waistband below where it is drafted
    slid: float  # [cm] by which the garment's vertices went down during the walk, median
    message: str  # why it did not run; empty otherwise

    @property
    def problem(self) -> str:
        """Return what the measurements say is not as worn; empty: nothing."""
        if self.message:
            return self.message
        found = []
        if self.crossing:
            found.append(f"{self.crossing} frames with intersections")
        if self.open_seam > OPEN:
            found.append(f"a seam is {self.open_seam:.0f} mm open")
        if abs(self.shoulder) > SLID:
            found.append(f"shoulder seam {self.shoulder:.0f} cm below the shoulder")
        if abs(self.waist) > SLID:
            found.append(f"waist {self.waist:.0f} cm below the waist")
        if self.off_arm > SLID:
            found.append(f"a sleeve {self.off_arm:.0f} cm off the arm")
        if self.top > SLID:
            found.append(f"its upper edge {self.top:.0f} cm too low")
        if self.slid > SLID:
            found.append(f"slid {self.slid:.0f} cm")
        return "; ".join(found)


def scene(pattern: str, body: str, *, quick: bool = False, coarse: bool = False) -> str:
    """Return the text of the scene of a pattern and a body; ``quick`` ends before the walk."""
    person = {**BODIES[body], "motion": "walk", "hold": f"{HOLD:g} s", "cycles": 2}
    tree = {
        "cloth": {"garment": {"pattern": pattern, "size": COARSE if quick or coarse else CELLS}},
        "bodies": [{"name": "body", "mannequin": person}],
        "contact": {"gap": "2 mm", "friction": 0.3, "pinch": "thin"},
        "law": {"name": "immediate_buckling"},
        "sewing": {"closing": f"{CLOSING:g} s", "settle": f"{SETTLE:g} s"},
        "integrator": {"backward_euler": {"effort": "interactive"}},
        "seconds": HOLD if quick else SECONDS,
        "fps": FPS,
    }
    return yaml.safe_dump(tree, sort_keys=False)


def try_garment(
    garment: str,
    body: str,
    folder: Path,
    pattern: Path | None = None,
    *,
    quick: bool = False,
    coarse: bool = False,
) -> TrialResult:
    """Run a trial, or return the result of the same trial in the folder.

    Args:
        garment: of the catalog; any name if ``pattern`` is given.
        body: of ``BODIES``.
        folder: of files, run and pictures of this trial.
        pattern: a pattern file to be tried as it is; None: the garment is drafted for the body.
        quick: sew and settle only, with coarse cells.
        coarse: walk with coarse cells.
    """
    folder.mkdir(parents=True, exist_ok=True)
    person = Mannequin.of(**BODIES[body])
    measures = BodyMeasures.of(person)
    draft = GARMENTS[garment](measures) if pattern is None else None
    name = f"{garment}_specification.json"
    text = draft.text() if draft else pattern.read_text(encoding="utf-8") if pattern else ""
    files = {name: text, "scene.yaml": scene(name, body, quick=quick, coarse=coarse)}
    kept = folder / "result.json"
    same = all(_text(folder / n) == t for n, t in files.items())
    if kept.is_file() and same:
        return TrialResult(**json.loads(kept.read_text(encoding="utf-8")))
    for n, t in files.items():
        (folder / n).write_text(t, encoding="utf-8")
    done = folder / "done.json"  # what the run said, if it is over
    if not (same and done.is_file()):
        done.unlink(missing_ok=True)
        done.write_text(json.dumps(_run(folder)), encoding="utf-8")
    told = tuple(json.loads(done.read_text(encoding="utf-8")))
    result = measure((garment, body), folder, draft, measures, told)
    kept.write_text(json.dumps(asdict(result), indent=1), encoding="utf-8")
    return result


def _text(path: Path) -> str:
    """Return the text of a file; empty: there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _run(folder: Path) -> tuple[str, float, float]:
    """Run the scene in a folder; return an error's last line, processor and wall time [s]."""
    command = [sys.executable, "-m", "weft.cli.main", "run", "scene.yaml", "--out", "run"]
    command += ["--threads", str(kernel.threads())]
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    message = ""
    shutil.rmtree(folder / "run", ignore_errors=True)
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        try:
            done = subprocess.run(
                command, cwd=folder, stdout=log, stderr=log, timeout=LONGEST, env=os.environ
            )
            code = done.returncode
        except subprocess.TimeoutExpired:
            code, message = 1, f"given up after {LONGEST:.0f} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if code and not message:
        lines = (folder / "log.txt").read_text(encoding="utf-8").strip().splitlines()
        errors = [line for line in lines if "error" in line.lower()]
        message = (errors or lines or ["no message"])[-1][:300]  # the first line that says it
    return message, seconds, time.perf_counter() - clock


def measure(
    trial: tuple[str, str],
    folder: Path,
    draft: Draft | None,
    body: BodyMeasures,
    told: tuple[str, float, float],
) -> TrialResult:
    """Return what a run gave, and draw it from four sides.

    Args:
        trial: garment and body.
        folder: of the trial.
        draft: of the garment; None: only what needs no names of edges is measured.
        body: measures of the body.
        told: message, processor time and wall time of the run.
    """
    message, seconds, wall = told
    nan = float("nan")
    try:
        run = Run(folder / "run")
        count = len(run)
    except WeftError as error:
        none = (nan, nan, nan, nan, nan, nan)
        return TrialResult(*trial, 0, 0, 0, seconds, wall, *none, message or str(error))
    draw(run, folder)
    quality = Quality(run)
    sewn = min(round(HOLD * FPS), count - 1)
    names = quality.sewn if quality.sewn is not None else np.arange(len(run.mesh.vertices))
    crossing = sum(_crosses(run, k, names) for k in range(count))
    last = run.positions(-1)
    gaps = [
        float(np.linalg.norm(last[p[:, 0]] - last[p[:, 1]], axis=1).max()) for _, p in quality.seams
    ]
    panels = {n: np.unique(run.faces[part]) for n, part in quality.parts}
    places = Places(run.positions(sewn), dict(quality.seams), draft, body)
    down = np.median(run.positions(sewn)[:, 1]) - np.median(run.positions(-1)[:, 1])
    return TrialResult(
        *trial,
        vertices=len(run.mesh.vertices),
        frames=count,
        crossing=crossing,
        seconds=seconds,
        wall=wall,
        open_seam=1000 * max(gaps, default=0.0),
        shoulder=places.shoulder(),
        waist=places.waist(),
        off_arm=places.off_arm(panels),
        top=places.top(panels),
        slid=CENTIMETERS * float(down),
        message=message,
    )


@dataclass(frozen=True)
class Places:
    """Where parts of a garment are on the body, once it is sewn.

    Args:
        x: (n,3) [m] vertices.
        seams: (k,2) vertices of every seam.
        draft: of the garment; None: nothing is known.
        body: measures [cm].
    """

    x: Positions
    seams: dict[str, AnyArray]
    draft: Draft | None
    body: BodyMeasures

    def shoulder(self) -> float:
        """Return how far [cm] the shoulder seams are below the middle of the shoulders, mean."""
        ids = self._seam_vertices(("shoulder",), ("shoulder",))
        if not len(ids):
            return float("nan")
        middle = (self.body.neck_height + self.body.shoulder_height) / 2
        return middle - CENTIMETERS * float(self.x[ids, 1].mean())

    def waist(self) -> float:
        """Return how far [cm] the waist line is below that of the body, mean."""
        if self.draft is None:
            return float("nan")
        ids = self._seam_vertices(("waist_in", "waist_dart_end", "low"), ("waist_0", "waist"))
        if not len(ids):
            if "ftorso" in "".join(self.draft.panels):
                return float("nan")
            ids = np.argsort(-self.x[:, 1])[: max(1, len(self.x) // 30)]  # a skirt's upper edge
        return self.body.waist_height - CENTIMETERS * float(self.x[ids, 1].mean())

    def off_arm(self, panels: Mapping[str, AnyArray]) -> float:
        """Return how far [cm] the middle of the worse sleeve is from the arm's axis.

        Args:
            panels: the vertices of every panel.
        """
        worst = float("nan")
        angle = np.radians(self.body.arm_angle)
        for side, sign in (("left", 1), ("right", -1)):
            ids = [v for name, v in panels.items() if name.startswith(f"{side}_sleeve")]
            if ids:
                axis = np.array([sign * np.cos(angle), -np.sin(angle), 0.0])
                shoulder = np.array(self.body.shoulder_joint) * [sign, 1.0, 1.0]
                away = CENTIMETERS * self.x[np.concatenate(ids)].mean(0) - shoulder
                away -= (away @ axis) * axis
                worst = float(np.fmax(worst, np.linalg.norm(away)))
        return worst

    def top(self, panels: Mapping[str, AnyArray]) -> float:
        """Return how far [cm] the highest point is below the place that the draft means.

        Sleeves, cuffs, hoods and collars do not count; a dress that slid down or was turned over
        does, and so does a waistband that is folded.

        Args:
            panels: the vertices of every panel.
        """
        names = [n for n in panels if not any(part in n for part in ASIDE)]
        if self.draft is None or not names:
            return float("nan")
        drawn = [self.draft.panels[n] for n in names]
        meant = max(p.place[1] + e.y for p in drawn for e in p.edges) + LOW
        worn = max(float(self.x[panels[n], 1].max()) for n in names)
        return meant - CENTIMETERS * worn

    def _seam_vertices(self, first: Sequence[str], second: Sequence[str]) -> AnyArray:
        """Return the vertices of the seams between edges of these names, in either order."""
        ids = []
        for k, (_, a, _, b) in enumerate(self.draft.stitches if self.draft else ()):
            one, two = a.rstrip("+"), b.rstrip("+")
            if (one in first and two in second) or (two in first and one in second):
                ids.append(self.seams[f"stitch {k}"].reshape(-1))
        return np.concatenate(ids) if ids else np.zeros(0, dtype=np.int64)


def _crosses(run: Run, frame: int, names: AnyArray) -> int:
    """Return 1 if cloth intersects itself or a body in a frame, else 0."""
    cloth, body = run.positions(frame), run.body_positions(frame)
    x = np.concatenate([cloth, body])
    faces = np.concatenate([run.faces, run.body_faces + len(cloth)])
    every = np.concatenate([names, names.max() + 1 + np.arange(len(body))])
    return int(count_intersections(x, faces, len(run.faces), every) > 0)


def draw(run: Run, folder: Path) -> None:
    """Draw the garment when it is sewn, and at the end, from four sides."""
    count = len(run)
    for name, frame in (("sewn", min(round(HOLD * FPS), count - 1)), ("end", count - 1)):
        tiles = []
        for azimuth in VIEWS:
            style = replace(STYLE, azimuth=azimuth)
            path = folder / "tile.png"
            run.render(path, frame=frame, style=style)
            tiles.append(np.asarray(PIL.Image.open(path).convert("RGB")))
        path.unlink()
        PIL.Image.fromarray(np.concatenate(tiles, axis=1)).save(folder / f"{name}.png")
