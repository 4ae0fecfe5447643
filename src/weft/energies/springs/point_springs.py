"""Point springs (ties): attachments of points to places, to one another, to lines and to rails.

Their coordinates are in ``distance``, their law is in ``spring_law``. A step takes places, rails
and lengths as they are at its end. The force with which a ring presses on its rail limits friction;
it is lagged like the normal forces of contact friction. Friction is that of a bristle between ring
and rail. After a step in which the ring slid, the bristle is rooted one slip distance behind the
ring. So a ring sticks with a finite stiffness and does not creep (Dahl 1968), independent of the
time step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.base.trees import Json
from weft.energies.by_constants import TINY, ByName, damping_rate
from weft.energies.springs.distance import DISTANCE, AttachedPoints
from weft.energies.springs.release import NEVER, Held, Release
from weft.energies.springs.spring import (
    Curvature,
    SpringEnergy,
    SpringKernels,
    SteppedSpring,
    spring_kernels,
)
from weft.energies.springs.spring_law import SPRING
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import Scalar, WarpArray, WarpStruct, vec2, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern

FARTHEST = 20.0  # [m/s] largest speed along a rail; it bounds the search for feet in a step


class MovedPlaces(Protocol):
    """Places that a body or an animation moves."""

    @property
    def follows_bodies(self) -> bool:
        """Whether the places depend on the vertices of bodies."""

    @property
    def start(self) -> Positions:
        """Places at t = 0, (m,3) [m]."""

    def at(self, bodies: Positions, t: float) -> Positions:
        """Return the places, (m,3) [m], for body vertices (b,3) [m] at the time t [s]."""

    def pull_back(self, bodies: Positions, t: float, by: Floats, to: Floats) -> None:
        """Add derivatives by body vertices to ``to`` (b,3), from those by the places, (m,3)."""


def _kernels(name: str, curvatures: Mapping[Psd, Curvature]) -> SpringKernels:
    return spring_kernels(name, AttachedPoints, DISTANCE, SPRING, curvatures)


# The distance from a place, a line or a rail of places is a convex function of the points.
CONVEX = _kernels("ties", dict.fromkeys((Psd.PROJECTED, Psd.GAUSS_NEWTON), Curvature.CLAMPED))
ON_POLE = _kernels("rings_on_poles", {})


@dataclass(frozen=True, eq=False)
class PointSprings(SpringEnergy):
    """An attachment of m points. Local arrays are those of the start, without damping or friction.

    Args:
        points: (m,k) points that move each attached point; then those of the rail's body, if any.
        c: (m,k) their weights; they sum to one, or to zero for the vector between two points.
        stiffness: (m,) [N/m].
        name: of the energy, and in metrics.
        length: (m,) [m] rest length.
        first: (m,) [m] rest length at t = 0, which changes to ``length``; None: the same.
        closing: [s] in which it does.
        pulls: whether it only pulls (a rope).
        onset: (m,) [m] beyond the length within which a rope becomes stiff.
        damping: [s] over its stiffness.
        place: what holds, (m,3) [m] if it does not move; None: the spring is between two points, or
            on a rail.
        axis: (m,3) unit vectors of lines through the places along which points are free, zero where
            the place itself holds; None: no lines.
        rail: (p,3) points of a rail, which moves; None: none, or a pole of ``nodes``.
        nodes: (p,4) weights with which the last points of each row make those of a pole, which is
            part of a rigid body; None: no body.
        along: (p,) [m] lengths along the rail or pole at the start.
        friction: coefficient on the rail.
        slip: [m] over which friction rises.
        release: when it lets go.
        strand: of ropes and springs, how many of the points make the first end, in pictures.
        reported: whether metrics have its forces.
    """

    points: Ints
    c: Floats
    stiffness: Floats
    name: str = "ties"
    length: Floats | float = 0.0
    first: Floats | None = None
    closing: float = 0.0
    pulls: bool = False
    onset: Floats | float = 0.0
    damping: float = 0.0
    place: MovedPlaces | Positions | None = None
    axis: Floats | None = None
    rail: MovedPlaces | None = None
    nodes: Floats | None = None
    along: Floats | None = None
    friction: float = 0.0
    slip: float = 1e-4
    release: Release = NEVER
    strand: int = 0
    reported: bool = True

    rest_tables = ()

    def __len__(self) -> int:
        return len(self.points)

    @property
    def stencil(self) -> Ints:
        """Points of each spring, (m,K)."""
        return self.points

    @property
    def kernels(self) -> SpringKernels:  # type: ignore[override]
        """Kernels, which clamp eigenvalues if a rail moves with a body's points."""
        return CONVEX if self.nodes is None else ON_POLE

    @property
    def is_sliding(self) -> bool:
        """True if the points slide along a rail or pole."""
        return self.along is not None

    def lengths(self, t: float) -> Floats:
        """Return the rest lengths at the time t [s], (m,) [m].

        They change smoothly (3 s^2 - 2 s^3) while they close.
        """
        last = np.broadcast_to(np.asarray(self.length, dtype=np.float64), (len(self),))
        if self.first is None or t >= self.closing:
            return last
        return self.first + (last - self.first) * self.closed_part(t)

    def closed_part(self, t: float) -> float:
        """Return the part of the way to the last length, at the time t [s]."""
        if self.first is None or t >= self.closing:
            return 1.0
        s = max(t, 0.0) / self.closing
        return s * s * (3 - 2 * s)

    @property
    def moved_places(self) -> MovedPlaces | None:
        """The motion of the places; None: they stay, or the springs are held otherwise."""
        return None if isinstance(self.place, np.ndarray) else self.place

    def check_variant(self, other: "PointSprings", parameter: str) -> None:
        """Raise an error for a parameter that moves the nearest places of a body, if springs use
        them.

        The nearest places are searched in single precision, so that differences of them are rough.
        Clips hold the place where they are, wherever that is on the body.

        Args:
            other: the same attachment with another value of the parameter.
            parameter: name of the parameter.

        Raises:
            SceneError: such a parameter.
        """
        both = (self.moved_places, getattr(other, "moved_places", None))
        places = [p for p in both if p is not None and p.follows_bodies]
        if len(places) == 2 and not np.array_equal(places[0].start, places[1].start):
            raise SceneError(
                f"parameter {parameter}",
                got=f"where the body of attachment {other.name} starts",
                expected="an attachment of `kind: body` (a clip), or a motion after the start",
                hint="ropes and springs are tied to the nearest place of a body",
            )

    def attached_positions(self, x: Positions) -> Positions:
        """Return the attached points A at positions x (n,3), (m,3) [m]."""
        ids = self.points[:, : self.c.shape[1]]
        return np.asarray(np.einsum("ma,mai->mi", self.c, np.asarray(x)[ids]))

    def places(self, bodies: Positions, t: float) -> Positions:
        """Return what holds the points, (m,3) [m], for body vertices (b,3) [m] at time t [s]."""
        if self.place is None:
            return np.zeros((len(self), 3))
        return self.place if isinstance(self.place, np.ndarray) else self.place.at(bodies, t)

    def holding(self, t: float, kept: Mapping[str, Floats]) -> Bools:
        """Return which springs hold in a step that ends at t [s], with the step's memory, (m,)."""
        released = np.asarray(kept.get(f"{self.name} released", np.full(len(self), np.inf)))
        return np.asarray(np.isinf(released) & (not self.release.expired(t)))

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return the parameters at the end of a step, with the step's memory, or at the start."""
        if step is None:
            return self.parameters_at(None, 0.0, self._numbers(0.0, {}))
        numbers = self._numbers(step.t, step.memory)
        searched = -np.inf, np.inf
        if self.damping > 0 or self.along is not None:
            # Released springs have coordinates, too.
            at_start = self.parameters_at(step.bodies[0], step.state.t, {"holds": 1})
            r, s = self.coordinates(step.state.x, at_start).T
            numbers["before"] = r
            if step.past is not None:
                x, part = step.past
                numbers["before"] = r + part * (r - self.coordinates(x, at_start)[:, 0])
            numbers["rate"] = damping_rate(step)
            if self.along is not None:
                reach = FARTHEST * step.dt + float(np.diff(self.along).max())
                searched = s - reach, s + reach
                numbers["root"], numbers["pressed"] = step.memory.get(f"{self.name} root", s), r
                numbers["friction"] = self.friction if numbers["rate"] > 0 else 0.0
        return self.parameters_at(step.bodies[1], step.t, numbers, *searched)

    def _numbers(self, t: float, kept: Mapping[str, Floats]) -> Json:
        """Return the numbers of the law at the time t without damping and friction."""
        return {
            "stiffness": self.stiffness,
            "length": self.lengths(t),
            "onset": self.onset,
            "pulls": int(self.pulls),
            "holds": self.holding(t, kept),
            "damping": self.damping,
            "slip": self.slip,
        }

    def parameters_at(
        self,
        bodies: Positions | None,
        t: float,
        numbers: Json,
        low: Floats | float = -np.inf,
        high: Floats | float = np.inf,
    ) -> WarpStruct:
        """Return the parameters for the vertices of bodies at the time t; None: at the start."""
        p, m = AttachedPoints(), len(self)
        for name, values in self._constant.items():
            setattr(p, name, values)
        moved = self.moved_places
        if moved is not None:
            p.place = kernel.array(moved.start if bodies is None else moved.at(bodies, t), vec3)
        if self.rail is not None:
            rail = self.rail.start if bodies is None else self.rail.at(bodies, t)
            p.rail = kernel.array(rail, vec3)
        if self.along is not None:
            p.low, p.high = (
                kernel.array(np.broadcast_to(np.asarray(b, np.float64), m), Scalar)
                for b in (low, high)
            )
        p.law = self.records(**numbers)
        return p

    @cached_property
    def _constant(self) -> dict[str, WarpArray]:
        """The parameters that are the same in every step, on the device."""
        m, p = len(self), 0 if self.along is None else len(self.along)
        place = self.place if isinstance(self.place, np.ndarray) else np.zeros((m, 3))
        return {
            "c": kernel.array(self.c, Scalar),
            "place": kernel.array(place, vec3),
            "axis": kernel.array(np.zeros((m, 3)) if self.axis is None else self.axis, vec3),
            "rail": kernel.array(np.zeros((p, 3)), vec3),
            "nodes": kernel.array(np.zeros((p, 0)) if self.nodes is None else self.nodes, Scalar),
            "along": kernel.array(np.zeros(0) if self.along is None else self.along, Scalar),
        }

    def pulls_on(self, x: Positions, parameters: WarpStruct) -> Floats:
        """Return dE/dA, (m,3) [N]."""
        g = self.gradient(x, parameters)
        rows, a = np.arange(len(self)), np.abs(self.c).argmax(axis=1)
        return np.asarray(g[rows, a] / self.c[rows, a, None])

    def track(self, parameters: WarpStruct) -> WarpStruct:
        """Return the parameters with derivatives by the law and by places, which are zeros."""
        return kernel.track_fields(parameters, "law", "place")

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness [N/m], lengths [m], and time constant of damping [s].

        Ropes also have the onset [m], rings the friction coefficient and its slip [m], springs to
        places that do not move these places [m].
        """
        m = len(self)
        names = ["stiffness", "length", "damping"] + (["first"] if self.first is not None else [])
        names += ["onset"] if self.pulls else []
        names += ["friction", "slip"] if self.is_sliding else []
        given = {n: np.asarray(getattr(self, n), dtype=np.float64) for n in names}
        found = {name: np.broadcast_to(v, (m,)) for name, v in given.items()}
        return {**found, "place": self.place} if isinstance(self.place, np.ndarray) else found

    @property
    def structure(self) -> object:
        """Data besides the constants: points and what holds them, without forces of release."""
        rail = (self.rail, self.nodes, self.along)
        held = (self.moved_places, self.axis, *rail, self.pulls, self.closing, self.release.at)
        return self.points, self.c, *held

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (m,...), for ``by`` (m,K,3)."""
        # A step measures the length at its start only for springs with damping.
        p = self.track(replace(self, damping=max(self.damping, TINY)).parameters(step))
        self.pull_back_gradient(x, by, p)
        law, part = self.derivatives(p), self.closed_part(0.0 if step is None else step.t)
        changed = {
            "first": (1 - part) * law["length"],
            "length": part * law["length"],
            "place": kernel.derivatives(p.place),
        }
        return {name: changed[name] if name in changed else law[name] for name in self.constants}

    def bind(self, pattern: BlockPattern) -> "PointSpringsTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return PointSpringsTerm(self, pattern)


