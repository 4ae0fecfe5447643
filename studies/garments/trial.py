"""One garment worn by one body: scene, run in a process of its own, and what came out of it."""

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import yaml

import weft
from studies.garments.body_measures import BodyMeasures
from studies.garments.catalog import GARMENTS
from studies.garments.intersection_count import count_intersections
from studies.garments.solid_people import PEOPLE
from weft import kernel
from weft.base.arrays import AnyArray, Faces, Positions
from weft.base.errors import WeftError
from weft.io import write_mesh
from weft.plugins.garments.bodies.landmarks import landmarks_of_mesh
from weft.plugins.garments.mannequin.figure import Mannequin
from weft.plugins.garments.quality.wear import VERDICTS
from weft.run.quality import Quality
from weft.run.run import Run
from weft.show.picture.style import Style

BODIES: dict[str, dict[str, str]] = {
    "woman": {"figure": "woman"},
    "man": {"figure": "man"},
    "child": {"figure": "child"},
    "size-48": {"figure": "woman", "chest": "110 cm", "waist": "94 cm", "hips": "116 cm"},
}
MODELED = {"fingers": "small breasts"}  # of solids, with fingers, toes and a face; they stand still
BODY = "body.obj"  # file of a modeled body, beside the scene
CELLS, COARSE = "3 cm", "4 cm"  # of a trial, of a quick one
CLOSING, SETTLE, HOLD = 1.0, 1.0, 2.0  # [s]
SECONDS = 6.0  # two cycles of walking, and standing still again
FPS = 25
VIEWS = (0.0, 90.0, 180.0, 270.0)  # [degrees] azimuths: front, left, back, right
STYLE = Style(look="panels", width=300, height=500, elevation=6.0, whole=True)
LONGEST = 1800.0  # [s] of a run, before it is given up


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
    open_seam: float  # [mm] the widest gap of a seam in the last frame; nan: it did not run
    verdict: str  # of ``weft quality`` on the last frame; empty: it did not run
    reasons: list[str]  # of the verdict
    message: str  # why it did not run; empty otherwise

    @property
    def problem(self) -> str:
        """Return what the measurements say is not as worn; empty: nothing."""
        if self.message:
            return self.message
        crossing = f"{self.crossing} frames with intersections"
        found = [crossing] * bool(self.crossing) + self.reasons
        return "; ".join(found) or ("" if self.verdict == VERDICTS[0] else self.verdict)


def measures_of(body: str) -> BodyMeasures:
    """Return the measures of a body of ``BODIES`` or ``MODELED``."""
    if body in MODELED:
        return BodyMeasures.of_landmarks(landmarks_of_mesh(*_modeled(body)))
    return BodyMeasures.of(Mannequin.of(**BODIES[body]))


@cache
def _modeled(body: str) -> tuple[Positions, Faces]:
    return PEOPLE[MODELED[body]].mesh("a_pose")


def scene(pattern: str, body: str, *, walks: bool = True, coarse: bool = False) -> str:
    """Return the text of the scene of a pattern and a body."""
    person: dict[str, Any] = {"mesh": {"file": BODY}}
    if body in BODIES:
        person = {"mannequin": {**BODIES[body]}}
        if walks:
            person["mannequin"] |= {"motion": "walk", "hold": f"{HOLD:g} s", "cycles": 2}
    tree = {
        "cloth": {"garment": {"pattern": pattern, "size": COARSE if coarse else CELLS}},
        "bodies": [{"name": "body", **person}],
        "contact": {"gap": "2 mm", "friction": 0.3, "pinch": "thin"},
        "law": {"name": "immediate_buckling"},
        "sewing": {"closing": f"{CLOSING:g} s", "settle": f"{SETTLE:g} s"},
        "integrator": {"backward_euler": {"effort": "interactive"}},
        "seconds": SECONDS if walks else HOLD,
        "fps": FPS,
    }
    return yaml.safe_dump(tree, sort_keys=False)


def try_garment(
    garment: str,
    body: str,
    folder: Path,
    pattern: Path | None = None,
    *,
    walks: bool = True,
    coarse: bool = False,
) -> TrialResult:
    """Run a trial, or return the result of the same trial by the same program in the folder.

    Args:
        garment: of the catalog; any name if ``pattern`` is given.
        body: of ``BODIES``, or of ``MODELED`` if it does not walk.
        folder: of files, run and pictures of this trial.
        pattern: a pattern file to be tried as it is; None: the garment is drafted for the body.
        walks: after the garment is sewn and has settled.
        coarse: cells of 4 cm.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{garment}_specification.json"
    if pattern is None:
        text = GARMENTS[garment](measures_of(body)).text()
    else:
        text = pattern.read_text(encoding="utf-8")
    files = {name: text, "scene.yaml": scene(name, body, walks=walks, coarse=coarse)}
    files["program.txt"] = _program()
    if body in MODELED:
        write_mesh(folder / BODY, *_modeled(body), corner_uv=None)
    kept = folder / "result.json"
    same = all(_text(folder / n) == t for n, t in files.items())
    old = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() and same else {}
    if old.keys() == {f.name for f in fields(TrialResult)}:
        return TrialResult(**old)
    for n, t in files.items():
        (folder / n).write_text(t, encoding="utf-8")
    done = folder / "done.json"  # what the run said, if it is over
    if not (same and done.is_file()):
        done.unlink(missing_ok=True)
        done.write_text(json.dumps(_run(folder)), encoding="utf-8")
    told = tuple(json.loads(done.read_text(encoding="utf-8")))
    result = measure((garment, body), folder, told)
    kept.write_text(json.dumps(asdict(result), indent=1), encoding="utf-8")
    return result


@cache
def _program() -> str:
    """Return a digest of the source code of weft."""
    sources = sorted(Path(weft.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


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


def measure(trial: tuple[str, str], folder: Path, told: tuple[str, float, float]) -> TrialResult:
    """Return what a run gave, and draw it from four sides.

    Args:
        trial: garment and body.
        folder: of the trial.
        told: message, processor time and wall time of the run.
    """
    message, seconds, wall = told
    try:
        run = Run(folder / "run")
        count = len(run)
    except WeftError as error:
        none, said = float("nan"), message or str(error)
        return TrialResult(*trial, 0, 0, 0, seconds, wall, none, "", [], said)
    draw(run, folder)
    quality = Quality(run)
    names = quality.sewn if quality.sewn is not None else np.arange(len(run.mesh.vertices))
    last = quality.measure_frame(-1)
    return TrialResult(
        *trial,
        vertices=len(run.mesh.vertices),
        frames=count,
        crossing=sum(_crosses(run, k, names) for k in range(count)),
        seconds=seconds,
        wall=wall,
        open_seam=max((gap["max"] for gap in last.get("seams", {}).values()), default=0.0),
        verdict=last["wear"]["verdict"],
        reasons=last["wear"]["reasons"],
        message=message,
    )


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
