"""Grading: a garment in several sizes, each worn by a mannequin of that size, and how all of them
sit.
"""

import csv
import io
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from weft import kernel
from weft.base.errors import RunError, SceneError, SimulationError, WeftError, to_one_line
from weft.base.machine import cores
from weft.base.trees import Json
from weft.io.files import write_file
from weft.plugins.garments.bodies.body_measures import measures_by_name
from weft.plugins.garments.bodies.landmarks import GIRTH_LEVELS
from weft.plugins.garments.bodies.sizes import ClothesSize
from weft.plugins.garments.patterns import read_pattern
from weft.plugins.garments.quality.wear import wear_of
from weft.run.quality import Quality, worst
from weft.run.run import Run
from weft.run.run_folder import RunFolder
from weft.run.simulation import Progress, run_scene
from weft.scene.build import load_scene
from weft.scene.file import read_source, validate
from weft.scene.schema import SceneFile

GIRTHS = tuple(reversed(GIRTH_LEVELS.values()))
COLUMNS = (
    *("size", "state", *(f"{name}_cm" for name in GIRTHS), *(f"ease_{n}_cm" for n in GIRTHS)),
    *("warp_p99_%", "weft_p99_%", "shear_p99_deg", "body_mm", "intersections", "message"),
)


@dataclass(frozen=True)
class SizeRun:
    """The simulation of one size.

    Args:
        size: of the garment and of the body.
        scene: the scene file.
        overrides: values of its fields, as ``weft run --set`` takes them.
        folder: of the run.
    """

    size: ClothesSize
    scene: Path
    overrides: Sequence[str]
    folder: Path


@dataclass(frozen=True)
class SizeEnd:
    """The end of a simulation.

    Args:
        state: empty: it has finished; else the kind of failure.
        message: of the failure.
        warnings: of the simulation.
    """

    state: str = ""
    message: str = ""
    warnings: Sequence[str] = ()


def plan_sizes(
    pattern: Path,
    sizes: Sequence[ClothesSize],
    scene: Path,
    folder: Path,
    text: str | None = None,
) -> list[SizeRun]:
    """Return the simulations of a garment in several sizes.

    Every garment of the scene that has sizes gets them, and so does its mannequin.

    Args:
        pattern: the garment's pattern.
        sizes: its sizes.
        scene: a scene in which a mannequin wears the pattern.
        folder: of the folders of runs.
        text: the content of a scene that is not written yet.

    Raises:
        SceneError: an invalid scene, one without the pattern or without a mannequin, or one that
            gives girths.
    """
    file = validate(read_source(scene, text=text))
    garments, body = _garments(file, scene, pattern), _mannequin(file, scene)
    return [
        SizeRun(
            size,
            scene.resolve(),
            [
                *(f"{path}.measures.size={size}" for path in garments),
                f"{body}.figure={size.figure}",
                f"{body}.size={size.number}",
            ],
            folder / str(size).replace(" ", "-"),
        )
        for size in sizes
    ]


