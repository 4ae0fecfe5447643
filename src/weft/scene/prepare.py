"""``weft.prepare``: what the steps of a scene need, built from the scene.

A ``Scene`` is data. ``prepare`` builds its model, its state at the start and its integrator.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weft.base.errors import SceneError
from weft.base.memoize import memoize
from weft.base.runtime_types import checked
from weft.discretization.correspondence import find_mismatch
from weft.energies.energy import Energy
from weft.energies.state import State
from weft.integrators.adaptive import Adaptive
from weft.integrators.base import Stepper
from weft.integrators.feasible_start import FeasibleStart, feasible_start
from weft.integrators.model import Model
from weft.scene.build_model import build_model
from weft.scene.integrators import INTEGRATORS
from weft.scene.points import pinned_points, rigid_bodies
from weft.scene.scene import Scene


@checked(SceneError, "simulation")
@dataclass(frozen=True, eq=False)
class Simulation:
    """Model, start and integrator of a simulation.

    ``model`` has masses, energies, pins and contact; ``state`` the positions and velocities of all
    points at the start; ``stepper`` takes steps of at most ``step`` [s].
    """

    model: Model
    state: State
    stepper: Stepper
    step: float

    @property
    def energies(self) -> Mapping[str, Energy]:
        """The energies of the model at the start, by name."""
        return {energy.name: energy for energy in self.model.energies}


@checked(SceneError)
def prepare(scene: Scene | Simulation) -> Simulation:
    """Build what the steps of a scene need.

    Args:
        scene: the scene. A ``Simulation`` is returned as it is.

    Returns:
        Model, start and integrator. A second call with the same scene returns the same object.

    Raises:
        SceneError: the scene cannot be simulated: surfaces that intersect at the start, an energy
            that the integrator cannot minimize, more memory than the machine has.
    """
    return scene if isinstance(scene, Simulation) else _prepared(scene)


@memoize
def _prepared(scene: Scene) -> Simulation:
    model, stepper = build_model(scene), make_stepper(scene)
    return Simulation(model, start_state(scene), stepper, scene.step)


def make_stepper(scene: Scene) -> Stepper:
    """Return the user's integrator, or a new one of the named kind; it divides steps if the scene
    is adaptive.
    """
    made: Stepper = scene.integrator
    if isinstance(scene.integrator, str):
        made = INTEGRATORS[scene.integrator].stepper(scene.step_settings)
    if scene.adaptive is None:
        return made
    return Adaptive(made, scene.cloth.samples(), scene.adaptive)


@memoize
def untangled_start(scene: Scene) -> FeasibleStart | None:
    """Return a start of a scene without intersections; None if its contact does not ask for one.

    Raises:
        SceneError: intersections that no small motion removes.
    """
    if scene.contact is None or not scene.contact.resolve:
        return None
    scene.cloth.surfaces.require("contact.resolve")
    if len(rigid_bodies(scene)):
        raise SceneError(
            "scene.contact.resolve",
            got="true, with rigid bodies",
            expected="false",
            hint="move what is too near apart by hand",
        )
    return feasible_start(build_model(scene), pinned_points(scene).points)


def start_state(scene: Scene) -> State:
    """Return positions and velocities of all points at t = 0, untangled if contact asks for it.

    Raises:
        SceneError: a start of another number of points, or one that intersects.
    """
    if scene.start_state is not None:
        return _given_start(scene, scene.start_state)
    untangled, moved = untangled_start(scene), rigid_bodies(scene)
    x = np.array(pinned_points(scene).points if untangled is None else untangled.x)
    x = np.concatenate([x, moved.points])
    v = np.zeros(x.shape)
    v[: len(scene.cloth.points)] = scene.velocity
    for body in moved.affine:
        v[body.own] = body.start_velocity
    return State(x, v)


def _given_start(scene: Scene, start: State) -> State:
    """Return the start that was given, after checks."""
    model, cloth = build_model(scene), scene.cloth
    if start.x.shape != (len(model.mass), 3):
        got, expected = f"{len(start.x)} points", f"{len(model.mass)}, as the scene has"
        raise SceneError("scene.start_state", got=got, expected=expected)
    x = start.x[: len(cloth.points)]
    x = x if cloth.embedding is None else cloth.embedding.of(x)
    found = find_mismatch(cloth.vertices, x, cloth.faces)
    if found is not None and found.kind != "axes":
        raise SceneError("scene.start_state", got=found.text, expected="the cloth's own points")
    if model.contact is not None:
        model.contact.check_start(model.contact.all_vertices(start.x))
    return State(np.array(start.x), np.array(start.v))
