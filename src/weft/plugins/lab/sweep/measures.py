"""Measures of a finished run: a few numbers, each with a name and a unit."""

import numpy as np

from weft.base.arrays import Positions
from weft.base.errors import MeshError
from weft.base.trees import Json
from weft.contact.exact.intersections import intersections
from weft.run.run import Run
from weft.run.run_folder import RunFolder

# Unit (empty: yes or no) and meaning of every measure.
MEASURES = {
    "frames": ("1", "number of the last frame"),
    "steps": ("1", "number of steps, including parts of divided steps"),
    "newton": ("1", "Newton iterations of all steps"),
    "converged": ("", "true: every step converged without division"),
    "intersections": (
        "1",
        "pairs of faces that intersect: most of any frame with contact, else the last",
    ),
    "strain_end": ("1", "greatest principal strain of a face in the last frame"),
    "strain_p95": ("1", "95th percentile of the greatest principal strains in the last frame"),
    "speed_end": ("m/s", "greatest speed of a point in the last frame"),
    "kinetic_end": ("J", "kinetic energy in the last frame"),
    "height_end": ("m", "mean height of the vertices in the last frame"),
    "lowest_end": ("m", "height of the lowest vertex in the last frame"),
    "highest_end": ("m", "height of the highest vertex in the last frame"),
    "width_end": ("m", "extent along x in the last frame"),
    "depth_end": ("m", "extent along z in the last frame"),
    "contacts_end": ("1", "points in contact in the last frame; none: no contact"),
    "slipped_off": (
        "",
        "the cloth's highest vertex lies below the top of the highest body; none: no bodies",
    ),
}


def measure_run(folder: RunFolder) -> Json:
    """Return the measures of a finished run, by the names of ``MEASURES``; None: the scene does not
    have it.
    """
    run = Run(folder.path)
    lines = run.metrics
    last = folder.frame(len(run) - 1)
    x = run.positions()
    found = [int(m["intersections"]) for m in lines if "intersections" in m]
    stretch = lines[-1]["stretch"] if lines else {"max": 1.0, "p95": 1.0}
    low, high = x.min(axis=0), x.max(axis=0)
    bodies = run.body_positions()
    touching = last.get("contact_points")
    return {
        "frames": len(run) - 1,
        "steps": len(lines),
        "newton": sum(int(m["iterations"]) for m in lines),
        "converged": _is_undivided(lines),
        "intersections": max(found) if found else _count_intersections(run, x),
        "strain_end": float(stretch["max"]) - 1.0,
        "strain_p95": float(stretch["p95"]) - 1.0,
        "speed_end": float(np.sqrt((last["v"] ** 2).sum(axis=1).max())),
        "kinetic_end": float(lines[-1]["kinetic"]) if lines else 0.0,
        "height_end": float(x[:, 1].mean()),
        "lowest_end": float(low[1]),
        "highest_end": float(high[1]),
        "width_end": float(high[0] - low[0]),
        "depth_end": float(high[2] - low[2]),
        "contacts_end": None if touching is None else len(touching),
        "slipped_off": bool(high[1] < _height_of_bodies(run, bodies)) if len(bodies) else None,
    }


def _is_undivided(lines: list[Json]) -> bool:
    """Return whether every step has one line of metrics: a divided step has several."""
    numbers = [m["step"] for m in lines]
    return len(set(numbers)) == len(numbers)


def _count_intersections(run: Run, x: Positions) -> int | None:
    """Return the number of intersecting pairs of the cloth's faces; None: too many to be
    counted.
    """
    try:
        return len(intersections(x, run.faces))
    except MeshError:
        return None


def _height_of_bodies(run: Run, bodies: Positions) -> float:
    """Return the height [m] of the highest vertex of all bodies."""
    used = np.unique(run.body_faces)
    return float(bodies[used, 1].max())
