"""What a step leaves on disk: the place reached, its line of metrics, and the run's manifest."""

import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from weft.base.arrays import Floats, Json
from weft.bodies.body import Body, joined_faces
from weft.cloth.attachments import Attachment
from weft.cloth.cloth import Cloth
from weft.contact.contact import SelfContact
from weft.discretization.samples import principal_stretches
from weft.energies.air.wind import Wind
from weft.energies.state import State
from weft.integrators.base import Memory, Stepper, StepReport
from weft.integrators.model import Model
from weft.io.frames import mesh_digest
from weft.io.manifest import FORMAT
from weft.io.seal import trajectory_id

_MEMORY = "memory."  # prefix of an integrator's memory among a state's arrays
PACKAGES = ("weft", "numpy", "scipy", "warp-lang")


class SceneLike(Protocol):
    """What the loop needs of a scene."""

    @property
    def cloth(self) -> Cloth:
        """Mesh and fabric."""

    @property
    def step(self) -> float:
        """[s] largest step."""

    @property
    def description(self) -> Mapping[str, Any]:
        """What the manifest keeps for readers: the scene file's contents."""

    @property
    def scene_file(self) -> Path | None:
        """The scene file; None: Python made the scene."""

    @property
    def bodies(self) -> Sequence[Body]:
        """What the cloth meets."""

    @property
    def contact(self) -> SelfContact | None:
        """How it meets it."""

    @property
    def wind(self) -> Wind | None:
        """The air."""

    @property
    def attachments(self) -> Sequence[Attachment]:
        """What holds points."""

    @property
    def resolved(self) -> object | None:
        """What was moved at the start so that nothing intersects, as text; None: nothing."""

    def identity(self) -> Mapping[str, Any]:
        """A plain tree that two scenes share only if they simulate the same."""

    def model(self) -> Model:
        """What does not change."""

    def state(self) -> State:
        """The start."""

    def stepper(self) -> Stepper:
        """The integrator."""


@dataclass(frozen=True)
class RunState:
    """The state after some step, and everything needed to go on from there."""

    state: State
    memory: Memory
    frame: int  # frames complete
    step: int  # steps done of the next frame
    count: int  # steps done in all

    def arrays(self) -> dict[str, Any]:
        """What a frame or checkpoint holds."""
        counters = {"frame": self.frame, "step": self.step, "count": self.count}
        memory = {_MEMORY + name: value for name, value in self.memory.items()}
        return {"x": self.state.x, "v": self.state.v, "t": self.state.t, **counters, **memory}

    @staticmethod
    def of(arrays: Mapping[str, Any]) -> "RunState":
        """From the arrays of a frame or checkpoint."""
        memory = {k.removeprefix(_MEMORY): v for k, v in arrays.items() if k.startswith(_MEMORY)}
        state = State(arrays["x"], arrays["v"], float(arrays["t"]))
        return RunState(state, memory, *(int(arrays[k]) for k in ("frame", "step", "count")))


class Stretch:
    """Percentiles of the principal stretches of the faces."""

    def __init__(self, cloth: Cloth) -> None:
        self.samples = cloth.samples()
        self._ends = np.cumsum([len(s.samples().weight) for s in cloth.surfaces.pieces])[:-1]

    def largest(self, x: Floats) -> list[Floats]:
        """(q,) of every sample, part by part, at points x (n,3)."""
        high = principal_stretches(self.samples.deformation_gradient(x))[0]
        return np.split(high, self._ends)

    def percentiles(self, x: Floats) -> Json:
        """p50, p95 and max of the largest stretch, min of the smallest."""
        high, low = principal_stretches(self.samples.deformation_gradient(x))
        ranked = np.sort(high)
        p50, p95 = (_between(ranked, q * (len(ranked) - 1)) for q in (0.5, 0.95))
        return {"p50": p50, "p95": p95, "max": float(ranked[-1]), "min": float(low.min())}


def _between(ranked: Floats, at: float) -> float:
    """The number at a place between two of a sorted array: as ``np.percentile``, in a tenth of the
    time of its many cases.
    """
    k = min(int(at), len(ranked) - 2) if len(ranked) > 1 else 0
    a, b = float(ranked[k]), float(ranked[min(k + 1, len(ranked) - 1)])
    t = at - k
    return a + (b - a) * t if t < 0.5 else b - (b - a) * (1.0 - t)


def plain(report: StepReport) -> Json:
    """A step's report as a tree of numbers and names."""
    tree = {**vars(report), "outcome": report.outcome.name}
    del tree["reached"], tree["divisible"], tree["place"], tree["parts"]
    tree["energies"] = tree.pop("terms")
    if not tree["attachments"]:
        del tree["attachments"]
    return tree


def mesh_arrays(cloth: Cloth, bodies: Sequence[Body]) -> dict[str, Any]:
    """What mesh.npz holds."""
    mesh = cloth.mesh
    arrays = {"faces": mesh.faces, "corner_uv": mesh.corner_uv, "vertices": mesh.vertices}
    arrays.update(cloth.surfaces.arrays())
    if cloth.seams:
        arrays["seams"] = np.concatenate([pairs for _, pairs in cloth.seams])
    if cloth.sewn is not None:
        arrays["sewn"] = cloth.sewn
    if any(part.regions for part in cloth.parts):
        arrays["region"] = cloth.region_of_faces
    if bodies:
        arrays["body_faces"] = joined_faces(bodies)
    return arrays


def manifest_of(
    identity: Mapping[str, Any],
    description: Mapping[str, Any],
    mesh: Mapping[str, Any],
    *,
    frames: int,
    fps: float,
    steps: int,
    bodies: Sequence[Body] = (),
) -> Json:
    """What a run is of. ``trajectory`` names all that decides its numbers."""
    told = {"scene": json.loads(json.dumps(identity)), "fps": fps, "steps_per_frame": steps}
    rest = {k: v for k, v in mesh.items() if k != "vertices"}
    return {
        "format": FORMAT,
        **told,
        "description": json.loads(json.dumps(description)),
        "frames": frames,
        "bodies": [
            {"name": b.name, "vertices": len(b.vertices), "faces": len(b.faces)} for b in bodies
        ],
        "trajectory": [{"after": 0, "run": trajectory_id(told)}],
        "mesh": {"content": mesh_digest(mesh), "rest": mesh_digest(rest)},
        "versions": {"python": platform.python_version(), **{n: version(n) for n in PACKAGES}},
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def path_from(folder: Path, file: Path) -> str:
    """Return the path of a file as seen from a folder, so that it holds where both are moved
    together; of a file on another drive, its whole path.
    """
    try:
        found = os.path.relpath(file.resolve(), folder.resolve())
    except ValueError:
        found = str(file.resolve())
    return Path(found).as_posix()


def differences(a: Any, b: Any, path: str = "") -> list[str]:
    """Dotted paths at which two plain trees differ."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        keys = [*a, *(k for k in b if k not in a)]
        return [d for k in keys for d in differences(a.get(k), b.get(k), f"{path}.{k}".lstrip("."))]
    return [] if a == b else [path]
