"""The record that a step leaves on disk: its state, its line of metrics, the manifest of the
run.
"""

import json
import os
import platform
import time
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from weft.base.arrays import AnyArray, Arrays, Floats
from weft.base.trees import Json, Yaml
from weft.bodies.body import join_faces
from weft.cloth.cloth import Cloth
from weft.discretization.samples import principal_stretches
from weft.integrators.base import StepReport
from weft.run.resolution import fold_facts
from weft.run.run_folder import FORMAT, mesh_digest, trajectory_id
from weft.scene.identity import identity
from weft.scene.plugins_in_use import plugins_in_use
from weft.scene.prepare import untangled_start
from weft.scene.scene import Scene

PACKAGES = ("weft", "numpy", "scipy", "warp-lang")


class Stretch:
    """Statistics of the principal stretches of the cloth's samples."""

    def __init__(self, cloth: Cloth) -> None:
        self.samples = cloth.samples()
        self._ends = np.cumsum([len(s.samples().weight) for s in cloth.surfaces.pieces])[:-1]

    def largest(self, x: Floats) -> list[Floats]:
        """Return the largest principal stretch (q,) of every sample, one array per part of the
        cloth, for points x (n,3) [m].
        """
        high = principal_stretches(self.samples.deformation_gradient(x))[0]
        return np.split(high, self._ends)

    def percentiles(self, x: Floats) -> Json:
        """Return p50, p95, max of the largest and min of the smallest stretch at points x (n,3)
        [m].
        """
        high, low = principal_stretches(self.samples.deformation_gradient(x))
        ranked = np.sort(high)
        p50, p95 = (_between(ranked, q * (len(ranked) - 1)) for q in (0.5, 0.95))
        return {"p50": p50, "p95": p95, "max": float(ranked[-1]), "min": float(low.min())}


def _between(ranked: Floats, at: float) -> float:
    """Interpolate a sorted array at the fractional index ``at``.

    The result is that of ``np.percentile`` in a tenth of its time, because the many cases that
    ``np.percentile`` distinguishes do not occur here.
    """
    k = min(int(at), len(ranked) - 2) if len(ranked) > 1 else 0
    a, b = float(ranked[k]), float(ranked[min(k + 1, len(ranked) - 1)])
    # Both forms are those of NumPy: the second one is exact at t = 1.
    t = at - k
    return a + (b - a) * t if t < 0.5 else b - (b - a) * (1.0 - t)


def report_as_dict(report: StepReport, dt: float) -> Json:
    """Return the report of a step, or of a part of it, as a tree of numbers and names.

    Args:
        report: of the step or part.
        dt: [s] length of the whole step.
    """
    tree = {**vars(report), "outcome": report.outcome.name}
    del tree["reached"], tree["divisible"], tree["place"], tree["parts"]
    tree["energies"] = tree.pop("terms")
    tree["rejected"] = [r.as_dict(dt) for r in report.rejected]
    for name in ("attachments", "gained", "obstacle"):
        if not tree[name]:
            del tree[name]
    return tree


def mesh_arrays(scene: Scene) -> Arrays:
    """Return the arrays that ``mesh.npz`` stores: faces, material coordinates, surfaces, seams,
    faces behind pleats, regions and body faces.
    """
    cloth = scene.cloth
    mesh = cloth.mesh
    arrays: dict[str, AnyArray] = {
        "faces": mesh.faces,
        "corner_uv": mesh.corner_uv,
        "vertices": mesh.vertices,
    }
    arrays.update(cloth.surfaces.arrays())
    if cloth.seams:
        arrays["seams"] = np.concatenate([pairs for _, pairs in cloth.seams])
    if cloth.sewn is not None:
        arrays["sewn"] = cloth.sewn
    if cloth.folded is not None:
        arrays["folded"] = cloth.folded
    if cloth.fold_edges is not None:
        arrays["fold_edges"] = cloth.fold_edges
    if any(part.regions for part in cloth.parts):
        arrays["region"] = cloth.region_of_faces
    if scene.bodies:
        arrays["body_faces"] = join_faces(scene.bodies)
    return arrays


def build_manifest(
    scene: Scene, mesh: Arrays, folder: Path, *, frames: int, fps: float, steps: int
) -> Json:
    """Return the manifest of a run.

    Args:
        scene: what is simulated.
        mesh: arrays of ``mesh.npz``, whose digests the manifest stores.
        folder: of the run, to which the path of the scene file is relative.
        frames: number of the last frame.
        fps: frames per second.
        steps: steps per frame.

    Returns:
        The manifest; its ``trajectory`` identifies everything that decides the numbers of the run.
    """
    tree = json.loads(json.dumps(identity(scene)))
    decisive = {"scene": tree, "fps": fps, "steps_per_frame": steps}
    rest = {k: v for k, v in mesh.items() if k != "vertices"}
    manifest: Json = {
        "format": FORMAT,
        **decisive,
        "description": json.loads(json.dumps(scene.description)),
        "frames": frames,
        "bodies": [
            {"name": b.name, "vertices": len(b.vertices), "faces": len(b.faces)}
            for b in scene.bodies
        ],
        "folds": fold_facts(scene)[0],
        "trajectory": trajectory_id(decisive),
        "after": -1,
        "mesh": {"content": mesh_digest(mesh), "rest": mesh_digest(rest)},
        "versions": {"python": platform.python_version(), **{n: version(n) for n in PACKAGES}},
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    if scene.cloth.appearances:
        name = partial(relative_path, folder)
        looks = {k: a.as_json(name) for k, a in scene.cloth.appearances.items()}
        manifest["surfaces"] = json.loads(json.dumps(looks))
    if plugins := plugins_in_use(scene):
        manifest["plugins"] = plugins
    if (untangled := untangled_start(scene)) is not None:
        manifest["resolved"] = str(untangled)
    if scene.scene_file is not None:
        manifest["scene_file"] = relative_path(folder, scene.scene_file)
    return manifest


def relative_path(folder: Path, file: Path) -> str:
    """Return the path of a file relative to a folder, so that it stays right if both are moved
    together. If the file is on another drive, return its absolute path.
    """
    try:
        found = os.path.relpath(file.resolve(), folder.resolve())
    except ValueError:
        found = str(file.resolve())
    return Path(found).as_posix()


def differences(a: Yaml, b: Yaml, path: str = "") -> list[str]:
    """Return the dotted paths at which two trees of plain values differ."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        keys = [*a, *(k for k in b if k not in a)]
        return [d for k in keys for d in differences(a.get(k), b.get(k), f"{path}.{k}".lstrip("."))]
    return [] if a == b else [path]