class PointSpringsTerm(SteppedSpring):
    """An attachment bound to a block pattern."""

    energy: PointSprings
    remembers_jumps = True  # springs that let go; friction on rails is refused

    def __init__(self, energy: PointSprings, pattern: BlockPattern) -> None:
        super().__init__(energy, pattern)
        self._t, self._span = 0.0, np.inf
        self._released = np.full(len(energy), np.inf)

    def freeze(self, step: Step) -> None:
        """Take the springs that hold at the end of the step, and their places."""
        super().freeze(step)
        self._t, self._span, name = step.t, step.span, f"{self.name} released"
        self._released = np.asarray(step.memory.get(name, np.full(len(self.energy), np.inf)))

    @property
    def dissipates(self) -> bool:
        """Whether there is damping, or friction on a rail."""
        return self.energy.damping > 0 or self.energy.friction > 0

    def lag(self, x: WarpArray) -> bool:
        """Evaluate the forces with which rings press on their rail again, at x."""
        if self.energy.friction == 0 or not np.isfinite(self._span):
            return False
        law = self.law_numbers
        law["pressed"] = self.energy.coordinates(x, self.parameters)[:, 0]
        self.parameters.law = self.energy.records(
            **{name: law[name] for name in law.dtype.names or ()}
        )
        return True

    def check_derivatives(self, in_time: Sequence[object] = ()) -> None:
        """Raise an error for rails with friction or on a body, or places of an unknown kind."""
        super().check_derivatives(in_time)
        e, got = self.energy, ""
        if e.nodes is not None:
            got = "a pole that is part of a rigid body"
        elif e.rail is not None and e.friction > 0:
            got = "friction on a rail"
        elif e.rail is not None and e.rail.follows_bodies:
            got = "a rail on a body"
        if e.moved_places is not None and not hasattr(e.moved_places, "pull_back"):
            got = type(e.moved_places).__name__
        if got:
            raise SceneError(
                f"attachment {self.name}",
                got=got,
                expected="ropes, springs, clips, smooth rails that stand or move along a path",
                hint="other attachments have no derivatives",
            )

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by places, and by the length that damping is measured from.

        That length is (1 + a) r_n - a r_(n-1), with both measured from places at the step's start.
        """
        e, p, a = self.energy, self.energy.track(self.parameters), step.past_part
        e.pull_back_gradient(x, by[e.stencil], p)
        if e.moved_places is not None:
            by_place = kernel.derivatives(p.place)
            e.moved_places.pull_back(step.bodies[1], step.t, by_place, into.after)
        if e.damping == 0:
            return
        states = [(step.state.x, 1 + a, into.state_x)]
        states += [] if step.past is None else [(step.past[0], -a, into.past)]
        for state, part, to in states:
            by_q = np.zeros((len(e), 2))
            by_q[:, 0] = part * e.derivatives(p)["before"]
            self._pull_back_coordinates(step, state, by_q, to, into.before)

    def _pull_back_coordinates(
        self, step: Step, state: Positions, by: Floats, to: Floats, to_bodies: Floats
    ) -> None:
        """Add derivatives by a state and by bodies, from those by coordinates (m,2) at the start of
        a step.
        """
        e, x = self.energy, kernel.track(kernel.points(np.array(state)))
        p = e.track(e.parameters_at(step.bodies[0], step.state.t, {"holds": 1}))
        out = kernel.track(kernel.empty(len(e), vec2), by)
        kernel.pull_back(e.kernels.coordinates, len(e), x, e.device_stencil, p, out)
        to += kernel.derivatives(x)
        if e.moved_places is not None:
            by_place = kernel.derivatives(p.place)
            e.moved_places.pull_back(step.bodies[0], step.state.t, by_place, to_bodies)

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return release times and roots of bristles, as far as the springs have these."""
        energy, kept = self.energy, dict[str, Floats]()
        if energy.release.depends:
            kept[f"{self.name} released"] = self._after(x)
        if energy.friction > 0:
            s, u = energy.coordinates(x, self.parameters)[:, 1], energy.slip
            kept[f"{self.name} root"] = np.clip(self.law_numbers["root"], s - u, s + u)
        return kept

    def forces(self, x: WarpArray) -> Json:
        """Return the force on the cloth, the number of springs that hold, and release, by name."""
        if not self.energy.reported:
            return {}
        pull, after = self.energy.pulls_on(x, self.parameters), self._after(x)
        holds = np.isinf(after) & (not self.energy.release.expired(self._t))
        size = np.linalg.norm(pull, axis=1)
        said: Json = {
            "force": (-pull.sum(axis=0)).tolist(),
            "largest": float(size.max(initial=0.0)),
            "holds": int(holds.sum()),
        }
        if not holds.all():
            gone = after[np.isfinite(after)]
            said["released"] = float(gone.max()) if len(gone) else self.energy.release.at
        return {self.name: said}

    def _after(self, x: WarpArray) -> Floats:
        """Return release times at the end of the step, (m,) [s]; infinite for springs that hold."""
        release = self.energy.release
        if not release.depends:
            return self._released
        holds = np.isinf(self._released) & (not release.expired(self._t))
        pull = np.linalg.norm(self.energy.pulls_on(x, self.parameters), axis=1)
        held = Held(
            self._t,
            self.energy.attached_positions(self._host(x)),
            np.where(holds, pull, 0.0),
            holds,
        )
        return np.where(release.released_points(held), self._t, self._released)
