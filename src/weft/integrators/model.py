"""Model.

What does not change during a simulation. Frozen; a step reads it and makes a new State.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from weft.base.arrays import ArrayOf, Bools, Floats, Json, Positions
from weft.base.errors import MeshError, SceneError
from weft.base.runtime_types import checked
from weft.bodies.motion.pins import Pin
from weft.bodies.rigid.rigid_bodies import NONE, RigidBodies
from weft.contact.contact import Contact
from weft.discretization.embedding import Embedding
from weft.energies.base import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.energies.step import Step
from weft.integrators.assembly import Assembly, Changing


@checked(SceneError, "model", unchecked=("mass_at", "bodies", "step", "vertices", "prescribed"))
@dataclass(frozen=True, eq=False)
class Model:
    """Masses, energies and pins.

    Raises:
        MeshError: a vertex without mass (isolated vertices: no face gives them any).
        SceneError: a pin of vertices that do not exist, or two pins that hold one vertex.
    """

    mass: Annotated[Floats, ArrayOf("numbers", ((None,),), "kg", finite=False)]  # (n,) [kg] lumped
    energies: Sequence[Energy]
    pins: Sequence[Pin] = ()
    start: Positions | None = None  # (n,3) [m] where pinned vertices start; needed with pins
    contact: Contact | None = None  # what must not pass through itself
    embedding: Embedding | None = None  # of the surface's vertices in the points; None: the same
    changing: Changing | None = None  # constants by time; None: they stay
    heaviest: float = 0.0  # [m/s^2] size of gravity at any time, where that changes

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
            raise SceneError("Model.start", expected="positions, where there are pins")
        for pin in self.pins:
            if pin.vertices[-1] >= len(self.mass) or pin.vertices[0] < 0:
                raise SceneError(
                    f"{pin.name}.vertices",
                    got=int(pin.vertices[-1]),
                    expected=f"ids from 0 to {len(self.mass) - 1}",
                )

    @cached_property
    def assembly(self) -> Assembly:
        """The energies on their pattern."""
        return Assembly(self.energies, self.mass, self.contact, self.changing)

    @cached_property
    def gravity(self) -> float:
        """[m/s^2] size of the acceleration that all vertices have."""
        fields = [e.acceleration for e in self.energies if isinstance(e, Gravity)]
        size = float(np.linalg.norm(np.sum(fields, axis=0))) if fields else 0.0
        return max(size, self.heaviest)

    def mass_at(self, t: float) -> Floats:
        """(n,) [kg] at time t [s]."""
        return self.mass if self.changing is None else self.changing.mass_at(t)

    @property
    def changes(self) -> bool:
        """Whether numbers change in time."""
        return self.changing is not None or any(getattr(e, "changes", False) for e in self.energies)

    def bodies(self, t: float) -> Positions:
        """(b,3) [m] of the vertices of all bodies at time t."""
        return np.zeros((0, 3)) if self.contact is None else self.contact.body_positions(t)

    def step(
        self,
        state: State,
        dt: float,
        predicted: Positions | None = None,
        scale: float | None = None,
        rate: tuple[Positions, float] | None = None,
        past: tuple[Positions, float] | None = None,
    ) -> Step:
        """A step of dt [s] from ``state``, with pins and bodies where they are at its end.

        Args:
            state: where it begins.
            dt: [s].
            predicted: y (n,3) [m]; None: where the state is.
            scale: s [s^2]; None: no inertia, an equilibrium.
            rate: origin (n,3) [m] and span [s] of the new velocity; None: of an equilibrium, in
                which nothing is damped or rubs.
            past: x_(n-1) (n,3) [m] and its part a in rates, of methods of two steps.
        """
        if len(state.x) != len(self.mass):
            got = f"{len(state.x)} points"
            raise SceneError("state.x", got=got, expected=f"{len(self.mass)}, as in the model")
        fixed, target = self.prescribed(state.t + dt)
        y = state.x if predicted is None else predicted
        bodies = self.bodies(state.t), self.bodies(state.t + dt)
        origin, span = (state.x, np.inf) if rate is None else rate
        return Step(state, dt, y, scale, origin, span, fixed, target, bodies, past)

    @property
    def loose(self) -> RigidBodies:
        """Rigid bodies."""
        return NONE if self.contact is None else self.contact.loose

    def told_of_bodies(self, state: State) -> list[Json]:
        """Where rigid bodies are, and how they move: place, rotation, velocity, kinetic energy."""
        return [a.told(state.x, state.v) for a in self.loose.affine]

    def vertices(self, x: Positions) -> Positions:
        """(m,3) [m] of the cloth's surface, where the points are at x (n,3)."""
        return x if self.embedding is None else self.embedding.of(x)

    def prescribed(self, t: float) -> tuple[Bools, Positions]:
        """Which vertices are pinned in a step that ends at t, and where: (n,) bool, (n,3) with
        zeros elsewhere.

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
                    expected="one place for each vertex",
                    hint="another pin holds it elsewhere; release one before the other starts",
                )
            fixed[pin.vertices] = True
            target[pin.vertices] = where
        return fixed, target
