"""The model of a simulation: masses, energies, pins and contact, which do not change between steps.

A model is frozen; a step reads it and returns a new ``State``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from weft.base.arrays import ArrayOf, Bools, Floats, Positions
from weft.base.errors import MeshError, SceneError, point_text
from weft.base.runtime_types import checked
from weft.base.trees import Json
from weft.bodies.joints.anchors import FixedAnchor
from weft.bodies.motion.pins import Pin
from weft.bodies.motion.prescribed import HandMotion, body_motions, motion_along
from weft.bodies.motion.step_division import Division, KinematicMotion, divide_step
from weft.bodies.rigid.rigid_bodies import NONE, RigidBodies
from weft.contact.contact import Contact
from weft.discretization.embedding import Embedding
from weft.energies.energy import Energy
from weft.energies.inertia import Masses
from weft.energies.loads.gravity import Gravity
from weft.energies.obstacle import Obstacle
from weft.energies.springs.hand import Hands
from weft.energies.state import State
from weft.energies.step import Step
from weft.integrators.assembly import Assembly, Changing

NO_CONTACT = 1e-3  # [m] that stands for the gap where there is no contact


@checked(
    SceneError,
    "model",
    unchecked=("bodies", "step", "vertices", "prescribed_positions", "divide_step"),
)
@dataclass(frozen=True, eq=False)
class Model:
    """Masses, energies, pins and contact of one simulation.

    Raises:
        MeshError: a vertex without mass (an isolated vertex, which no face gives mass).
        SceneError: a pin of vertices that do not exist, or pins without start positions.
    """

    mass: Annotated[Floats, ArrayOf("numbers", ((None,),), "kg", finite=False)]  # (n,) [kg] lumped
    energies: Sequence[Energy]
    pins: Sequence[Pin] = ()
    start: Positions | None = None  # (n,3) [m] positions that pins start from; needed with pins
    contact: Contact | None = None  # contact of cloth with itself and with bodies
    embedding: Embedding | None = None  # surface vertices from points; None: both are the same
    changing: Changing | None = None  # constants as functions of time; None: constant
    heaviest: float = 0.0  # [m/s^2] largest size of keyframed gravity at any time

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mass).all() and (self.mass > 0).all()):
            bad = np.flatnonzero(~(self.mass > 0))
            raise MeshError(
                "mass of vertices",
                got=f"{len(bad)} without mass, first {bad[:5].tolist()}",
                expected="must be > 0",
                hint="remove isolated vertices",
            )
        if self.pins and self.start is None:
            raise SceneError("Model.start", expected="positions, because the scene has pins")
        for pin in self.pins:
            if pin.vertices[-1] >= len(self.mass) or pin.vertices[0] < 0:
                raise SceneError(
                    f"{pin.name}.vertices",
                    got=int(pin.vertices[-1]),
                    expected=f"ids from 0 to {len(self.mass) - 1}",
                )

    @cached_property
    def assembly(self) -> Assembly:
        """The energies on their common block pattern."""
        return Assembly(self.energies, self.mass, self.contact, self.changing)

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        """The energies and contact that make the terms, in the order of ``Assembly.terms``."""
        contact = () if self.contact is None else (self.contact,)
        return (*self.energies, Masses(self.mass), *contact)

    @property
    def times(self) -> list[float]:
        """Times [s] at which constants are compared: 0, all keyframes, and 1 s after the last one.

        Each keyframe counts fully at its time; after the last one integrals over time (the distance
        that wind has carried its gusts) still differ.
        """
        if self.changing is None:
            return [0.0]
        keys = sorted({0.0, *self.changing.times})
        return [*keys, keys[-1] + 1.0]

    def energies_at(self, t: float) -> list[Energy]:
        """Return the energies with their constants of time t [s]."""
        changed = {} if self.changing is None else self.changing(t).energies
        return [changed.get(e.name, e) for e in self.energies]

    def parts_at(self, t: float) -> tuple[Any, ...]:
        """Return ``parts`` with the constants of time t [s], contact as numbers and settings."""
        found: list[Any] = [*self.energies_at(t), Masses(self.mass)]
        if self.contact is not None:
            c, now = self.contact, None if self.changing is None else self.changing(t).contact
            found.append((c.structure, c.constants, now or c.settings))
        return tuple(found)

    @cached_property
    def gravity(self) -> float:
        """Size [m/s^2] of the acceleration of gravity; the largest at any time if it changes."""
        fields = [e.acceleration for e in self.energies if isinstance(e, Gravity)]
        size = float(np.linalg.norm(np.sum(fields, axis=0))) if fields else 0.0
        return max(size, self.heaviest)

    @property
    def changes(self) -> bool:
        """True if constants of energies change in time."""
        return self.changing is not None or any(getattr(e, "changes", False) for e in self.energies)

    def bodies(self, t: float) -> Positions:
        """Return the positions (b,3) [m] of the vertices of all bodies at time t [s]."""
        return np.zeros((0, 3)) if self.contact is None else self.contact.body_positions(t)

    @cached_property
    def motions(self) -> Sequence[KinematicMotion]:
        """Prescribed motions: pins, bodies, arms, and the targets of attachments and hands.

        Motors and drives of joints count as prescribed.
        """
        found: list[KinematicMotion] = []
        for pin in self.pins:
            if pin.path is not None and self.start is not None:
                found.append(motion_along(pin.name, pin.path, self.start[pin.vertices]))
        if self.contact is not None:
            found += body_motions([*self.contact.bodies, *self.rigid_bodies.bodies])
        for energy in self.energies:
            if isinstance(energy, Hands):
                found.append(HandMotion(energy))
            for place in (getattr(energy, "place", None), getattr(energy, "rail", None)):
                if isinstance(place, FixedAnchor) and place.path is not None:
                    found.append(motion_along(energy.name, place.path, place.start))
        keyed = [] if self.changing is None else self.changing.motions
        names = {motion.name for motion in keyed}
        return [*(motion for motion in found if motion.name not in names), *keyed]

    def divide_step(self, t: float, dt: float) -> Division:
        """Return the parts of a step of dt [s] from t [s] in which all motions are nearly straight.

        Raises:
            SimulationError: the step needs too many parts.
        """
        return divide_step(self.motions, t, dt, self.gap)

    @property
    def gap(self) -> float:
        """The gap [m] of contact; ``NO_CONTACT`` without contact."""
        return NO_CONTACT if self.contact is None else self.contact.gap

    def step(
        self,
        state: State,
        dt: float,
        predicted: Positions | None = None,
        scale: float | None = None,
        rate: tuple[Positions, float] | None = None,
        past: tuple[Positions, float] | None = None,
    ) -> Step:
        """Return a step of dt [s] from ``state``, with pins and bodies where they are at its end.

        Args:
            state: positions and velocities at the beginning.
            dt: [s].
            predicted: y (n,3) [m]; None: the positions of ``state``.
            scale: s [s^2]; None: no inertia (an equilibrium).
            rate: origin (n,3) [m] and span [s] of the new velocity; None: an equilibrium, without
                damping and friction.
            past: x_(n-1) (n,3) [m] and its part a in rates; for two-step methods.

        Raises:
            SceneError: a state with another number of points than the model.
        """
        if len(state.x) != len(self.mass):
            got = f"{len(state.x)} points"
            raise SceneError("state.x", got=got, expected=f"{len(self.mass)}, as in the model")
        fixed, target = self.prescribed_positions(state.t + dt)
        y = state.x if predicted is None else predicted
        bodies = self.bodies(state.t), self.bodies(state.t + dt)
        origin, span = (state.x, np.inf) if rate is None else rate
        return Step(state, dt, y, scale, origin, span, fixed, target, bodies, past)

    @property
    def lags(self) -> int:
        """Largest number of searches of a step; friction is evaluated again after each."""
        return 1 if self.contact is None else self.contact.settings.lags

    @property
    def rigid_bodies(self) -> RigidBodies:
        """Rigid bodies that the cloth can move."""
        return NONE if self.contact is None else self.contact.rigid_bodies

    def rigid_body_states(self, state: State) -> list[Json]:
        """Return place, rotation, velocity and kinetic energy of every rigid body."""
        return [a.describe_motion(state.x, state.v) for a in self.rigid_bodies.affine]

    def vertices(self, x: Positions) -> Positions:
        """Return the vertices (m,3) [m] of the cloth's surface for points x (n,3) [m]."""
        return x if self.embedding is None else self.embedding.of(x)

    def describe(self, obstacle: Obstacle) -> str:
        """Describe what leaves no room for a step: surfaces or a limit, with names and places."""
        if obstacle.limit:
            return f"the {obstacle.limit} would be exceeded at ({point_text(obstacle.place)})"
        assert self.contact is not None
        names = [self._name_of(v, obstacle.t) for v in obstacle.sides]
        if obstacle.passes:
            return f"{names[0]} passes through {names[1]} at t = {obstacle.t:.4g} s"
        at = [f"{name} at ({point_text(p)})" for name, p in zip(names, obstacle.places)]
        if len(at) < 3:
            return " and ".join(at)
        room = "" if obstacle.room is None else f", which are {1e3 * obstacle.room:.3g} mm apart"
        return f"{names[2]} is caught between {at[0]} and {at[1]}{room}"

    def _name_of(self, vertex: int, t: float) -> str:
        """Return the name of the pin, body or cloth to which a vertex of the surface belongs."""
        assert self.contact is not None
        contact = self.contact
        if vertex >= contact.n_cloth:
            return f"body {contact.body_part(vertex)!r}"
        points, counts = contact.build_embedding().points_of(np.array([vertex]))
        pins = [p for p in self.pins if p.holds(t) and np.isin(points[counts], p.vertices).all()]
        cloth = f"cloth {contact.name_of(vertex)!r}"
        return f"{pins[0].name} of {cloth}" if pins else cloth

    def prescribed_positions(self, t: float) -> tuple[Bools, Positions]:
        """Return which vertices are pinned in a step that ends at t, and their positions.

        Returns:
            (n,) bool, and (n,3) [m] positions with zeros at vertices that are free.

        Raises:
            SceneError: two pins that hold one vertex at different places at this time.
        """
        fixed = np.zeros(len(self.mass), dtype=bool)
        target = np.zeros((len(self.mass), 3))
        for pin in self.pins:
            if not pin.holds(t):
                continue
            assert self.start is not None
            where = pin.targets(self.start[pin.vertices], t)
            again = fixed[pin.vertices]
            clash = again & (np.abs(target[pin.vertices] - where).max(1) > 1e-9)
            if clash.any():
                raise SceneError(
                    f"{pin.name} at t = {t:.6g} s",
                    got=f"vertex {pin.vertices[clash][0]}",
                    expected="the same place for each vertex",
                    hint="another pin holds the vertex elsewhere; release one pin before the "
                    "other starts",
                )
            fixed[pin.vertices] = True
            target[pin.vertices] = where
        for finger in self.rigid_bodies.targets:
            fixed[finger.own], target[finger.own] = True, finger.target(t)
        return fixed, target
