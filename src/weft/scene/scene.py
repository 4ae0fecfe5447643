"""A scene: a cloth, what holds it and what acts on it, in Python. A scene file says the same in
YAML (``scene.file``).
"""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.cloth import Cloth
from weft.discretization.linear_triangle import linear_triangle
from weft.energies.damping import HingeDamping, MembraneDamping
from weft.energies.gravity import Gravity
from weft.energies.hinge_bending import HingeBending
from weft.energies.membrane import Membrane
from weft.errors import SceneError
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import Integrator, StepSettings
from weft.laws.baraff_witkin import BaraffWitkin
from weft.model import Model
from weft.pins import Pin
from weft.state import State


@dataclass(frozen=True, eq=False)
class Scene:
    """What is simulated.

    Args:
        cloth: mesh and fabric.
        pins: what is held or moved.
        gravity: [m/s^2].
        damping: [s] time constant of stiffness-proportional damping; None takes the fabric's.
        step: [s] largest time step; frames are divided evenly.
        rest_angles: ``flat``, or ``as-given``: the mesh's own angles are its rest shape.
        integrator: ``backward_euler``.
        settings: tolerances of a step.
        velocity: (3,) or (n,3) [m/s] at the start.
        description: the contents of the scene file, for the manifest of a run.

    Raises:
        SceneError: a value out of range.
    """

    cloth: Cloth
    pins: Sequence[Pin] = ()
    gravity: tuple[float, float, float] = (0.0, -9.81, 0.0)
    damping: float | None = None
    step: float = 0.02
    rest_angles: str = "flat"
    integrator: str = "backward_euler"
    settings: StepSettings = field(default_factory=StepSettings)
    velocity: Any = (0.0, 0.0, 0.0)
    description: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.step) and self.step > 0):
            raise SceneError("scene.step", got=self.step, expected="must be > 0 [s]")
        if self.damping is not None and not (np.isfinite(self.damping) and self.damping >= 0):
            raise SceneError("scene.damping", got=self.damping, expected="must be >= 0 [s]")
        if not np.isfinite(self.gravity).all() or len(self.gravity) != 3:
            raise SceneError("scene.gravity", got=self.gravity, expected="three numbers [m/s^2]")
        if self.integrator != "backward_euler":
            raise SceneError("scene.integrator", got=self.integrator, expected="backward_euler")

    def model(self) -> Model:
        """Masses, energies and pins."""
        cloth, fabric = self.cloth, self.cloth.fabric
        law = BaraffWitkin(
            (fabric.stretch_warp, fabric.stretch_weft),
            fabric.shear,
            (fabric.rest_stretch_warp, fabric.rest_stretch_weft),
        )
        membrane = Membrane(linear_triangle(cloth.mesh), law)
        bending = HingeBending.of(
            cloth.mesh, (fabric.bending_warp, fabric.bending_weft), self.rest_angles
        )
        beta = fabric.damping if self.damping is None else self.damping
        damping = (MembraneDamping(membrane, beta), HingeDamping(bending, beta)) if beta > 0 else ()
        energies = (membrane, bending, Gravity(cloth.mass, self.gravity))
        return Model(cloth.mass, energies, damping, tuple(self.pins), cloth.vertices)

    def state(self) -> State:
        """The state at t = 0."""
        x = np.array(self.cloth.vertices)
        v = np.broadcast_to(np.asarray(self.velocity, dtype=np.float64), x.shape).copy()
        return State(x, v)

    def stepper(self) -> Integrator:
        """The integrator."""
        return BackwardEuler(self.settings)

    def identity(self) -> Mapping[str, Any]:
        """A plain tree that two scenes share only if they simulate the same."""
        mesh = hashlib.sha256()
        for part in (self.cloth.vertices, self.cloth.faces, self.cloth.corner_uv):
            mesh.update(np.ascontiguousarray(part).tobytes())
        pins = [
            {"vertices": p.vertices.tolist(), "until": p.until,
             "path": None if p.path is None else repr(p.path)} for p in self.pins
        ]  # fmt: skip
        return {
            "mesh": mesh.hexdigest(),
            "fabric": {
                k: v for k, v in dataclasses.asdict(self.cloth.fabric).items() if k != "sources"
            },
            "pins": pins,
            "gravity": list(self.gravity),
            "damping": self.damping,
            "step": self.step,
            "rest_angles": self.rest_angles,
            "integrator": self.integrator,
            "settings": dataclasses.asdict(self.settings),
            "velocity": np.asarray(self.velocity).tolist(),
        }

    def with_(self, **changes: Any) -> "Scene":
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)