def run_sizes(
    runs: Sequence[SizeRun], workers: int | None, on_end: Callable[[SizeRun], None]
) -> list[SizeEnd]:
    """Simulate sizes in processes, or continue them, and return how each of them ended.

    Args:
        runs: the sizes.
        workers: number of processes; None: as many as fill the cores.
        on_end: called with each size that has ended.

    Raises:
        RunError: a folder has the run of another scene, or cannot be written.
        SimulationError: a process was killed; the same call continues.
    """
    threads = max(1, cores() // len(runs))
    count = min(workers or max(1, cores() // threads), len(runs))
    pool = ProcessPoolExecutor(count, get_context("spawn"))
    try:
        tasks = {pool.submit(run_size, run, threads): run for run in runs}
        for task in as_completed(tasks):
            task.result()
            on_end(tasks[task])
        return [task.result() for task in tasks]
    except BrokenProcessPool:
        raise SimulationError(
            "processes of sizes",
            got="a process that was killed",
            where=runs[0].folder.parent,
            expected="processes that run",
            hint="run the same command again to continue; `workers=1` needs less memory",
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def run_size(run: SizeRun, threads: int) -> SizeEnd:
    """Simulate a size or continue it in this process, and return how it ended.

    Raises:
        RunError: as for ``run_sizes``.
    """
    with (
        kernel.use(threads=threads),
        threadpool_limits(limits=threads),
        kernel.notify_compile(lambda _: None),
        warnings.catch_warnings(record=True) as caught,
    ):
        state, message = "", ""
        try:
            loaded = load_scene(run.scene, list(run.overrides))
            run_scene(
                loaded.scene,
                RunFolder(run.folder),
                frames=loaded.frames,
                fps=loaded.fps,
                resume=True,
                on_progress=_stop_with_parent,
            )
        except RunError:
            raise
        except SimulationError as error:
            state, message = "not converged", to_one_line(error)
        except WeftError as error:
            state, message = "bad scene", to_one_line(error)
    return SizeEnd(state, message, [to_one_line(w.message) for w in caught])


def _stop_with_parent(_: Progress) -> None:
    """Stop a simulation whose parent process has ended."""
    parent = parent_process()
    if parent is not None and not parent.is_alive():
        raise KeyboardInterrupt


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
        raise SceneError(
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
    raise SceneError("scene", got="no mannequin", where=scene, expected="a body of every size")


def _refuse_girths(scene: Path, path: str, names: Iterable[str]) -> None:
    """Raise an error if a block gives girths, which would be the same in all sizes."""
    known = measures_by_name()
    for name in names:
        if name in known and known[name].name in GIRTHS:
            expected = "no girths, because the sizes give them"
            raise SceneError(f"{path}.{name}", got="a girth", where=scene, expected=expected)


def write_table(path: Path, rows: Sequence[Json]) -> Path:
    """Write rows as CSV, with the columns of all of them, and return the path."""
    text = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    table = csv.DictWriter(text, list(columns), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return write_file(path, text.getvalue())


def measure_size(run: SizeRun, end: SizeEnd) -> Json:
    """Return the row of ``COLUMNS`` of a size: girths of its body, ease and strain.

    Ease is that on paper (``patterns.ease``); it is missing where the garment is. Of several
    garments, each one has columns of its own (``ease_skirt_waist_cm``). Strains are the largest
    99th percentile of a panel in the last frame.
    """
    row: Json = dict.fromkeys(COLUMNS)
    girths = {f"{n}_cm": round(100 * run.size.body[n], 1) for n in GIRTHS}
    row |= {"size": str(run.size), **girths}
    if end.state:
        return row | {"state": end.state, "message": end.message}
    quality = Quality(Run(run.folder))
    last = quality.measure_frame(-1)
    extremes = worst([last], last["frame"])
    for kind, name in zip(("warp", "weft", "shear"), COLUMNS[-6:-3]):
        row[name] = round(extremes[f"{kind}_p99"], 2)
    parts = [part for part in last.get("body", {}).values() if isinstance(part, dict)]
    row["body_mm"] = round(float(np.median([p["distance"]["p50"] for p in parts])), 1)
    row["intersections"] = last["intersections"]
    wear = wear_of(quality)
    judged = last.get("wear") or wear.judge_wear(last["frame"], last)
    row["state"] = "intersects" if last["intersections"] else judged["verdict"]
    row["message"] = "; ".join(judged["reasons"])
    for ease in (e for e in wear.ease if e.name in GIRTHS):
        column = ease_column(ease.garment_name, ease.name)
        row[column] = round(100 * (ease.garment - ease.body), 2)
    return row


def ease_column(garment: str, girth: str) -> str:
    """Return the column of the ease at a girth: of one of several garments, or of the only one."""
    return "_".join(["ease", *garment.split(), girth, "cm"])
