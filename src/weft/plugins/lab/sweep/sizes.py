"""Sizes of a garment as a sweep: in each sample pattern and mannequin have one size; and how all of
them sit.
"""

import csv
import io
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import yaml

from weft.base.errors import SweepError, WeftError
from weft.base.trees import Json
from weft.io.files import write_file
from weft.plugins.garments.bodies.body_measures import measures_by_name
from weft.plugins.garments.bodies.landmarks import GIRTH_LEVELS
from weft.plugins.garments.bodies.sizes import ClothesSize
from weft.plugins.garments.patterns import read_pattern
from weft.plugins.garments.patterns.ease import measure_ease
from weft.plugins.garments.quality.wear import wear_of
from weft.plugins.garments.scene.worn_scene import write_worn_scene
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.status import RUN, SampleKind, SampleStatus
from weft.run.quality import Quality
from weft.run.run import Run
from weft.scene.file import read_source, validate
from weft.scene.schema import SceneFile

GIRTHS = tuple(reversed(GIRTH_LEVELS.values()))
COLUMNS = (
    *("size", "state", *(f"{name}_cm" for name in GIRTHS), *(f"ease_{n}_cm" for n in GIRTHS)),
    *("warp_p99_%", "weft_p99_%", "shear_p99_deg", "body_mm", "intersections", "message"),
)


def write_size_sweep(
    pattern: Path, sizes: Sequence[ClothesSize], folder: Path, wear: Path | None = None
) -> Path:
    """Write the sweep file of a garment in several sizes, and return its path.

    Every garment of the scene that has sizes gets them, and so does its mannequin.

    Args:
        pattern: the garment's pattern.
        sizes: one sample each.
        folder: where ``sweep.yaml`` and ``plan.csv`` are written, and ``scene.yaml`` without a
            scene of one's own.
        wear: a scene in which a mannequin wears the pattern; None: it stands.

    Raises:
        SweepError: a scene without the pattern or without a mannequin, or that says girths.
        SceneError: an invalid scene.
        RunError: a file cannot be written.
    """
    scene = wear or folder / "scene.yaml"
    if wear is None:
        write_worn_scene(pattern, scene)
    file = validate(read_source(scene))
    garments, body = _garments(file, scene, pattern), _mannequin(file, scene)
    write_table(
        folder / "plan.csv",
        [
            dict.fromkeys((f"{path}.measures.size" for path in garments), str(size))
            | {f"{body}.figure": size.figure, f"{body}.size": str(size.number)}
            for size in sizes
        ],
    )
    sweep = {
        "description": f"{pattern.name} in the sizes {', '.join(map(str, sizes))}",
        "scene": str(scene.resolve()) if wear else scene.name,
        "design": "csv",
        "file": "plan.csv",
        "keep": {"intersections": 0, "slipped_off": False},
    }
    return write_file(folder / "sweep.yaml", yaml.safe_dump(sweep, sort_keys=False))


def write_table(path: Path, rows: Sequence[Json]) -> Path:
    """Write rows with the same columns as CSV, and return the path."""
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return write_file(path, text.getvalue())


def _garments(file: SceneFile, scene: Path, pattern: Path) -> list[str]:
    """Return the paths of the garments in a scene that have sizes, the pattern's among them."""
    cloths = {"cloth": file.cloth, **{f"cloths.{i}": cloth for i, cloth in enumerate(file.cloths)}}
    blocks = {f"{p}.garment": c.garment for p, c in cloths.items() if c and c.garment}
    found, others = [], []
    for path, block in blocks.items():
        own = (scene.parent / block.pattern).resolve()
        others += [] if own == pattern.resolve() else [block.pattern]
        try:
            with warnings.catch_warnings(action="ignore"):
                read_pattern(own, {"size": "38"})
        except WeftError:
            if own == pattern.resolve():
                raise
            continue  # a belt of one size, beside the garment that is graded
        _refuse_girths(scene, f"{path}.measures", block.measures)
        found.append(path)
    if len(others) == len(blocks):
        raise SweepError(
            "scene",
            got=f"no garment {pattern.name}",
            where=scene,
            expected=f"a cloth with `garment: {{pattern: {pattern.name}}}`",
            hint=f"its garments are {', '.join(others)}" if others else None,
        )
    return found


def _mannequin(file: SceneFile, scene: Path) -> str:
    """Return the path of the mannequin in a scene."""
    for i, body in enumerate(file.bodies):
        if body.mannequin is not None:
            path = f"bodies.{i}.mannequin"
            _refuse_girths(scene, path, body.mannequin.model_fields_set)
            return path
    raise SweepError("scene", got="no mannequin", where=scene, expected="a body of every size")


def _refuse_girths(scene: Path, path: str, names: Iterable[str]) -> None:
    """Raise an error if a block gives girths, which would be the same in all sizes."""
    known = measures_by_name()
    for name in names:
        if name in known and known[name].name in GIRTHS:
            expected = "no girths: they are those of the sizes"
            raise SweepError(f"{path}.{name}", got="a girth", where=scene, expected=expected)


def measure_sizes(sweep: SweepFolder, sizes: Sequence[ClothesSize]) -> list[Json]:
    """Return a row of ``COLUMNS`` for each size: girths of its body, ease and strain.

    Ease is that on paper (``patterns.ease``); it is missing where the garment is. Strains are
    the largest 99th percentile of a panel in the last frame.
    """
    return [
        _measure_size(sweep, state, size) for state, size in zip(sweep.look(), sizes, strict=True)
    ]


def _measure_size(sweep: SweepFolder, state: SampleStatus, size: ClothesSize) -> Json:
    row: Json = dict.fromkeys(COLUMNS)
    row |= {"size": str(size), **{f"{n}_cm": round(100 * size.body[n], 1) for n in GIRTHS}}
    if state.kind is not SampleKind.DONE:
        reason = state.status.reason or state.kind.value
        return row | {"state": reason.lower().replace("_", " "), "message": state.status.message}
    run = Run(sweep.place(state.sample) / RUN)
    quality = Quality(run)
    last = quality.measure_frame(-1)
    for kind, name in zip(("warp", "weft", "shear"), COLUMNS[-6:-3]):
        row[name] = round(max(part[kind]["p99"] for part in last["parts"].values()), 2)
    parts = [part for part in last.get("body", {}).values() if isinstance(part, dict)]
    row["body_mm"] = round(float(np.median([p["distance"]["p50"] for p in parts])), 1)
    row["intersections"] = last["intersections"]
    wear = quality.judge_wear(last["frame"], last)
    row["state"] = "intersects" if last["intersections"] else wear["verdict"]
    row["message"] = "; ".join(wear["reasons"])
    panels, seams = dict(quality.parts).values(), dict(quality.seams).values()
    wearer = wear_of(quality).wearer
    eases = measure_ease(quality.mesh, [*panels], [*seams], wearer.landmarks) if wearer else []
    own = {f"ease_{e.name}_cm": round(100 * (e.garment - e.body), 2) for e in eases}
    return row | {name: value for name, value in own.items() if name in COLUMNS}
